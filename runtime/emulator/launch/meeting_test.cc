// Lanes of a warp that wait for each other in different places. PTX ISA: shfl.sync, vote.sync,
// match.sync and redux.sync wait until all named lanes "have executed" one "with the same
// qualifiers and same membermask value", bar.warp.sync until they have executed one "with the same
// membermask value"; none of them says where.
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "runtime/emulator/launch/run_kernel.h"
#include "runtime/emulator/memory/fault.h"

namespace stax::emulator {
namespace {

// %rd5: the lane's word of shared memory; %rd6: that of lane %r1 ^ 16. %p1: the lower half.
constexpr char kWords[] = R"(mov.u64 %rd4, s; shl.b32 %r11, %r1, 2; cvt.u64.u32 %rd5, %r11;
xor.b32 %r12, %r11, 64; cvt.u64.u32 %rd6, %r12; add.u64 %rd5, %rd4, %rd5; add.u64 %rd6, %rd4, %rd6;
setp.lt.u32 %p1, %r1, 16;
)";
constexpr char kShared[] = ".shared .align 4 .b8 s[128];";

TEST(Meeting, WarpBarriersInBothArms) {
  ExpectWords(
      absl::StrCat(kWords, R"(@%p1 bra LOW;
st.shared.u32 [%rd5], %r1; bar.warp.sync -1; ld.shared.u32 %r10, [%rd6]; bra JOIN;
LOW: add.u32 %r13, %r1, 100; st.shared.u32 [%rd5], %r13; bar.warp.sync 0xffffffff;
ld.shared.u32 %r10, [%rd6]; JOIN:)",
                   kStore),
      {}, 32, [](int i) { return i < 16 ? i + 16 : i - 16 + 100; }, kShared);
}

// A barrier orders what comes before it, and nothing behind it, in whichever arm.
TEST(Meeting, WhatComesAfterTheBarrierIsNotOrdered) {
  for (const char* arms :
       {"st.shared.u32 [%rd4], %r1; bra JOIN; LOW: bar.warp.sync -1; ld.shared.u32 %r10, [%rd4];",
        "ld.shared.u32 %r10, [%rd4]; bra JOIN; LOW: bar.warp.sync -1; st.shared.u32 [%rd4], "
        "%r1;"}) {
    const Outcome outcome =
        RunKernel(absl::StrCat(kWords, R"(setp.eq.u32 %p2, %r1, 20; setp.eq.u32 %p3, %r1, 3;
@%p2 st.shared.u32 [%rd4], %r1; @%p1 bra LOW; bar.warp.sync -1; @!%p2 bra JOIN; )",
                               arms, "JOIN: ret;"),
                  {}, kShared);
    ASSERT_FALSE(outcome.faults.empty()) << arms;
    EXPECT_EQ(outcome.faults.front().kind, FaultKind::kSharedRace) << arms;
  }
}

TEST(Meeting, ShufflesOfDifferentRegisters) {
  ExpectWords(absl::StrCat(R"(mul.lo.u32 %r11, %r1, 10; mul.lo.u32 %r12, %r1, 100;
mov.u32 %r13, 20; setp.lt.u32 %p1, %r1, 16; @%p1 bra LOW;
shfl.sync.idx.b32 %r10|%p2, %r12, 3, 31, -1; bra JOIN;
LOW: shfl.sync.idx.b32 %r10|%p2, %r11, %r13, 0x1f, -1; JOIN: @%p2 add.u32 %r10, %r10, 1;)",
                           kStore),
              {}, 32, [](int i) { return i < 16 ? 2001 : 31; });
}

TEST(Meeting, VotesMatchesAndReductions) {
  ExpectWords(absl::StrCat(R"(setp.lt.u32 %p1, %r1, 8; and.b32 %r11, %r1, 1;
setp.eq.u32 %p2, %r11, 0; cvt.u64.u32 %rd4, %r11; @%p1 bra LOW;
vote.sync.ballot.b32 %r20, %p2, -1; match.any.sync.b64 %r21, %rd4, -1; redux.sync.add.u32 %r22, %r1, -1;
bra JOIN; LOW: vote.sync.ballot.b32 %r20, !%p2, -1; match.any.sync.b64 %r21, %rd4, -1;
redux.sync.add.u32 %r22, 1000, -1;
JOIN: xor.b32 %r10, %r20, %r21; add.u32 %r10, %r10, %r22;)",
                           kStore),
              {}, 32, [](int i) {
                const uint32_t ballot = 0x555555aa;  // lanes 0 to 7 negate
                const uint32_t match = i % 2 == 0 ? 0x55555555 : 0xaaaaaaaa;
                uint32_t sum = 8000;
                for (uint32_t lane = 8; lane < 32; ++lane) sum += lane;
                return (ballot ^ match) + sum;
              });
}

