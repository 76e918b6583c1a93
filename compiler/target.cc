#include "compiler/target.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace stax {
namespace {

constexpr std::string_view kKnown =
    "expected cuda, cuda:sm_80, cuda:sm_90a, cpu, cpu:x86-64-v3 or cpu:x86-64-v4";

TargetSpec Cuda(std::string_view arch, int multiprocessors) {
  TargetSpec target;
  target.kind = TargetSpec::Kind::kCuda;
  target.arch = std::string(arch);
  target.multiprocessors = multiprocessors;
  target.lanes = 32;
  return target;
}

// 16 cores are assumed whatever the host has, so that artifacts do not depend on where they were
// compiled.
TargetSpec Cpu(std::string_view arch) {
  TargetSpec target;
  target.kind = TargetSpec::Kind::kCpu;
  target.arch = std::string(arch);
  target.multiprocessors = 16;
  target.lanes = arch == "x86-64-v4" ? 16 : 8;
  return target;
}

TargetSpec HostCpu() {
#ifdef __x86_64__
  __builtin_cpu_init();
  const bool v4 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl");
  return Cpu(v4 ? "x86-64-v4" : "x86-64-v3");
#else
  return Cpu("x86-64-v3");
#endif
}

}  // namespace

std::string TargetSpec::ToString() const {
  return absl::StrCat(is_cuda() ? "cuda" : "cpu", ":", arch);
}

absl::StatusOr<TargetSpec> ParseTarget(std::string_view text) {
  if (text == "cuda" || text == "cuda:sm_90a") return Cuda("sm_90a", 132);  // H100, H200
  if (text == "cuda:sm_80") return Cuda("sm_80", 108);                      // A100
  if (text == "cpu") return HostCpu();
  if (text == "cpu:x86-64-v3") return Cpu("x86-64-v3");
  if (text == "cpu:x86-64-v4") return Cpu("x86-64-v4");
  return absl::InvalidArgumentError(
      absl::StrCat("target '", absl::string_view(text.data(), text.size()), "' is not known; ",
                   absl::string_view(kKnown.data(), kKnown.size())));
}

}  // namespace stax
