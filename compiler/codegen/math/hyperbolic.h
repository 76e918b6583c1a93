// sinh, cosh, tanh and their inverses.
#ifndef STAX_COMPILER_CODEGEN_MATH_HYPERBOLIC_H_
#define STAX_COMPILER_CODEGEN_MATH_HYPERBOLIC_H_

#include "compiler/codegen/math/expr.h"

namespace stax::math {

Real Sinh(const Real& x);
Real Cosh(const Real& x);
Real Tanh(const Real& x);
// f64; f32 comes through f64 in a brief context.
Real Asinh(const Real& x);
Real Acosh(const Real& x);
Real Atanh(const Real& x);

}  // namespace stax::math

#endif  // STAX_COMPILER_CODEGEN_MATH_HYPERBOLIC_H_
