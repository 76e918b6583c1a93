// Integer arithmetic: add, sub, mul, mad, mul24, mad24, sad, div, rem, abs, neg, min, max, dp4a,
// dp2a, also x2. Instructions on bits are in runtime/emulator/isa/bit_operations.h, those with a
// carry flag in runtime/emulator/isa/carry.h.
//
// Division by zero gives all ones, and the dividend as remainder.
#ifndef STAX_RUNTIME_EMULATOR_ISA_INTEGER_H_
#define STAX_RUNTIME_EMULATOR_ISA_INTEGER_H_

#include <optional>

#include "runtime/emulator/isa/instruction_name.h"
#include "runtime/emulator/isa/warp_operation.h"

namespace stax::isa {

// nullopt: not one of these.
std::optional<WarpOperation> FindInteger(InstructionName name);

}  // namespace stax::isa

#endif  // STAX_RUNTIME_EMULATOR_ISA_INTEGER_H_
