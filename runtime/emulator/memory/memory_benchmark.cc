// What one access of a warp costs. Goals: with all checks 300 ns for 4 bytes a lane in a row and 1
// us for 16; without checks 60 ns.
#include <array>
#include <cstdint>

#include "benchmark/benchmark.h"
#include "runtime/emulator/memory/access.h"
#include "runtime/emulator/memory/block_memory.h"
#include "runtime/emulator/memory/fault.h"
#include "runtime/emulator/memory/global_memory.h"
#include "runtime/emulator/memory/launch_memory.h"

namespace stax::emulator {
namespace {

constexpr uint64_t kBytes = 1 << 20;
constexpr int kWarps = 8;

// range(0): checks on; range(1): bytes a lane, as 4-byte elements; range(2): distance of lanes.
void Access(benchmark::State& state, Space space, AccessKind kind) {
  LaunchOptions options;
  options.block.x = kWarps * kWarpSize;
  options.instructions = 1;
  options.shared_bytes = 32768;
  options.local_bytes = 64;
  options.check_memory = options.check_races = state.range(0) != 0;
  GlobalMemory memory;
  void* buffer = memory.Allocate(kBytes).value();
  memory.MarkWritten(buffer, kBytes);
  FaultSink faults(options.grid, options.block);
  LaunchMemory launch(&memory, options, &faults);
  ClusterMemory cluster(&launch);
  cluster.Start({0});
  BlockMemory& block = cluster.block(0);

  AccessSite site;
  site.space = space;
  site.kind = kind;
  site.elements = static_cast<int>(state.range(1)) / 4;
  if (state.range(1) < 4) {
    site.element_bytes = static_cast<int>(state.range(1));
    site.elements = 1;
  }
  const uint64_t base = space == Space::kGlobal ? reinterpret_cast<uint64_t>(buffer) : 0;
  const uint64_t extent = space == Space::kLocal ? 64 : 32768;
  const auto step = static_cast<uint64_t>(state.range(2));
  const uint64_t access = step == 0 ? state.range(1) : step * kWarpSize;
  std::array<uint32_t, 4 * kWarpSize> values{};
  auto one = [&](int warp, uint64_t offset) {
    std::array<uint64_t, kWarpSize> addresses;
    for (int lane = 0; lane < kWarpSize; ++lane) addresses[lane] = base + offset + step * lane;
    if (kind == AccessKind::kLoad) {
      block.Load(warp, site, ~uint32_t{0}, addresses.data(), values.data());
    } else {
      block.Store(warp, site, ~uint32_t{0}, addresses.data(), values.data());
    }
  };
  if (space != Space::kGlobal && kind == AccessKind::kLoad) {
    AccessKind stores = AccessKind::kStore;
    AccessSite fill = site;
    fill.kind = stores;
    for (uint64_t offset = 0; offset + access <= extent; offset += access) {
      std::array<uint64_t, kWarpSize> addresses;
      for (int lane = 0; lane < kWarpSize; ++lane) addresses[lane] = offset + step * lane;
      for (int warp = 0; warp < kWarps; ++warp) {
        block.Store(warp, fill, ~uint32_t{0}, addresses.data(), values.data());
        block.BlockBarrier((1 << kWarps) - 1);
      }
    }
  }
  int64_t accesses = 0;
  for (auto _ : state) {
    int warp = 0;
    for (uint64_t offset = 0; offset + access <= extent; offset += access) {
      one(warp, offset);
      warp = (warp + 1) % kWarps;
      ++accesses;
    }
    block.BlockBarrier((1 << kWarps) - 1);
  }
  if (faults.count() != 0) state.SkipWithError("faults");
  // Seconds an access.
  state.counters["access"] = benchmark::Counter(
      static_cast<double>(accesses), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void Cases(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"checks", "bytes", "step"});
  for (int checks : {0, 1}) {
    benchmark->Args({checks, 4, 4});
    benchmark->Args({checks, 16, 16});
    benchmark->Args({checks, 2, 2});
    benchmark->Args({checks, 4, 128});
    benchmark->Args({checks, 4, 0});
  }
}
void StoreCases(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"checks", "bytes", "step"});
  for (int checks : {0, 1}) {
    benchmark->Args({checks, 4, 4});
    benchmark->Args({checks, 16, 16});
    benchmark->Args({checks, 2, 2});
    benchmark->Args({checks, 4, 128});
  }
}
void LocalCases(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"checks", "bytes", "step"});
  for (int checks : {0, 1}) benchmark->Args({checks, 4, 0});
}

BENCHMARK_CAPTURE(Access, global_load, Space::kGlobal, AccessKind::kLoad)->Apply(Cases);
BENCHMARK_CAPTURE(Access, global_store, Space::kGlobal, AccessKind::kStore)->Apply(StoreCases);
BENCHMARK_CAPTURE(Access, shared_load, Space::kShared, AccessKind::kLoad)->Apply(Cases);
BENCHMARK_CAPTURE(Access, shared_store, Space::kShared, AccessKind::kStore)->Apply(StoreCases);
BENCHMARK_CAPTURE(Access, local_load, Space::kLocal, AccessKind::kLoad)->Apply(LocalCases);
BENCHMARK_CAPTURE(Access, local_store, Space::kLocal, AccessKind::kStore)->Apply(LocalCases);

void BlockBarriers(benchmark::State& state) {
  LaunchOptions options;
  options.block.x = static_cast<uint32_t>(state.range(0)) * kWarpSize;
  GlobalMemory memory;
  FaultSink faults(options.grid, options.block);
  LaunchMemory launch(&memory, options, &faults);
  ClusterMemory cluster(&launch);
  cluster.Start({0});
  uint32_t warps = ~uint32_t{0} >> (kWarpSize - state.range(0));
  for (auto _ : state) cluster.block(0).BlockBarrier(warps);
}
BENCHMARK(BlockBarriers)->Arg(1)->Arg(8)->Arg(32);

}  // namespace
}  // namespace stax::emulator

BENCHMARK_MAIN();
