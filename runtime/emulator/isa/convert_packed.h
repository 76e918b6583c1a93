// cvt to and from packed and special formats: f16x2, bf16x2, e4m3x2, e5m2x2, tf32; and from
// f32 to one half with .relu or .satfinite.
//
// Of two f32 sources the first becomes the upper half of the result.
#ifndef STAX_RUNTIME_EMULATOR_ISA_CONVERT_PACKED_H_
#define STAX_RUNTIME_EMULATOR_ISA_CONVERT_PACKED_H_

#include <optional>

#include "runtime/emulator/isa/instruction_name.h"
#include "runtime/emulator/isa/warp_operation.h"

namespace stax::isa {

// nullopt: not one of these.
std::optional<WarpOperation> FindConvertPacked(InstructionName name);

}  // namespace stax::isa

#endif  // STAX_RUNTIME_EMULATOR_ISA_CONVERT_PACKED_H_
