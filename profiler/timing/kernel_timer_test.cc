#include "profiler/timing/kernel_timer.h"

#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "runtime/device.h"

namespace stax {
namespace {

// Gives samples from a list, over and over.
class ListTimer : public KernelTimer {
 public:
  explicit ListTimer(std::vector<double> list) : list_(std::move(list)) {}
  std::string_view method() const override { return "list"; }
  absl::StatusOr<std::vector<double>> Time(const LaunchFunction& launch, int repeats) override {
    std::vector<double> samples;
    for (int i = 0; i < repeats; ++i) {
      if (absl::Status status = launch(); !status.ok()) return status;
      samples.push_back(list_[taken_++ % list_.size()]);
    }
    return samples;
  }
  size_t taken_ = 0;

 private:
  std::vector<double> list_;
};

absl::Status Nothing() { return absl::OkStatus(); }

TEST(MeasureUntilStable, SteadySamplesStopAtTheMinimum) {
  ListTimer timer({100});
  auto samples = MeasureUntilStable(timer, Nothing, StoppingRule());
  ASSERT_TRUE(samples.ok());
  EXPECT_EQ(samples->size(), 7u);
  EXPECT_EQ(timer.taken_, 10u);  // 3 of them to warm up
}

TEST(MeasureUntilStable, NoisySamplesGoOnToTheMaximum) {
  ListTimer timer({100, 200, 300, 150});
  auto samples = MeasureUntilStable(timer, Nothing, StoppingRule());
  ASSERT_TRUE(samples.ok());
  EXPECT_EQ(samples->size(), 101u);
}

TEST(MeasureUntilStable, AFailedLaunchIsTheResult) {
  ListTimer timer({100});
  auto fail = [] { return absl::InternalError("illegal address"); };
  EXPECT_EQ(MeasureUntilStable(timer, fail, StoppingRule()).status().message(), "illegal address");
}

TEST(CpuTimer, MeasuresTheLaunchAndNotTheFlush) {
  auto device = OpenDevice("cpu");
  ASSERT_TRUE(device.ok()) << device.status();
  auto timer = MakeKernelTimer(**device);
  ASSERT_TRUE(timer.ok());
  auto sleep = [] {
    absl::SleepFor(absl::Milliseconds(20));
    return absl::OkStatus();
  };
  auto samples = (*timer)->Time(sleep, 3);
  ASSERT_TRUE(samples.ok());
  ASSERT_EQ(samples->size(), 3u);
  for (double ns : *samples) EXPECT_GE(ns, 20e6);
}

}  // namespace
}  // namespace stax
