#include "runtime/emulator/isa/wide_float.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "absl/base/casts.h"
#include "runtime/emulator/isa/float_format.h"

namespace stax::isa {
namespace {

using Wide = unsigned __int128;

// significand * 2^exponent, with its sign; nonzero. When bits were shifted out, bit 0 stands for
// all of them ("sticky"): it is then far below the last place of a result.
struct Number {
  bool negative;
  int exponent;
  Wide significand;
};

// Where the leading bit is for additions: one bit is left for the carry.
constexpr int kTopBit = 125;

int LeadingBit(Wide value) {
  const auto high = static_cast<uint64_t>(value >> 64);
  return high != 0 ? 127 - __builtin_clzll(high)
                   : 63 - __builtin_clzll(static_cast<uint64_t>(value));
}

// A finite nonzero double.
Number Unpack(double value) {
  const uint64_t bits = absl::bit_cast<uint64_t>(value);
  const int field = static_cast<int>(bits >> 52 & 0x7ff);
  const uint64_t fraction = bits & 0x000fffffffffffff;
  return {bits >> 63 != 0, std::max(field, 1) - 1075,
          field == 0 ? fraction : fraction | uint64_t{1} << 52};
}

void Normalize(Number& number, int top_bit) {
  const int shift = top_bit - LeadingBit(number.significand);
  number.significand <<= shift;
  number.exponent -= shift;
}

Wide ShiftRightSticky(Wide value, int shift) {
  if (shift > kTopBit) return 1;
  const Wide lost = value & ((Wide{1} << shift) - 1);
  return value >> shift | (lost != 0 ? 1 : 0);
}

double Round(const Number& number, Rounding rounding) {
  constexpr int kMinExponent = -1022, kMaxExponent = 1023, kFractionBits = 52;
  const int exponent = std::max(number.exponent + LeadingBit(number.significand), kMinExponent);
  const int shift = exponent - kFractionBits - number.exponent;
  uint64_t result = 0;
  if (shift <= 0) {
    result = static_cast<uint64_t>(number.significand << -shift);
  } else {
    // More than 126 bits: less than half a unit all the same.
    const int bounded = std::min(shift, 126);
    const Wide unit = Wide{1} << bounded;
    const Wide rest = shift > bounded ? Wide{1} : number.significand & (unit - 1);
    result = shift > bounded ? 0 : static_cast<uint64_t>(number.significand >> bounded);
    if (RoundsUp<Wide>(rounding, number.negative, (result & 1) != 0, rest, unit)) ++result;
  }
  result += static_cast<uint64_t>(exponent - kMinExponent) << kFractionBits;
  constexpr uint64_t kInfinity = uint64_t{0x7ff} << kFractionBits;
  if (exponent > kMaxExponent || result >= kInfinity) {
    result = OverflowsToInfinity(rounding, number.negative) ? kInfinity : kInfinity - 1;
  }
  return absl::bit_cast<double>(result | uint64_t{number.negative} << 63);
}

double Sum(Number a, Number b, Rounding rounding) {
  Normalize(a, kTopBit);
  Normalize(b, kTopBit);
  if (a.exponent < b.exponent) std::swap(a, b);
  const Wide smaller = ShiftRightSticky(b.significand, a.exponent - b.exponent);
  if (a.negative == b.negative)
    return Round({a.negative, a.exponent, a.significand + smaller}, rounding);
  if (a.significand == smaller) return rounding == Rounding::kDown ? -0.0 : 0.0;
  if (a.significand > smaller) {
    return Round({a.negative, a.exponent, a.significand - smaller}, rounding);
  }
  return Round({b.negative, a.exponent, smaller - a.significand}, rounding);
}

Number Product(double a, double b) {
  const Number x = Unpack(a), y = Unpack(b);
  return {x.negative != y.negative, x.exponent + y.exponent, x.significand * y.significand};
}

bool FiniteNonzero(double value) { return std::isfinite(value) && value != 0; }

}  // namespace

double AddF64(double a, double b, Rounding rounding) {
  if (rounding == Rounding::kNearestEven || !std::isfinite(a) || !std::isfinite(b)) return a + b;
  if (a == 0 && b == 0) {
    return rounding == Rounding::kDown && std::signbit(a) != std::signbit(b) ? -0.0 : a + b;
  }
  if (a == 0) return b;
  if (b == 0) return a;
  return Sum(Unpack(a), Unpack(b), rounding);
}

double MultiplyF64(double a, double b, Rounding rounding) {
  if (rounding == Rounding::kNearestEven || !FiniteNonzero(a) || !FiniteNonzero(b)) return a * b;
  return Round(Product(a, b), rounding);
}

double FmaF64(double a, double b, double c, Rounding rounding) {
  if (rounding == Rounding::kNearestEven || !std::isfinite(c)) return std::fma(a, b, c);
  // An infinity, NaN or a zero, all of them exact.
  if (!FiniteNonzero(a) || !FiniteNonzero(b)) return AddF64(a * b, c, rounding);
  if (c == 0) return Round(Product(a, b), rounding);
  return Sum(Product(a, b), Unpack(c), rounding);
}

double DivideF64(double a, double b, Rounding rounding) {
  if (rounding == Rounding::kNearestEven || !FiniteNonzero(a) || !FiniteNonzero(b)) return a / b;
  Number x = Unpack(a), y = Unpack(b);
  Normalize(x, kTopBit);
  Normalize(y, 52);
  // At least 73 bits; the remainder is the sticky bit.
  const Wide quotient = x.significand / y.significand;
  const Wide sticky = x.significand % y.significand != 0 ? 1 : 0;
  return Round({x.negative != y.negative, x.exponent - y.exponent, quotient | sticky}, rounding);
}

double SqrtF64(double a, Rounding rounding) {
  if (rounding == Rounding::kNearestEven || !FiniteNonzero(a) || a < 0) return std::sqrt(a);
  Number x = Unpack(a);
  Normalize(x, kTopBit - 1);
  if (x.exponent % 2 != 0) {  // an odd exponent takes a factor of 2 from the significand
    x.significand <<= 1;
    --x.exponent;
  }
  // The integer square root, 63 bits, from the highest bit down.
  Wide root = 0, rest = x.significand;
  for (Wide bit = Wide{1} << 124; bit != 0; bit >>= 2) {
    if (rest >= root + bit) {
      rest -= root + bit;
      root = (root >> 1) + bit;
    } else {
      root >>= 1;
    }
  }
  return Round({false, x.exponent / 2, root | (rest != 0 ? 1 : 0)}, rounding);
}

}  // namespace stax::isa
