// Whether what a kernel does may depend on the order in which its blocks run.
#ifndef STAX_RUNTIME_EMULATOR_LAUNCH_BLOCK_ORDER_H_
#define STAX_RUNTIME_EMULATOR_LAUNCH_BLOCK_ORDER_H_

#include "runtime/emulator/translate/flat_kernel.h"

namespace stax::emulator {

// True for a kernel with an instruction by which a block may learn what others have done so far: an
// atomic that returns a value, a volatile, relaxed or acquire load; or with one whose result is not
// the same in every order: a sum of floats, inc and dec. Of global memory, or of memory that may
// be it. Plain loads are not asked: where they see what another block writes in the same launch,
// that is a race.
bool DependsOnBlockOrder(const FlatKernel& kernel);

}  // namespace stax::emulator

#endif  // STAX_RUNTIME_EMULATOR_LAUNCH_BLOCK_ORDER_H_
