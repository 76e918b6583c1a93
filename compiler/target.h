// TargetSpec: what code is generated for.
#ifndef STAX_COMPILER_TARGET_H_
#define STAX_COMPILER_TARGET_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace stax {

struct TargetSpec {
  enum class Kind { kCuda, kCpu };
  Kind kind = Kind::kCpu;
  // cuda: "sm_80" or "sm_90a". cpu: "x86-64-v3" (AVX2, FMA, F16C) or "x86-64-v4" (AVX-512).
  std::string arch;

  bool is_cuda() const { return kind == Kind::kCuda; }
  bool has_clusters() const { return arch == "sm_90a"; }
  bool has_programmatic_launch() const { return arch == "sm_90a"; }
  std::string ToString() const;  // "cuda:sm_90a"

  // Used by heuristics only (correctness never depends on them).
  int multiprocessors = 16;  // SMs of the chip (H100/H200: 132, A100: 108); cpu: assumed cores
  int lanes = 8;             // cuda: 32; cpu: f32 elements of a vector register, 8 or 16
};

// "cuda" (= cuda:sm_90a), "cuda:sm_80", "cuda:sm_90a", "cpu" (the host's best), "cpu:x86-64-v3",
// "cpu:x86-64-v4". InvalidArgument lists these otherwise.
absl::StatusOr<TargetSpec> ParseTarget(std::string_view text);

}  // namespace stax

#endif  // STAX_COMPILER_TARGET_H_
