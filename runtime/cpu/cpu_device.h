// The machine's own processor as a Device: native code, threads over the grid.
#ifndef STAX_RUNTIME_CPU_CPU_DEVICE_H_
#define STAX_RUNTIME_CPU_CPU_DEVICE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "runtime/device.h"

namespace stax {

// `threads`: 0 for all the cores this process may use.
absl::StatusOr<std::unique_ptr<Device>> OpenCpuDevice(int threads);

}  // namespace stax

#endif  // STAX_RUNTIME_CPU_CPU_DEVICE_H_
