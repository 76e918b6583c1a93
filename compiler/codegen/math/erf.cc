// erf(x) = x + x P(x^2) below about 1, else 1 - 2^P(x) (f32) or 1 - exp(P(x - 2)) (f64) with P a
// fit of the logarithm of erfc (the form of N. Juffa's erff); erf is 1 from 4 and 6 on. The error
// of P is scaled down by erfc, 0.18 at most.
#include "compiler/codegen/math/erf.h"

#include "compiler/codegen/math/coefficients.h"
#include "compiler/codegen/math/exp_log.h"

namespace stax::math {

Real Erf(const Real& x) {
  const Real a = Abs(x);
  const Real z = a * a;
  const Real p = x.f64() ? Polynomial(z, kErfSmallF64) : Polynomial(z, kErfSmallF32);
  const Real small = Fma(a, p, a);
  const Real erfc = x.f64() ? BoundedExp(Polynomial(AtMost(a, 6) - 2, kErfLargeF64))
                            : BoundedExp2(Polynomial(AtMost(a, 4), kErfLargeF32));
  return CopySign(Select(a < (x.f64() ? 1.0 : 0.9375), small, 1 - erfc), x);
}

}  // namespace stax::math
