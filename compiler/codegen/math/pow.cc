// |x|^y = exp(y log|x|). The product can be 745 and its absolute error is the relative error of the
// result, so the f64 logarithm is carried as a sum of two doubles, good to 2^-65: log(m) = 2
// atanh(s) with s = (m - 1) / (m + 1) = s + s z (1/3 + z P(z)), only z P(z) being plain f64
// (compare P. Markstein, "IA-64 and Elementary Functions", 2000, and FreeBSD's e_pow.c). Products
// and sums of doubles keep their rounding errors by Fma and by Dekker's fast two-sum.
#include "compiler/codegen/math/pow.h"

#include <limits>

#include "compiler/codegen/math/coefficients.h"
#include "compiler/codegen/math/exp_log.h"

namespace stax::math {
namespace {

// high + low, |low| at most about an ulp of high.
struct Pair {
  Real high, low;
};

// a + b exactly; |a| >= |b| or a = 0.
Pair FastSum(const Real& a, const Real& b) {
  const Real sum = a + b;
  return {sum, (a - sum) + b};
}

Pair Product(const Pair& a, const Pair& b) {
  const Real p = a.high * b.high;
  const Real rest = Fma(a.high, b.low, a.low * b.high);
  return {p, Fma(a.high, b.high, -p) + rest};
}

// (m - 1) / (m + 1) with f = m - 1 exact.
Pair AtanhArgument(const Real& f) {
  const Real d = 2 + f;
  const Real d_low = f - (d - 2);
  const Real q = BenignQuotient(f, d);
  const Real rest = Fma(-q, d_low, Fma(-q, d, f));
  return {q, BenignQuotient(rest, d)};
}

Pair LogOf(const Real& x) {
  const auto [e, f] = SplitForLog(x);
  const Pair s = AtanhArgument(f);
  const Pair z = Product(s, s);
  Pair t = FastSum(x.Constant(0x1.5555555555555p-2), z.high * Polynomial(z.high, kPowLog));
  t.low = t.low + 0x1.5555555555555p-56;
  const Pair v = Product(s, Product(z, t));
  Pair l = FastSum(s.high, v.high);
  l.low = l.low + (v.low + s.low);
  // ln2 in two parts, the first short enough for an exact product with the exponent.
  Pair sum = FastSum(e * 0x1.62e42fefa38p-1, 2 * l.high);
  sum.low = sum.low + Fma(e, 0x1.ef35793c7673p-45, 2 * l.low);
  return sum;
}

// exp(y log a) for a > 0 in f64 precision; y may be anything.
Real Power(const Real& a, const Real& y) {
  const Pair log = LogOf(a);
  const Real t = y * log.high;
  const Real low = Fma(y, log.low, Fma(y, log.high, -t));
  return ExpOfSum(t, Select(Abs(t) < 800, low, 0.0));
}

}  // namespace

Real Pow(const Real& x, const Real& y) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Real a = Abs(x);
  // log(a) by hand for the ends of the range, since only the sign of y log(a) matters there.
  Real r = x;
  if (x.brief()) {
    r = Exp(y * Log(a));
  } else {
    const Mask finite = (a > 0.0) & (a < infinity);
    const Real limit = Select(a == 0.0, x.Constant(-infinity), a);  // infinity or NaN stay
    r = Select(finite, Power(a, y), Exp(y * limit));
  }
  // 1 for y = 0 and for |x| = 1, NaN and infinite y included; then signs and NaN for x < 0.
  r = Select((y == 0.0) | (a == 1), 1, r);
  const Mask integer = RoundEven(y) == y;
  const Real half = 0.5 * y;
  const Mask odd = integer & (RoundEven(half) != half);
  const Bits odd_sign = ToBits(Select(odd, x, 0.0));
  r = FlipSign(r, odd_sign);
  const Mask undefined = (x < 0.0) & !integer & (a < infinity);
  r = Select(undefined, std::numeric_limits<double>::quiet_NaN(), r);
  return Select(IsUnordered(x, y) & (y != 0.0) & (x != 1), x + y, r);
}

}  // namespace stax::math
