// Instructions on bits: and, or, xor, not, cnot, shl, shr, shf, popc, clz, bfind, fns, brev, bfe,
// bfi, bmsk, szext, prmt, lop3, and slct.
//
// The immediate of lop3 is its fourth source. Shift amounts and positions are 32-bit sources.
#ifndef STAX_RUNTIME_EMULATOR_ISA_BIT_OPERATIONS_H_
#define STAX_RUNTIME_EMULATOR_ISA_BIT_OPERATIONS_H_

#include <optional>

#include "runtime/emulator/isa/instruction_name.h"
#include "runtime/emulator/isa/warp_operation.h"

namespace stax::isa {

// nullopt: not one of these.
std::optional<WarpOperation> FindBitOperation(InstructionName name);

}  // namespace stax::isa

#endif  // STAX_RUNTIME_EMULATOR_ISA_BIT_OPERATIONS_H_
