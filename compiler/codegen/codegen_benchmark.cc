// What it costs to turn a kernel into PTX (without ptxas) or an object. The goal is 20 ms for a
// fused kernel on one core; the first compilation of a process also makes the LLVM target machine.
#include <string>

#include "absl/status/statusor.h"
#include "benchmark/benchmark.h"
#include "compiler/codegen/codegen.h"
#include "compiler/codegen/testing/nest_kernel.h"
#include "compiler/kernel_spec.h"
#include "compiler/target.h"
#include "ir/check.h"

namespace stax {
namespace {

constexpr const char* kExample11 = R"(nest example {
  buffer x: f32[8192] in
  buffer w: f32[8192] in
  buffer sum: f32[64] out
  loop i0: 64
  reduce r0: 128
  %0 = load x[128*i0 + r0] : f32
  %1 = load w[128*i0 + r0] : f32
  %2 = add %0, %1 : f32
  %3 = const 0.0 : f32
  %4 = max %2, %3 : f32
  %5 = const 2.0 : f32
  %6 = mul %4, %5 : f32
  %7 = reduce.sum %6 : f32
  store sum[i0], %7
})";

constexpr const char* kSoftmax = R"(nest softmax {
  buffer x: f32[256000] in
  buffer y: f32[256000] out
  loop i0: 256
  reduce r0: 1000
  %0 = load x[1000*i0 + r0] : f32
  %1 = reduce.max %0 : f32
  %2 = sub %0, %1 : f32
  %3 = exp %2 : f32
  %4 = reduce.sum %3 : f32
  %5 = div %3, %4 : f32
  store y[1000*i0 + r0], %5
})";

constexpr const char* kGeluBackward = R"(nest gelu_backward {
  buffer g: bf16[67108864] in
  buffer h: bf16[67108864] in
  buffer o: bf16[67108864] out
  loop i0: 67108864
  %0 = load h[i0] : bf16
  %1 = load g[i0] : bf16
  %2 = cast %0 : f32
  %3 = cast %1 : f32
  %4 = const 0.70710678 : f32
  %5 = mul %2, %4 : f32
  %6 = erf %5 : f32
  %7 = const 1.0 : f32
  %8 = add %6, %7 : f32
  %9 = const 0.5 : f32
  %10 = mul %8, %9 : f32
  %11 = mul %2, %2 : f32
  %12 = const -0.5 : f32
  %13 = mul %11, %12 : f32
  %14 = exp %13 : f32
  %15 = const 0.3989422804 : f32
  %16 = mul %14, %15 : f32
  %17 = mul %2, %16 : f32
  %18 = add %10, %17 : f32
  %19 = mul %3, %18 : f32
  %20 = cast %19 : bf16
  store o[i0], %20
})";

void Compile(benchmark::State& state, const KernelSpec& kernel, const Config& config,
             const char* arch) {
  TargetSpec target;
  target.kind =
      std::string(arch).substr(0, 2) == "sm" ? TargetSpec::Kind::kCuda : TargetSpec::Kind::kCpu;
  target.arch = arch;
  CodegenOptions options;
  options.run_ptxas = false;
  for (auto _ : state) {
    const absl::StatusOr<Variant> variant = CompileVariant(kernel, config, target, options);
    STAX_CHECK(variant.ok(), variant.status().ToString());
    benchmark::DoNotOptimize(variant->ptx().size() + variant->object().size());
  }
}

void BM_Example11(benchmark::State& state, const char* arch) {
  const KernelSpec kernel = MakeKernel(kExample11, KernelForm::kPersistent);
  Compile(state, kernel, CompleteConfig(kernel, {}), arch);
}
void BM_Softmax(benchmark::State& state, const char* arch) {
  const KernelSpec kernel = MakeKernel(kSoftmax, KernelForm::kPersistent);
  Compile(state, kernel, CompleteConfig(kernel, {{"WARPS", 4}}), arch);
}
void BM_GeluBackward(benchmark::State& state, const char* arch) {
  const KernelSpec kernel = MakeKernel(kGeluBackward, KernelForm::kPointwise);
  const bool cpu = std::string(arch).substr(0, 2) != "sm";
  Compile(state, kernel, CompleteConfig(kernel, {{"XBLOCK", cpu ? 64 : 1024}, {"WARPS", 4}}), arch);
}

BENCHMARK_CAPTURE(BM_Example11, sm_90a, "sm_90a")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Softmax, sm_90a, "sm_90a")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_GeluBackward, sm_90a, "sm_90a")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Example11, avx2, "x86-64-v3")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_GeluBackward, avx2, "x86-64-v3")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_GeluBackward, avx512, "x86-64-v4")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace stax

BENCHMARK_MAIN();
