// Programs compute what the graph says, for random graphs and every candidate of every kernel:
// lowering, scheduling and code generation together, on the CPU and, where there is one, a GPU.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/codegen/codegen.h"
#include "compiler/codegen/testing/run_cpu.h"
#include "compiler/codegen/testing/run_cuda.h"
#include "compiler/kernel_spec.h"
#include "compiler/lowering/lowering.h"
#include "compiler/lowering/testing/random_graph.h"
#include "compiler/lowering/testing/run_program.h"
#include "compiler/schedule/schedule.h"
#include "compiler/target.h"
#include "gtest/gtest.h"
#include "ir/graph_interpreter.h"

namespace stax {
namespace {

// Seeds of each kind of graph: some twenty seconds of work in all.
constexpr uint64_t kSeeds = 10;

bool CanRun(const TargetSpec& target) {
  return target.is_cuda() ? HaveGpu() : HostRuns(target.arch);
}

// Runs the kernels with their candidates number `which` (the last one where there are fewer).
absl::StatusOr<TensorBytes> RunKernels(const LoopProgram& plan,
                                       const std::vector<KernelSpec>& kernels, size_t which,
                                       const TargetSpec& target, const Sizes& sizes,
                                       const TensorBytes& inputs) {
  TensorBytes memory;
  for (const PlanBuffer& buffer : plan.buffers) {
    if (buffer.kind == PlanBuffer::Kind::kInput) memory[buffer.name] = inputs.at(buffer.tensor);
    if (buffer.kind == PlanBuffer::Kind::kConstant) memory[buffer.name] = *buffer.data;
  }
  for (const KernelSpec& kernel : kernels) {
    const Config& config = kernel.candidates[std::min(which, kernel.candidates.size() - 1)];
    const absl::StatusOr<Variant> variant = CompileVariant(kernel, config, target, {});
    if (!variant.ok()) return variant.status();
    Sizes used;
    for (const SizeSymbol& s : kernel.nest.symbols) used[s.name] = sizes.at(s.name);
    absl::Status ran = target.is_cuda() ? RunOnCuda(*variant, kernel.nest, used, memory)
                                        : RunOnCpu(*variant, kernel.nest, used, memory);
    if (!ran.ok()) return ran;
  }
  TensorBytes outputs;
  for (const PlanOutput& output : plan.outputs) outputs[output.name] = memory[output.buffer];
  return outputs;
}

void CheckGraph(uint64_t seed, const RandomGraphOptions& options, const TargetSpec& target) {
  const Graph graph = RandomGraph(seed, options);
  SCOPED_TRACE(testing::Message() << "seed " << seed << "\n" << ToText(graph));
  absl::StatusOr<LoopProgram> program = LowerGraph(graph, target);
  ASSERT_TRUE(program.ok()) << program.status();
  absl::StatusOr<std::vector<KernelSpec>> kernels = Schedule(*program, target);
  ASSERT_TRUE(kernels.ok()) << kernels.status();
  const Sizes sizes = options.symbolic ? RandomSizes(seed) : Sizes();
  const TensorBytes inputs = RandomInputs(graph, sizes, seed, /*specials=*/seed % 4 == 0);
  const auto want = InterpretGraph(graph, sizes, inputs, Precision::kTyped);
  ASSERT_TRUE(want.ok()) << want.status();
  size_t candidates = 1;
  for (const KernelSpec& kernel : *kernels)
    candidates = std::max(candidates, kernel.candidates.size());
  for (size_t which = 0; which < candidates; ++which) {
    const auto got = RunKernels(*program, *kernels, which, target, sizes, inputs);
    ASSERT_TRUE(got.ok()) << got.status();
    ASSERT_EQ(CompareOutputs(graph, *want, *got), "") << "candidate " << which;
  }
}

class PipelineProperty : public testing::TestWithParam<const char*> {
 protected:
  static void CheckGraphs(uint64_t first_seed, const RandomGraphOptions& options) {
    const TargetSpec target = ParseTarget(GetParam()).value();
    if (!CanRun(target)) GTEST_SKIP() << "this machine cannot execute " << GetParam();
    for (uint64_t k = 0; k < kSeeds && !HasFailure(); ++k)
      CheckGraph(first_seed + k, options, target);
  }
};

TEST_P(PipelineProperty, ShortDims) { CheckGraphs(0, {}); }

TEST_P(PipelineProperty, LongDims) {
  RandomGraphOptions options;
  options.long_dims = true;
  CheckGraphs(1000, options);
}

TEST_P(PipelineProperty, SymbolicDims) {
  RandomGraphOptions options;
  options.symbolic = options.long_dims = true;
  CheckGraphs(2000, options);
}

INSTANTIATE_TEST_SUITE_P(Target, PipelineProperty,
                         testing::Values("cpu:x86-64-v3", "cpu:x86-64-v4", "cuda:sm_90a"),
                         [](const auto& info) {
                           std::string name = info.param;
                           for (char& c : name)
                             if (c == ':' || c == '-') c = '_';
                           return name;
                         });

}  // namespace
}  // namespace stax
