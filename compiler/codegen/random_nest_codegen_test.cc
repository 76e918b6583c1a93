// Random nests under random tilings: the code must compute what the interpreter computes.
#include <cstdint>
#include <string>

#include "compiler/codegen/codegen.h"
#include "compiler/codegen/testing/nest_kernel.h"
#include "compiler/codegen/testing/random_kernel.h"
#include "compiler/codegen/testing/run_cpu.h"
#include "gtest/gtest.h"
#include "ir/interpreter.h"
#include "ir/testing/random_nest.h"

namespace stax {
namespace {

class RandomNestCodegen : public testing::TestWithParam<const char*> {};

TEST_P(RandomNestCodegen, CpuComputesWhatTheInterpreterComputes) {
  TargetSpec target;
  target.kind = TargetSpec::Kind::kCpu;
  target.arch = GetParam();
  if (!HostRuns(target.arch)) GTEST_SKIP() << "this machine cannot execute " << target.arch;
  RandomNestOptions options;
  options.math = false;
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    LoopNest nest = RandomNest(seed, options);
    MakeReductionsExact(nest);
    const RandomKernel c = MakeRandomKernel(nest, seed);
    const auto sizes = RandomSizes(nest, seed);
    auto expected = RandomInputs(nest, sizes, seed);
    auto actual = expected;
    ASSERT_TRUE(Interpret(nest, sizes, expected, Precision::kTyped).ok());
    SCOPED_TRACE("seed " + std::to_string(seed) + " " + ToText(c.config) + "\n" + ToText(nest));
    const absl::StatusOr<Variant> variant = CompileVariant(c.kernel, c.config, target, {});
    ASSERT_TRUE(variant.ok()) << variant.status();
    const absl::Status ran = RunOnCpu(*variant, nest, sizes, actual);
    ASSERT_TRUE(ran.ok()) << ran;
    ASSERT_EQ(CompareOutputs(nest, expected, actual, 0, 0), "");
  }
}

INSTANTIATE_TEST_SUITE_P(Arch, RandomNestCodegen, testing::Values("x86-64-v3", "x86-64-v4"));

// Everything that is emitted is accepted by ptxas (when it is there), for every architecture.
class RandomNestPtx : public testing::TestWithParam<const char*> {};

TEST_P(RandomNestPtx, PtxasAcceptsIt) {
  TargetSpec target;
  target.kind = TargetSpec::Kind::kCuda;
  target.arch = GetParam();
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    const LoopNest nest = RandomNest(seed, {});
    const RandomKernel c = MakeRandomKernel(nest, seed);
    SCOPED_TRACE("seed " + std::to_string(seed) + " " + ToText(c.config) + "\n" + ToText(nest));
    const absl::StatusOr<Variant> variant = CompileVariant(c.kernel, c.config, target, {});
    ASSERT_TRUE(variant.ok()) << variant.status();
  }
}

INSTANTIATE_TEST_SUITE_P(Arch, RandomNestPtx, testing::Values("sm_80", "sm_90a"));

}  // namespace
}  // namespace stax
