// Random tilings of nests, for property tests of code generation.
#ifndef STAX_COMPILER_CODEGEN_TESTING_RANDOM_KERNEL_H_
#define STAX_COMPILER_CODEGEN_TESTING_RANDOM_KERNEL_H_

#include <cstdint>
#include <string>

#include "compiler/kernel_spec.h"

namespace stax {

struct RandomKernel {
  KernelSpec kernel;
  Config config;
};

// A form, a split of the loop dims over y and x, and block sizes, all legal. The tile has at most
// 1024 elements, which keeps tests fast.
RandomKernel MakeRandomKernel(const LoopNest& nest, uint64_t seed);

// Rounding makes the order of a floating sum or product visible, and later comparisons may jump.
// With max and min in their place every value is exact.
void MakeReductionsExact(LoopNest& nest);

std::string ToText(const Config& config);  // "WARPS=4 XBLOCK=64"

}  // namespace stax

#endif  // STAX_COMPILER_CODEGEN_TESTING_RANDOM_KERNEL_H_
