// Names of kernels: form prefix (S9.4), "fused", the main operations, number in the program.
#ifndef STAX_COMPILER_SCHEDULE_KERNEL_NAME_H_
#define STAX_COMPILER_SCHEDULE_KERNEL_NAME_H_

#include <string>

#include "compiler/kernel_spec.h"

namespace stax {

// "per_fused_add_relu_mul_sum_0"; at most 64 characters, the same for the same nest.
std::string KernelName(KernelForm form, const LoopNest& nest, int number);

}  // namespace stax

#endif  // STAX_COMPILER_SCHEDULE_KERNEL_NAME_H_
