// "Times" launches on the emulator by the cost model.
#ifndef STAX_PROFILER_TIMING_EMULATED_TIMER_H_
#define STAX_PROFILER_TIMING_EMULATED_TIMER_H_

#include <memory>

#include "profiler/timing/kernel_timer.h"
#include "runtime/device.h"

namespace stax {

// `device` must be the emulator. Each call of Time launches once and gives the modelled time for
// every sample: another launch would be counted the same.
std::unique_ptr<KernelTimer> MakeEmulatedTimer(const Device& device);

}  // namespace stax

#endif  // STAX_PROFILER_TIMING_EMULATED_TIMER_H_
