// Copies in flight, access by access: what must be found, and what must not be mistaken for a race.
#include "runtime/emulator/memory/async_copies.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/emulator/memory/access.h"
#include "runtime/emulator/memory/block_memory.h"
#include "runtime/emulator/memory/clocks.h"
#include "runtime/emulator/memory/fault.h"
#include "runtime/emulator/memory/test_launch.h"

namespace stax::emulator {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr uint32_t kBothWarps = 3;
constexpr uint64_t kMbarrier = 77;
constexpr CopyKind kSmall = CopyKind::kSmall;
constexpr CopyKind kBulk = CopyKind::kBulk;

// A block of two warps with 4 KiB of shared memory. Instruction 1 loads, 2 stores, 3 is cp.async, 4
// a bulk copy to shared memory and 5 one from there.
class AsyncCopiesTest : public ::testing::Test {
 protected:
  AsyncCopiesTest() : test_(Threads(2, 64, 4096)), cluster_(test_.Block(0)) {}

  BlockMemory& block() { return cluster_->block(0); }
  void Load(int warp, uint32_t lanes, uint64_t offset, int width = 4) {
    Access(Site(1, Space::kShared, AccessKind::kLoad, width), warp, lanes, offset);
  }
  void Store(int warp, uint32_t lanes, uint64_t offset, int width = 4) {
    Access(Site(2, Space::kShared, AccessKind::kStore, width), warp, lanes, offset);
  }
  void Copy(int warp, uint32_t lanes, uint64_t offset, int width = 4) {
    AccessSite site = Site(3, Space::kShared, AccessKind::kStore, width);
    site.asynchronous = true;
    values_.fill(++copies_);
    Access(site, warp, lanes, offset);
  }
  void Access(const AccessSite& site, int warp, uint32_t lanes, uint64_t offset) {
    auto addresses = Lanes(offset, static_cast<uint64_t>(site.bytes()));
    if (site.kind == AccessKind::kLoad) {
      block().Load(warp, site, lanes, addresses.data(), loaded_.data());
    } else {
      block().Store(warp, site, lanes, addresses.data(), values_.data());
    }
  }
  // By lane 0.
  void BulkIn(int warp, uint64_t offset, uint64_t bytes) {
    BulkEnd end;
    end.mbarrier = kMbarrier;
    block().Copy(warp, 0, Site(4, Space::kGlobal, AccessKind::kLoad), test_.buffer,
                 Site(4, Space::kShared, AccessKind::kStore), offset, bytes, end);
    block().Arrive(warp, kAll, kMbarrier);
  }
  void BulkOut(int warp, uint64_t offset, uint64_t bytes) {
    block().Copy(warp, 0, Site(5, Space::kShared, AccessKind::kLoad), offset,
                 Site(5, Space::kGlobal, AccessKind::kStore), test_.buffer, bytes);
  }
  void WaitForPhase(int warp, uint32_t lanes) {
    block().Wait(warp, kAll, kMbarrier);
    block().WaitForPhase(warp, lanes, kMbarrier);
  }
  void Barrier() { block().BlockBarrier(kBothWarps); }
  std::string Message() const { return test_.faults.Faults()[0].message; }

