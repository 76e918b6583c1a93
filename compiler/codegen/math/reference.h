// Exact values of the math functions for tests and tools, and errors in units in the last place.
#ifndef STAX_COMPILER_CODEGEN_MATH_REFERENCE_H_
#define STAX_COMPILER_CODEGEN_MATH_REFERENCE_H_

#include "ir/dtype.h"
#include "ir/loop_op.h"

namespace stax::math {

// |computed - code(a, b)| in ulps of the exact result in f64 or f32, by MPFR. The ulp of a
// subnormal is the smallest subnormal. 0 where both are NaN, or infinities of one sign; infinity
// where one of them is NaN; an infinity against a finite value counts as 2^1024 (2^128). Signs of
// zero are not compared. b is unused by one-operand functions.
double UlpError(OpCode code, bool f64, double computed, double a, double b);
// The same for any float type; `code` may also be div or sqrt. A value that overflows the type
// must have been rounded to infinity.
double UlpErrorIn(OpCode code, DType type, double computed, double a, double b);
// |computed - code(a, b)| relative to code(a, b), or to the larger of that and `floor`. By MPFR; as
// above for NaN and infinities, an infinity against a finite value is infinitely wrong.
double RelativeError(OpCode code, double computed, double a, double b, double floor);

// code(a, b) by the C library in f64, within an f64 ulp or two: exact enough to judge f32 results.
double LibmReference(OpCode code, double a, double b);
// The same measure for f32 against a reference in f64.
double UlpErrorF32(float computed, double reference);

}  // namespace stax::math

#endif  // STAX_COMPILER_CODEGEN_MATH_REFERENCE_H_
