// Floating-point instructions that do not round an exact result: the approximate functions, neg,
// abs, min, max, copysign.
#ifndef STAX_RUNTIME_EMULATOR_ISA_FLOAT_FUNCTIONS_H_
#define STAX_RUNTIME_EMULATOR_ISA_FLOAT_FUNCTIONS_H_

#include <cstdint>
#include <optional>

#include "runtime/emulator/isa/float_format.h"
#include "runtime/emulator/isa/instruction_name.h"
#include "runtime/emulator/isa/warp_operation.h"

namespace stax::isa {

// min or max of two numbers as bits of the format, f64 included: -0 is less than +0. Of a NaN and a
// number it is the number, unless `nan_wins`.
uint64_t MinMaxFloat(const FloatFormat& format, bool max, bool nan_wins, uint64_t a, uint64_t b);

// nullopt: not one of these.
std::optional<WarpOperation> FindFloatFunction(InstructionName name);

}  // namespace stax::isa

#endif  // STAX_RUNTIME_EMULATOR_ISA_FLOAT_FUNCTIONS_H_
