// Modifiers that floating-point instructions share, taken from an instruction's name.
#ifndef STAX_RUNTIME_EMULATOR_ISA_FLOAT_NAMES_H_
#define STAX_RUNTIME_EMULATOR_ISA_FLOAT_NAMES_H_

#include <optional>

#include "runtime/emulator/isa/float_format.h"
#include "runtime/emulator/isa/instruction_name.h"

namespace stax::isa {

enum class FloatType { kF16, kF16x2, kBF16, kBF16x2, kF32, kF64 };

// .rn .rz .rm .rp
inline std::optional<Rounding> TakeRounding(InstructionName& name) {
  switch (name.TakeOneOf({"rn", "rz", "rm", "rp"})) {
    case 0:
      return Rounding::kNearestEven;
    case 1:
      return Rounding::kZero;
    case 2:
      return Rounding::kDown;
    case 3:
      return Rounding::kUp;
    default:
      return std::nullopt;
  }
}

// The type, which has to be the last modifier.
inline std::optional<FloatType> TakeLastFloatType(InstructionName& name) {
  const int index = name.TakeOneOf({"f16", "f16x2", "bf16", "bf16x2", "f32", "f64"});
  if (index < 0 || !name.done()) return std::nullopt;
  return static_cast<FloatType>(index);
}

}  // namespace stax::isa

#endif  // STAX_RUNTIME_EMULATOR_ISA_FLOAT_NAMES_H_
