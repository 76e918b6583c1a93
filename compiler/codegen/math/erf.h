// The error function.
#ifndef STAX_COMPILER_CODEGEN_MATH_ERF_H_
#define STAX_COMPILER_CODEGEN_MATH_ERF_H_

#include "compiler/codegen/math/expr.h"

namespace stax::math {

Real Erf(const Real& x);

}  // namespace stax::math

#endif  // STAX_COMPILER_CODEGEN_MATH_ERF_H_
