// The sweep kernels as PTX.
#ifndef STAX_COMPILER_CODEGEN_MATH_MATH_PTX_H_
#define STAX_COMPILER_CODEGEN_MATH_MATH_PTX_H_

#include <string>
#include <vector>

#include "compiler/codegen/math/math_sweep.h"

namespace stax::math {

// One module of PTX for `arch` ("sm_90a") with EmitMathSweepKernel's kernels for f32 and f64, and
// of `relaxed` ops for RelaxedTypes. Ends the program when LLVM fails.
std::string SweepPtx(const std::string& arch, const std::vector<OpCode>& ops,
                     const std::vector<OpCode>& relaxed = {});

}  // namespace stax::math

#endif  // STAX_COMPILER_CODEGEN_MATH_MATH_PTX_H_
