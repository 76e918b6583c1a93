// Runs CUDA variants in tests on a GPU, through the driver alone: codegen is tested without the
// runtime, on any machine that has libcuda.
#ifndef STAX_COMPILER_CODEGEN_TESTING_RUN_CUDA_H_
#define STAX_COMPILER_CODEGEN_TESTING_RUN_CUDA_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir/artifact/program.pb.h"
#include "ir/interpreter.h"
#include "ir/loop_nest.h"

namespace stax {

// Whether there is a driver and a GPU. Looked for once.
bool HaveGpu();

// Like RunOnCpu. Guard bytes on both sides of each buffer must be intact afterwards (Internal).
absl::Status RunOnCuda(const Variant& variant, const LoopNest& nest,
                       const std::map<std::string, int64_t>& sizes,
                       std::map<std::string, Bytes>& memory);

// Median time of a launch in microseconds over `repeats`, buffers cold in L2 when they fill it.
absl::StatusOr<double> TimeOnCuda(const Variant& variant, const LoopNest& nest,
                                  const std::map<std::string, int64_t>& sizes, int repeats);

}  // namespace stax

#endif  // STAX_COMPILER_CODEGEN_TESTING_RUN_CUDA_H_
