// Calibration: what one device can do at most, measured once. DeviceSpec is the base of every
// prediction.
#ifndef STAX_PROFILER_CALIBRATION_CALIBRATE_H_
#define STAX_PROFILER_CALIBRATION_CALIBRATE_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "ir/artifact/device.pb.h"
#include "profiler/timing/kernel_timer.h"
#include "runtime/device.h"

namespace stax {

// Called before each measurement with what it measures, its number and how many there are.
using CalibrationProgress = std::function<void(const std::string& what, int step, int steps)>;

// DRAM read, write and copy bandwidth over buffers far larger than the last-level cache; latency by
// a pointer chase; f32 FMA rate; launch cost. Takes a few seconds. Of the emulator nothing is
// measured: the constants of its cost model, with an origin in place of a date.
absl::StatusOr<DeviceSpec> Calibrate(Device& device, KernelTimer& timer,
                                     const CalibrationProgress& progress);

}  // namespace stax

#endif  // STAX_PROFILER_CALIBRATION_CALIBRATE_H_
