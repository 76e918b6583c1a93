// What PTX allows of barriers, and what it does not.
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "runtime/emulator/launch/run_kernel.h"
#include "runtime/emulator/memory/fault.h"

namespace stax::emulator {
namespace {

const Sizes kTwoWarps = {{}, {64, 1, 1}};

// As ptxas, which refuses the same.
TEST(Barriers, WrongNumbersAreErrors) {
  struct Wrong {
    const char* instruction;
    const char* message;
  };
  for (const Wrong& wrong :
       {Wrong{"bar.sync 16;", "line 9: bar.sync: barrier 16; a block has the barriers 0 to 15"},
        Wrong{"bar.sync 1, 48;", "line 9: bar.sync: 48 threads; a barrier counts a multiple of 32"},
        Wrong{"bar.arrive 1, 0;",
              "line 9: bar.arrive: it needs the number of threads that the barrier waits for"},
        Wrong{"barrier.arrive 1;",
              "line 9: barrier.arrive: it needs the number of threads that the barrier waits for"},
        Wrong{"bar.red.popc.u32 %r10, 17, %p1;",
              "line 9: bar.red.popc.u32: barrier 17; a block has the barriers 0 to 15"},
        Wrong{"cp.async.ca.shared.global [%r5], [%rd1], 4, 8;",
              "line 9: cp.async.ca.shared.global: reads 8 bytes; it copies 4"}}) {
    const Outcome outcome = RunKernel(absl::StrCat(wrong.instruction, " ret;"), kTwoWarps);
    EXPECT_EQ(outcome.status.code(), absl::StatusCode::kInvalidArgument) << wrong.instruction;
    EXPECT_EQ(outcome.status.message(), wrong.message);
  }
  EXPECT_TRUE(RunKernel("bar.sync 15, 0; ret;", kTwoWarps).status.ok());
}

TEST(Barriers, WrongNumbersInRegistersAreFaults) {
  for (const char* body :
       {"mov.u32 %r10, 16; bar.sync %r10;", "mov.u32 %r10, 48; barrier.sync 1, %r10;",
        "mov.u32 %r10, 96; bar.sync 1, %r10;", "mov.u32 %r10, 0; bar.arrive 1, %r10;",
        "bar.sync 2, 2048;"}) {
    const Outcome outcome = RunKernel(absl::StrCat(body, " ret;"), kTwoWarps);
    ASSERT_FALSE(outcome.faults.empty()) << body;
    for (const Fault& fault : outcome.faults)
      EXPECT_EQ(fault.kind, FaultKind::kUndefinedBehavior) << body << fault.message;
  }
}

TEST(Barriers, ThreadsThatCountDifferently) {
  const Outcome outcome = RunKernel(
      "setp.lt.u32 %p1, %r1, 32; mov.u32 %r10, 64; @%p1 mov.u32 %r10, 96; bar.sync 1, %r10; ret;",
      {{}, {96, 1, 1}});
  ASSERT_FALSE(outcome.faults.empty());
  EXPECT_EQ(outcome.faults.front().kind, FaultKind::kBarrierDivergence);
  EXPECT_EQ(outcome.faults.front().thread, 32U);
  EXPECT_EQ(outcome.faults.front().message,
            "counts 64 threads at barrier 1; others count 96 there");
  // The number that stands for all is the block's.
  EXPECT_EQ(RunKernel("setp.lt.u32 %p1, %r1, 32; @%p1 bra L; bar.sync 1; ret; L: bar.sync 1, 64; "
                      "ret;",
                      kTwoWarps)
                .Kinds(),
            "");
}

TEST(Barriers, AnAlignedBarrierIsOneForTheWarp) {
  const Outcome outcome = RunKernel("and.b32 %r10, %r1, 1; bar.sync %r10, 64; ret;", kTwoWarps);
  EXPECT_EQ(outcome.Kinds(), "barrier_divergence barrier_divergence");
}

// Each half of the first warp arrives at a barrier of its own, and a warp waits at each: what the
// halves wrote before is ordered.
TEST(Barriers, EachLaneArrivesAtItsOwn) {
  ExpectWords(
      absl::StrCat(R"(mov.u64 %rd4, s; shr.u32 %r11, %r1, 5; setp.ne.u32 %p1, %r11, 0;
@%p1 bra READ; shl.b32 %r12, %r1, 2; cvt.u64.u32 %rd5, %r12; add.u64 %rd5, %rd4, %rd5;
st.shared.u32 [%rd5], %r1; shr.u32 %r13, %r1, 4; add.u32 %r13, %r13, 1; barrier.arrive %r13, 32; ret;
READ: sub.u32 %r14, %r1, 32; shr.u32 %r13, %r14, 4; add.u32 %r13, %r13, 1; barrier.sync %r13, 32;
shl.b32 %r12, %r14, 2; cvt.u64.u32 %rd5, %r12; add.u64 %rd5, %rd4, %rd5; ld.shared.u32 %r10, [%rd5];)",
                   kStore),
      kTwoWarps, 64, [](int i) { return i < 32 ? 0 : i - 32; }, ".shared .align 4 .b8 s[128];");
}

TEST(Barriers, OfAClusterInTurn) {
  const std::string cluster = ".reqnctapercluster 2, 1, 1";
  const Sizes sizes = {{2, 1, 1}, {32, 1, 1}};
  const char* arrive = "barrier.cluster.arrive; ";
  const char* wait = "barrier.cluster.wait; ";
  EXPECT_EQ(
      RunKernel(absl::StrCat(arrive, wait, arrive, wait, arrive, "ret;"), sizes, "", 64, cluster)
          .Kinds(),
      "");
  for (const std::string& body :
       {std::string(wait), absl::StrCat(arrive, arrive, wait), absl::StrCat(arrive, wait, wait)}) {
    EXPECT_EQ(RunKernel(body + "ret;", sizes, "", 64, cluster).Kinds(),
              "undefined_behavior undefined_behavior")
        << body;
  }
}

TEST(Barriers, WhatOtherInstructionsLeaveUndefined) {
  const std::string shared = ".shared .align 16 .b8 s[64];";
  for (const char* body :
       {"mov.u64 %rd4, s; mbarrier.init.shared.b64 [%rd4], 0; ret;",
        "mov.u64 %rd4, s; mbarrier.init.shared.b64 [%rd4], 1048576; ret;",
        "mov.u32 %r10, s; mov.u32 %r11, 8; cp.async.ca.shared.global [%r10], [%rd1], 4, %r11; ret;",
        "mov.u32 %r10, 2; T: .branchtargets A, B; brx.idx %r10, T; A: ret; B: ret;"}) {
    const Outcome outcome = RunKernel(body, {{}, {1, 1, 1}}, shared);
    EXPECT_EQ(outcome.Kinds(), "undefined_behavior") << body << outcome.status;
  }
  EXPECT_EQ(RunKernel("mov.u64 %rd4, s; mbarrier.init.shared.b64 [%rd4], 1048575; ret;",
                      {{}, {1, 1, 1}}, shared)
                .Kinds(),
            "");
}

}  // namespace
}  // namespace stax::emulator
