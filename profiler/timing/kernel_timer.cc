#include "profiler/timing/kernel_timer.h"

#include <algorithm>
#include <utility>

#include "profiler/timing/cpu_timer.h"
#include "profiler/timing/cuda_timer.h"
#include "profiler/timing/emulated_timer.h"
#include "profiler/timing/statistics.h"

namespace stax {

absl::StatusOr<std::unique_ptr<KernelTimer>> MakeKernelTimer(Device& device) {
  if (device.info().kind == "cuda") return MakeCudaTimer(device);
  if (device.info().kind == "emu") return MakeEmulatedTimer(device);
  return MakeCpuTimer(device);
}

absl::StatusOr<std::vector<double>> MeasureUntilStable(KernelTimer& timer,
                                                       const LaunchFunction& launch,
                                                       const StoppingRule& rule) {
  absl::StatusOr<std::vector<double>> warm_up = timer.Time(launch, rule.warm_up);
  if (!warm_up.ok()) return warm_up;
  std::vector<double> samples;
  while (static_cast<int>(samples.size()) < rule.max_samples) {
    int left = rule.max_samples - static_cast<int>(samples.size());
    absl::StatusOr<std::vector<double>> more = timer.Time(launch, std::min(rule.min_samples, left));
    if (!more.ok()) return more;
    samples.insert(samples.end(), more->begin(), more->end());
    MedianInterval interval = MedianConfidence(samples);
    if (interval.high - interval.low <= rule.relative_width * Median(samples)) break;
  }
  return samples;
}

}  // namespace stax
