// KernelTimer: the time one launch takes on the device, in samples.
//
// On a GPU by CUPTI activity records (start and end of each kernel on the device's own clock), or
// by events when CUPTI is missing; on the CPU by the monotonic clock around the launch. The
// last-level cache is flushed before each sample, so that every launch reads its inputs from DRAM.
// On the emulator nothing is timed: a model over its counters says what the launch would cost.
#ifndef STAX_PROFILER_TIMING_KERNEL_TIMER_H_
#define STAX_PROFILER_TIMING_KERNEL_TIMER_H_

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/device.h"

namespace stax {

// Launches one kernel on the default stream.
using LaunchFunction = std::function<absl::Status()>;

class KernelTimer {
 public:
  virtual ~KernelTimer() = default;
  // In words, for reports: "CUPTI activity records, L2 flushed".
  virtual std::string_view method() const = 0;
  // One sample a launch, in nanoseconds.
  virtual absl::StatusOr<std::vector<double>> Time(const LaunchFunction& launch, int repeats) = 0;
};

// For `device`, which must outlive the timer.
absl::StatusOr<std::unique_ptr<KernelTimer>> MakeKernelTimer(Device& device);

// Warm-up, then samples until the 95 % interval of the median is narrower than
// `relative_width` of it, at least `min_samples`, at most `max_samples` (nvbench's idea: stop on
// confidence, not on count).
struct StoppingRule {
  int warm_up = 3;
  int min_samples = 7;
  int max_samples = 101;
  double relative_width = 0.01;
};
absl::StatusOr<std::vector<double>> MeasureUntilStable(KernelTimer& timer,
                                                       const LaunchFunction& launch,
                                                       const StoppingRule& rule);

}  // namespace stax

#endif  // STAX_PROFILER_TIMING_KERNEL_TIMER_H_
