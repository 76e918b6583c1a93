// Elementary functions as LLVM IR, the same for scalars (a CUDA thread) and vectors (CPU lanes).
//
// Each emits branch-free code (polynomials after exact range reduction, bit tricks, selects) on f32
// or f64 values or vectors of them, with no external calls. Errors against MPFR over the whole
// range, denormals included: at most 2 ulp in f32, 4 ulp in f64; special values as in C99.
// Measured errors, instruction counts and the origin of the coefficients: README.md.
//
// sin, cos, tan, fmod and mod have a branch around rare arguments (huge, or of huge ratio), in
// which an internal function of the module is called: they split the block being built. The builder
// is left where it was, but in a new block, so take GetInsertBlock() afterwards. On the CPU the
// target must have FMA (x86-64-v3).
#ifndef STAX_COMPILER_CODEGEN_MATH_MATH_H_
#define STAX_COMPILER_CODEGEN_MATH_MATH_H_

#include "ir/loop_op.h"
#include "llvm/IR/IRBuilder.h"

namespace stax {

struct MathOptions {
  // CUDA: single instructions such as ex2.approx may be used inside where the bound still holds.
  bool nvptx = false;
};

// Whether EmitMath handles `code` (the transcendental ops of ir/loop_op.h: rsqrt, exp ... sigmoid,
// pow, atan2, fmod, mod for floats).
bool IsMathOp(OpCode code);

// `args`: one or two values of the same type: float, double, or a fixed vector of these.
llvm::Value* EmitMath(llvm::IRBuilderBase& builder, OpCode code, llvm::ArrayRef<llvm::Value*> args,
                      const MathOptions& options);

}  // namespace stax

#endif  // STAX_COMPILER_CODEGEN_MATH_MATH_H_
