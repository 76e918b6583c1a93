// sin, cos, tan and their inverses, atan2.
#ifndef STAX_COMPILER_CODEGEN_MATH_TRIG_H_
#define STAX_COMPILER_CODEGEN_MATH_TRIG_H_

#include "compiler/codegen/math/expr.h"

namespace stax::math {

Real Sin(const Real& x);
Real Cos(const Real& x);
// f64; f32 comes through f64 in a brief context.
Real Tan(const Real& x);

Real Asin(const Real& x);
Real Acos(const Real& x);
Real Atan(const Real& x);
Real Atan2(const Real& y, const Real& x);

}  // namespace stax::math

#endif  // STAX_COMPILER_CODEGEN_MATH_TRIG_H_
