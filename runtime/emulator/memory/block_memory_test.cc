#include "runtime/emulator/memory/block_memory.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/emulator/memory/access.h"
#include "runtime/emulator/memory/counters.h"
#include "runtime/emulator/memory/fault.h"
#include "runtime/emulator/memory/test_launch.h"

namespace stax::emulator {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Values = std::array<uint32_t, kWarpSize>;

Values Iota(uint32_t from) {
  Values values;
  for (int i = 0; i < kWarpSize; ++i) values[i] = from + i;
  return values;
}

const AccessSite kLoad = Site(1, Space::kGlobal, AccessKind::kLoad);
const AccessSite kStore = Site(2, Space::kGlobal, AccessKind::kStore);
const AccessSite kSharedLoad = Site(3, Space::kShared, AccessKind::kLoad);
const AccessSite kSharedStore = Site(4, Space::kShared, AccessKind::kStore);
const AccessSite kGenericLoad = Site(5, Space::kGeneric, AccessKind::kLoad);
const AccessSite kGenericStore = Site(6, Space::kGeneric, AccessKind::kStore);
const AccessSite kLocalLoad = Site(7, Space::kLocal, AccessKind::kLoad);
const AccessSite kLocalStore = Site(8, Space::kLocal, AccessKind::kStore);

std::vector<std::string> Messages(const TestLaunch& test) {
  std::vector<std::string> messages;
  for (const Fault& fault : test.faults.Faults()) messages.push_back(fault.message);
  return messages;
}

TEST(BlockMemoryTest, StoresAndLoadsEveryPattern) {
  const std::vector<std::array<uint64_t, kWarpSize>> patterns = {
      Lanes(0, 4), Lanes(4, 4), Lanes(0, 12), Lanes(31 * 4, -4), Lanes(1000, 4),
  };
  for (uint32_t lanes : {kAll, 0xffffu, 0x55555555u, 0x80000001u, 1u}) {
    for (const auto& pattern : patterns) {
      TestLaunch test(Threads(1, 32));
      auto cluster = test.Block(0);
      auto addresses = pattern;
      for (uint64_t& address : addresses) address += test.buffer;
      Values stored = Iota(100);
      cluster->block(0).Store(0, kStore, lanes, addresses.data(), stored.data());
      Values loaded = Iota(0);
      cluster->block(0).Load(0, kLoad, lanes, addresses.data(), loaded.data());
      for (int lane = 0; lane < kWarpSize; ++lane) {
        bool active = (lanes >> lane & 1) != 0;
        EXPECT_EQ(loaded[lane], active ? 100 + lane : lane);
      }
      EXPECT_THAT(test.Found(), IsEmpty());
    }
  }
}

TEST(BlockMemoryTest, VectorsAndWidths) {
  for (int element : {1, 2, 4, 8, 16}) {
    for (int elements : {1, 2, 4}) {
      if (element * elements > 32) continue;
      for (uint32_t lanes : {kAll, 0x0ff0f00fu}) {
        TestLaunch test(Threads(1, 32));
        auto cluster = test.Block(0);
        BlockMemory& block = cluster->block(0);
        auto addresses = Lanes(test.buffer, element * elements);
        std::vector<uint8_t> stored(kWarpSize * element * elements);
        for (size_t i = 0; i < stored.size(); ++i) stored[i] = static_cast<uint8_t>(i * 7 + 1);
        block.Store(0, Site(1, Space::kGlobal, AccessKind::kStore, element, elements), lanes,
                    addresses.data(), stored.data());
        std::vector<uint8_t> loaded(stored.size());
        block.Load(0, Site(2, Space::kGlobal, AccessKind::kLoad, element, elements), lanes,
                   addresses.data(), loaded.data());
        const auto* memory = reinterpret_cast<const uint8_t*>(test.buffer);
        for (int lane = 0; lane < kWarpSize; ++lane) {
          for (int e = 0; e < elements; ++e) {
            if ((lanes >> lane & 1) == 0) continue;
            int at = (e * kWarpSize + lane) * element;
            EXPECT_EQ(memcmp(&stored[at], memory + (lane * elements + e) * element, element), 0);
            EXPECT_EQ(memcmp(&stored[at], &loaded[at], element), 0);
          }
        }
        EXPECT_THAT(test.Found(), IsEmpty());
      }
    }
  }
}

TEST(BlockMemoryTest, OutOfBoundsLanesReadZeroAndTheRestGoesOn) {
  TestLaunch test(Threads(1, 32), 4096);
  auto cluster = test.Block(0);
  BlockMemory& block = cluster->block(0);
  memset(reinterpret_cast<void*>(test.buffer), 1, 4096);
  auto addresses = Lanes(test.buffer + 4096 - 30 * 4, 4);
  Values loaded = Iota(5);
  block.Load(0, kLoad, kAll, addresses.data(), loaded.data());
  EXPECT_EQ(loaded[29], 0x01010101);
  EXPECT_EQ(loaded[30], 0);
  EXPECT_EQ(loaded[31], 0);
  Values stored = Iota(7);
  block.Store(0, kStore, kAll, addresses.data(), stored.data());
  EXPECT_THAT(test.Found(), ElementsAre("out_of_bounds #1 block 0 thread 30 @4096",
                                        "out_of_bounds #1 block 0 thread 31 @4100",
                                        "out_of_bounds #2 block 0 thread 30 @4096",
                                        "out_of_bounds #2 block 0 thread 31 @4100"));
  EXPECT_EQ(Messages(test)[1],
            absl::StrFormat("4-byte load at 0x%x is 4 bytes past the end of the 4096-byte "
                            "allocation 0x%x-0x%x",
                            test.buffer + 4100, test.buffer, test.buffer + 4096));
}

TEST(BlockMemoryTest, OutOfBoundsNearEveryEdge) {
  TestLaunch test(Threads(1, 32, 64, 16), 4096);
  auto cluster = test.Block(0);
  BlockMemory& block = cluster->block(0);
  auto load = [&](const AccessSite& site, uint64_t address) {
    auto addresses = Lanes(address, 0);
    Values values;
    block.Load(0, site, 1, addresses.data(), values.data());
  };
  AccessSite before = kLoad;
  before.instruction = 10;
  load(before, test.buffer - 4);
  AccessSite null = kLoad;
  null.instruction = 11;
  load(null, 8);
  AccessSite shared = kSharedLoad;
  shared.instruction = 12;
  load(shared, 64);
  AccessSite local = kLocalLoad;
  local.instruction = 13;
  load(local, 16);
  AccessSite rank = kSharedLoad;
  rank.instruction = 14;
  load(rank, SharedAddressOf(1, 0));
  AccessSite constant = Site(15, Space::kConst, AccessKind::kLoad);
  load(constant, 0);
  AccessSite generic = kGenericLoad;
  generic.instruction = 16;
  load(generic, kSharedWindow + 64);
  EXPECT_THAT(
      Messages(test),
      ElementsAre(absl::StrFormat(
                      "4-byte load at 0x%x is 4 bytes before the 4096-byte allocation 0x%x-0x%x",
                      test.buffer - 4, test.buffer, test.buffer + 4096),
                  "4-byte load at 0x8 is a null pointer or an offset to one",
                  "4-byte load at 0x40 is beyond the 64 bytes of shared memory of the block",
                  "4-byte load at 0x10 is beyond the 16 bytes of local memory of the thread",
                  "4-byte load at 0x2000000 is in shared memory of no block of the cluster",
                  "4-byte load at 0x0 is beyond the 0 bytes of constant memory of the kernel",
                  "4-byte load at 0x100000000000040 is beyond the 64 bytes of shared memory of the "
                  "block"));
}

TEST(BlockMemoryTest, Misaligned) {
  TestLaunch test(Threads(1, 64));
  auto cluster = test.Block(0);
  auto addresses = Lanes(test.buffer, 16);
  addresses[7] += 8;
  std::array<uint32_t, 4 * kWarpSize> values;
  values.fill(9);
  cluster->block(0).Load(1, Site(3, Space::kGlobal, AccessKind::kLoad, 4, 4), kAll,
                         addresses.data(), values.data());
  EXPECT_EQ(values[7], 0);
  EXPECT_EQ(values[3 * kWarpSize + 7], 0);
  EXPECT_THAT(test.Found(), ElementsAre("misaligned #3 block 0 thread 39 @120"));
  EXPECT_EQ(Messages(test)[0],
            absl::StrFormat("16-byte load at 0x%x is not aligned to 16 bytes", test.buffer + 120));
}

TEST(BlockMemoryTest, UninitializedGlobalUntilCopiedOrStored) {
  TestLaunch test(Threads(1, 32), 4096, /*written=*/false);
  test.memory.MarkWritten(reinterpret_cast<void*>(test.buffer), 4 * 30 + 2);
  auto cluster = test.Block(0);
  BlockMemory& block = cluster->block(0);
  auto addresses = Lanes(test.buffer, 4);
  Values values = Iota(0);
  block.Store(0, kStore, uint32_t{1} << 31, addresses.data(), values.data());
  block.Load(0, kLoad, kAll, addresses.data(), values.data());
  EXPECT_THAT(test.Found(), ElementsAre("uninitialized #1 block 0 thread 30 @120"));
  EXPECT_EQ(
      Messages(test)[0],
      absl::StrFormat("4-byte load at 0x%x reads global bytes 0x%x..0x%x that nobody has written",
                      test.buffer + 120, test.buffer + 122, test.buffer + 123));
}

TEST(BlockMemoryTest, UninitializedSharedAndLocalOfEachBlock) {
  TestLaunch test(Threads(2, 32, 256, 8));
  auto cluster = test.Block(0);
  BlockMemory& block = cluster->block(0);
  auto shared = Lanes(0, 4);
  auto local = Lanes(4, 0);
  Values values = Iota(3);
  block.Store(0, kSharedStore, kAll, shared.data(), values.data());
  block.Store(0, kLocalStore, kAll, local.data(), values.data());
  Values loaded;
  block.Load(0, kSharedLoad, kAll, shared.data(), loaded.data());
  EXPECT_EQ(loaded, values);
  block.Load(0, kLocalLoad, kAll, local.data(), loaded.data());
  EXPECT_EQ(loaded, values);
  EXPECT_THAT(test.Found(), IsEmpty());

  cluster->Start({1});
  block.Load(0, kSharedLoad, 2, shared.data(), loaded.data());
  block.Load(0, kLocalLoad, 4, local.data(), loaded.data());
  EXPECT_THAT(test.Found(), ElementsAre("uninitialized #3 block 1 thread 1 @4",
                                        "uninitialized #7 block 1 thread 2 @4"));
  EXPECT_EQ(Messages(test)[0],
            "4-byte load at 0x4 reads shared bytes 0x4..0x7 that nobody has written");
}

TEST(BlockMemoryTest, GenericAddressesOfSeveralSpaces) {
  TestLaunch test(Threads(1, 32, 256, 8));
  auto cluster = test.Block(0);
  BlockMemory& block = cluster->block(0);
  std::array<uint64_t, kWarpSize> addresses;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    uint64_t bases[] = {test.buffer + lane * 4, kSharedWindow + lane * 4, kLocalWindow + 4,
                        kSharedWindow + SharedAddressOf(0, lane * 4)};
    addresses[lane] = bases[lane % 4];
  }
  Values stored = Iota(50);
  block.Store(0, kGenericStore, kAll, addresses.data(), stored.data());
  Values loaded;
  block.Load(0, kGenericLoad, kAll, addresses.data(), loaded.data());
  EXPECT_EQ(loaded, stored);
  EXPECT_THAT(test.Found(), IsEmpty());
  cluster->AddCounters();
  MemoryCounters total = test.launch->total();
  EXPECT_EQ(total.global_load_requests, 1);
  EXPECT_EQ(total.global_load_bytes, 8 * 4);
  EXPECT_EQ(total.shared_load_bytes, 16 * 4);
  EXPECT_EQ(total.local_load_bytes, 8 * 4);
}

