// cvt between integers and floating formats. The narrow packed forms (f8, tf32, x2) are in
// runtime/emulator/isa/convert_packed.h.
//
// Float to integer clamps to the range of the integer. A NaN becomes 0, but with f64, u64 or s64 on
// either side the highest bit alone.
#ifndef STAX_RUNTIME_EMULATOR_ISA_CONVERT_H_
#define STAX_RUNTIME_EMULATOR_ISA_CONVERT_H_

#include <cstdint>
#include <optional>

#include "runtime/emulator/isa/float_format.h"
#include "runtime/emulator/isa/instruction_name.h"
#include "runtime/emulator/isa/warp_operation.h"

namespace stax::isa {

// `value` rounded to an integer, which stays a double. -0.25 becomes -0.
double RoundToInteger(Rounding rounding, double value);

// nullopt: not one of these.
std::optional<WarpOperation> FindConvert(InstructionName name);

}  // namespace stax::isa

#endif  // STAX_RUNTIME_EMULATOR_ISA_CONVERT_H_
