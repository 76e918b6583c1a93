// Exponentials and logarithms: exp, exp2, expm1, log, log2, log1p, sigmoid, rsqrt; and the parts of
// them that other families use.
#ifndef STAX_COMPILER_CODEGEN_MATH_EXP_LOG_H_
#define STAX_COMPILER_CODEGEN_MATH_EXP_LOG_H_

#include "compiler/codegen/math/expr.h"

namespace stax::math {

Real Exp(const Real& x);
Real Exp2(const Real& x);
Real Expm1(const Real& x);
Real Log(const Real& x);
Real Log2(const Real& x);
Real Log1p(const Real& x);
Real Sigmoid(const Real& x);
Real Rsqrt(const Real& x);

// 2^k exp(x), not overflowing before its result does.
Real ScaledExp(const Real& x, int k);
// exp(x + low) for |low| below an ulp of x or so.
Real ExpOfSum(const Real& x, const Real& low);
// exp(x) and 2^x where the result is a normal number.
Real BoundedExp(const Real& x);
Real BoundedExp2(const Real& x);

// x = 2^exponent (1 + fraction) for positive finite x; 1 + fraction lies in [2/3, 4/3) for f32 and
// in [sqrt(1/2), sqrt(2)) for f64.
struct LogParts {
  Real exponent;
  Real fraction;
};
LogParts SplitForLog(const Real& x);

}  // namespace stax::math

#endif  // STAX_COMPILER_CODEGEN_MATH_EXP_LOG_H_
