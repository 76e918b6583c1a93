// Profiling: prediction against measurement for every kernel of a program.
#ifndef STAX_PROFILER_REPORT_PROFILE_H_
#define STAX_PROFILER_REPORT_PROFILE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "ir/artifact/device.pb.h"
#include "ir/artifact/program.pb.h"
#include "ir/artifact/report.pb.h"
#include "profiler/timing/kernel_timer.h"
#include "runtime/device.h"

namespace stax {

// Called before each kernel with its name, its number and how many there are.
using ProfileProgress = std::function<void(const std::string& kernel, int step, int steps)>;

// Each kernel on its own, on random inputs, at `sizes` (symbols not given: their hints).
absl::StatusOr<ProfileReport> ProfileProgram(const Program& program, Device& device,
                                             KernelTimer& timer, const DeviceSpec& spec,
                                             const std::map<std::string, int64_t>& sizes,
                                             const ProfileProgress& progress);

}  // namespace stax

#endif  // STAX_PROFILER_REPORT_PROFILE_H_
