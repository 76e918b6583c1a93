// Times launches on the CPU by the monotonic clock.
#ifndef STAX_PROFILER_TIMING_CPU_TIMER_H_
#define STAX_PROFILER_TIMING_CPU_TIMER_H_

#include <memory>

#include "profiler/timing/kernel_timer.h"
#include "runtime/device.h"

namespace stax {

std::unique_ptr<KernelTimer> MakeCpuTimer(const Device& device);

}  // namespace stax

#endif  // STAX_PROFILER_TIMING_CPU_TIMER_H_
