// What typical operations on index expressions cost. A kernel is to be compiled in 20 ms, with some
// hundreds of index expressions in it.
#include <string>

#include "benchmark/benchmark.h"
#include "ir/index_expr.h"

namespace stax {
namespace {

IndexExpr Parsed(const char* text) { return IndexExpr::Parse(text).value(); }

// Loops i0 < m, i1 < n, i2 < 4, x < 4096 over sizes m, n.
RangeContext Ranges() {
  RangeContext ranges;
  ranges.AddSize("m", 1, 1 << 30);
  ranges.AddSize("n", 1, 1 << 30);
  ranges.AddLoop("i0", IndexExpr::Var("m"));
  ranges.AddLoop("i1", IndexExpr::Var("n"));
  ranges.AddLoop("i2", 4);
  ranges.AddLoop("x", 4096);
  return ranges;
}

void BM_Add(benchmark::State& state) {
  const IndexExpr a = Parsed("n*i0 + i1"), b = Parsed("4*i1 + i2 + 3");
  for (auto _ : state) benchmark::DoNotOptimize(a + b);
}
BENCHMARK(BM_Add);

void BM_ScaleByConstant(benchmark::State& state) {
  const IndexExpr a = Parsed("8192*i0 + 64*i1 + i2");
  for (auto _ : state) benchmark::DoNotOptimize(a * 16);
}
BENCHMARK(BM_ScaleByConstant);

void BM_MultiplyBySize(benchmark::State& state) {
  const IndexExpr a = Parsed("m*i0 + i1 + 3"), n = IndexExpr::Var("n");
  for (auto _ : state) benchmark::DoNotOptimize(a * n);
}
BENCHMARK(BM_MultiplyBySize);

void BM_Compare(benchmark::State& state) {
  const IndexExpr a = Parsed("8192*i0 + 64*i1 + i2"), b = Parsed("8192*i0 + 64*i1 + i2");
  for (auto _ : state) benchmark::DoNotOptimize(a == b);
}
BENCHMARK(BM_Compare);

void BM_FloorDivOfMultiple(benchmark::State& state) {
  const IndexExpr a = Parsed("8192*i0 + 64*i1 + i2");
  for (auto _ : state) benchmark::DoNotOptimize(FloorDiv(a, 64));
}
BENCHMARK(BM_FloorDivOfMultiple);

void BM_ModBySize(benchmark::State& state) {
  const IndexExpr a = Parsed("n*i0 + i1"), n = IndexExpr::Var("n");
  for (auto _ : state) benchmark::DoNotOptimize(Mod(a, n));
}
BENCHMARK(BM_ModBySize);

void BM_Substitute(benchmark::State& state) {
  const IndexExpr a = Parsed("8192*i0 + 64*i1 + i2");
  const IndexExpr x = IndexExpr::Var("x");
  const std::map<std::string, IndexExpr> split = {{"i0", FloorDiv(x, 64)}, {"i1", Mod(x, 64)}};
  for (auto _ : state) benchmark::DoNotOptimize(a.Substitute(split));
}
BENCHMARK(BM_Substitute);

void BM_Evaluate(benchmark::State& state) {
  const IndexExpr a = Parsed("8192*i0 + 64*mod(i1, 4) + floordiv(i2, 2)");
  const std::map<std::string, int64_t> values = {{"i0", 3}, {"i1", 2}, {"i2", 1}};
  for (auto _ : state) benchmark::DoNotOptimize(a.Evaluate(values));
}
BENCHMARK(BM_Evaluate);

void BM_ToString(benchmark::State& state) {
  const IndexExpr a = Parsed("8192*i0 + 64*mod(i1, 4) + floordiv(i2, 2)");
  for (auto _ : state) benchmark::DoNotOptimize(a.ToString());
}
BENCHMARK(BM_ToString);

void BM_Parse(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(IndexExpr::Parse("8192*i0 + 64*mod(i1, 4) + floordiv(i2, 2)"));
  }
}
BENCHMARK(BM_Parse);

void BM_Bounds(benchmark::State& state) {
  const RangeContext ranges = Ranges();
  const IndexExpr a = Parsed("n*i0 + i1");
  for (auto _ : state) benchmark::DoNotOptimize(ranges.Bounds(a));
}
BENCHMARK(BM_Bounds);

void BM_ProveInBounds(benchmark::State& state) {
  const RangeContext ranges = Ranges();
  const IndexExpr index = Parsed("n*i0 + i1"), numel = Parsed("m*n");
  for (auto _ : state) benchmark::DoNotOptimize(ranges.ProveLt(index, numel));
}
BENCHMARK(BM_ProveInBounds);

void BM_Simplify(benchmark::State& state, const char* text) {
  const RangeContext ranges = Ranges();
  const IndexExpr e = Parsed(text);
  state.SetLabel(e.ToString() + " -> " + Simplify(e, ranges).ToString());
  for (auto _ : state) benchmark::DoNotOptimize(Simplify(e, ranges));
}
BENCHMARK_CAPTURE(BM_Simplify, affine, "8192*i0 + 64*i1 + i2");
BENCHMARK_CAPTURE(BM_Simplify, symbolic_split, "floordiv(n*i0 + i1, n)");
BENCHMARK_CAPTURE(BM_Simplify, symbolic_merge, "n*floordiv(n*i0 + i1, n) + mod(n*i0 + i1, n)");
BENCHMARK_CAPTURE(BM_Simplify, mixed_radix,
                  "12*floordiv(x, 12) + 4*mod(floordiv(x, 4), 3) + mod(x, 4)");
BENCHMARK_CAPTURE(BM_Simplify, irreducible, "100*mod(x, 7) + floordiv(x, 7)");

}  // namespace
}  // namespace stax

BENCHMARK_MAIN();
