// How often warps stood still for what they load from global memory.
#ifndef STAX_RUNTIME_EMULATOR_LAUNCH_LOAD_WAITS_H_
#define STAX_RUNTIME_EMULATOR_LAUNCH_LOAD_WAITS_H_

#include <cstdint>

#include "runtime/emulator/launch/launch.h"
#include "runtime/emulator/translate/translate.h"

namespace stax::emulator {

// A warp of a GPU goes on after a load and stands still at the first instruction that reads a
// register which is on its way; by then all its earlier loads are under way too. So, in the order
// of the PTX, the first reader of any loaded register is one wait for all loads before it, and
// counts as often as it ran:
//
//   ld a; ld b; add a, b    one wait
//   ld a; use a; ld b; use b    two
//
// cp.async waits at its wait_group or wait_all; a bulk copy is one wait each time it runs. What a
// loop loads for its next turn is hidden by this turn and no wait.
int64_t LoadWaits(const TranslatedKernel& kernel, const LaunchResult& result);

}  // namespace stax::emulator

#endif  // STAX_RUNTIME_EMULATOR_LAUNCH_LOAD_WAITS_H_
