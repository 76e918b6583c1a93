// sinh, cosh: with h = exp(|x|) / 2, h -+ 1/(4 h); below 1 sinh is an odd polynomial instead.
// tanh: 1 - 2 / (exp(2|x|) + 1), below 0.6 an odd polynomial (f32), or
// expm1(2|x|) / (expm1(2|x|) + 2) (f64).
// Inverses: log1p of an argument that is small when x is (asinh, atanh) or near 1 (acosh).
#include "compiler/codegen/math/hyperbolic.h"

#include <limits>

#include "compiler/codegen/math/coefficients.h"
#include "compiler/codegen/math/exp_log.h"

namespace stax::math {
namespace {

constexpr double kLn2 = 0x1.62e42fefa39efp-1;

// exp(|x|) / 2 and half its reciprocal.
struct HalfExponentials {
  Real growing, falling;
};
HalfExponentials HalfExp(const Real& a) {
  const Real h = ScaledExp(a, -1);
  if (h.approximate_f32()) return {h, 0.25 * ApproximateReciprocal(h)};
  return {h, 0.25 / h};
}

// From here on adding 1 to x, or to x^2, is lost in f64, and doubling x is adding ln2.
constexpr double kHuge = 0x1p54;

// log(2 x) where x is huge, else log1p(t).
Real Log1pOrLogOfTwice(const Real& x, const Real& t) {
  if (x.brief()) return Log1p(t);
  const Mask huge = x >= kHuge;
  return Log1p(Select(huge, x, t)) + Select(huge, x.Constant(kLn2), 0.0);
}

}  // namespace

Real Sinh(const Real& x) {
  const Real a = Abs(x);
  const HalfExponentials e = HalfExp(a);
  const Real z = a * a;
  const Real p = x.f64() ? Polynomial(z, kSinhF64) : Polynomial(z, kSinhF32);
  return CopySign(Select(a < 1, Fma(a * z, p, a), e.growing - e.falling), x);
}

Real Cosh(const Real& x) {
  const HalfExponentials e = HalfExp(Abs(x));
  return e.growing + e.falling;
}

Real Tanh(const Real& x) {
  const Real a = Abs(x);
  if (x.f64()) {
    const Real e = Expm1(2 * AtMost(a, 22));
    return CopySign(BenignQuotient(e, e + 2), x);
  }
  const Real z = a * a;
  const Real small = Fma(a * z, Polynomial(z, kTanhF32), a);
  const Real e =
      x.approximate_f32() ? BoundedExp2(0x1.715476p+1 * a) : BoundedExp(2 * AtMost(a, 10));
  const Real inverse = x.approximate_f32() ? ApproximateReciprocal(e + 1) : 1 / (e + 1);
  return CopySign(Select(a < 0.6, small, Fma(inverse, -2, 1)), x);
}

// asinh(a) = log1p(a + a^2 / (1 + sqrt(1 + a^2))).
Real Asinh(const Real& x) {
  const Real a = Abs(x);
  // The bound keeps an infinite x from making inf / inf, and matters to no other of f32.
  const Real square = x.brief() ? AtMost(a * a, 0x1p512) : a * a;
  const Real t = a + square / (1 + Sqrt(1 + square));
  return CopySign(Log1pOrLogOfTwice(a, t), x);
}

// acosh(1 + t) = log1p(t + sqrt(2 t + t^2)).
Real Acosh(const Real& x) {
  const Real t = x - 1;
  const Real r = Log1pOrLogOfTwice(x, t + Sqrt(Fma(t, t, 2 * t)));
  return Select(x < 1, std::numeric_limits<double>::quiet_NaN(), r);
}

// atanh(a) = log1p(2 a / (1 - a)) / 2.
Real Atanh(const Real& x) {
  const Real a = Abs(x);
  return CopySign(0.5 * Log1p(2 * a / (1 - a)), x);
}

}  // namespace stax::math