TEST(Meeting, ThreeArmsAgainAndAgain) {
  ExpectWords(absl::StrCat(R"(T: .branchtargets A, B, C; rem.u32 %r11, %r1, 3; mov.u32 %r10, %r1;
mov.u32 %r12, 0; L: brx.idx %r11, T;
A: shfl.sync.bfly.b32 %r10, %r10, 1, 31, -1; add.u32 %r10, %r10, 100; bra NEXT;
B: shfl.sync.bfly.b32 %r13, %r10, 1, 31, -1; add.u32 %r10, %r13, 200; bra NEXT;
C: add.u32 %r14, %r10, 5; shfl.sync.bfly.b32 %r10, %r14, 1, 31, -1;
NEXT: add.u32 %r12, %r12, 1; setp.lt.u32 %p1, %r12, 3; @%p1 bra L;)",
                           kStore),
              {}, 32, [](int wanted) {
                uint32_t now[32];
                for (uint32_t i = 0; i < 32; ++i) now[i] = i;
                for (int turn = 0; turn < 3; ++turn) {
                  uint32_t given[32];
                  for (int i = 0; i < 32; ++i) given[i] = now[i] + (i % 3 == 2 ? 5 : 0);
                  for (int i = 0; i < 32; ++i)
                    now[i] = given[i ^ 1] + (i % 3 == 0 ? 100 : i % 3 == 1 ? 200 : 0);
                }
                return now[wanted];
              });
}

// Two meetings of halves, each in two places of its own.
TEST(Meeting, LanesOfDifferentMasksMeetApart) {
  ExpectWords(absl::StrCat(R"(and.b32 %r11, %r1, 16; shr.u32 %r12, 0xffff, 0;
setp.ne.u32 %p1, %r11, 0; @%p1 shl.b32 %r12, %r12, 16; and.b32 %r13, %r1, 1;
setp.ne.u32 %p2, %r13, 0; @%p2 bra ODD; shfl.sync.bfly.b32 %r10, %r1, 1, 31, %r12; bra JOIN;
ODD: mul.lo.u32 %r14, %r1, 10; shfl.sync.bfly.b32 %r10, %r14, 1, 31, %r12; JOIN:)",
                           kStore),
              {}, 32, [](int i) { return i % 2 != 0 ? i - 1 : 10 * (i + 1); });
}

TEST(Meeting, ALaneOfTheOtherArmExits) {
  ExpectWords(absl::StrCat(R"(setp.lt.u32 %p1, %r1, 16; setp.eq.u32 %p2, %r1, 31;
mov.u32 %r10, 0; @%p1 bra LOW; @%p2 exit;
shfl.sync.up.b32 %r10, %r1, 1, 0, -1; bra JOIN;
LOW: shfl.sync.up.b32 %r10, %r1, 1, 0, -1; JOIN:)",
                           kStore),
              {}, 32, [](int i) { return i == 31 || i == 0 ? 0 : i - 1; });
}

// Not the same operation, so they do not meet.
TEST(Meeting, OtherQualifiersOrMasksAreADeadlock) {
  for (const char* other : {"vote.sync.any.pred %p2, %p1, -1;",
                            "shfl.sync.up.b32 %r10, %r1, 1, 0, -1;", "bar.warp.sync 0x7fffffff;"}) {
    const Outcome outcome =
        RunKernel(absl::StrCat("setp.lt.u32 %p1, %r1, 16; @%p1 bra LOW; bar.warp.sync -1; "
                               "shfl.sync.down.b32 %r10, %r1, 1, 31, -1; ret; LOW: ",
                               other, " bar.warp.sync -1; ret;"),
                  {});
    ASSERT_FALSE(outcome.faults.empty()) << other;
    EXPECT_EQ(outcome.faults.front().kind, FaultKind::kDeadlock) << other;
  }
}

}  // namespace
}  // namespace stax::emulator
