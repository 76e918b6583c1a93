#include "compiler/codegen/testing/check_kernel.h"

#include "absl/strings/str_cat.h"
#include "compiler/codegen/codegen.h"
#include "compiler/codegen/testing/nest_kernel.h"
#include "compiler/codegen/testing/random_kernel.h"
#include "compiler/codegen/testing/run_cpu.h"
#include "ir/testing/random_nest.h"

namespace stax {
namespace {

std::string CheckArch(const KernelSpec& kernel, const Config& config, const std::string& arch,
                      const std::map<std::string, int64_t>& sizes,
                      std::map<std::string, Bytes> memory,
                      const std::map<std::string, Bytes>& expected, Tolerance tolerance) {
  TargetSpec target;
  target.arch = arch;
  const absl::StatusOr<Variant> variant = CompileVariant(kernel, config, target, {});
  if (!variant.ok()) return variant.status().ToString();
  const absl::Status ran = RunOnCpu(*variant, kernel.nest, sizes, memory);
  if (!ran.ok()) return ran.ToString();
  return CompareOutputs(kernel.nest, expected, memory, tolerance.relative, tolerance.absolute);
}

}  // namespace

Tolerance MathTolerance(DType t) {
  // An ulp is up to 2^-(precision - 1) of the value; the absolute part is for denormals.
  switch (t) {
    case DType::kF16:
      return {9.8e-4, 6e-8};
    case DType::kBF16:
      return {7.9e-3, 1e-40};
    case DType::kF64:
      return {9e-16, 2e-323};
    default:
      return {2.4e-7, 3e-45};
  }
}

std::string CheckKernel(const KernelSpec& kernel, const Config& config,
                        const std::map<std::string, int64_t>& sizes,
                        const std::map<std::string, Bytes>& inputs, Tolerance tolerance,
                        Precision precision) {
  const std::string what = absl::StrCat(" with ", ToText(config), " for ");
  std::map<std::string, Bytes> expected = inputs;
  const absl::Status interpreted = Interpret(kernel.nest, sizes, expected, precision);
  if (!interpreted.ok()) return interpreted.ToString();
  for (const char* arch : {"x86-64-v3", "x86-64-v4"}) {
    if (!HostRuns(arch)) continue;
    const std::string error = CheckArch(kernel, config, arch, sizes, inputs, expected, tolerance);
    if (!error.empty()) return absl::StrCat(kernel.name, what, arch, ": ", error);
  }
  for (const char* arch : {"sm_80", "sm_90a"}) {
    TargetSpec target;
    target.kind = TargetSpec::Kind::kCuda;
    target.arch = arch;
    const absl::Status compiled = CompileVariant(kernel, config, target, {}).status();
    if (!compiled.ok()) return absl::StrCat(kernel.name, what, arch, ": ", compiled.ToString());
  }
  return "";
}

std::string CheckKernel(const KernelSpec& kernel, const Config& config,
                        const std::map<std::string, int64_t>& sizes, Tolerance tolerance,
                        bool specials) {
  return CheckKernel(kernel, config, sizes, RandomInputs(kernel.nest, sizes, 1, specials),
                     tolerance);
}

}  // namespace stax
