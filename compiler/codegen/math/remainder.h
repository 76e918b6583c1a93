// fmod and mod.
#ifndef STAX_COMPILER_CODEGEN_MATH_REMAINDER_H_
#define STAX_COMPILER_CODEGEN_MATH_REMAINDER_H_

#include "compiler/codegen/math/expr.h"

namespace stax::math {

// x - trunc(x / y) y, exactly: the sign of x. NaN for y = 0 or infinite x.
Real Fmod(const Real& x, const Real& y);
// Python's x % y: the sign of y. fmod, plus y where the signs differ.
Real Mod(const Real& x, const Real& y);

}  // namespace stax::math

#endif  // STAX_COMPILER_CODEGEN_MATH_REMAINDER_H_
