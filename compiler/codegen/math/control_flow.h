// The control flow that rare cases need: a branch around code for them, and helper functions of the
// module that are called in it for one scalar at a time.
#ifndef STAX_COMPILER_CODEGEN_MATH_CONTROL_FLOW_H_
#define STAX_COMPILER_CODEGEN_MATH_CONTROL_FLOW_H_

#include <functional>
#include <string_view>

#include "compiler/codegen/math/expr.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Function.h"

namespace stax::math {

using Values = llvm::SmallVector<llvm::Value*, 2>;

// Values equal to `usual` in lanes where `condition` is false, and in the others to what `rare`
// emits and returns; `rare` runs if there is such a lane, and sees the values of all. Splits the
// block: what stood behind the insertion point moves to a new block, where the builder is left.
Values RareBranch(const Mask& condition, const Values& usual, const std::function<Values()>& rare);

// `function` (of f64 scalars, returning a scalar or a struct of scalars) for each lane of `args`,
// f32 operands being converted; the results as one vector (or scalar) a struct member.
Values CallForEachLane(llvm::Function* function, llvm::ArrayRef<Real> args);

// The internal function `name` of the module being built; `emit` fills its body the first time. It
// has the target attributes of the function being built and reads no memory but constants.
llvm::Function* HelperFunction(
    llvm::IRBuilderBase& builder, std::string_view name, llvm::FunctionType* type,
    const std::function<void(llvm::IRBuilderBase&, llvm::Function*)>& emit);

}  // namespace stax::math

#endif  // STAX_COMPILER_CODEGEN_MATH_CONTROL_FLOW_H_
