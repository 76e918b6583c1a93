// The emulator as a Device: runs cuda programs from their PTX, one launch at a time.
//
// A launch in which the checkers find something is Aborted and says what: the kernel, the line of
// the PTX, the thread and the address.
#ifndef STAX_RUNTIME_EMULATOR_EMULATOR_DEVICE_H_
#define STAX_RUNTIME_EMULATOR_EMULATOR_DEVICE_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "runtime/device.h"
#include "runtime/emulator/launch/counters.h"

namespace stax {

absl::StatusOr<std::unique_ptr<Device>> OpenEmulator();

// What a launch was and what was counted of it.
struct EmulatedLaunch {
  int64_t blocks = 0;
  int64_t block_threads = 0;
  int64_t shared_bytes = 0;  // static, a block
  int64_t registers = 0;     // a thread, by ptxas; at most 0: unknown
  emulator::LaunchTotals totals;
};

// Of the last launch on `device`; nullptr when it failed, before the first one, and for a device
// that is no emulator. Valid until the next launch.
const EmulatedLaunch* LastLaunch(const Device& device);

}  // namespace stax

#endif  // STAX_RUNTIME_EMULATOR_EMULATOR_DEVICE_H_
