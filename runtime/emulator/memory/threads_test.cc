// Blocks on several OS threads: the same faults and counters every time, and nothing that the
// thread sanitizer minds (./stax sanitize), even where the emulated kernel races.
#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/emulator/memory/access.h"
#include "runtime/emulator/memory/block_memory.h"
#include "runtime/emulator/memory/counters.h"
#include "runtime/emulator/memory/fault.h"
#include "runtime/emulator/memory/test_launch.h"

namespace stax::emulator {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr uint32_t kBlocks = 64;
using Values = std::array<uint32_t, kWarpSize>;

// Runs body(block memory, block number) for all blocks, on two threads.
template <typename Body>
void RunBlocks(TestLaunch& test, Body body) {
  std::atomic<uint32_t> next{0};
  auto work = [&] {
    ClusterMemory cluster(test.launch.get());
    for (uint32_t i = next++; i < kBlocks; i = next++) {
      cluster.Start({i});
      body(cluster.block(0), i);
    }
    cluster.AddCounters();
  };
  std::thread other(work);
  work();
  other.join();
}

TEST(ThreadsTest, RacesAndBadAddressesAreTheSameInEveryRun) {
  for (int run = 0; run < 20; ++run) {
    TestLaunch test(Threads(kBlocks, 32), 4096);
    RunBlocks(test, [&](BlockMemory& memory, uint32_t block) {
      Values values;
      values.fill(block);
      // All blocks store to one line, each another value, and load it.
      auto line = Lanes(test.buffer, 4);
      memory.Store(0, Site(1, Space::kGlobal, AccessKind::kStore), kAll, line.data(),
                   values.data());
      auto past = Lanes(test.buffer + 4096 - 31 * 4, 4);
      memory.Load(0, Site(3, Space::kGlobal, AccessKind::kLoad), kAll, past.data(), values.data());
    });
    EXPECT_THAT(
        test.Found(),
        ElementsAre(
            "out_of_bounds #3 block 0 thread 31 @4096", "out_of_bounds #3 block 1 thread 31 @4096",
            "out_of_bounds #3 block 2 thread 31 @4096", "out_of_bounds #3 block 3 thread 31 @4096",
            "global_race #1 block 0 thread 0 @0", "global_race #1 block 0 thread 1 @4",
            "global_race #1 block 0 thread 2 @8", "global_race #1 block 0 thread 3 @12"));
    EXPECT_EQ(test.faults.Faults()[1].block_position.x, 1);
    EXPECT_EQ(test.faults.Faults()[1].thread_position.x, 31);
  }
}

TEST(ThreadsTest, StoresOfOneValueAreNoRace) {
  for (int run = 0; run < 20; ++run) {
    TestLaunch test(Threads(kBlocks, 32), 4096);
    RunBlocks(test, [&](BlockMemory& memory, uint32_t) {
      Values values;
      values.fill(7);
      auto line = Lanes(test.buffer, 4);
      memory.Store(0, Site(1, Space::kGlobal, AccessKind::kStore), kAll, line.data(),
                   values.data());
    });
    EXPECT_THAT(test.Found(), IsEmpty());
  }
}

TEST(ThreadsTest, LastBlockSumsUp) {
  for (int run = 0; run < 20; ++run) {
    TestLaunch test(Threads(kBlocks, 32), 65536);
    uint64_t partial = test.buffer + 1024;
    RunBlocks(test, [&](BlockMemory& memory, uint32_t block) {
      Values values;
      values.fill(block);
      auto own = Lanes(partial + 128 * block, 4);
      memory.Store(0, Site(1, Space::kGlobal, AccessKind::kStore), kAll, own.data(), values.data());
      memory.WarpBarrier(0, kAll);
      memory.Fence(0, 1, Scope::kDevice);
      auto counter = Lanes(test.buffer, 0);
      Values one;
      one.fill(1);
      Values ticket{};
      memory.Atomic(0, Site(2, Space::kGlobal, AccessKind::kAtomic), 1, counter.data(), AddFunction,
                    one.data(), nullptr, ticket.data());
      memory.Fence(0, 1, Scope::kDevice);
      memory.WarpBarrier(0, kAll);
      if (ticket[0] != kBlocks - 1) return;
      uint32_t sum = 0;
      for (uint32_t i = 0; i < kBlocks; ++i) {
        auto part = Lanes(partial + 128 * i, 4);
        memory.Load(0, Site(3, Space::kGlobal, AccessKind::kLoad), kAll, part.data(),
                    values.data());
        sum += values[31];
      }
      EXPECT_EQ(sum, kBlocks * (kBlocks - 1) / 2);
    });
    EXPECT_THAT(test.Found(), IsEmpty());
    MemoryCounters total = test.launch->total();
    EXPECT_EQ(total.global_store_sectors, 4 * kBlocks);
    EXPECT_EQ(total.global_load_sectors, 4 * kBlocks);
    EXPECT_EQ(total.global_atomics, kBlocks);
    EXPECT_EQ(test.launch->touched_sectors().either, 4 * kBlocks + 1);
  }
}

TEST(ThreadsTest, AtomicsOfEveryWidth) {
  for (int width : {2, 4, 8, 16}) {
    TestLaunch test(Threads(kBlocks, 32), 4096);
    RunBlocks(test, [&](BlockMemory& memory, uint32_t) {
      std::array<uint8_t, static_cast<size_t>(16) * kWarpSize> ones{};
      for (int lane = 0; lane < kWarpSize; ++lane) ones[static_cast<size_t>(lane) * width] = 1;
      auto addresses = Lanes(test.buffer, 0);
      memory.Atomic(0, Site(1, Space::kGlobal, AccessKind::kAtomic, width), kAll, addresses.data(),
                    AddFunction, ones.data(), nullptr, nullptr);
    });
    uint32_t expected = width == 16 ? 1 : kBlocks * kWarpSize;
    EXPECT_EQ(*reinterpret_cast<uint16_t*>(test.buffer), expected);
    EXPECT_THAT(test.Found(), IsEmpty());
  }
}

}  // namespace
}  // namespace stax::emulator
