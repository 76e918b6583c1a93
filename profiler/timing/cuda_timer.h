// Times launches on a CUDA device: by CUPTI activity records, or by events where CUPTI is missing.
#ifndef STAX_PROFILER_TIMING_CUDA_TIMER_H_
#define STAX_PROFILER_TIMING_CUDA_TIMER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "profiler/timing/kernel_timer.h"
#include "runtime/device.h"

namespace stax {

absl::StatusOr<std::unique_ptr<KernelTimer>> MakeCudaTimer(Device& device);

}  // namespace stax

#endif  // STAX_PROFILER_TIMING_CUDA_TIMER_H_
