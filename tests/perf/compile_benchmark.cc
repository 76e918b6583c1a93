// What it costs to compile a graph, from the graph to a program with the code of its first
// candidates, on one core: graphs of 200 pointwise operators (the goal is 1 s), and those of
// graphs/, most of them one kernel (the goal is 20 ms a kernel). ptxas, a process of its own where
// CUDA is installed, is left out.
#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "benchmark/benchmark.h"
#include "compiler/frontend/textproto.h"
#include "compiler/pipeline.h"
#include "compiler/target.h"
#include "ir/artifact/artifact_io.h"
#include "ir/check.h"
#include "ir/graph.h"
#include "ir/graph_builder.h"

namespace stax {
namespace {

constexpr int kOps = 200;

// Each operator takes the result before it, and one of three inputs: a full one, a row, a column.
Graph Chain() {
  GraphBuilder b("chain");
  const std::array<GraphBuilder::Tensor, 3> inputs = {b.Input("full", DType::kF32, {1024, 1024}),
                                                      b.Input("row", DType::kF32, {1, 1024}),
                                                      b.Input("column", DType::kF32, {1024, 1})};
  constexpr std::array<OpCode, 4> kCodes = {OpCode::kAdd, OpCode::kMul, OpCode::kMax, OpCode::kSub};
  GraphBuilder::Tensor x = inputs[0];
  for (int i = 0; i < kOps; ++i) x = b.Binary(kCodes[i % 4], x, inputs[i % 3]);
  b.Output("y", x);
  absl::StatusOr<Graph> graph = b.Build();
  STAX_CHECK(graph.ok(), graph.status().ToString());
  return *graph;
}

// Twenty independent outputs of ten operators each, elementary functions among them.
Graph Branches() {
  GraphBuilder b("branches");
  const GraphBuilder::Tensor input = b.Input("x", DType::kF32, {1024, 1024});
  constexpr std::array<OpCode, 5> kCodes = {OpCode::kExp, OpCode::kNeg, OpCode::kTanh, OpCode::kAbs,
                                            OpCode::kSqrt};
  for (int branch = 0; branch < 20; ++branch) {
    GraphBuilder::Tensor x = b.Add(input, b.Scalar(DType::kF32, branch));
    for (int i = 1; i < kOps / 20; ++i) x = b.Unary(kCodes[i % 5], x);
    b.Output("y" + std::to_string(branch), x);
  }
  absl::StatusOr<Graph> graph = b.Build();
  STAX_CHECK(graph.ok(), graph.status().ToString());
  return *graph;
}

void Compile(benchmark::State& state, const Graph& graph, const char* name) {
  absl::StatusOr<TargetSpec> target = ParseTarget(name);
  STAX_CHECK(target.ok(), target.status().ToString());
  CompileOptions options;
  options.target = *target;
  options.run_ptxas = false;
  int kernels = 0;
  for (auto _ : state) {
    const absl::StatusOr<Program> program = CompileGraph(graph, options);
    STAX_CHECK(program.ok(), program.status().ToString());
    kernels = program->kernels_size();
  }
  state.counters["kernels"] = kernels;
}

void BM_Chain(benchmark::State& state, const char* target) { Compile(state, Chain(), target); }
void BM_Branches(benchmark::State& state, const char* target) {
  Compile(state, Branches(), target);
}

BENCHMARK_CAPTURE(BM_Chain, sm_90a, "cuda:sm_90a")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Chain, avx2, "cpu:x86-64-v3")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Branches, sm_90a, "cuda:sm_90a")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Branches, avx2, "cpu:x86-64-v3")->Unit(benchmark::kMillisecond);

Graph ReadGraph(const std::filesystem::path& path) {
  const absl::StatusOr<std::string> text = ReadFile(path.string());
  STAX_CHECK(text.ok(), text.status().ToString());
  absl::StatusOr<Graph> graph = GraphFromTextProto(*text);
  STAX_CHECK(graph.ok(), path.string() + ": " + graph.status().ToString());
  return *graph;
}

// Of the folder that `bazel run` starts in.
void RegisterFiles() {
  const std::filesystem::directory_iterator folder("tests/perf/graphs");
  std::vector<std::filesystem::path> paths(begin(folder), end(folder));
  std::sort(paths.begin(), paths.end());
  for (const std::filesystem::path& path : paths) {
    benchmark::RegisterBenchmark(path.stem().c_str(), [path](benchmark::State& state) {
      Compile(state, ReadGraph(path), "cuda:sm_90a");
    })->Unit(benchmark::kMillisecond);
  }
}

}  // namespace
}  // namespace stax

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  stax::RegisterFiles();
  benchmark::RunSpecifiedBenchmarks();
}
