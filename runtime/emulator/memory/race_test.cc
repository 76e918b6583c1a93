// Races that must be found, and orders that must not be mistaken for races.
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/emulator/memory/access.h"
#include "runtime/emulator/memory/block_memory.h"
#include "runtime/emulator/memory/fault.h"
#include "runtime/emulator/memory/test_launch.h"

namespace stax::emulator {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr uint32_t kLane0 = 1;
constexpr uint32_t kBothWarps = 3;

// A block's accesses: `width` bytes a lane, consecutive, from an offset in the space.
class Script {
 public:
  Script(TestLaunch* test, uint32_t block)
      : test_(*test), cluster_(test->Block(block)), memory_(cluster_->block(0)) {
    values_.fill(block + 1);
  }

  BlockMemory& memory() { return memory_; }
  void SetValue(uint32_t value) { values_.fill(value); }

  void Load(Space space, int warp, uint32_t lanes, uint64_t offset, int width = 4) {
    Run(Site(1, space, AccessKind::kLoad, width), warp, lanes, offset, width);
  }
  void Store(Space space, int warp, uint32_t lanes, uint64_t offset, int width = 4) {
    Run(Site(2, space, AccessKind::kStore, width), warp, lanes, offset, width);
  }
  void StrongLoad(Space space, int warp, uint32_t lanes, uint64_t offset) {
    AccessSite site = Site(3, space, AccessKind::kLoad);
    site.strong = true;
    Run(site, warp, lanes, offset, 0);
  }
  void StrongStore(Space space, int warp, uint32_t lanes, uint64_t offset) {
    AccessSite site = Site(4, space, AccessKind::kStore);
    site.strong = true;
    Run(site, warp, lanes, offset, 0);
  }
  void Atomic(Space space, int warp, uint32_t lanes, uint64_t offset, Scope scope = Scope::kDevice,
              int instruction = 5) {
    AccessSite site = Site(instruction, space, AccessKind::kAtomic);
    site.scope = scope;
    Run(site, warp, lanes, offset, 0);
  }
  // All lanes at one address.
  void LoadSame(Space space, int warp, uint32_t lanes, uint64_t offset) {
    Run(Site(1, space, AccessKind::kLoad), warp, lanes, offset, 0);
  }
  void StoreSame(Space space, int warp, uint32_t lanes, uint64_t offset) {
    Run(Site(2, space, AccessKind::kStore), warp, lanes, offset, 0);
  }
  void Run(const AccessSite& site, int warp, uint32_t lanes, uint64_t offset, uint64_t step) {
    auto addresses = Lanes(offset + (site.space == Space::kGlobal ? test_.buffer : 0), step);
    switch (site.kind) {
      case AccessKind::kLoad:
        return memory_.Load(warp, site, lanes, addresses.data(), loaded_.data());
      case AccessKind::kStore:
        return memory_.Store(warp, site, lanes, addresses.data(), values_.data());
      case AccessKind::kAtomic:
        return memory_.Atomic(warp, site, lanes, addresses.data(), AddFunction, values_.data(),
                              nullptr, loaded_.data());
    }
  }

