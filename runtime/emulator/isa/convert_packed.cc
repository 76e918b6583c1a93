#include "runtime/emulator/isa/convert_packed.h"

#include <cstdint>
#include <optional>

#include "runtime/emulator/isa/float_format.h"
#include "runtime/emulator/isa/float_value.h"
#include "runtime/emulator/isa/instruction_name.h"
#include "runtime/emulator/isa/lanes.h"
#include "runtime/emulator/isa/warp_operation.h"

namespace stax::isa {
namespace {

// Variant bits: .rz (else .rn), .relu, .satfinite.
constexpr unsigned kTowardZero = 1, kRelu = 2, kSatFinite = 4, kVariants = 8;

FloatModes ModesOf(unsigned variant) {
  FloatModes modes;
  modes.rounding = (variant & kTowardZero) != 0 ? Rounding::kZero : Rounding::kNearestEven;
  modes.relu = (variant & kRelu) != 0;
  return modes;
}

Overflow OverflowOf(unsigned variant) {
  return (variant & kSatFinite) != 0 ? Overflow::kSaturate : Overflow::kIeee;
}

uint64_t Convert(const FloatFormat& from, const FloatFormat& to, uint64_t bits, unsigned variant) {
  return FinishFloat(to, ToDouble(from, bits), ModesOf(variant), OverflowOf(variant));
}

// d = {a, b}
template <const FloatFormat& kTo, typename Bits>
struct PackF32 {
  template <unsigned kVariant>
  static Bits Apply(uint32_t a, uint32_t b) {
    return static_cast<Bits>(Convert(kF32Format, kTo, a, kVariant) << kTo.bits |
                             Convert(kF32Format, kTo, b, kVariant));
  }
};

// To one half, under modifiers that other conversions do not have.
template <const FloatFormat& kTo>
struct HalfOfF32 {
  template <unsigned kVariant>
  static uint16_t Apply(uint32_t a) {
    return static_cast<uint16_t>(Convert(kF32Format, kTo, a, kVariant));
  }
};

template <const FloatFormat& kFrom, const FloatFormat& kTo, typename FromBits, typename ToBits>
struct ConvertBoth {
  template <unsigned kVariant>
  static ToBits Apply(FromBits a) {
    constexpr FromBits kLow = static_cast<FromBits>((uint64_t{1} << kFrom.bits) - 1);
    return static_cast<ToBits>(Convert(kFrom, kTo, a >> kFrom.bits, kVariant) << kTo.bits |
                               Convert(kFrom, kTo, a & kLow, kVariant));
  }
};

// The f32 with the low 13 bits of its fraction zero; a NaN is that of f32.
constexpr int kTf32Shift = 13;

uint32_t ToTf32(uint32_t a, FloatModes modes, Overflow overflow) {
  const double value = ToDouble(kF32Format, a);
  if (IsNan(kF32Format, a)) return static_cast<uint32_t>(kF32Format.nan);
  return static_cast<uint32_t>(FinishFloat(kTF32Format, value, modes, overflow) << kTf32Shift);
}

struct Tf32Family {
  template <unsigned kVariant>
  static uint32_t Apply(uint32_t a) {
    return ToTf32(a, ModesOf(kVariant), OverflowOf(kVariant));
  }
};

// Variant bit 0: .satfinite.
struct Tf32AwayFamily {
  template <unsigned kVariant>
  static uint32_t Apply(uint32_t a) {
    FloatModes modes;
    modes.rounding = Rounding::kNearestAway;
    return ToTf32(a, modes, kVariant != 0 ? Overflow::kSaturate : Overflow::kIeee);
  }
};

}  // namespace

std::optional<WarpOperation> FindConvertPacked(InstructionName name) {
  if (name.opcode() != "cvt") return std::nullopt;
  const int rounding = name.TakeOneOf({"rn", "rz", "rna"});
  if (rounding < 0) return std::nullopt;
  const bool away = rounding == 2;
  // tf32 and the f8 types have .satfinite before .relu, the others after it.
  bool satfinite = name.Take("satfinite");
  const bool relu = name.Take("relu");
  satfinite = satfinite || name.Take("satfinite");
  const unsigned variant =
      (rounding == 1 ? kTowardZero : 0) | (relu ? kRelu : 0) | (satfinite ? kSatFinite : 0);
  if (name.Take("tf32")) {
    if (!name.Take("f32") || !name.done() || (away && relu)) return std::nullopt;
    if (away) return PickOperation<Tf32AwayFamily, 2>(satfinite);
    return PickOperation<Tf32Family, kVariants>(variant);
  }
  if (away) return std::nullopt;
  const int half = relu || satfinite ? name.TakeOneOf({"f16", "bf16"}) : -1;
  if (half >= 0) {
    if (!name.Take("f32") || !name.done()) return std::nullopt;
    return half == 0 ? PickOperation<HalfOfF32<kF16Format>, kVariants>(variant)
                     : PickOperation<HalfOfF32<kBF16Format>, kVariants>(variant);
  }
  const int to = name.TakeOneOf({"f16x2", "bf16x2", "e4m3x2", "e5m2x2"});
  const int from = name.TakeOneOf({"f32", "f16x2", "e4m3x2", "e5m2x2"});
  if (to < 0 || from < 0 || !name.done()) return std::nullopt;
  if (to <= 1 && from == 0) {
    return to == 0 ? PickOperation<PackF32<kF16Format, uint32_t>, kVariants>(variant)
                   : PickOperation<PackF32<kBF16Format, uint32_t>, kVariants>(variant);
  }
  if (rounding != 0) return std::nullopt;
  if (to == 0 && from >= 2 && !satfinite) {
    return from == 2
               ? PickOperation<ConvertBoth<kE4M3Format, kF16Format, uint16_t, uint32_t>, kVariants>(
                     variant)
               : PickOperation<ConvertBoth<kE5M2Format, kF16Format, uint16_t, uint32_t>, kVariants>(
                     variant);
  }
  if (to < 2 || !satfinite) return std::nullopt;
  if (from == 0) {
    return to == 2 ? PickOperation<PackF32<kE4M3Format, uint16_t>, kVariants>(variant)
                   : PickOperation<PackF32<kE5M2Format, uint16_t>, kVariants>(variant);
  }
  if (from == 1) {
    return to == 2
               ? PickOperation<ConvertBoth<kF16Format, kE4M3Format, uint32_t, uint16_t>, kVariants>(
                     variant)
               : PickOperation<ConvertBoth<kF16Format, kE5M2Format, uint32_t, uint16_t>, kVariants>(
                     variant);
  }
  return std::nullopt;
}

}  // namespace stax::isa
