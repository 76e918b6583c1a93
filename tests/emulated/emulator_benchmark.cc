// PTX instructions x threads that the emulator runs in a second (items_per_second), with all checks
// and without, on all cores. Goals: 20 and 100 million on two cores.
//
//   bazel run //tests/emulated:emulator_benchmark
//
// Results in docs/perf/emulator.md.
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"
#include "ir/check.h"
#include "runtime/emulator/launch/counters.h"
#include "runtime/emulator/launch/emulator_module.h"
#include "runtime/emulator/launch/launch.h"
#include "runtime/emulator/memory/global_memory.h"
#include "runtime/emulator/ptx/parser.h"

namespace stax::emulator {
namespace {

struct Argument {
  uint64_t value = 0;   // a number ...
  size_t bytes = 4;     // ... of so many bytes,
  size_t elements = 0;  // or a buffer of so many f32
};
Argument Number(uint64_t value) { return {value, 4, 0}; }
Argument Buffer(size_t elements) { return {0, 8, elements}; }

struct Case {
  const char* name;
  const char* file;
  const char* kernel;
  Dim3 grid;
  Dim3 block;
  std::vector<Argument> arguments;
};

constexpr uint64_t kOne = 0x3f800000;  // as f32

const std::vector<Case>& Cases() {
  static const auto* const cases = new std::vector<Case>{
      {"saxpy",
       "saxpy.O3.ptx",
       "saxpy",
       {1024, 1, 1},
       {256, 1, 1},
       {Number(1 << 18), Number(kOne), Buffer(1 << 18), Buffer(1 << 18)}},
      {"saxpy_debug",
       "saxpy.O0.ptx",
       "saxpy",
       {1024, 1, 1},
       {256, 1, 1},
       {Number(1 << 18), Number(kOne), Buffer(1 << 18), Buffer(1 << 18)}},
      {"matmul_tiled",
       "matmul_tiled.O3.ptx",
       "matmul_tiled",
       {8, 8, 1},
       {16, 16, 1},
       {Number(128), Number(128), Number(128), Buffer(1 << 14), Buffer(1 << 14), Buffer(1 << 14)}},
      {"block_scan",
       "scan.O3.ptx",
       "block_scan",
       {256, 1, 1},
       {1024, 1, 1},
       {Number(1 << 18), Buffer(1 << 18), Buffer(1 << 18)}},
      {"warp_sum",
       "warp_reduce.O3.ptx",
       "warp_sum_down",
       {1024, 1, 1},
       {256, 1, 1},
       {Number(1 << 18), Buffer(1 << 18), Buffer(1 << 13)}},
      {"softmax_bf16",
       "softmax_bf16.O3.ptx",
       "softmax_bf16",
       {64, 1, 1},
       {256, 1, 1},
       {Number(4096), Buffer(1 << 17), Buffer(1 << 17)}},
      {"mma_gemm",
       "mma_gemm.O3.ptx",
       "mma_gemm_bf16",
       {8, 8, 1},
       {32, 1, 1},
       {Number(128), Number(128), Number(128), Buffer(1 << 13), Buffer(1 << 13), Buffer(1 << 14)}},
  };
  return *cases;
}

std::string ReadText(const std::string& path) {
  std::ifstream file(path);
  STAX_CHECK(file.good(), path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<uint8_t> Place(const Case& c, const FlatKernel& kernel, GlobalMemory& memory) {
  std::vector<uint8_t> parameters(static_cast<size_t>(kernel.parameter_bytes));
  for (size_t i = 0; i < c.arguments.size(); ++i) {
    Argument argument = c.arguments[i];
    if (argument.elements > 0) {
      const size_t bytes = sizeof(float) * argument.elements;
      void* buffer = memory.Allocate(bytes).value();
      std::memset(buffer, 0, bytes);
      memory.MarkWritten(buffer, bytes);
      argument.value = reinterpret_cast<uintptr_t>(buffer);
    }
    std::memcpy(parameters.data() + kernel.parameter_offsets[i], &argument.value, argument.bytes);
  }
  return parameters;
}

void Run(benchmark::State& state, const Case& c, bool checks) {
  const std::string path = absl::StrCat("tests/emulated/ptx/", c.file);
  GlobalMemory memory;
  std::unique_ptr<EmulatorModule> module =
      EmulatorModule::Load(ptx::ParsePtx(ReadText(path), path).value(), &memory).value();
  const CompiledKernel* kernel = module->Kernel(c.kernel).value();
  LaunchRequest request;
  request.grid = c.grid;
  request.block = c.block;
  request.parameters = Place(c, kernel->translated.flat, memory);
  request.check_memory = request.check_races = checks;
  int64_t instructions = 0;
  for (auto _ : state) {
    const LaunchResult result = Launch(*module, *kernel, request, &memory).value();
    STAX_CHECK(result.fault_count == 0 && result.ended.ok(), c.name);
    instructions += TotalsOf(kernel->translated, result).thread_instructions;
  }
  state.SetItemsProcessed(instructions);
}

}  // namespace
}  // namespace stax::emulator

int main(int argc, char** argv) {
  for (const auto& c : stax::emulator::Cases()) {
    for (const bool checks : {false, true}) {
      benchmark::RegisterBenchmark(
          absl::StrCat(c.name, checks ? "/all_checks" : "/no_checks").c_str(),
          [&c, checks](benchmark::State& state) { stax::emulator::Run(state, c, checks); })
          ->UseRealTime()
          ->Unit(benchmark::kMillisecond);
    }
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
