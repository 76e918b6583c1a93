// How far the results of a nest's ops may be off, given where they end up.
//
// An f32 function is within 2 ulp by contract. A value that reaches memory only through a rounding
// to f16 or bf16 does not need that: half an ulp of the half type may go to errors before the
// rounding (HalfTolerance, math/relaxed_forms.h). This analysis hands that allowance back through
// the ops on the way as long as they keep relative errors small, and halves it where errors meet:
//
//   %3 = exp %2 : f32          2^-11
//   %4 = reduce.sum %3 : f32           sums of terms that are not negative have the terms' error
//   %5 = div %3, %4 : f32      2^-10   its own half; the other one is for %3 and %4
//   %6 = cast %5 : bf16                2^-9 before the rounding
//
// It does not go through differences and sums of either sign (they cancel), exp and the like of a
// value (its error would be absolute), comparisons, conversions to integers, f32 stores: there
// nothing is relaxed. Of several uses the strictest counts.
//
// The f32 roundings of the ops that are not relaxed are not counted: they are the same as ever.
#ifndef STAX_COMPILER_CODEGEN_PRECISION_H_
#define STAX_COMPILER_CODEGEN_PRECISION_H_

#include <vector>

#include "ir/loop_nest.h"

namespace stax {

// By op position, for the ops that have relaxed forms (math/relaxed_forms.h, in whose measure it
// is): the relative error that the result may have. 0: the contract of ir/loop_op.h, also for all
// other ops.
std::vector<double> OpTolerances(const LoopNest& nest);

// Whether each value is at least 0 (either zero) or NaN, whatever the inputs.
std::vector<bool> NonNegativeValues(const LoopNest& nest);

}  // namespace stax

#endif  // STAX_COMPILER_CODEGEN_PRECISION_H_