TEST(BlockMemoryTest, ConstantsAndParameters) {
  Values data = Iota(11);
  LaunchOptions options = Threads(1, 32);
  options.constants = data.data();
  options.constant_bytes = sizeof(data);
  options.parameters = data.data() + 1;
  options.parameter_bytes = 4;
  TestLaunch test(options);
  auto cluster = test.Block(0);
  auto addresses = Lanes(0, 4);
  Values loaded;
  cluster->block(0).Load(0, Site(1, Space::kConst, AccessKind::kLoad), kAll, addresses.data(),
                         loaded.data());
  EXPECT_EQ(loaded, data);
  addresses = Lanes(kParamWindow, 0);
  cluster->block(0).Load(0, kGenericLoad, kAll, addresses.data(), loaded.data());
  EXPECT_EQ(loaded[31], 12);
  EXPECT_THAT(test.Found(), IsEmpty());
  cluster->block(0).Store(0, kGenericStore, 1, addresses.data(), loaded.data());
  EXPECT_EQ(Messages(test)[0],
            "4-byte store at 0x400000000000000 is in parameter memory, which is read-only");
}

TEST(BlockMemoryTest, AtomicsRunLanesInOrder) {
  TestLaunch test(Threads(1, 32, 64));
  auto cluster = test.Block(0);
  auto addresses = Lanes(test.buffer + 64, 0);
  Values ones;
  ones.fill(1);
  Values olds;
  AccessSite site = Site(9, Space::kGlobal, AccessKind::kAtomic);
  cluster->block(0).Atomic(0, site, kAll, addresses.data(), AddFunction, ones.data(), nullptr,
                           olds.data());
  EXPECT_EQ(olds, Iota(0));
  cluster->block(0).Atomic(0, site, 0xff, addresses.data(), AddFunction, ones.data(), nullptr,
                           nullptr);
  EXPECT_EQ(*reinterpret_cast<uint32_t*>(test.buffer + 64), 40);
  cluster->AddCounters();
  MemoryCounters total = test.launch->total();
  EXPECT_EQ(total.global_atomics, 40);
  EXPECT_EQ(total.global_atomic_requests, 2);
  EXPECT_EQ(total.global_atomic_sectors, 2);
  EXPECT_EQ(total.global_load_requests + total.global_store_requests, 0);
  EXPECT_THAT(test.Found(), IsEmpty());
}