 private:
  TestLaunch& test_;
  std::unique_ptr<ClusterMemory> cluster_;
  BlockMemory& memory_;
  std::array<uint32_t, 4 * kWarpSize> values_;
  std::array<uint32_t, 4 * kWarpSize> loaded_;
};

constexpr Space kShared = Space::kShared;
constexpr Space kGlobal = Space::kGlobal;

void ExpectRaceUnless(bool ordered, const char* race, TestLaunch& test) {
  if (ordered) {
    EXPECT_THAT(test.Found(), IsEmpty());
  } else {
    EXPECT_THAT(test.Found(), ElementsAre(race));
  }
}

TEST(RaceTest, LoadAfterStoreOfAnotherWarpNeedsABarrier) {
  for (Space space : {kShared, kGlobal}) {
    TestLaunch test(Threads(1, 64, 1024));
    Script block(&test, 0);
    block.Store(space, 0, kAll, 0);
    block.memory().BlockBarrier(kBothWarps);
    block.Load(space, 1, kAll, 0);
    block.memory().BlockBarrier(kBothWarps);
    block.Store(space, 1, kAll, 0);
    EXPECT_THAT(test.Found(), IsEmpty());
    block.Load(space, 0, 1u << 5, 0);
    const char* kind = space == kShared ? "shared_race" : "global_race";
    EXPECT_THAT(test.Found(), ElementsAre(absl::StrFormat("%s #1 block 0 thread 5 @20", kind)));
    uint64_t address = space == kShared ? 20 : test.buffer + 20;
    EXPECT_EQ(test.faults.Faults()[0].message,
              absl::StrFormat("4-byte load at 0x%x races with the store of instruction 2 by thread "
                              "(37,0,0)",
                              address));
    EXPECT_EQ(test.faults.Faults()[0].other_instruction, 2);
  }
}

TEST(RaceTest, StoreAfterLoadsOfSeveralWarpsNeedsABarrier) {
  for (Space space : {kShared, kGlobal}) {
    TestLaunch test(Threads(1, 128, 1024));
    Script block(&test, 0);
    block.Store(space, 0, kAll, 0);
    block.memory().BlockBarrier(15);
    for (int warp = 0; warp < 4; ++warp) block.LoadSame(space, warp, kAll, 16);
    block.memory().BlockBarrier(15);
    block.Store(space, 2, kAll, 0);
    block.memory().BlockBarrier(15);
    for (int warp = 0; warp < 4; ++warp) block.LoadSame(space, warp, 1u << warp, 16);
    EXPECT_THAT(test.Found(), IsEmpty());
    // A barrier of some leaves the others out.
    block.memory().BlockBarrier(7);
    block.Store(space, 2, 1u << 4, 0);
    ASSERT_EQ(test.faults.Faults().size(), 1);
    EXPECT_TRUE(absl::StrContains(test.faults.Faults()[0].message,
                                  "the load of instruction 1 by "
                                  "thread (99,0,0)"));
  }
}

TEST(RaceTest, LanesOfAWarpNeedWarpBarriers) {
  TestLaunch test(Threads(1, 32, 1024));
  Script block(&test, 0);
  block.Store(kShared, 0, kAll, 0);
  block.memory().WarpBarrier(0, kAll);
  block.Load(kShared, 0, 0x7fffffff, 4);
  block.memory().WarpBarrier(0, kAll);
  block.Store(kShared, 0, kAll, 0);
  block.Load(kShared, 0, kAll, 0);  // its own
  EXPECT_THAT(test.Found(), IsEmpty());
  // Neighbours' without a barrier: lane i reads what lane i + 1 wrote.
  block.Load(kShared, 0, 0xff00, 4);
  EXPECT_THAT(
      test.Found(),
      ElementsAre("shared_race #1 block 0 thread 8 @36", "shared_race #1 block 0 thread 9 @40",
                  "shared_race #1 block 0 thread 10 @44", "shared_race #1 block 0 thread 11 @48"));
}

TEST(RaceTest, WarpBarriersOfSomeLanesOrderThose) {
  TestLaunch test(Threads(1, 32, 1024));
  Script block(&test, 0);
  for (int tile = 0; tile < 4; ++tile) {
    uint32_t lanes = 0xffu << (8 * tile);
    for (int step = 0; step < 3; ++step) {
      block.Store(kShared, 0, lanes, 0);
      block.memory().WarpBarrier(0, lanes);
      block.Load(kShared, 0, lanes & lanes >> 1, 4);
      block.LoadSame(kShared, 0, lanes, 32 * tile);
      block.memory().WarpBarrier(0, lanes);
    }
  }
  EXPECT_THAT(test.Found(), IsEmpty());
  // Across tiles nothing is ordered, not even by the tiles' own barriers.
  block.memory().WarpBarrier(0, 0xff);
  block.Load(kShared, 0, 1u << 7, 4);
  EXPECT_THAT(test.Found(), ElementsAre("shared_race #1 block 0 thread 7 @32"));
}

TEST(RaceTest, LanesThatStoreToOnePlace) {
  TestLaunch test(Threads(1, 64, 1024));
  Script block(&test, 0);
  // All the same value: as racecheck does, no fault.
  block.StoreSame(kShared, 0, kAll, 0);
  block.StoreSame(kShared, 1, kAll, 0);
  EXPECT_THAT(test.Found(), IsEmpty());
  block.SetValue(77);
  block.StoreSame(kShared, 0, kLane0, 0);
  EXPECT_THAT(test.Found(), ElementsAre("shared_race #2 block 0 thread 0 @0"));
}

TEST(RaceTest, EveryByteIsKnown) {
  for (int width : {1, 2}) {
    TestLaunch test(Threads(1, 64, 1024));
    Script block(&test, 0);
    // Neighbouring bytes of one word by different warps.
    block.Store(kShared, 0, 0x55555555, 0, width);
    block.SetValue(0x55667788);
    block.Store(kShared, 1, 0xaaaaaaaa, 0, width);
    EXPECT_THAT(test.Found(), IsEmpty());
    block.SetValue(0x11223344);
    block.Store(kShared, 1, 1u << 4, 0, width);
    EXPECT_THAT(test.Found(),
                ElementsAre(absl::StrFormat("shared_race #2 block 0 thread 36 @%d", 4 * width)));
  }
  // Words first, bytes of them later.
  TestLaunch test(Threads(1, 128, 1024));
  Script block(&test, 0);
  block.Store(kShared, 0, kAll, 0);
  block.memory().BlockBarrier(15);
  for (int warp = 0; warp < 3; ++warp) block.LoadSame(kShared, warp, kAll, 8);
  block.Store(kShared, 3, 1u << 7, 0, 1);
  EXPECT_THAT(test.Found(), IsEmpty());
  block.Store(kShared, 3, 1u << 9, 0, 1);
  EXPECT_THAT(test.Found(), ElementsAre("shared_race #2 block 0 thread 105 @9"));
}

TEST(RaceTest, AtomicsAndStrongAccesses) {
  for (Space space : {kShared, kGlobal}) {
    TestLaunch test(Threads(1, 96, 1024));
    Script block(&test, 0);
    block.StoreSame(space, 0, kLane0, 0);
    block.memory().BlockBarrier(7);
    block.Atomic(space, 0, kAll, 0);
    block.Atomic(space, 1, kAll, 0);
    block.StrongStore(space, 0, kLane0, 0);
    block.StrongLoad(space, 1, kAll, 0);
    block.Atomic(space, 2, kAll, 0);
    EXPECT_THAT(test.Found(), IsEmpty());
    block.LoadSame(space, 1, kLane0, 0);
    std::string kind = space == kShared ? "shared_race" : "global_race";
    EXPECT_THAT(test.Found(), ElementsAre(kind + " #1 block 0 thread 32 @0"));
    block.Atomic(space, 0, kLane0, 0);
    EXPECT_THAT(test.Found(),
                ElementsAre(kind + " #1 block 0 thread 32 @0", kind + " #5 block 0 thread 0 @0"));
  }
}

TEST(RaceTest, BlocksReadTheSameAndWriteTheirOwn) {
  TestLaunch test(Threads(20, 64));
  for (uint32_t i = 0; i < 20; ++i) {
    Script block(&test, i);
    for (int warp = 0; warp < 2; ++warp) {
      block.Load(kGlobal, warp, kAll, 0);
      block.LoadSame(kGlobal, warp, kAll, 64);
      block.Store(kGlobal, warp, 0xffff, 1024 + 128 * i + 64 * warp);
      block.Load(kGlobal, warp, 0xffff, 1024 + 128 * i + 64 * warp);
    }
  }
  EXPECT_THAT(test.Found(), IsEmpty());
}

TEST(RaceTest, BlocksRaceAndBothAreTold) {
  TestLaunch test(Threads(4, 32));
  Script first(&test, 0);
  Script third(&test, 3);
  third.Load(kGlobal, 0, kAll, 0);
  first.Store(kGlobal, 0, 1u << 5, 0);
  EXPECT_THAT(test.Found(), ElementsAre("global_race #1 block 3 thread 5 @20",
                                        "global_race #2 block 0 thread 5 @20"));
  EXPECT_EQ(test.faults.Faults()[1].message,
            absl::StrFormat("4-byte store at 0x%x races with the load of instruction 1 by another "
                            "block",
                            test.buffer + 20));
  // A barrier is one of the block.
  first.memory().BlockBarrier(1);
  third.memory().BlockBarrier(1);
  first.Store(kGlobal, 0, 1u << 6, 0);
  EXPECT_EQ(test.faults.Faults().size(), 4);
}

TEST(RaceTest, OneOfManyReadersOfOtherBlocks) {
  TestLaunch test(Threads(40, 32));
  for (uint32_t i : {7, 3, 9, 12, 30, 31, 32, 33, 34, 35, 36}) {
    Script block(&test, i);
    block.LoadSame(kGlobal, 0, 1u << 2, 0);
  }
  Script block(&test, 36);
  block.StoreSame(kGlobal, 0, 1u << 2, 0);
  EXPECT_THAT(test.Found(), ElementsAre("global_race #1 block 3 thread 2 @0",
                                        "global_race #2 block 36 thread 2 @0"));
}

TEST(RaceTest, LaunchesFollowEachOther) {
  TestLaunch test(Threads(2, 32));
  Script(&test, 0).Store(kGlobal, 0, kAll, 0);
  test.launch = std::make_unique<LaunchMemory>(&test.memory, test.options, &test.faults);
  Script(&test, 1).Load(kGlobal, 0, kAll, 0);
  EXPECT_THAT(test.Found(), IsEmpty());
}

// Blocks write a part each; the one that finishes last reads all.
void LastBlock(bool fence_before, bool barrier_before, bool fence_after, bool barrier_after,
               bool fences_in_all_threads, bool expect_race) {
  SCOPED_TRACE(absl::StrFormat("%d%d%d%d%d", fence_before, barrier_before, fence_after,
                               barrier_after, fences_in_all_threads));
  constexpr uint32_t kBlocks = 6;
  TestLaunch test(Threads(kBlocks, 64));
  auto fence = [&](Script& block) {
    block.memory().Fence(0, fences_in_all_threads ? kAll : kLane0, Scope::kDevice);
    if (fences_in_all_threads) block.memory().Fence(1, kAll, Scope::kDevice);
  };
  for (uint32_t i = 0; i < kBlocks; ++i) {
    Script block(&test, i);
    block.Store(kGlobal, 0, kAll, 1024 + 256 * i);
    block.Store(kGlobal, 1, kAll, 1024 + 256 * i + 128);
    if (fences_in_all_threads && fence_before) fence(block);
    if (barrier_before) block.memory().BlockBarrier(kBothWarps);
    if (!fences_in_all_threads && fence_before) fence(block);
    block.Atomic(kGlobal, 0, kLane0, 0);
    if (!fences_in_all_threads && fence_after) fence(block);
    if (barrier_after) block.memory().BlockBarrier(kBothWarps);
    if (fences_in_all_threads && fence_after) fence(block);
    if (i + 1 < kBlocks) continue;
    for (uint32_t j = 0; j < kBlocks; ++j) {
      block.Load(kGlobal, 0, kAll, 1024 + 256 * j + 128);
      block.Load(kGlobal, 1, kAll, 1024 + 256 * j);
    }
  }
  EXPECT_EQ(!test.Found().empty(), expect_race);
}

TEST(RaceTest, LastBlockReadsAll) {
  LastBlock(true, true, true, true, false, false);
  LastBlock(true, true, true, true, true, false);
  LastBlock(false, true, true, true, false, true);
  LastBlock(true, false, true, true, false, true);
  LastBlock(true, true, false, true, false, true);
  LastBlock(true, true, true, false, false, true);
}

TEST(RaceTest, ReleaseOfOneLaneTellsOnlyWhatItKnows) {
  for (bool warp_barrier : {false, true}) {
    TestLaunch test(Threads(2, 32));
    Script writer(&test, 0);
    writer.Store(kGlobal, 0, kAll, 1024);
    if (warp_barrier) writer.memory().WarpBarrier(0, kAll);
    writer.memory().Fence(0, kLane0, Scope::kDevice);
    writer.StrongStore(kGlobal, 0, kLane0, 0);
    Script reader(&test, 1);
    reader.StrongLoad(kGlobal, 0, kLane0, 0);
    reader.memory().Fence(0, kLane0, Scope::kDevice);
    reader.LoadSame(kGlobal, 0, kLane0, 1024);
    EXPECT_THAT(test.Found(), IsEmpty());
    reader.LoadSame(kGlobal, 0, kLane0, 1028);
    EXPECT_EQ(test.Found().empty(), warp_barrier);
  }
}

TEST(RaceTest, GridBarrierWithPingPong) {
  constexpr uint32_t kBlocks = 4;
  TestLaunch test(Threads(kBlocks, 64));
  std::vector<std::unique_ptr<Script>> blocks;
  for (uint32_t i = 0; i < kBlocks; ++i) blocks.push_back(std::make_unique<Script>(&test, i));
  for (int round = 0; round < 5; ++round) {
    for (uint32_t i = 0; i < kBlocks; ++i) {
      // Reads what its neighbour wrote, which all have read, and writes its own.
      uint64_t from = 1024 + 512 * (round % 2);
      uint64_t to = 1024 + 512 * ((round + 1) % 2);
      blocks[i]->Load(kGlobal, 0, kAll, from + 128 * ((i + 1) % kBlocks));
      blocks[i]->Load(kGlobal, 1, kAll, from + 128 * ((i + 2) % kBlocks));
      blocks[i]->SetValue(round * 100 + i);
      blocks[i]->Store(kGlobal, 1, kAll, to + 128 * i);
      blocks[i]->memory().BlockBarrier(kBothWarps);
      blocks[i]->memory().Fence(0, kLane0, Scope::kDevice);
      blocks[i]->Atomic(kGlobal, 0, kLane0, 0);
    }
    for (uint32_t i = 0; i < kBlocks; ++i) {
      for (int poll = 0; poll < 3; ++poll) {
        blocks[i]->StrongLoad(kGlobal, 0, kLane0, 0);
        blocks[i]->memory().Fence(0, kLane0, Scope::kDevice);
      }
      blocks[i]->memory().BlockBarrier(kBothWarps);
    }
  }
  EXPECT_THAT(test.Found(), IsEmpty());
}

TEST(RaceTest, ChainedLookBack) {
  // Block i reads block i - 1's prefix, which tells of all before.
  constexpr uint32_t kBlocks = 6;
  TestLaunch test(Threads(kBlocks, 32));
  for (uint32_t i = 0; i < kBlocks; ++i) {
    Script block(&test, i);
    if (i > 0) {
      AccessSite acquire = Site(6, kGlobal, AccessKind::kLoad);
      acquire.strong = acquire.acquire = true;
      block.Run(acquire, 0, kLane0, 4 * (i - 1), 0);
      block.memory().WarpBarrier(0, kAll);
      for (uint32_t j = 0; j < i; ++j) block.Load(kGlobal, 0, kAll, 1024 + 128 * j);
    }
    block.Store(kGlobal, 0, kAll, 1024 + 128 * i);
    block.memory().WarpBarrier(0, kAll);
    AccessSite release = Site(7, kGlobal, AccessKind::kStore);
    release.strong = release.release = true;
    block.Run(release, 0, kLane0, 4 * i, 0);
  }
  EXPECT_THAT(test.Found(), IsEmpty());
}

TEST(RaceTest, AFenceOfTheBlockDoesNotReachOthers) {
  for (Scope scope : {Scope::kBlock, Scope::kDevice}) {
    TestLaunch test(Threads(2, 32));
    Script writer(&test, 0);
    writer.StoreSame(kGlobal, 0, kLane0, 1024);
    writer.memory().Fence(0, kLane0, scope);
    writer.StrongStore(kGlobal, 0, kLane0, 0);
    Script reader(&test, 1);
    reader.StrongLoad(kGlobal, 0, kLane0, 0);
    reader.memory().Fence(0, kLane0, Scope::kDevice);
    reader.LoadSame(kGlobal, 0, kLane0, 1024);
    EXPECT_EQ(test.Found().empty(), scope == Scope::kDevice);
  }
}

TEST(RaceTest, FlagsInSharedMemory) {
  for (bool fences : {false, true}) {
    TestLaunch test(Threads(1, 64, 1024));
    Script block(&test, 0);
    block.Store(kShared, 0, kLane0, 64);
    if (fences) block.memory().Fence(0, kLane0, Scope::kBlock);
    block.StrongStore(kShared, 0, kLane0, 0);
    block.StrongLoad(kShared, 1, kLane0, 0);
    if (fences) block.memory().Fence(1, kLane0, Scope::kBlock);
    block.LoadSame(kShared, 1, kLane0, 64);
    EXPECT_EQ(test.Found().empty(), fences);
  }
}

TEST(RaceTest, ArriveAndWait) {
  // A producer fills two buffers in turn, three warps consume.
  constexpr uint64_t kFull = 1;
  constexpr uint64_t kEmpty = 3;
  TestLaunch test(Threads(1, 128, 1024));
  Script block(&test, 0);
  for (int step = 0; step < 6; ++step) {
    int buffer = step % 2;
    if (step >= 2) block.memory().Wait(0, kAll, kEmpty + buffer);
    block.SetValue(step);
    block.Store(kShared, 0, kAll, 256 * buffer);
    block.memory().Arrive(0, kAll, kFull + buffer);
    for (int warp = 1; warp < 4; ++warp) {
      block.memory().Wait(warp, kAll, kFull + buffer);
      block.Load(kShared, warp, kAll, 256 * buffer);
      block.memory().Arrive(warp, kAll, kEmpty + buffer);
    }
  }
  EXPECT_THAT(test.Found(), IsEmpty());
  block.SetValue(99);
  block.Store(kShared, 0, kLane0, 0);
  EXPECT_THAT(test.Found(), ElementsAre("shared_race #2 block 0 thread 0 @0"));
}

// Atomics are no race if each is in the other's scope.
TEST(RaceTest, AtomicsOfANarrowScopeRaceOutsideIt) {
  for (Scope scope : {Scope::kBlock, Scope::kCluster, Scope::kDevice, Scope::kSystem}) {
    for (bool narrow_first : {false, true}) {
      TestLaunch test(Threads(2, 64));
      Script block(&test, 0);
      Script other(&test, 1);
      block.Atomic(kGlobal, 0, kAll, 0, narrow_first ? scope : Scope::kDevice, 5);
      block.Atomic(kGlobal, 1, kAll, 0, narrow_first ? scope : Scope::kDevice, 5);
      EXPECT_THAT(test.Found(), IsEmpty());
      other.Atomic(kGlobal, 0, kLane0, 0, narrow_first ? Scope::kDevice : scope, 6);
      if (scope >= Scope::kDevice) {
        EXPECT_THAT(test.Found(), IsEmpty());
      } else {
        ASSERT_EQ(test.faults.Faults().size(), 2);
        EXPECT_EQ(test.faults.Faults()[1].instruction, 6);
        EXPECT_EQ(test.faults.Faults()[1].kind, FaultKind::kGlobalRace);
      }
    }
  }
}

// What lane 0 has waited for, the other lanes know after a bar.warp.sync.
TEST(RaceTest, AWaitOrdersOnlyTheLanesThatWait) {
  for (bool sync : {false, true}) {
    TestLaunch test(Threads(1, 64, 1024));
    Script block(&test, 0);
    block.Store(kShared, 0, kAll, 0);
    block.memory().Arrive(0, kAll, 1);
    block.memory().Wait(1, kLane0, 1);
    block.LoadSame(kShared, 1, kLane0, 64);
    EXPECT_THAT(test.Found(), IsEmpty());
    if (sync) block.memory().WarpBarrier(1, kAll);
    block.Load(kShared, 1, 1u << 7, 0);
    ExpectRaceUnless(sync, "shared_race #1 block 0 thread 39 @28", test);
  }
}

TEST(RaceTest, AnArrivalReleasesOnlyTheLanesThatArrive) {
  for (bool sync : {false, true}) {
    TestLaunch test(Threads(1, 64, 1024));
    Script block(&test, 0);
    block.Store(kShared, 0, kAll, 0);
    if (sync) block.memory().WarpBarrier(0, kAll);
    block.memory().Arrive(0, kLane0, 1);
    block.memory().Wait(1, kAll, 1);
    block.Load(kShared, 1, kLane0, 0);  // of the lane that arrived
    EXPECT_THAT(test.Found(), IsEmpty());
    block.Load(kShared, 1, 1u << 7, 0);
    ExpectRaceUnless(sync, "shared_race #1 block 0 thread 39 @28", test);
  }
}

TEST(RaceTest, AnArrivalReleasesTheLanesItMet) {
  TestLaunch test(Threads(1, 64, 1024));
  Script block(&test, 0);
  block.Store(kShared, 0, kAll, 0);
  block.memory().WarpBarrier(0, 0xff);
  block.memory().Arrive(0, kLane0, 1);
  block.memory().Wait(1, 1u << 3, 1);
  block.memory().WarpBarrier(1, 0x1f8);
  block.Load(kShared, 1, 0xf8, 0);
  EXPECT_THAT(test.Found(), IsEmpty());
  block.Load(kShared, 1, 1u << 8, 0);  // lane 8 met only in the warp that waits
  block.Load(kShared, 1, 1u << 2, 0);  // lane 2 only in the one that arrived
  EXPECT_THAT(test.Found(), ElementsAre("shared_race #1 block 0 thread 34 @8",
                                        "shared_race #1 block 0 thread 40 @32"));
}

// Knowledge goes on: from lane to lane by mbarriers, by a barrier of the block, by a fence.
TEST(RaceTest, WhatALaneHasWaitedForIsPassedOn) {
  for (int way = 0; way < 4; ++way) {
    TestLaunch test(Threads(1, 96, 1024));
    Script block(&test, 0);
    block.Store(kShared, 0, kLane0, 0);
    block.memory().Arrive(0, kLane0, 1);
    block.memory().Wait(1, 1u << 4, 1);
    const uint32_t passing = way == 3 ? 1u << 5 : 1u << 4;  // lane 5 knows nothing
    if (way == 0) {
      block.memory().BlockBarrier(7);
    } else if (way == 1) {
      block.memory().Fence(1, passing, Scope::kBlock);
      block.StrongStore(kShared, 1, passing, 128);
      block.StrongLoad(kShared, 2, 1u << 6, 128);
      block.memory().Fence(2, 1u << 6, Scope::kBlock);
    } else {
      block.memory().Arrive(1, passing, 2);
      block.memory().Wait(2, 1u << 6, 2);
    }
    block.LoadSame(kShared, 2, 1u << 6, 0);
    EXPECT_EQ(test.Found().empty(), way != 3) << way;
  }
}

TEST(RaceTest, BulkCopies) {
  for (bool wait : {false, true}) {
    TestLaunch test(Threads(1, 64, 4096));
    Script block(&test, 0);
    block.Load(kShared, 1, 0, 0);
    AccessSite load = Site(8, kGlobal, AccessKind::kLoad);
    AccessSite store = Site(9, kShared, AccessKind::kStore);
    block.memory().Copy(0, 3, load, test.buffer, store, 1008, 2048);
    block.memory().Arrive(0, 1u << 3, 1);
    if (wait) block.memory().Wait(1, kAll, 1);
    block.Load(kShared, 1, kAll, 1024);
    EXPECT_EQ(test.Found().empty(), wait);
    if (!wait) {
      EXPECT_TRUE(absl::StrContains(test.faults.Faults()[0].message,
                                    "the store of instruction 9 by thread (3,0,0)"));
    }
  }
}

TEST(RaceTest, ClusterBarrier) {
  for (bool barrier : {false, true}) {
    LaunchOptions options = Threads(4, 32, 256);
    options.cluster_blocks = 2;
    TestLaunch test(options);
    ClusterMemory cluster(test.launch.get());
    for (uint32_t first : {0u, 2u}) {
      cluster.Start({first, first + 1});
      auto there = Lanes(SharedAddressOf(1, 0), 4);
      auto here = Lanes(0, 4);
      std::array<uint32_t, kWarpSize> values{};
      AccessSite load = Site(1, kShared, AccessKind::kLoad);
      AccessSite store = Site(2, kShared, AccessKind::kStore);
      cluster.block(0).Store(0, store, kAll, there.data(), values.data());
      if (barrier) cluster.ClusterBarrier({1u, 1u});
      cluster.block(1).Load(0, load, kAll, here.data(), values.data());
    }
    EXPECT_EQ(test.Found().empty(), barrier);
  }
}

}  // namespace
}  // namespace stax::emulator
