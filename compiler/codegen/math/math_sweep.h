// Functions that apply one math function to arrays: what the tests, the benchmark and the GPU check
// compile and run.
#ifndef STAX_COMPILER_CODEGEN_MATH_MATH_SWEEP_H_
#define STAX_COMPILER_CODEGEN_MATH_MATH_SWEEP_H_

#include <cstdint>
#include <string>
#include <vector>

#include "ir/dtype.h"
#include "ir/loop_op.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace stax::math {

// The ops that EmitMath handles, in the order of their table.
std::vector<OpCode> MathOps();
// The ops with relaxed forms, each once.
std::vector<OpCode> RelaxedOps();
bool IsBinary(OpCode code);

// What EmitMath is called with. lanes = 1 is a scalar.
struct SweepType {
  bool f64 = false;
  int lanes = 1;
  // kF16, kBF16: the relaxed form for results of this type instead, of f32 scalars. Results are
  // stored as f32, not rounded to it.
  DType half = DType::kF32;
  bool shared_divisor = false;  // of division: by EmitRelaxedQuotients
};
// The types for which `code` has a relaxed form.
std::vector<SweepType> RelaxedTypes(OpCode code);
// "exp_f32x8", "pow_f64", "exp_bf16", "div_bf16_shared".
std::string SweepName(OpCode code, const SweepType& type);

// CPU: void name(const T* a, const T* b, T* out, int64_t n), out[i] = f(a[i], b[i]) for i < n; n a
// multiple of the lanes; b unused by one-operand functions.
void EmitSweepFunction(llvm::Module& module, OpCode code, const SweepType& type);

// CUDA: a kernel of the same name and parameters, one thread an element; scalars only.
void EmitMathSweepKernel(llvm::Module& module, OpCode code, const SweepType& type);

// The simplifications that kernels get too; nothing is inlined or vectorized.
void Simplify(llvm::Module& module, llvm::TargetMachine* machine);

}  // namespace stax::math

#endif  // STAX_COMPILER_CODEGEN_MATH_MATH_SWEEP_H_