TEST(BlockMemoryTest, WideAndNarrowAtomics) {
  TestLaunch test(Threads(1, 32));
  auto cluster = test.Block(0);
  auto addresses = Lanes(test.buffer, 16);
  std::array<uint64_t, 2 * kWarpSize> values;
  for (int i = 0; i < 2 * kWarpSize; ++i) values[i] = i + 1;
  std::array<uint64_t, 2 * kWarpSize> compare{};
  std::array<uint64_t, 2 * kWarpSize> olds;
  AccessSite wide = Site(9, Space::kGlobal, AccessKind::kAtomic, 16);
  cluster->block(0).Atomic(0, wide, kAll, addresses.data(), nullptr, values.data(), compare.data(),
                           olds.data());
  EXPECT_EQ(olds[3], 0);
  auto* memory = reinterpret_cast<uint64_t*>(test.buffer);
  EXPECT_EQ(memory[6], 7);
  EXPECT_EQ(memory[7], 8);
  // The comparison fails now.
  values.fill(0);
  cluster->block(0).Atomic(0, wide, kAll, addresses.data(), nullptr, values.data(), compare.data(),
                           olds.data());
  EXPECT_EQ(memory[7], 8);
  EXPECT_EQ(olds[7], 8);

  std::array<uint16_t, kWarpSize> halves;
  halves.fill(0xffff);
  auto narrow = Lanes(test.buffer + 2048, 2);
  cluster->block(0).Atomic(0, Site(10, Space::kGlobal, AccessKind::kAtomic, 2), kAll, narrow.data(),
                           AddFunction, halves.data(), nullptr, nullptr);
  EXPECT_EQ(reinterpret_cast<uint16_t*>(test.buffer + 2048)[31], 0xffff);
  EXPECT_THAT(test.Found(), IsEmpty());
}

