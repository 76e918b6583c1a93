#include "tests/c_api/rows_problem.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "gtest/gtest.h"

namespace stax {
namespace {

constexpr int kUntouched = -77;
constexpr double kEpsilon = 1e-5;  // layer_norm's default, docs/graph.md

// Sums of a few hundred f32 of size 1, each rounded to 24 bits.
constexpr double kTolerance = 1e-5;

template <typename T>
bool IsUntouched(const Array<T>& array) {
  return std::all_of(array.values.begin(), array.values.end(),
                     [](T value) { return value == kUntouched; });
}

template <typename T>
void Clear(Array<T>& array) {
  std::fill(array.values.begin(), array.values.end(), T{kUntouched});
}

}  // namespace

RowsProblem::RowsProblem(int64_t batch_in, int64_t seq_in, uint32_t seed)
    : batch(batch_in),
      seq(seq_in),
      x({batch, seq}),
      mask({seq}),
      p({batch, seq}),
      columns({seq}),
      where({batch}),
      copy({batch, seq}) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  for (float& value : x.values) value = normal(random);
  for (float& value : mask.values) value = normal(random);
  ClearOutputs();
}

void RowsProblem::ClearOutputs() {
  Clear(p);
  Clear(columns);
  Clear(where);
  Clear(copy);
}

void RowsProblem::ExpectUntouched() const {
  EXPECT_TRUE(IsUntouched(p) && IsUntouched(columns) && IsUntouched(where) && IsUntouched(copy));
}

void RowsProblem::ExpectRight() const {
  std::vector<double> column_sums(seq);
  for (int64_t b = 0; b < batch; ++b) {
    std::vector<double> row(seq);
    for (int64_t s = 0; s < seq; ++s)
      row[s] = static_cast<double>(x.values[b * seq + s]) + mask.values[s];
    double exponentials = 0;
    double mean = 0;
    for (double value : row) {
      exponentials += std::exp(value);
      mean += value / seq;
    }
    double variance = 0;
    for (double value : row) variance += (value - mean) * (value - mean) / seq;
    for (int64_t s = 0; s < seq; ++s) {
      ASSERT_NEAR(p.values[b * seq + s], std::exp(row[s]) / exponentials, kTolerance)
          << b << ", " << s;
      column_sums[s] += (row[s] - mean) / std::sqrt(variance + kEpsilon);
    }
    const auto begin = x.values.begin() + b * seq;
    ASSERT_EQ(where.values[b], std::min_element(begin, begin + seq) - begin) << b;
  }
  for (int64_t s = 0; s < seq; ++s)
    ASSERT_NEAR(columns.values[s], column_sums[s] / batch, kTolerance) << s;
  ASSERT_EQ(copy.values, x.values);
}

}  // namespace stax
