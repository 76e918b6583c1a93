// KernelSpecs for tests: a nest in text form with a tiling, without lowering and scheduling.
#ifndef STAX_COMPILER_CODEGEN_TESTING_NEST_KERNEL_H_
#define STAX_COMPILER_CODEGEN_TESTING_NEST_KERNEL_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/kernel_spec.h"
#include "ir/interpreter.h"

namespace stax {

// Ends the program when the text is no well-formed nest.
LoopNest NestOrDie(std::string_view text);

// Axis x over all loop dims, or y over the first `y_dims` of them and x over the rest; r over the
// reduction dims.
KernelSpec MakeKernel(LoopNest nest, KernelForm form, int y_dims = 0);
inline KernelSpec MakeKernel(std::string_view text, KernelForm form, int y_dims = 0) {
  return MakeKernel(NestOrDie(text), form, y_dims);
}

// Parameters that suit MakeKernel's axes, e.g. {"XBLOCK", 64}; missing ones get 1, and RBLOCK of a
// persistent kernel the smallest that is allowed (at the symbols' upper bounds).
Config CompleteConfig(const KernelSpec& kernel, Config config);

// Differences between two contents of the written buffers, as text with the first few; empty when
// there are none. Floats may differ by `relative` of the larger magnitude plus `absolute`; NaN
// equals NaN. With both 0 they must be the same numbers (zeros of either sign are the same).
std::string CompareOutputs(const LoopNest& nest, const std::map<std::string, Bytes>& expected,
                           const std::map<std::string, Bytes>& actual, double relative,
                           double absolute);

}  // namespace stax

#endif  // STAX_COMPILER_CODEGEN_TESTING_NEST_KERNEL_H_
