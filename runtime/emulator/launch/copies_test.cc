// Asynchronous copies through the whole emulator. Faults that wait to be found are in
// tests/emulated.
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "runtime/emulator/launch/launch.h"
#include "runtime/emulator/launch/run_kernel.h"
#include "runtime/emulator/memory/fault.h"

namespace stax::emulator {
namespace {

constexpr char kShared[] =
    ".shared .align 16 .b8 s[128]; .shared .align 16 .b8 t[128]; .shared .align 8 .b8 bar[8];";

// Block 0 of two copies 16 bytes to both; each has an mbarrier. `wait`: after the cluster has met.
std::string Multicast(const std::string& wait) {
  return absl::StrCat(R"(.reg .b16 %h; mov.u16 %h, 3; mov.u32 %r11, bar; mov.u32 %r12, s;
mbarrier.init.shared.b64 [%r11], 1; mbarrier.arrive.expect_tx.shared.b64 %rd8, [%r11], 16;
barrier.cluster.arrive; barrier.cluster.wait; setp.ne.u32 %p1, %r2, 0; @%p1 bra WAIT;
mov.u32 %r13, 9; st.global.u32 [%rd1+20], %r13; add.u64 %rd5, %rd1, 16;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r12], [%rd5],
  16, [%r11], %h;
WAIT: )",
                      wait, "ld.shared.u32 %r10, [%r12+4];", kStore);
}

constexpr char kWait[] = "mbarrier.try_wait.parity.shared.b64 %p2, [%r11], 0; @!%p2 bra WAIT;";
constexpr char kMeet[] = "barrier.cluster.arrive; barrier.cluster.wait;";

TEST(Copies, MulticastToTheBlocksOfACluster) {
  ExpectWords(
      Multicast(kWait), {{2, 1, 1}, {1, 1, 1}}, 8, [](int i) { return i < 2 || i == 5 ? 9 : 0; },
      kShared, ".reqnctapercluster 2, 1, 1");
}

TEST(Copies, AMulticastIsInFlightInEachBlock) {
  const Outcome outcome = RunKernel(Multicast(kMeet), {{2, 1, 1}, {1, 1, 1}}, kShared, 64,
                                    ".reqnctapercluster 2, 1, 1");
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  ASSERT_EQ(outcome.Kinds(), "shared_race shared_race");
  EXPECT_TRUE(absl::StrContains(outcome.faults[1].message,
                                "by thread (0,0,0) of another block of the cluster is still "
                                "writing; a wait for its mbarrier must come first"))
      << outcome.faults[1].message;
}

// Threads store %r1 + 1; thread 0 has the tile reduced as `reduce` says, where %r12 = s.
std::string Reduce(const std::string& reduce) {
  return absl::StrCat(R"(mov.u32 %r12, s; shl.b32 %r13, %r1, 2; add.u32 %r13, %r13, %r12;
add.u32 %r14, %r1, 1; st.shared.u32 [%r13], %r14; fence.proxy.async; bar.sync 0;
setp.ne.u32 %p1, %r1, 0; @%p1 bra END;
)",
                      reduce, "\nEND: ret;");
}

TEST(Copies, ReductionToGlobalMemory) {
  ExpectWords(
      Reduce(R"(cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [%r12], 128;
cp.reduce.async.bulk.global.shared::cta.bulk_group.max.s32 [%rd1], [%r12], 64;
cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [%r12], 128;
cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;)"),
      {}, 32, [](int i) { return 2 * (i + 1); }, kShared);
}

TEST(Copies, ReductionToSharedMemoryOfTheCluster) {
  ExpectWords(
      absl::StrCat(R"(mov.u32 %r11, bar; mov.u32 %r12, s; mov.u32 %r15, t;
shl.b32 %r13, %r1, 2; add.u32 %r16, %r13, %r15; add.u32 %r13, %r13, %r12; mov.u32 %r14, 10;
st.shared.u32 [%r13], %r1; st.shared.u32 [%r16], %r14; setp.eq.u32 %p1, %r1, 0;
@%p1 mbarrier.init.shared.b64 [%r11], 1; fence.proxy.async; bar.sync 0; @!%p1 bra WAIT;
mbarrier.arrive.expect_tx.shared.b64 %rd8, [%r11], 128;
cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.min.u32 [%r15],
  [%r12], 128, [%r11];
WAIT: )",
                   kWait, "ld.shared.u32 %r10, [%r16];", kStore),
      {}, 32, [](int i) { return i < 10 ? i : 10; }, kShared);
}

TEST(Copies, ASourceIsReadUntilItsReductionIsWaitedFor) {
  const std::string reduce =
      "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [%r12], 128;"
      "cp.async.bulk.commit_group;";
  const std::string wait = "cp.async.bulk.wait_group.read 0;";
  const std::string store = "st.shared.u32 [%r12], %r12;";
  EXPECT_EQ(RunKernel(Reduce(reduce + wait + store), {}, kShared).Kinds(), "");
  EXPECT_EQ(RunKernel(Reduce(reduce + store), {}, kShared).Kinds(), "shared_race");
}

TEST(Copies, AReductionMustBeAligned) {
  const Outcome outcome = RunKernel(
      Reduce("add.u64 %rd1, %rd1, 8;\n"
             "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [%r12], 128;"),
      {}, kShared);
  EXPECT_EQ(outcome.Kinds(), "misaligned");
}

TEST(Copies, WhatIsNotSupportedNamesTheLine) {
  const Outcome outcome = RunKernel(
      "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], "
      "[%rd1, {%r1}], [%r1]; ret;",
      {});
  EXPECT_EQ(outcome.status.message(),
            "line 9: cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes "
            "is not supported");
}

}  // namespace
}  // namespace stax::emulator
