// NVIDIA's assembler, run when it is there: a cubin, and what a thread needs.
#ifndef STAX_COMPILER_CODEGEN_PTXAS_H_
#define STAX_COMPILER_CODEGEN_PTXAS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"

namespace stax {

struct PtxasResult {
  std::string cubin;
  int32_t registers = -1;   // a thread
  int32_t spill_bytes = 0;  // stores plus loads of spilled registers
  int32_t stack_bytes = 0;  // local memory a thread
};

// Path of ptxas: $STAX_PTXAS, then PATH, then $CUDA_HOME/bin and /usr/local/cuda/bin. Empty when
// there is none. Looked up once.
const std::string& PtxasPath();

// Internal with ptxas's message when it rejects the code, FailedPrecondition when there is no
// ptxas. `arch`: "sm_90a".
absl::StatusOr<PtxasResult> RunPtxas(const std::string& ptx, const std::string& arch);

// Reads the report of `ptxas -v`. Exposed for tests.
void ParsePtxasReport(const std::string& report, PtxasResult* result);

}  // namespace stax

#endif  // STAX_COMPILER_CODEGEN_PTXAS_H_
