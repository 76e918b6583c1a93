// The floating formats of PTX, as bits and as doubles.
//
// Every value of the formats up to f32 is a double, so arithmetic on them is done on doubles: an
// exact or round-to-odd result (runtime/emulator/isa/round_to_odd.h), and then the one rounding
// here. ir/scalar.h knows f16 and bf16 too, but rounds to nearest only and has one NaN.
#ifndef STAX_RUNTIME_EMULATOR_ISA_FLOAT_FORMAT_H_
#define STAX_RUNTIME_EMULATOR_ISA_FLOAT_FORMAT_H_

#include <cmath>
#include <cstdint>

#include "absl/base/casts.h"

namespace stax::isa {

// kNearestAway: ties away from zero (.rna).
enum class Rounding { kNearestEven, kZero, kDown, kUp, kNearestAway };

// What a finite value becomes that is too large: what IEEE 754 says, or the largest number.
enum class Overflow { kIeee, kSaturate };

struct FloatFormat {
  int bits;
  int precision;        // of the significand, the implicit bit included
  int min_exponent;     // of normal numbers: the smallest is 2^min_exponent
  uint64_t max_finite;  // bits of the largest number
  uint64_t nan;         // the NaN that operations return
  bool has_infinity;    // one above max_finite
};

// f64: for its bits only, ToDouble and FromDouble do not take it.
inline constexpr FloatFormat kF64Format = {64,  53, -1022, 0x7fefffffffffffff, 0x7fffffffffffffff,
                                           true};
inline constexpr FloatFormat kF32Format = {32, 24, -126, 0x7f7fffff, 0x7fffffff, true};
inline constexpr FloatFormat kF16Format = {16, 11, -14, 0x7bff, 0x7fff, true};
inline constexpr FloatFormat kBF16Format = {16, 8, -126, 0x7f7f, 0x7fff, true};
// The upper 19 bits of an f32.
inline constexpr FloatFormat kTF32Format = {19, 11, -126, 0x3fbff, 0x3ffff, true};
inline constexpr FloatFormat kE4M3Format = {8, 4, -6, 0x7e, 0x7f, false};
inline constexpr FloatFormat kE5M2Format = {8, 3, -14, 0x7b, 0x7f, true};

constexpr uint64_t SignBit(const FloatFormat& format) { return uint64_t{1} << (format.bits - 1); }

// Subnormal or zero.
constexpr bool BelowNormal(const FloatFormat& format, uint64_t bits) {
  return (bits & (SignBit(format) - 1)) < (uint64_t{1} << (format.precision - 1));
}
constexpr bool IsNan(const FloatFormat& format, uint64_t bits) {
  return (bits & (SignBit(format) - 1)) > format.max_finite + (format.has_infinity ? 1 : 0);
}
// Subnormal numbers as zeros of the same sign: .ftz.
constexpr uint64_t FlushSubnormal(const FloatFormat& format, uint64_t bits) {
  return BelowNormal(format, bits) ? bits & SignBit(format) : bits;
}

// Exact. A NaN becomes some NaN.
inline double ToDouble(const FloatFormat& format, uint64_t bits) {
  const uint64_t sign = (bits & SignBit(format)) << (64 - format.bits);
  const uint64_t magnitude = bits & (SignBit(format) - 1);
  const int fraction_bits = format.precision - 1;
  if (magnitude > format.max_finite) {
    const uint64_t infinity = 0x7ff0000000000000;
    const uint64_t quiet_nan = 0x7ff8000000000000;
    return absl::bit_cast<double>(sign | (IsNan(format, bits) ? quiet_nan : infinity));
  }
  const uint64_t field = magnitude >> fraction_bits;
  if (field == 0) {
    // 2^min_exponent is at least 2^-126, so the quantum of subnormal numbers is a normal double.
    const auto quantum_exponent = static_cast<uint64_t>(1023 + format.min_exponent - fraction_bits);
    const double quantum = absl::bit_cast<double>(quantum_exponent << 52);
    const double value = static_cast<double>(magnitude) * quantum;
    return absl::bit_cast<double>(sign | absl::bit_cast<uint64_t>(value));
  }
  // Moves the exponent field from the format's bias to the double's.
  const auto bias = static_cast<uint64_t>(1023 + format.min_exponent - 1);
  return absl::bit_cast<double>(sign | ((magnitude << (53 - format.precision)) + (bias << 52)));
}

// Whether a magnitude is rounded up whose integer part, in units of the result's last place, is odd
// or not, and whose rest is `rest` of `unit`.
template <typename Integer>
constexpr bool RoundsUp(Rounding rounding, bool negative, bool odd, Integer rest, Integer unit) {
  const Integer half = unit >> 1;
  switch (rounding) {
    case Rounding::kNearestEven:
      return rest > half || (rest == half && odd);
    case Rounding::kNearestAway:
      return rest >= half;
    case Rounding::kZero:
      return false;
    case Rounding::kDown:
      return negative && rest != 0;
    case Rounding::kUp:
      return !negative && rest != 0;
  }
  return false;
}

// Whether a finite value beyond the largest number becomes an infinity.
constexpr bool OverflowsToInfinity(Rounding rounding, bool negative) {
  return rounding == Rounding::kNearestEven || rounding == Rounding::kNearestAway ||
         (rounding == Rounding::kDown && negative) || (rounding == Rounding::kUp && !negative);
}

// `value` rounded once. A NaN becomes format.nan, an infinity the largest number when saturating.
// A format without infinity always saturates.
inline uint64_t FromDouble(const FloatFormat& format, Rounding rounding, double value,
                           Overflow overflow = Overflow::kIeee) {
  const uint64_t bits = absl::bit_cast<uint64_t>(value);
  const bool negative = bits >> 63 != 0;
  const uint64_t sign = negative ? SignBit(format) : 0;
  const uint64_t magnitude = bits & 0x7fffffffffffffff;
  if (magnitude > 0x7ff0000000000000) return format.nan;
  const bool saturates = overflow == Overflow::kSaturate || !format.has_infinity;
  if (magnitude == 0x7ff0000000000000) {
    return sign | (saturates ? format.max_finite : format.max_finite + 1);
  }
  // A subnormal double is far below the subnormal numbers of the format; that its significand has
  // no implicit bit does not matter.
  const int exponent = static_cast<int>(magnitude >> 52) - 1023;
  uint64_t significand = magnitude & 0x000fffffffffffff;
  if (exponent > -1023) significand |= uint64_t{1} << 52;
  const int result_exponent = exponent > format.min_exponent ? exponent : format.min_exponent;
  // From the double's last place to the result's. Beyond 62 it is all rest, less than a half.
  int shift = (result_exponent - (format.precision - 1)) - (exponent - 52);
  if (shift > 62) shift = 62;
  const uint64_t unit = uint64_t{1} << shift;
  uint64_t result = significand >> shift;
  const uint64_t rest = significand & (unit - 1);
  if (RoundsUp(rounding, negative, (result & 1) != 0, rest, unit)) ++result;
  // The implicit bit of a normal number, and a carry out of the significand, add to the exponent.
  result += static_cast<uint64_t>(result_exponent - format.min_exponent) << (format.precision - 1);
  if (result <= format.max_finite) return sign | result;
  if (saturates || !OverflowsToInfinity(rounding, negative)) return sign | format.max_finite;
  return sign | (format.max_finite + 1);
}

}  // namespace stax::isa

#endif  // STAX_RUNTIME_EMULATOR_ISA_FLOAT_FORMAT_H_
