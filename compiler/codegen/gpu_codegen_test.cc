// The same comparisons as the CPU tests make, on a GPU; skipped where there is none.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
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
                  Tolerance tolerance, bool relaxed_math = true) {
  CodegenOptions options;
  options.relaxed_math = relaxed_math;
  auto expected = RandomInputs(kernel.nest, sizes, seed, specials);
  auto actual = expected;
  const absl::Status interpreted = Interpret(kernel.nest, sizes, expected, Precision::kTyped);
  if (!interpreted.ok()) return interpreted.ToString();
  const absl::StatusOr<Variant> variant = CompileVariant(kernel, config, Gpu(), options);
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
    ASSERT_EQ(Check(c.kernel, c.config, RandomSizes(nest, seed), seed, true, {},
                    /*relaxed_math=*/false),
              "")
        << "seed " << seed << " " << ToText(c.config) << "\n"
        << ToText(nest);
  }
}

// Relaxed quotients and roots of bf16 are the correctly rounded ones (precision.cc).
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

// softmax, its statistics and a weighted copy of long half rows: packed rows, online sums, rows
// that start unaligned.
LoopNest LongRows(const char* type, const std::string& length) {
  // Of halves nothing is seen in f32, so that all of it is relaxed.
  const std::string sum = IsHalf(*ParseDType(type)) ? absl::StrCat("%12 = cast %5 : ", type) : "";
  const std::string symbol = length == "n" ? "  size n in [1, 8190] hint 5000\n" : "";
  return NestOrDie(absl::Substitute(R"(nest rows {
$0  buffer x: $1[3*$2] in
  buffer w: $1[$2] in
  buffer y: $1[3*$2] out
  buffer z: $1[3*$2] out
  buffer s: $1[3] out
  loop i0: 3
  reduce r0: $2
  %0 = load x[i0*$2 + r0] : $1
  %1 = cast %0 : f32
  %2 = reduce.max %1 : f32
  %3 = sub %1, %2 : f32
  %4 = exp %3 : f32
  %5 = reduce.sum %4 : f32
  %6 = div %4, %5 : f32
  %7 = cast %6 : $1
  %8 = load w[r0] : $1
  %9 = mul %0, %8 : $1
  store y[i0*$2 + r0], %7
  store z[i0*$2 + r0], %9
  $3
  store s[i0], %$4
})",
                                    symbol, type, length, sum, sum.empty() ? 5 : 12));
}

TEST(GpuCodegen, LongRows) {
  if (!HaveGpu()) GTEST_SKIP() << "no GPU";
  for (const char* type : {"bf16", "f16", "f32"}) {
    for (const char* length : {"37", "1000", "4093", "8192", "20011", "n"}) {
      const LoopNest nest = LongRows(type, length);
      const KernelSpec looped = MakeKernel(nest, KernelForm::kLooped);
      const KernelSpec persistent = MakeKernel(nest, KernelForm::kPersistent);
      for (int64_t n : {1, 7, 777, 8190}) {
        if (*length != 'n' && n > 1) continue;
        for (int64_t warps : {1, 4, 16}) {
          const Config loop = {{"RBLOCK", 512 * warps}, {"WARPS", warps}};
          EXPECT_EQ(Check(looped, CompleteConfig(looped, loop), {{"n", n}}, 1, false, {8e-3, 1e-6}),
                    "")
              << type << " " << length << " n " << n << " " << ToText(loop);
          const Config row = CompleteConfig(persistent, {{"WARPS", warps}});
          Config spread = row;
          spread["CLUSTER"] = warps == 1 ? 2 : warps == 4 ? 4 : 8;
          if (row.at("RBLOCK") / (32 * warps * spread["CLUSTER"]) <= 64) {
            EXPECT_EQ(Check(persistent, spread, {{"n", n}}, 1, false, {8e-3, 1e-6}), "")
                << type << " " << length << " n " << n << " " << ToText(spread);
          }
          if (row.at("RBLOCK") / (32 * warps) > 128) continue;
          EXPECT_EQ(Check(persistent, row, {{"n", n}}, 1, false, {8e-3, 1e-6}), "")
              << type << " " << length << " n " << n << " " << ToText(row);
        }
      }
    }
  }
}

// Lengths that are no multiple of a vector, known only at the launch.
TEST(GpuCodegen, SymbolicPointwise) {
  if (!HaveGpu()) GTEST_SKIP() << "no GPU";
  const KernelSpec kernel = MakeKernel(R"(nest copy {
  size n in [0, 100000] hint 1000
  buffer x: f16[n] in
  buffer y: f16[n] out
  loop i0: n
  %0 = load x[i0] : f16
  %1 = neg %0 : f16
  store y[i0], %1
})",
                                       KernelForm::kPointwise);
  for (int64_t n : {0, 1, 7, 1023, 1024, 1025, 5003})
    EXPECT_EQ(Check(kernel, {{"XBLOCK", 1024}, {"WARPS", 4}}, {{"n", n}}, 1, true, {}), "") << n;
}

}  // namespace
}  // namespace stax
