// Phases as PTX ISA 9.0, sections 9.7.13.15.1 to 9.7.13.15.5, has them.
#include "runtime/emulator/launch/mbarrier.h"

#include "gtest/gtest.h"

namespace stax::emulator {
namespace {

TEST(Mbarrier, APhaseEndsWithTheLastArrivalAndTheNextOneExpectsAsMany) {
  uint64_t object = MbarrierInit(~uint64_t{0}, 3, 0);
  EXPECT_EQ(MbarrierPhase(object), 0);
  EXPECT_EQ(MbarrierPending(object), 3U);
  object = MbarrierArrive(object, 2, 0);
  EXPECT_EQ(MbarrierPhase(object), 0);
  EXPECT_EQ(MbarrierPending(object), 1U);
  object = MbarrierArrive(object, 1, 0);
  EXPECT_EQ(MbarrierPhase(object), 1);
  EXPECT_EQ(MbarrierPending(object), 3U);
  object = MbarrierArrive(object, 3, 0);
  EXPECT_EQ(MbarrierPhase(object), 0);
}

TEST(Mbarrier, ADropCountsInThisPhaseAndIsMissingInTheNext) {
  uint64_t object = MbarrierInit(0, 4, 0);
  object = MbarrierArriveDrop(object, 1, 0);
  EXPECT_EQ(MbarrierPending(object), 3U);
  object = MbarrierArrive(object, 3, 0);
  EXPECT_EQ(MbarrierPhase(object), 1);
  EXPECT_EQ(MbarrierPending(object), 3U);
}

TEST(Mbarrier, APhaseWaitsForBytes) {
  uint64_t object = MbarrierInit(0, 1, 0);
  object = MbarrierArriveExpectTx(object, 256, 0);
  EXPECT_EQ(MbarrierPhase(object), 0);
  EXPECT_EQ(MbarrierPending(object), 0U);
  object = MbarrierCompleteTx(object, 128, 0);
  EXPECT_EQ(MbarrierPhase(object), 0);
  object = MbarrierCompleteTx(object, 128, 0);
  EXPECT_EQ(MbarrierPhase(object), 1);
  EXPECT_EQ(MbarrierPending(object), 1U);
}

// The range of the tx-count is -(2^20 - 1) to 2^20 - 1.
TEST(Mbarrier, BytesMayArriveBeforeTheyAreExpected) {
  constexpr uint64_t kMost = (1 << 20) - 1;
  uint64_t object = MbarrierInit(0, 1, 0);
  object = MbarrierCompleteTx(object, kMost, 0);
  EXPECT_EQ(MbarrierPhase(object), 0);
  EXPECT_EQ(MbarrierPending(object), 1U);
  object = MbarrierExpectTx(object, kMost, 0);
  EXPECT_EQ(MbarrierPhase(object), 0);
  object = MbarrierExpectTx(object, kMost, 0);
  object = MbarrierArrive(object, 1, 0);
  EXPECT_EQ(MbarrierPhase(object), 0);
  object = MbarrierCompleteTx(object, kMost, 0);
  EXPECT_EQ(MbarrierPhase(object), 1);
}

TEST(Mbarrier, CountsUpToTheLargest) {
  constexpr uint64_t kMost = (1 << 20) - 1;
  uint64_t object = MbarrierInit(0, kMost, 0);
  EXPECT_EQ(MbarrierPending(object), kMost);
  object = MbarrierArrive(object, kMost, 0);
  EXPECT_EQ(MbarrierPhase(object), 1);
  EXPECT_EQ(MbarrierPending(object), kMost);
}

}  // namespace
}  // namespace stax::emulator
