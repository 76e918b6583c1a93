// The same comparisons as the CPU tests make, on a GPU; skipped where there is none.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/codegen/codegen.h"
#include "compiler/codegen/math/math.h"
#include "compiler/codegen/testing/check_kernel.h"
#include "compiler/codegen/testing/nest_kernel.h"
#include "compiler/codegen/testing/op_nests.h"
#include "compiler/codegen/testing/random_kernel.h"
#include "compiler/codegen/testing/run_cuda.h"
#include "gtest/gtest.h"
#include "ir/interpreter.h"
#include "ir/testing/random_nest.h"

namespace stax {
namespace {

TargetSpec Gpu() {
  TargetSpec target;
  target.kind = TargetSpec::Kind::kCuda;
  target.arch = "sm_90a";
  return target;
}

std::string Check(const KernelSpec& kernel, const Config& config,
                  const std::map<std::string, int64_t>& sizes, uint64_t seed, bool specials,
                  Tolerance tolerance) {
  auto expected = RandomInputs(kernel.nest, sizes, seed, specials);
  auto actual = expected;
  const absl::Status interpreted = Interpret(kernel.nest, sizes, expected, Precision::kTyped);
  if (!interpreted.ok()) return interpreted.ToString();
  const absl::StatusOr<Variant> variant = CompileVariant(kernel, config, Gpu(), {});
  if (!variant.ok()) return variant.status().ToString();
  const absl::Status ran = RunOnCuda(*variant, kernel.nest, sizes, actual);
  if (!ran.ok()) return ran.ToString();
  return CompareOutputs(kernel.nest, expected, actual, tolerance.relative, tolerance.absolute);
}

TEST(GpuCodegen, RandomNests) {
  if (!HaveGpu()) GTEST_SKIP() << "no GPU";
  RandomNestOptions options;
  options.math = false;
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    LoopNest nest = RandomNest(seed, options);
    MakeReductionsExact(nest);
    const RandomKernel c = MakeRandomKernel(nest, seed);
    ASSERT_EQ(Check(c.kernel, c.config, RandomSizes(nest, seed), seed, true, {}), "")
        << "seed " << seed << " " << ToText(c.config) << "\n"
        << ToText(nest);
  }
}

TEST(GpuCodegen, OpsAndCasts) {
  if (!HaveGpu()) GTEST_SKIP() << "no GPU";
  for (DType type : AllTypes()) {
    for (bool math : {false, true}) {
      if (math && !IsFloat(type)) continue;
      const std::vector<OpCode> ops = OpsOnType(type, math);
      if (ops.empty()) continue;
      const KernelSpec kernel = MakeKernel(OpsNest(ops, type), KernelForm::kPointwise);
      EXPECT_EQ(Check(kernel, CompleteConfig(kernel, {{"XBLOCK", 128}}), {}, 1, true,
                      math ? MathTolerance(type) : Tolerance{}),
                "")
          << DTypeName(type);
    }
    const KernelSpec casts = MakeKernel(CastsNest(type), KernelForm::kPointwise);
    EXPECT_EQ(Check(casts, CompleteConfig(casts, {{"XBLOCK", 128}}), {}, 1, true, {}), "")
        << DTypeName(type);
  }
}

// Every way of placing the r bits on slots, lanes and warps, with values whose sums are exact.
TEST(GpuCodegen, ReductionLayouts) {
  if (!HaveGpu()) GTEST_SKIP() << "no GPU";
  for (const char* kind : {"sum", "max", "argmin", "argmax_last"}) {
    for (bool inner : {true, false}) {
      for (int length : {1, 5, 32, 100, 1000}) {
        const LoopNest nest = ReduceNest(kind, DType::kI32, 37, length, inner);
        for (int64_t warps : {1, 4, 16}) {
          for (int64_t x : {1, 4, 32}) {
            const KernelSpec looped = MakeKernel(nest, KernelForm::kLooped);
            const Config config = {{"XBLOCK", x}, {"RBLOCK", 64}, {"WARPS", warps}};
            EXPECT_EQ(Check(looped, config, {}, 1, false, {}), "") << ToText(config);
            const KernelSpec persistent = MakeKernel(nest, KernelForm::kPersistent);
            const Config row = CompleteConfig(persistent, {{"XBLOCK", x}, {"WARPS", warps}});
            if (row.at("RBLOCK") * x / (32 * warps) <= 64)
              EXPECT_EQ(Check(persistent, row, {}, 1, false, {}), "") << ToText(row);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace stax
