// The functions of relaxed_forms.h as LLVM IR, for f32 scalars of a CUDA thread.
//
// Special values (zeros, infinities, NaN, overflow, subnormal arguments and results) are those of
// the accurate functions.
#ifndef STAX_COMPILER_CODEGEN_MATH_RELAXED_H_
#define STAX_COMPILER_CODEGEN_MATH_RELAXED_H_

#include "ir/loop_op.h"
#include "llvm/IR/IRBuilder.h"

namespace stax {

// The cheapest form whose error (relaxed_forms.h) is at most `tolerance`; nullptr when there is
// none. `args`: one or two f32 scalars.
llvm::Value* EmitRelaxed(llvm::IRBuilderBase& builder, OpCode code,
                         llvm::ArrayRef<llvm::Value*> args, double tolerance);

// Each of `dividends` divided by `divisor`, in place, within the error of kDiv's form: for many
// quotients cheaper than one by one. Splits the block being built, like sin (math.h).
void EmitRelaxedQuotients(llvm::IRBuilderBase& builder,
                          llvm::MutableArrayRef<llvm::Value*> dividends, llvm::Value* divisor);

}  // namespace stax

#endif  // STAX_COMPILER_CODEGEN_MATH_RELAXED_H_