TEST(BlockMemoryTest, Counters) {
  TestLaunch test(Threads(1, 32, 4096), 65536);
  auto cluster = test.Block(0);
  BlockMemory& block = cluster->block(0);
  Values values = Iota(0);
  auto unit = Lanes(test.buffer + 4, 4);
  auto column = Lanes(test.buffer, 128);
  block.Load(0, kLoad, kAll, unit.data(), values.data());
  block.Load(0, kLoad, kAll, column.data(), values.data());
  block.Load(0, kLoad, 0, column.data(), values.data());  // no lane: no request
  block.Store(0, kStore, 0x3, column.data(), values.data());
  auto shared = Lanes(0, 128);
  block.Store(0, kSharedStore, kAll, shared.data(), values.data());
  block.Load(0, kSharedLoad, kAll, shared.data(), values.data());
  shared = Lanes(0, 0);
  block.Load(0, kSharedLoad, kAll, shared.data(), values.data());
  cluster->AddCounters();
  cluster->AddCounters();  // adds nothing

  std::vector<MemoryCounters> each = test.launch->counters();
  MemoryCounters load;
  load.global_load_requests = 2;
  load.global_load_sectors = 5 + 32;
  load.global_load_transactions = 2 + 32;
  load.global_load_bytes = 2 * 128;
  EXPECT_EQ(each[kLoad.instruction], load);
  MemoryCounters store;
  store.global_store_requests = 1;
  store.global_store_sectors = 2;
  store.global_store_transactions = 2;
  store.global_store_bytes = 8;
  EXPECT_EQ(each[kStore.instruction], store);
  MemoryCounters shared_store;
  shared_store.shared_store_requests = 1;
  shared_store.shared_store_wavefronts = 32;
  shared_store.shared_store_bank_conflicts = 31;
  shared_store.shared_store_bytes = 128;
  EXPECT_EQ(each[kSharedStore.instruction], shared_store);
  MemoryCounters shared_load;
  shared_load.shared_load_requests = 2;
  shared_load.shared_load_wavefronts = 33;
  shared_load.shared_load_bank_conflicts = 31;
  shared_load.shared_load_bytes = 2 * 128;
  EXPECT_EQ(each[kSharedLoad.instruction], shared_load);
  // Sectors 0..4 and every fourth one up to 124.
  TouchedSectors touched = test.launch->touched_sectors();
  EXPECT_EQ(touched.read, 32 + 3);
  EXPECT_EQ(touched.written, 2);
  EXPECT_EQ(touched.either, 32 + 3);
}

