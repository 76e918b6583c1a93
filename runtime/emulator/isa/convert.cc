#include "runtime/emulator/isa/convert.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>

#include "absl/base/casts.h"
#include "runtime/emulator/isa/float_format.h"
#include "runtime/emulator/isa/float_names.h"
#include "runtime/emulator/isa/float_value.h"
#include "runtime/emulator/isa/instruction_name.h"
#include "runtime/emulator/isa/lanes.h"
#include "runtime/emulator/isa/warp_operation.h"

namespace stax::isa {
namespace {

// The types of PTX: the value's C++ type (of integers), its element in a register, its format.
template <typename V, typename R>
struct IntegerType {
  using Value = V;
  using Register = R;
  static constexpr bool kFloat = false;
};
template <const FloatFormat& kFloatFormat, typename R>
struct FloatingType {
  using Register = R;
  static constexpr bool kFloat = true;
  static constexpr const FloatFormat& kFormat = kFloatFormat;
};
using U8 = IntegerType<uint8_t, uint16_t>;
using S8 = IntegerType<int8_t, int16_t>;
using U16 = IntegerType<uint16_t, uint16_t>;
using S16 = IntegerType<int16_t, int16_t>;
using U32 = IntegerType<uint32_t, uint32_t>;
using S32 = IntegerType<int32_t, int32_t>;
using U64 = IntegerType<uint64_t, uint64_t>;
using S64 = IntegerType<int64_t, int64_t>;
using F16 = FloatingType<kF16Format, uint16_t>;
using BF16 = FloatingType<kBF16Format, uint16_t>;
using F32 = FloatingType<kF32Format, uint32_t>;
using F64 = FloatingType<kF64Format, uint64_t>;

enum class Type { kU8, kS8, kU16, kS16, kU32, kS32, kU64, kS64, kF16, kBF16, kF32, kF64 };

constexpr bool IsFloat(Type type) { return type >= Type::kF16; }
constexpr int BitsOf(Type type) {
  switch (type) {
    case Type::kU8:
    case Type::kS8:
      return 8;
    case Type::kU16:
    case Type::kS16:
    case Type::kF16:
    case Type::kBF16:
      return 16;
    case Type::kU32:
    case Type::kS32:
    case Type::kF32:
      return 32;
    default:
      return 64;
  }
}

std::optional<Type> TakeType(InstructionName& name) {
  const int index = name.TakeOneOf(
      {"u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64", "f16", "bf16", "f32", "f64"});
  if (index < 0) return std::nullopt;
  return static_cast<Type>(index);
}

template <typename From>
double Load(typename From::Register bits, bool ftz) {
  if constexpr (std::is_same_v<From, F64>) {
    return absl::bit_cast<double>(bits);
  } else {
    return LoadFloat(From::kFormat, bits, ftz);
  }
}

// A clamped conversion of an integer-valued double, or of a NaN. Zero for a NaN, but when either
// side has 64 bits, the highest bit alone ("1 << (BitWidth(dst) - 1)").
template <typename From, typename To>
typename To::Value ToInteger(double value) {
  using V = typename To::Value;
  constexpr V kMin = std::numeric_limits<V>::min(), kMax = std::numeric_limits<V>::max();
  if (std::isnan(value)) {
    if (sizeof(typename From::Register) < 8 && sizeof(V) < 8) return 0;
    return static_cast<V>(uint64_t{1} << (8 * sizeof(V) - 1));
  }
  // 2^bits (or 2^(bits - 1)) is a double; the largest integer may not be one.
  const double limit = std::ldexp(1.0, std::numeric_limits<V>::digits);
  if (value >= limit) return kMax;
  if (value <= static_cast<double>(kMin)) return kMin;
  return static_cast<V>(value);
}

// Variant: rounding in bits 0 and 1, .ftz in bit 2.
template <typename From, typename To>
struct FloatToInteger {
  template <unsigned kVariant>
  static typename To::Register Apply(typename From::Register bits) {
    const FloatModes modes = DecodeModes(kVariant);
    return ToInteger<From, To>(RoundToInteger(modes.rounding, Load<From>(bits, modes.ftz)));
  }
};

// A magnitude as a double, rounded to odd: good for a further rounding to 51 bits or fewer.
double OddMagnitude(uint64_t magnitude) {
  constexpr int kSpareBits = 11;
  if (magnitude >> (64 - kSpareBits) == 0) return static_cast<double>(magnitude);
  const uint64_t rest = magnitude & ((uint64_t{1} << kSpareBits) - 1);
  return static_cast<double>((magnitude - rest) | (rest != 0 ? uint64_t{1} << kSpareBits : 0));
}

double RoundMagnitudeToF64(Rounding rounding, bool negative, uint64_t magnitude) {
  const int leading_zeros = magnitude == 0 ? 64 : __builtin_clzll(magnitude);
  const int shift = 11 - leading_zeros;
  if (shift > 0) {
    const uint64_t unit = uint64_t{1} << shift;
    const uint64_t rest = magnitude & (unit - 1);
    magnitude -= rest;
    if (RoundsUp(rounding, negative, (magnitude & unit) != 0, rest, unit)) {
      if (magnitude + unit < magnitude) return 0x1p64;
      magnitude += unit;
    }
  }
  return static_cast<double>(magnitude);
}

// Variant: rounding, then .sat in bit 2.
template <typename From, typename To>
struct IntegerToFloat {
  template <unsigned kVariant>
  static typename To::Register Apply(typename From::Register bits) {
    FloatModes modes;
    modes.rounding = static_cast<Rounding>(kVariant & 3);
    modes.sat = (kVariant & 4) != 0;
    const auto value = static_cast<typename From::Value>(bits);
    const bool negative = value < 0;
    const uint64_t magnitude =
        negative ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
    double result = 0;
    if constexpr (std::is_same_v<To, F64>) {
      result = RoundMagnitudeToF64(modes.rounding, negative, magnitude);
      result = negative ? -result : result;
      return ClampFloat(kF64Format, absl::bit_cast<uint64_t>(result), modes);
    } else {
      result = OddMagnitude(magnitude);
      return static_cast<typename To::Register>(
          FinishFloat(To::kFormat, negative ? -result : result, modes));
    }
  }
};

// Variant 1 is .sat.
template <typename From, typename To>
struct IntegerToInteger {
  template <unsigned kSat>
  static typename To::Register Apply(typename From::Register bits) {
    using V = typename To::Value;
    using W = typename From::Value;
    const W value = static_cast<W>(bits);
    if constexpr (kSat != 0) {
      constexpr V kMin = std::numeric_limits<V>::min(), kMax = std::numeric_limits<V>::max();
      const __int128 wide = __int128{0} + value;
      if (wide < kMin) return kMin;
      if (wide > kMax) return kMax;
    }
    return static_cast<V>(value);
  }
};

// Variant: rounding, .ftz, .sat, then in bit 4: rounds to an integer, of one type only.
constexpr unsigned kToInteger = 16;
template <typename From, typename To>
constexpr unsigned kFloatVariants = std::is_same_v<From, To> ? 32 : 16;

template <typename From, typename To>
struct FloatToFloat {
  template <unsigned kVariant>
  static typename To::Register Apply(typename From::Register bits) {
    FloatModes modes = DecodeModes(kVariant & (kToInteger - 1));
    // .ftz is about f32 only.
    double value = Load<From>(bits, modes.ftz && std::is_same_v<From, F32>);
    modes.ftz = modes.ftz && std::is_same_v<To, F32>;
    if ((kVariant & kToInteger) != 0) value = RoundToInteger(modes.rounding, value);
    if constexpr (std::is_same_v<To, F64>) {
      const bool new_nan = std::isnan(value) && !std::is_same_v<From, F64>;
      return ClampFloat(kF64Format, new_nan ? kF64Format.nan : absl::bit_cast<uint64_t>(value),
                        modes);
    } else {
      return static_cast<typename To::Register>(FinishFloat(To::kFormat, value, modes));
    }
  }
};

struct Modifiers {
  std::optional<Rounding> rounding;
  bool to_integer = false;  // rni rzi rmi rpi
  FloatModes modes;
};

template <typename From, typename To>
WarpOperation PickPair(const Modifiers& m) {
  const unsigned modes = EncodeModes(m.modes);
  if constexpr (From::kFloat && To::kFloat) {
    return PickOperation<FloatToFloat<From, To>, kFloatVariants<From, To>>(
        modes | (m.to_integer ? kToInteger : 0));
  } else if constexpr (From::kFloat) {
    constexpr unsigned kVariants = std::is_same_v<From, F32> ? 8 : 4;  // .ftz is about f32
    return PickOperation<FloatToInteger<From, To>, kVariants>(modes & 7);
  } else if constexpr (To::kFloat) {
    return PickOperation<IntegerToFloat<From, To>, 8>((modes & 3) | unsigned{m.modes.sat} << 2);
  } else {
    return PickOperation<IntegerToInteger<From, To>, 2>(m.modes.sat);
  }
}

template <typename From>
WarpOperation PickTo(Type to, const Modifiers& m) {
  switch (to) {
    case Type::kU8:
      return PickPair<From, U8>(m);
    case Type::kS8:
      return PickPair<From, S8>(m);
    case Type::kU16:
      return PickPair<From, U16>(m);
    case Type::kS16:
      return PickPair<From, S16>(m);
    case Type::kU32:
      return PickPair<From, U32>(m);
    case Type::kS32:
      return PickPair<From, S32>(m);
    case Type::kU64:
      return PickPair<From, U64>(m);
    case Type::kS64:
      return PickPair<From, S64>(m);
    case Type::kF16:
      return PickPair<From, F16>(m);
    case Type::kBF16:
      return PickPair<From, BF16>(m);
    case Type::kF32:
      return PickPair<From, F32>(m);
    case Type::kF64:
      break;
  }
  return PickPair<From, F64>(m);
}

WarpOperation Pick(Type from, Type to, const Modifiers& m) {
  switch (from) {
    case Type::kU8:
      return PickTo<U8>(to, m);
    case Type::kS8:
      return PickTo<S8>(to, m);
    case Type::kU16:
      return PickTo<U16>(to, m);
    case Type::kS16:
      return PickTo<S16>(to, m);
    case Type::kU32:
      return PickTo<U32>(to, m);
    case Type::kS32:
      return PickTo<S32>(to, m);
    case Type::kU64:
      return PickTo<U64>(to, m);
    case Type::kS64:
      return PickTo<S64>(to, m);
    case Type::kF16:
      return PickTo<F16>(to, m);
    case Type::kBF16:
      return PickTo<BF16>(to, m);
    case Type::kF32:
      return PickTo<F32>(to, m);
    case Type::kF64:
      break;
  }
  return PickTo<F64>(to, m);
}

// Which modifiers the ISA asks for and lets the pair have.
bool Legal(Type from, Type to, const Modifiers& m) {
  const bool f32 = from == Type::kF32 || to == Type::kF32;
  const bool has_rounding = m.rounding.has_value();
  if (m.modes.ftz && !f32) return false;
  if (m.modes.sat && to == Type::kBF16) return false;
  if (IsFloat(from) && IsFloat(to)) {
    if (from == to) return !has_rounding || m.to_integer;
    const bool narrows = BitsOf(to) < BitsOf(from) || (BitsOf(to) == 16 && BitsOf(from) == 16);
    return narrows ? has_rounding && !m.to_integer : !has_rounding;
  }
  if (IsFloat(from)) return m.to_integer;
  if (IsFloat(to)) return has_rounding && !m.to_integer;
  return !has_rounding && !m.modes.ftz;
}

}  // namespace

double RoundToInteger(Rounding rounding, double value) {
  switch (rounding) {
    case Rounding::kNearestEven: {
      // Adding and subtracting 2^52 leaves no fraction. The processor rounds to nearest.
      if (!(std::fabs(value) < 0x1p52)) return value;
      const double magnitude = std::fabs(value) + 0x1p52;
      return std::copysign(magnitude - 0x1p52, value);
    }
    case Rounding::kNearestAway:
      return std::round(value);
    case Rounding::kZero:
      return std::trunc(value);
    case Rounding::kDown:
      return std::floor(value);
    case Rounding::kUp:
      return std::ceil(value);
  }
  return value;
}

std::optional<WarpOperation> FindConvert(InstructionName name) {
  if (name.opcode() != "cvt") return std::nullopt;
  Modifiers m;
  m.rounding = TakeRounding(name);
  if (!m.rounding.has_value()) {
    const int integer = name.TakeOneOf({"rni", "rzi", "rmi", "rpi"});
    if (integer >= 0) {
      m.to_integer = true;
      m.rounding = static_cast<Rounding>(integer);
    }
  }
  m.modes.rounding = m.rounding.value_or(Rounding::kNearestEven);
  m.modes.ftz = name.Take("ftz");
  m.modes.sat = name.Take("sat");
  const std::optional<Type> to = TakeType(name);
  const std::optional<Type> from = TakeType(name);
  if (!to.has_value() || !from.has_value() || !name.done() || !Legal(*from, *to, m)) {
    return std::nullopt;
  }
  return Pick(*from, *to, m);
}

}  // namespace stax::isa
