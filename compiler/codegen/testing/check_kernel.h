// The comparison that numeric tests of code generation make.
#ifndef STAX_COMPILER_CODEGEN_TESTING_CHECK_KERNEL_H_
#define STAX_COMPILER_CODEGEN_TESTING_CHECK_KERNEL_H_

#include <cstdint>
#include <map>
#include <string>

#include "compiler/kernel_spec.h"
#include "ir/interpreter.h"

namespace stax {

struct Tolerance {
  double relative = 0;
  double absolute = 0;
};

// For one math function on values of type `t`: 2 ulp in f32, 4 ulp in f64, 1 ulp in the half types
// (f32 results that round to either side).
Tolerance MathTolerance(DType t);

// Compiles the kernel for every CPU architecture that this machine runs, and compares with the
// interpreter on `inputs`. Compiles it for the CUDA architectures too, through ptxas when it is
// there. Empty when all is well, else what went wrong where.
std::string CheckKernel(const KernelSpec& kernel, const Config& config,
                        const std::map<std::string, int64_t>& sizes,
                        const std::map<std::string, Bytes>& inputs, Tolerance tolerance,
                        Precision precision = Precision::kTyped);

// With random inputs, see RandomInputs.
std::string CheckKernel(const KernelSpec& kernel, const Config& config,
                        const std::map<std::string, int64_t>& sizes, Tolerance tolerance,
                        bool specials = false);

}  // namespace stax

#endif  // STAX_COMPILER_CODEGEN_TESTING_CHECK_KERNEL_H_
