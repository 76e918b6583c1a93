// The integer types of instructions, taken from a name and handed to templates.
#ifndef STAX_RUNTIME_EMULATOR_ISA_INTEGER_TYPES_H_
#define STAX_RUNTIME_EMULATOR_ISA_INTEGER_TYPES_H_

#include <cstdint>
#include <optional>
#include <type_traits>

#include "runtime/emulator/isa/instruction_name.h"

namespace stax::isa {

enum class IntegerType { kU16, kS16, kU32, kS32, kU64, kS64 };

// The type, which has to be the last modifier. .b16 .b32 .b64 are taken for unsigned types.
inline std::optional<IntegerType> TakeLastIntegerType(InstructionName& name, bool bits = false) {
  int index = name.TakeOneOf({"u16", "s16", "u32", "s32", "u64", "s64"});
  if (index < 0 && bits) {
    const int untyped = name.TakeOneOf({"b16", "b32", "b64"});
    if (untyped >= 0) index = 2 * untyped;
  }
  if (index < 0 || !name.done()) return std::nullopt;
  return static_cast<IntegerType>(index);
}

// Calls `body` with a value of the C++ type, whose value does not matter.
template <typename Body>
auto WithIntegerType(IntegerType type, const Body& body) {
  switch (type) {
    case IntegerType::kU16:
      return body(uint16_t{});
    case IntegerType::kS16:
      return body(int16_t{});
    case IntegerType::kU32:
      return body(uint32_t{});
    case IntegerType::kS32:
      return body(int32_t{});
    case IntegerType::kU64:
      return body(uint64_t{});
    case IntegerType::kS64:
      break;
  }
  return body(int64_t{});
}

// Twice as wide, of the same sign; and 128 bits of either sign, which hold every product.
template <typename T>
using TwiceAsWide = std::conditional_t<
    sizeof(T) == 2, std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>,
    std::conditional_t<sizeof(T) == 4, std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>,
                       std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>>>;
template <typename T>
using Widest = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;

}  // namespace stax::isa

#endif  // STAX_RUNTIME_EMULATOR_ISA_INTEGER_TYPES_H_
