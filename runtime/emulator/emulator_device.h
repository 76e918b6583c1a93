// The emulator as a Device: runs cuda programs from their PTX, one launch at a time.
//
// A launch in which the checkers find something is Aborted and says what: the kernel, the line of
// the PTX, the thread and the address.
#ifndef STAX_RUNTIME_EMULATOR_EMULATOR_DEVICE_H_
#define STAX_RUNTIME_EMULATOR_EMULATOR_DEVICE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "runtime/device.h"

namespace stax {

absl::StatusOr<std::unique_ptr<Device>> OpenEmulator();

}  // namespace stax

#endif  // STAX_RUNTIME_EMULATOR_EMULATOR_DEVICE_H_
