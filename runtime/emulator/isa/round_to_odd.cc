#include "runtime/emulator/isa/round_to_odd.h"

#include <cmath>
#include <cstdint>

#include "absl/base/casts.h"
#include "runtime/emulator/isa/float_format.h"

namespace stax::isa {
namespace {

// `nearest` is an exact value rounded to nearest, `error` has the sign of exact - nearest.
double ToOdd(double nearest, double error) {
  const uint64_t bits = absl::bit_cast<uint64_t>(nearest);
  if (error == 0 || (bits & 1) != 0) return nearest;
  // The neighbour on the side of the exact value.
  return absl::bit_cast<double>((error > 0) == (nearest > 0) ? bits + 1 : bits - 1);
}

}  // namespace

double OddAdd(double a, double b, Rounding rounding) {
  const double sum = a + b;
  if (!std::isfinite(sum)) return sum;
  if (sum == 0) {
    return rounding == Rounding::kDown && std::signbit(a) != std::signbit(b) ? -0.0 : sum;
  }
  // Knuth's TwoSum: the exact error of the sum.
  const double b_part = sum - a;
  const double a_part = sum - b_part;
  return ToOdd(sum, (a - a_part) + (b - b_part));
}

double OddDivide(double a, double b) {
  const double quotient = a / b;
  if (!std::isfinite(quotient) || quotient == 0 || std::isinf(b)) return quotient;
  const double remainder = std::fma(-quotient, b, a);  // exact
  return ToOdd(quotient, b > 0 ? remainder : -remainder);
}

double OddSqrt(double a) {
  const double root = std::sqrt(a);
  if (!std::isfinite(root) || root == 0) return root;
  return ToOdd(root, std::fma(-root, root, a));  // exact
}

}  // namespace stax::isa
