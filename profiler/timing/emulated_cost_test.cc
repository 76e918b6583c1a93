#include "profiler/timing/emulated_cost.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace stax {
namespace {

DeviceInfo Chip() {
  DeviceInfo chip;
  chip.kind = "emu";
  chip.multiprocessors = 132;
  chip.l2_bytes = int64_t{60} << 20;
  return chip;
}

EmulatedLaunch Blocks(int64_t blocks) {
  EmulatedLaunch launch;
  launch.blocks = blocks;
  launch.block_threads = 128;
  return launch;
}

TEST(EmulatedCost, AnEmptyKernelCostsALaunch) {
  EXPECT_DOUBLE_EQ(CostOf(Blocks(1), Chip()).total_ns, 540);
}

TEST(EmulatedCost, DistinctSectorsMoveAtTheBandwidthOfACopy) {
  EmulatedLaunch launch = Blocks(132 * 16);
  launch.totals.touched = {1000000, 500000, 1500000};
  launch.totals.memory.global_load_sectors = 1000000;
  launch.totals.memory.global_store_sectors = 500000;
  const EmulatedCost cost = CostOf(launch, Chip());
  EXPECT_DOUBLE_EQ(cost.dram_ns, 1500000 * 32 / 4249.0);
  EXPECT_DOUBLE_EQ(cost.total_ns, 540 + cost.dram_ns);
  EXPECT_STREQ(cost.largest(), "DRAM");
}

TEST(EmulatedCost, WhatL2CannotKeepMovesAgain) {
  EmulatedLaunch launch = Blocks(132);
  launch.totals.memory.global_load_sectors = 3000;
  launch.totals.touched = {1000, 0, 1000};
  EXPECT_DOUBLE_EQ(CostOf(launch, Chip()).dram_ns, 1000 * 32 / 4249.0);
  DeviceInfo small = Chip();
  small.l2_bytes = 1000 * 32 / 4;
  EXPECT_DOUBLE_EQ(CostOf(launch, small).dram_ns, (1000 + 2000 * 0.75) * 32 / 4249.0);
}

TEST(EmulatedCost, TheTailIsTheBusiestMultiprocessors) {
  EmulatedLaunch even = Blocks(132);
  even.totals.warp_instructions = 132 * 4000;
  EXPECT_DOUBLE_EQ(CostOf(even, Chip()).issue_ns, 1000 / 1.98);
  EmulatedLaunch tail = Blocks(133);
  tail.totals.warp_instructions = 133 * 4000;
  EXPECT_DOUBLE_EQ(CostOf(tail, Chip()).issue_ns, 2000 / 1.98);
}

TEST(EmulatedCost, BankConflictsAreWavefronts) {
  EmulatedLaunch launch = Blocks(132);
  launch.totals.memory.shared_load_requests = 132 * 10;
  launch.totals.memory.shared_load_wavefronts = 132 * 320;
  const EmulatedCost cost = CostOf(launch, Chip());
  EXPECT_DOUBLE_EQ(cost.l1_ns, 320 / 1.98);
  EXPECT_STREQ(cost.largest(), "L1");
}

TEST(EmulatedCost, ResidentWarpsWaitTogether) {
  // 16 blocks of 4 warps fill the 64 warps of a multiprocessor.
  EmulatedLaunch launch = Blocks(132 * 32);
  launch.totals.load_waits = launch.blocks * 4 * 3;
  EXPECT_EQ(ResidentBlocks(launch), 16);
  EXPECT_DOUBLE_EQ(CostOf(launch, Chip()).latency_ns, 2 * 3 * 408);
  // 64 registers x 128 threads: 8 blocks.
  launch.registers = 64;
  EXPECT_EQ(ResidentBlocks(launch), 8);
  EXPECT_DOUBLE_EQ(CostOf(launch, Chip()).latency_ns, 4 * 3 * 408);
  // 228 KiB / (48 + 1 KiB).
  launch.shared_bytes = 48 << 10;
  EXPECT_EQ(ResidentBlocks(launch), 4);
  // What does not fit runs all the same, one at a time.
  launch.registers = 65536;
  EXPECT_EQ(ResidentBlocks(launch), 1);
}

// Of every counter the model reads.
TEST(EmulatedCost, MoreOfAnythingIsNeverCheaper) {
  using Field = int64_t& (*)(EmulatedLaunch&);
  const std::vector<std::pair<std::string, Field>> fields = {
      {"load sectors", [](auto& l) -> int64_t& { return l.totals.memory.global_load_sectors; }},
      {"store sectors", [](auto& l) -> int64_t& { return l.totals.memory.global_store_sectors; }},
      {"atomic sectors", [](auto& l) -> int64_t& { return l.totals.memory.global_atomic_sectors; }},
      {"lines", [](auto& l) -> int64_t& { return l.totals.memory.global_load_transactions; }},
      {"wavefronts", [](auto& l) -> int64_t& { return l.totals.memory.shared_store_wavefronts; }},
      {"local bytes", [](auto& l) -> int64_t& { return l.totals.memory.local_load_bytes; }},
      {"touched", [](auto& l) -> int64_t& { return l.totals.touched.either; }},
      {"instructions", [](auto& l) -> int64_t& { return l.totals.warp_instructions; }},
      {"tensor", [](auto& l) -> int64_t& { return l.totals.flops_tensor; }},
      {"waits", [](auto& l) -> int64_t& { return l.totals.load_waits; }},
      {"registers", [](auto& l) -> int64_t& { return l.registers; }},
      {"shared bytes", [](auto& l) -> int64_t& { return l.shared_bytes; }},
  };
  for (const auto& [name, field] : fields) {
    EmulatedLaunch launch = Blocks(1000);
    launch.totals.touched = {100000, 100000, 200000};
    launch.totals.memory.global_load_sectors = 400000;
    launch.totals.load_waits = 4000;
    double last = CostOf(launch, Chip()).total_ns;
    for (int step = 0; step < 24; ++step) {
      field(launch) += int64_t{1} << step;
      const double now = CostOf(launch, Chip()).total_ns;
      EXPECT_GE(now, last) << name << " " << field(launch);
      last = now;
    }
  }
}

}  // namespace
}  // namespace stax