TEST(BlockMemoryTest, CopyChecksAndCountsOnce) {
  TestLaunch test(Threads(1, 32, 1024));
  auto cluster = test.Block(0);
  BlockMemory& block = cluster->block(0);
  auto* memory = reinterpret_cast<uint8_t*>(test.buffer);
  for (int i = 0; i < 512; ++i) memory[i] = static_cast<uint8_t>(i);
  block.Copy(0, 3, kLoad, test.buffer, kSharedStore, 128, 512);
  EXPECT_EQ(memcmp(block.shared_data() + 128, memory, 512), 0);
  EXPECT_THAT(test.Found(), IsEmpty());
  cluster->AddCounters();
  MemoryCounters total = test.launch->total();
  EXPECT_EQ(total.global_load_requests, 1);
  EXPECT_EQ(total.global_load_sectors, 16);
  EXPECT_EQ(total.global_load_bytes, 512);
  block.Copy(0, 3, kLoad, test.buffer + 4096 - 32, kSharedStore, 0, 64);
  EXPECT_THAT(test.Found(), ElementsAre("out_of_bounds #1 block 0 thread 3 @4096"));
}

TEST(BlockMemoryTest, DistributedSharedMemory) {
  LaunchOptions options = Threads(2, 32, 256);
  options.cluster_blocks = 2;
  TestLaunch test(options);
  ClusterMemory cluster(test.launch.get());
  cluster.Start({0, 1});
  auto there = Lanes(SharedAddressOf(1, 0), 4);
  auto here = Lanes(0, 4);
  Values values = Iota(8);
  cluster.block(0).Store(0, kSharedStore, kAll, there.data(), values.data());
  cluster.ClusterBarrier({1u, 1u});
  Values loaded;
  cluster.block(1).Load(0, kSharedLoad, kAll, here.data(), loaded.data());
  EXPECT_EQ(loaded, values);
  EXPECT_THAT(test.Found(), IsEmpty());
}

TEST(BlockMemoryTest, SharedMemoryOfABlockThatHasEndedIsGone) {
  LaunchOptions options = Threads(2, 32, 128);
  options.cluster_blocks = 2;
  TestLaunch test(options);
  ClusterMemory cluster(test.launch.get());
  auto there = Lanes(SharedAddressOf(1, 0), 4);
  auto here = Lanes(0, 4);
  Values values = Iota(8);
  cluster.Start({0, 1});
  cluster.block(1).End();
  cluster.block(0).Store(0, kSharedStore, kAll, here.data(), values.data());
  EXPECT_THAT(test.Found(), IsEmpty());
  cluster.block(0).Store(0, kSharedStore, 1, there.data(), values.data());
  ASSERT_EQ(test.faults.Faults().size(), 1);
  EXPECT_EQ(test.faults.Faults()[0].kind, FaultKind::kOutOfBounds);
  EXPECT_EQ(test.faults.Faults()[0].message,
            absl::StrFormat("4-byte store at 0x%x is in shared memory of a block of the cluster "
                            "that has ended",
                            SharedAddressOf(1, 0)));
  // The next blocks that run here have theirs.
  cluster.Start({0, 1});
  cluster.block(0).Store(0, kSharedStore, 1, there.data(), values.data());
  EXPECT_EQ(test.faults.Faults().size(), 1);
}

TEST(BlockMemoryTest, WithoutChecksBadAccessesAreLeftOut) {
  LaunchOptions options = Threads(1, 32, 64);
  options.check_memory = false;
  options.check_races = false;
  TestLaunch test(options, 4096, /*written=*/false);
  auto cluster = test.Block(0);
  auto addresses = Lanes(test.buffer + 4096, 4);
  Values values = Iota(1);
  cluster->block(0).Store(0, kStore, kAll, addresses.data(), values.data());
  cluster->block(0).Load(0, kLoad, kAll, addresses.data(), values.data());
  EXPECT_EQ(values[0], 0);
  addresses = Lanes(test.buffer, 4);
  cluster->block(0).Load(0, kLoad, kAll, addresses.data(), values.data());
  EXPECT_THAT(test.Found(), IsEmpty());
}

}  // namespace
}  // namespace stax::emulator
