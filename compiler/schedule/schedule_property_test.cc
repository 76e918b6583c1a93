// Lowered and scheduled programs compute what the graph says, for random graphs.
#include <algorithm>
#include <set>

#include "compiler/lowering/lowering.h"
#include "compiler/lowering/testing/random_graph.h"
#include "compiler/lowering/testing/run_program.h"
#include "compiler/schedule/schedule.h"
#include "gtest/gtest.h"

namespace stax {
namespace {

std::vector<LoopNest> NestsOf(const std::vector<KernelSpec>& kernels) {
  std::vector<LoopNest> nests;
  for (const KernelSpec& kernel : kernels) nests.push_back(kernel.nest);
  return nests;
}

// Every dim is in one axis of its kind, r last, and candidates are points of the space that meet
// the constraints.
void CheckKernel(const KernelSpec& kernel) {
  std::set<int> seen;
  for (const TileAxis& axis : kernel.tile) {
    for (int d : axis.dims) {
      EXPECT_TRUE(seen.insert(d).second) << kernel.name;
      EXPECT_EQ(kernel.nest.dims[d].reduce, axis.name == "r") << kernel.name;
    }
  }
  EXPECT_EQ(seen.size(), kernel.nest.dims.size()) << kernel.name;
  EXPECT_LE(kernel.tile.size(), 3) << kernel.name;
  EXPECT_GE(kernel.candidates.size(), 1) << kernel.name;
  EXPECT_LE(kernel.candidates.size(), 6) << kernel.name;
  for (const Config& config : kernel.candidates) {
    EXPECT_EQ(config.size(), kernel.space.size()) << kernel.name;
    for (const ConfigParameter& p : kernel.space)
      EXPECT_EQ(std::count(p.values.begin(), p.values.end(), config.at(p.name)), 1)
          << kernel.name << " " << p.name << " = " << config.at(p.name);
    for (const std::string& constraint : kernel.constraints)
      EXPECT_GE(IndexExpr::Parse(constraint)->Evaluate(config).value(), 0)
          << kernel.name << ": " << constraint;
  }
}

void CheckGraph(uint64_t seed, const RandomGraphOptions& options, const char* target_name) {
  const TargetSpec target = ParseTarget(target_name).value();
  const Graph graph = RandomGraph(seed, options);
  SCOPED_TRACE(testing::Message() << "seed " << seed << "\n" << ToText(graph));
  absl::StatusOr<LoopProgram> program = LowerGraph(graph, target);
  ASSERT_TRUE(program.ok()) << program.status();
  const Sizes sizes = options.symbolic ? RandomSizes(seed) : Sizes();
  const TensorBytes inputs = RandomInputs(graph, sizes, seed, /*specials=*/seed % 4 == 0);
  absl::StatusOr<TensorBytes> lowered = RunNests(*program, program->nests, sizes, inputs);
  ASSERT_TRUE(lowered.ok()) << lowered.status();
  EXPECT_EQ(CompareWithGraph(graph, sizes, inputs, *lowered), "");

  const size_t nests = program->nests.size();
  absl::StatusOr<std::vector<KernelSpec>> kernels = Schedule(*program, target);
  ASSERT_TRUE(kernels.ok()) << kernels.status();
  EXPECT_LE(kernels->size(), nests);
  for (const KernelSpec& kernel : *kernels) CheckKernel(kernel);
  absl::StatusOr<TensorBytes> scheduled = RunNests(*program, NestsOf(*kernels), sizes, inputs);
  ASSERT_TRUE(scheduled.ok()) << scheduled.status();
  EXPECT_EQ(CompareWithGraph(graph, sizes, inputs, *scheduled), "");
}

constexpr int kSeeds = 300;

TEST(SchedulePropertyTest, StaticGraphs) {
  for (uint64_t seed = 0; seed < kSeeds && !HasFailure(); ++seed) CheckGraph(seed, {}, "cuda");
}

TEST(SchedulePropertyTest, StaticGraphsOnCpu) {
  for (uint64_t seed = 0; seed < kSeeds && !HasFailure(); ++seed)
    CheckGraph(1000 + seed, {}, "cpu:x86-64-v3");
}

TEST(SchedulePropertyTest, SymbolicGraphs) {
  RandomGraphOptions options;
  options.symbolic = true;
  for (uint64_t seed = 0; seed < kSeeds && !HasFailure(); ++seed)
    CheckGraph(2000 + seed, options, "cuda");
}

TEST(SchedulePropertyTest, LongGraphs) {
  RandomGraphOptions options;
  options.ops = 40;
  for (uint64_t seed = 0; seed < kSeeds / 5 && !HasFailure(); ++seed)
    CheckGraph(3000 + seed, options, "cuda");
}

}  // namespace
}  // namespace stax
