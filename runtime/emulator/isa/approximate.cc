#include "runtime/emulator/isa/approximate.h"

#include <cmath>
#include <cstdint>

#include "absl/base/casts.h"
#include "runtime/emulator/isa/float_format.h"

namespace stax::isa {
namespace {

// The upper half of a double: 1 sign bit, 11 of exponent, 20 of fraction, as the f64 forms use it.
constexpr uint64_t kUpperHalf = 0xffffffff00000000;

double FlushedUpperHalf(uint64_t bits) {
  constexpr uint64_t kExponent = 0x7ff0000000000000;
  constexpr uint64_t kSign = 0x8000000000000000;
  return absl::bit_cast<double>(bits & ((bits & kExponent) == 0 ? kSign : kUpperHalf));
}

// To 20 bits after the point, to nearest, subnormal results to zero.
uint64_t RoundToUpperHalf(double value) {
  if (std::isnan(value)) return 0x7fffffff00000000;
  const uint64_t bits = absl::bit_cast<uint64_t>(value);
  if (std::isinf(value)) return bits;
  if (std::fabs(value) < 0x1p-1022) return bits & 0x8000000000000000;
  return (bits + 0x7fffffff + (bits >> 32 & 1)) & kUpperHalf;
}

}  // namespace

double ApproximateDouble(Approximate function, double a) {
  switch (function) {
    case Approximate::kReciprocal:
      return 1 / a;
    case Approximate::kReciprocalSqrt:
      return 1 / std::sqrt(a);
    case Approximate::kSqrt:
      return std::sqrt(a);
    case Approximate::kSin:
      return std::sin(a);
    case Approximate::kCos:
      return std::cos(a);
    case Approximate::kLog2:
      return std::log2(a);
    case Approximate::kExp2:
      return std::exp2(a);
    case Approximate::kTanh:
      return std::tanh(a);
  }
  return a;
}

double DivideApproximate(double a, double b) {
  if (std::fabs(b) > 0x1p126 && std::isfinite(b)) {
    // 1 / b is subnormal, which the hardware takes for a zero of b's sign.
    return a * std::copysign(0.0, b);
  }
  return a / b;
}

uint64_t ReciprocalF64(uint64_t a) {
  if (IsNan(kF64Format, a)) return 0x7fffffff00000000;
  return RoundToUpperHalf(1 / FlushedUpperHalf(a));
}

uint64_t ReciprocalSqrtF64(uint64_t a) {
  if (IsNan(kF64Format, a)) return 0x7fffffff00000000;
  return RoundToUpperHalf(1 / std::sqrt(FlushedUpperHalf(a)));
}

double ReciprocalSqrtFull(double a) { return 1 / std::sqrt(a); }

}  // namespace stax::isa
