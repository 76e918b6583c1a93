// pow.
#ifndef STAX_COMPILER_CODEGEN_MATH_POW_H_
#define STAX_COMPILER_CODEGEN_MATH_POW_H_

#include "compiler/codegen/math/expr.h"

namespace stax::math {

// f64; f32 comes through f64 in a brief context.
Real Pow(const Real& x, const Real& y);

}  // namespace stax::math

#endif  // STAX_COMPILER_CODEGEN_MATH_POW_H_
