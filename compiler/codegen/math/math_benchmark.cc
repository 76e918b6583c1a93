// CPU throughput of the math functions: elements a second, arguments in (0.1, 4) from the cache.
//
//   bazel run //compiler/codegen/math:math_benchmark -- --benchmark_filter='exp|log'
#include <algorithm>
#include <vector>

#include "benchmark/benchmark.h"
#include "compiler/codegen/math/math_jit.h"
#include "compiler/codegen/math/math_sweep.h"

namespace stax::math {
namespace {

template <typename T>
void Throughput(benchmark::State& state, MathJit::Function function) {
  constexpr int64_t kCount = 4096;
  std::vector<T> a(kCount), b(kCount), out(kCount);
  for (int64_t i = 0; i < kCount; ++i) {
    a[i] = static_cast<T>(0.1 + 3.9 * i / kCount);
    b[i] = static_cast<T>(0.1 + 3.9 * (i * 7 % kCount) / kCount);
  }
  for (auto _ : state) {
    function(a.data(), b.data(), out.data(), kCount);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * kCount);
}

void RegisterAll() {
  const std::vector<SweepType> types = {{false, 1}, {false, 8}, {true, 1}, {true, 4}};
  static const MathJit jit("x86-64-v3", MathOps(), types);
  for (OpCode code : MathOps()) {
    for (const SweepType& type : types) {
      benchmark::RegisterBenchmark(SweepName(code, type).c_str(),
                                   type.f64 ? Throughput<double> : Throughput<float>,
                                   jit.Find(code, type));
    }
  }
}

}  // namespace
}  // namespace stax::math

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  stax::math::RegisterAll();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
