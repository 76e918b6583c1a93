#include "profiler/timing/statistics.h"

#include <numeric>
#include <random>

#include "gtest/gtest.h"

namespace stax {
namespace {

TEST(Median, OddAndEven) {
  EXPECT_EQ(Median({3, 1, 2}), 2);
  EXPECT_EQ(Median({4, 1, 3, 2}), 2.5);
  EXPECT_EQ(Median({5}), 5);
}

// Tabulated ranks (Conover, table A3 with p = 1/2): n = 10 gives the 2nd and 9th, n = 20 the 6th
// and 15th, n = 50 the 18th and 33rd.
TEST(MedianConfidence, TabulatedRanks) {
  auto interval = [](int n) {
    std::vector<double> samples(n);
    std::iota(samples.begin(), samples.end(), 1.0);
    return MedianConfidence(samples);
  };
  EXPECT_EQ(interval(10).low, 2);
  EXPECT_EQ(interval(10).high, 9);
  EXPECT_EQ(interval(20).low, 6);
  EXPECT_EQ(interval(20).high, 15);
  EXPECT_EQ(interval(50).low, 18);
  EXPECT_EQ(interval(50).high, 33);
  EXPECT_EQ(interval(3).low, 1);
  EXPECT_EQ(interval(3).high, 3);
}

// Of binomial(20, 1/2), P(X <= 4) = 0.0059 and P(X <= 5) = 0.0207: 1.25 % a side cut off four
// samples. Of binomial(7, 1/2), P(X <= 0) = 1/128 = 0.0078, and P(X <= 1) = 0.0625 is too much.
TEST(MedianConfidence, OfAnotherConfidence) {
  std::vector<double> samples(20);
  std::iota(samples.begin(), samples.end(), 1.0);
  EXPECT_EQ(MedianConfidence(samples, 0.975).low, 5);
  EXPECT_EQ(MedianConfidence(samples, 0.975).high, 16);
  samples.resize(7);
  EXPECT_EQ(MedianConfidence(samples, 0.975).low, 1);
  EXPECT_EQ(MedianConfidence(samples, 0.975).high, 7);
}

TEST(MedianConfidence, CoversTheMedianAtLeast95PercentOfTheTime) {
  std::mt19937 rng(1);
  std::lognormal_distribution<double> noise(0, 1);  // its median is 1
  int covered = 0;
  const int kTrials = 4000;
  for (int t = 0; t < kTrials; ++t) {
    std::vector<double> samples(21);
    for (double& s : samples) s = noise(rng);
    MedianInterval interval = MedianConfidence(samples);
    covered += interval.low <= 1 && 1 <= interval.high;
  }
  EXPECT_GT(covered, kTrials * 0.94);  // 0.95 less four standard errors
}

}  // namespace
}  // namespace stax