  TestLaunch test_;
  std::unique_ptr<ClusterMemory> cluster_;
  uint32_t copies_ = 0;
  std::array<uint32_t, 4 * kWarpSize> values_{};
  std::array<uint32_t, 4 * kWarpSize> loaded_{};
};

TEST_F(AsyncCopiesTest, AThreadMustWaitForItsOwnCopy) {
  Copy(0, kAll, 0);
  Load(0, 1u << 5, 0);
  EXPECT_THAT(test_.Found(), ElementsAre("shared_race #1 block 0 thread 5 @20"));
  EXPECT_EQ(Message(),
            "4-byte load at 0x14 reads bytes that the cp.async of instruction 3 by thread (5,0,0) "
            "is still writing; cp.async.wait_group must come first");
  EXPECT_EQ(test_.faults.Faults()[0].other_instruction, 3);
}

TEST_F(AsyncCopiesTest, AfterItsWaitAThreadMayAccess) {
  Copy(0, kAll, 0, 16);
  block().CommitCopies(0, kAll, kSmall);
  block().WaitForCopies(0, kAll, kSmall, 0);
  Load(0, kAll, 0, 16);
  Store(0, kAll, 0, 16);
  EXPECT_THAT(test_.Found(), IsEmpty());
}

TEST_F(AsyncCopiesTest, OthersNeedABarrierAfterTheWait) {
  Store(0, kAll, 0);
  Barrier();
  Copy(0, kAll, 0);
  block().CommitCopies(0, kAll, kSmall);
  Barrier();
  block().WaitForCopies(0, kAll, kSmall, 0);
  Load(1, 1, 0);
  EXPECT_THAT(test_.Found(), ElementsAre("shared_race #1 block 0 thread 32 @0"));
  EXPECT_EQ(Message(),
            "4-byte load at 0x0 reads bytes that the cp.async of instruction 3 by thread (0,0,0) "
            "writes; it was waited for, but nothing orders this access after the wait, such as a "
            "barrier between them");
  Barrier();
  Load(1, kAll & ~1u, 0);
  EXPECT_EQ(test_.faults.count(), 1);
}

TEST_F(AsyncCopiesTest, LanesOfAWarpNeedABarrierToo) {
  Copy(0, kAll, 0);
  block().CommitCopies(0, kAll, kSmall);
  block().WaitForCopies(0, kAll, kSmall, 0);
  Load(0, 1, 4);  // lane 0 reads what lane 1 has copied
  EXPECT_THAT(test_.Found(), ElementsAre("shared_race #1 block 0 thread 0 @4"));
  block().WarpBarrier(0, kAll);
  Load(0, 4, 4);  // and lane 2 what lane 3 has
  EXPECT_THAT(test_.Found(), ElementsAre("shared_race #1 block 0 thread 0 @4"));
}

TEST_F(AsyncCopiesTest, AWaitIsForAllGroupsButTheLastOnes) {
  for (int group = 0; group < 3; ++group) {
    Copy(0, kAll, 128 * group);
    block().CommitCopies(0, kAll, kSmall);
  }
  block().CommitCopies(0, kAll, kSmall);  // an empty group counts
  block().WaitForCopies(0, kAll, kSmall, 2);
  Load(0, kAll, 0);
  Load(0, kAll, 128);
  EXPECT_THAT(test_.Found(), IsEmpty());
  Load(0, 1, 256);
  EXPECT_THAT(test_.Found(), ElementsAre("shared_race #1 block 0 thread 0 @256"));
}

TEST_F(AsyncCopiesTest, ACopyThatIsNotCommittedIsInNoGroup) {
  Copy(0, kAll, 0);
  block().CommitCopies(0, kAll & ~2u, kSmall);  // lane 1 has not committed
  block().WaitForCopies(0, kAll, kSmall, 0);
  Load(0, kAll, 0);
  EXPECT_THAT(test_.Found(), ElementsAre("shared_race #1 block 0 thread 1 @4"));
}

TEST_F(AsyncCopiesTest, BulkGroupsAreOthers) {
  Copy(0, 1, 0);
  block().CommitCopies(0, 1, kBulk);
  block().WaitForCopies(0, 1, kBulk, 0);
  Load(0, 1, 0);
  EXPECT_EQ(test_.faults.count(), 1);
}

TEST_F(AsyncCopiesTest, AStoreAmongBytesInFlight) {
  Copy(0, kAll, 0);
  values_.fill(~0u);
  Store(0, 4, 0, 1);  // byte 2
  EXPECT_THAT(test_.Found(), ElementsAre("shared_race #2 block 0 thread 2 @2"));
}

TEST_F(AsyncCopiesTest, TwoCopiesOfTheSameBytes) {
  Copy(0, 1, 0);
  --copies_;
  Copy(0, 1, 0);  // the same value
  EXPECT_THAT(test_.Found(), IsEmpty());
  Copy(0, 1, 0);
  EXPECT_THAT(test_.Found(), ElementsAre("shared_race #3 block 0 thread 0 @0"));
}

TEST_F(AsyncCopiesTest, AnMbarrierTellsWhoeverWaitsForThePhase) {
  Copy(0, kAll, 0);
  block().TrackCopies(0, kAll, kMbarrier);
  Copy(0, kAll, 128);  // not tracked
  block().Arrive(0, kAll, kMbarrier);
  block().EndPhase(kMbarrier);
  WaitForPhase(1, kAll);
  Load(1, kAll, 0);
  EXPECT_THAT(test_.Found(), IsEmpty());
  Load(0, 1, 0);    // has not waited itself
  Load(1, 2, 128);  // its copier has not waited
  EXPECT_THAT(test_.Found(), ElementsAre("shared_race #1 block 0 thread 0 @0",
                                         "shared_race #1 block 0 thread 33 @132"));
}

TEST_F(AsyncCopiesTest, APhaseThatEndedBeforeSaysNothing) {
  BulkIn(0, 0, 256);
  block().EndPhase(kMbarrier);
  BulkIn(0, 256, 256);
  WaitForPhase(1, kAll);
  Load(1, kAll, 0);
  EXPECT_THAT(test_.Found(), IsEmpty());
  Load(1, 1, 256);
  EXPECT_THAT(test_.Found(), ElementsAre("shared_race #1 block 0 thread 32 @256"));
  block().EndPhase(kMbarrier);
  WaitForPhase(1, kAll);
  Load(1, kAll, 256);
  EXPECT_EQ(test_.faults.count(), 1);
}

TEST_F(AsyncCopiesTest, TheIssuerOfABulkCopyMustWaitToo) {
  BulkIn(0, 0, 256);
  block().EndPhase(kMbarrier);
  WaitForPhase(0, kAll & ~1u);
  WaitForPhase(1, kAll);
  Load(0, 1, 0);
  EXPECT_THAT(test_.Found(), ElementsAre("shared_race #1 block 0 thread 0 @0"));
  Barrier();
  Load(0, 1, 16);
  EXPECT_EQ(test_.faults.count(), 1);
}

TEST_F(AsyncCopiesTest, ASourceMayBeReadButNotWritten) {
  Store(0, kAll, 0);
  Barrier();
  BulkOut(0, 0, 128);
  block().CommitCopies(0, 1, kBulk);
  Load(0, 1, 0);
  Load(1, kAll, 0);
  Barrier();
  EXPECT_THAT(test_.Found(), IsEmpty());
  values_.fill(5);
  Store(0, 1, 0);
  EXPECT_THAT(test_.Found(), ElementsAre("shared_race #2 block 0 thread 0 @0"));
  EXPECT_THAT(Message(), StartsWith("4-byte store at 0x0 overwrites bytes that the bulk copy of "
                                    "instruction 5 by thread (0,0,0) is still reading; "
                                    "cp.async.bulk.wait_group.read must come first"));
  block().WaitForCopies(0, 1, kBulk, 0);
  Store(0, 1, 0);
  Barrier();
  Store(1, kAll, 0);
  EXPECT_EQ(test_.faults.count(), 1);
}

TEST_F(AsyncCopiesTest, TheNextBlockKnowsNothingOfCopies) {
  Copy(0, kAll, 0);
  cluster_->Start({1});
  Store(1, kAll, 0);
  Load(1, kAll, 0);
  EXPECT_THAT(test_.Found(), IsEmpty());
}

// Nothing waits, so everything stays in flight: as much is kept as there are bytes.
TEST(AsyncCopies, MemoryIsBounded) {
  ClusterClocks clocks(nullptr, 1, 32);
  AsyncCopies copies(&clocks, 1);
  CopyCells cells;
  for (int i = 0; i < 10000; ++i) {
    copies.Begin(cells.written, 64, i % 4 * 16, 16, 0, 0, copies.GroupBatch(0, 0, kSmall));
    copies.Commit(0, 1, kSmall);
    copies.Begin(cells.read, 64, i % 4 * 16, 16, 0, 0, copies.PhaseBatch(0, 0, i % 2));
    copies.EndPhase(i % 2);
    EXPECT_LT(copies.batches(), 16U);
  }
}

}  // namespace
}  // namespace stax::emulator
