// add, sub, mul, fma, mad, div, rcp, sqrt of f16, f16x2, bf16, bf16x2, f32 and f64 in all
// roundings, rounded once. f64 NaNs are the processor's; all others are the canonical ones.
#ifndef STAX_RUNTIME_EMULATOR_ISA_FLOAT_ARITHMETIC_H_
#define STAX_RUNTIME_EMULATOR_ISA_FLOAT_ARITHMETIC_H_

#include <optional>

#include "runtime/emulator/isa/instruction_name.h"
#include "runtime/emulator/isa/warp_operation.h"

namespace stax::isa {

// nullopt: not one of these.
std::optional<WarpOperation> FindFloatArithmetic(InstructionName name);

}  // namespace stax::isa

#endif  // STAX_RUNTIME_EMULATOR_ISA_FLOAT_ARITHMETIC_H_
