// Compiles sweeps of the math functions for this machine's processor and finds them by name.
#ifndef STAX_COMPILER_CODEGEN_MATH_MATH_JIT_H_
#define STAX_COMPILER_CODEGEN_MATH_MATH_JIT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compiler/codegen/math/math_sweep.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"

namespace stax::math {

class MathJit {
 public:
  // EmitSweepFunction's.
  using Function = void (*)(const void* a, const void* b, void* out, int64_t n);

  // `cpu`: "x86-64-v3", "x86-64-v4". Ends the program when LLVM fails.
  MathJit(const std::string& cpu, const std::vector<OpCode>& ops,
          const std::vector<SweepType>& types);
  Function Find(OpCode code, const SweepType& type) const;

 private:
  std::unique_ptr<llvm::orc::LLJIT> jit_;
};

}  // namespace stax::math

#endif  // STAX_COMPILER_CODEGEN_MATH_MATH_JIT_H_
