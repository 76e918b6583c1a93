// Small kernels through the whole emulator; what they give is worked out by hand.
#include "runtime/emulator/launch/launch.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "runtime/emulator/launch/emulator_module.h"
#include "runtime/emulator/launch/run_kernel.h"
#include "runtime/emulator/memory/fault.h"
#include "runtime/emulator/memory/global_memory.h"
#include "runtime/emulator/ptx/module.h"
#include "runtime/emulator/ptx/parser.h"

namespace stax::emulator {
namespace {

TEST(Launch, LanesMeetAgainWhereTheirPathsJoin) {
  // activemask is free to be smaller on a device; here the lanes meet as soon as they can.
  ExpectWords(absl::StrCat(R"(setp.lt.u32 %p1, %r1, 5; @%p1 bra LOW; mov.u32 %r11, 7; bra JOIN;
LOW: mov.u32 %r11, 9; JOIN: activemask.b32 %r12; add.u32 %r10, %r11, %r12;)",
                           kStore),
              {}, 32, [](int i) { return (i < 5 ? 9 : 7) + 0xffffffffU; });
}

TEST(Launch, LanesThatLeaveALoopAtDifferentTimes) {
  ExpectWords(absl::StrCat(R"(mov.u32 %r10, 0; L: add.u32 %r10, %r10, 3; add.u32 %r11, %r11, 1;
setp.le.u32 %p1, %r11, %r1; @%p1 bra L; shfl.sync.idx.b32 %r12, %r10, 31, 31, -1;
add.u32 %r10, %r10, %r12;)",
                           kStore),
              {}, 32, [](int i) { return 3 * (i + 1) + 96; });
}

TEST(Launch, ShufflesOfParts) {
  // Two halves shuffle on their own, in different blocks of code.
  ExpectWords(absl::StrCat(R"(mul.lo.u32 %r11, %r1, 10; setp.lt.u32 %p1, %r1, 16; @%p1 bra LOW;
shfl.sync.bfly.b32 %r10, %r11, 1, 31, 0xffff0000; bra JOIN;
LOW: shfl.sync.down.b32 %r10, %r11, 4, 0x100f, 0xffff; JOIN:)",
                           kStore),
              {}, 32, [](int i) {
                return 10 * (i >= 16 ? i ^ 1 : i + 4 < 16 ? i + 4 : i);
              });
}

TEST(Launch, AGuardedShuffle) {
  ExpectWords(absl::StrCat(R"(mov.u32 %r10, 1000; setp.lt.u32 %p1, %r1, 8;
@%p1 shfl.sync.idx.b32 %r10, %r1, 3, 31, 0xff;)",
                           kStore),
              {}, 32, [](int i) { return i < 8 ? 3 : 1000; });
}

TEST(Launch, AShuffleOfALaneThatIsNotThere) {
  EXPECT_EQ(RunKernel(R"(setp.lt.u32 %p1, %r1, 8; @!%p1 exit;
shfl.sync.idx.b32 %r10, %r1, 20, 31, 0xff; ret;)",
                      {})
                .Kinds(),
            "invalid_shuffle");
}

TEST(Launch, ExitInDivergentCode) {
  ExpectWords(absl::StrCat(R"(and.b32 %r11, %r1, 1; setp.eq.u32 %p1, %r11, 0; @%p1 exit;
vote.sync.ballot.b32 %r10, 1, 0xffffffff;)",
                           kStore),
              {}, 32, [](int i) { return i % 2 != 0 ? 0xaaaaaaaaU : 0U; });
}

TEST(Launch, AGuardedCall) {
  ExpectWords(
      absl::StrCat(R"(mov.u32 %r10, 5; setp.gt.u32 %p1, %r1, 20; { .param .b32 a; .param .b32 r;
st.param.b32 [a], %r1; @%p1 call (r), twice, (a); @%p1 ld.param.b32 %r10, [r]; })",
                   kStore),
      {}, 32, [](int i) { return i > 20 ? 2 * i : 5; },
      R"(.func (.param .b32 r) twice(.param .b32 a) { .reg .b32 %r<3>;
ld.param.b32 %r1, [a]; add.u32 %r1, %r1, %r1; st.param.b32 [r], %r1; ret; })");
}

TEST(Launch, TablesOfBranches) {
  ExpectWords(
      absl::StrCat(R"(T: .branchtargets A, B, C; and.b32 %r11, %r1, 3; min.u32 %r11, %r11, 2;
brx.idx %r11, T; A: mov.u32 %r10, 10; bra END; B: mov.u32 %r10, 20; bra END; C: mov.u32 %r10, 30; END:)",
                   kStore),
      {}, 32, [](int i) { return i % 4 == 0   ? 10
                                 : i % 4 == 1 ? 20
                                              : 30; });
}

TEST(Launch, ATableBranchThatGoesBackForEver) {
  const Outcome outcome =
      RunKernel("mov.u32 %r11, 0; T: .branchtargets L, L; L: brx.idx %r11, T;", {});
  EXPECT_EQ(outcome.Kinds(), "deadlock");
}

// Producers arrive, consumers wait: 32 + 32 threads at barrier 1.
TEST(Launch, ArriveAndSync) {
  ExpectWords(
      absl::StrCat(R"(mov.u64 %rd4, s; setp.ge.u32 %p1, %r1, 32; @%p1 bra CONSUMER;
shl.b32 %r11, %r1, 2; cvt.u64.u32 %rd5, %r11; add.u64 %rd5, %rd4, %rd5; st.shared.u32 [%rd5], %r1;
bar.arrive 1, 64; ret; CONSUMER: bar.sync 1, 64; sub.u32 %r11, 63, %r1; shl.b32 %r11, %r11, 2;
cvt.u64.u32 %rd5, %r11; add.u64 %rd5, %rd4, %rd5; ld.shared.u32 %r10, [%rd5];)",
                   kStore),
      {{}, {64, 1, 1}}, 64, [](int i) { return i < 32 ? 0 : 63 - i; },
      ".shared .align 4 .b8 s[128];");
}

// PTX ISA, bar: "the arrival count is incremented by the warp size (not the number of active
// threads in the warp)".
TEST(Launch, AWarpThatIsNotFullCountsAsOne) {
  ExpectWords(absl::StrCat("bar.sync 1, 64; mov.u32 %r10, 1;", kStore), {{}, {48, 1, 1}}, 48,
              [](int) { return 1; });
}

TEST(Launch, BarriersThatReduce) {
  ExpectWords(absl::StrCat(R"(setp.lt.u32 %p1, %r1, 40; bar.red.popc.u32 %r10, 0, %p1;
bar.red.and.pred %p2, 0, %p1; bar.red.or.pred %p3, 0, %p1; bar.red.popc.u32 %r12, 2, 64, !%p1;
@%p2 add.u32 %r10, %r10, 1000; @%p3 add.u32 %r10, %r10, 2000; mad.lo.u32 %r10, %r12, 10000, %r10;)",
                           kStore),
              {{}, {64, 1, 1}}, 64, [](int) { return 242040; });
}

TEST(Launch, BlocksOfAClusterReadEachOther) {
  ExpectWords(
      absl::StrCat(R"(mov.u64 %rd4, s; add.u32 %r11, %r2, 100; st.shared.u32 [%rd4], %r11;
barrier.cluster.arrive; barrier.cluster.wait; xor.b32 %r12, %r2, 1; mov.u32 %r13, s;
mapa.shared::cluster.u32 %r14, %r13, %r12; ld.shared::cluster.u32 %r10, [%r14];
barrier.cluster.arrive; barrier.cluster.wait;)",
                   kStore),
      {{2, 1, 1}, {1, 1, 1}}, 2, [](int i) { return 100 + (i ^ 1); }, ".shared .align 4 .b8 s[4];",
      ".reqnctapercluster 2, 1, 1");
}

TEST(Launch, PhasesOfAnMbarrier) {
  // 64 arrivals a phase; each thread sees what the others wrote in the phase before.
  ExpectWords(
      absl::StrCat(R"(mov.u64 %rd4, bar; mov.u64 %rd5, s; setp.eq.u32 %p1, %r1, 0;
@%p1 mbarrier.init.shared.b64 [%rd4], 64; bar.sync 0; mov.u32 %r15, 0;
shl.b32 %r11, %r1, 2; cvt.u64.u32 %rd6, %r11; add.u64 %rd6, %rd5, %rd6;
xor.b32 %r12, %r1, 63; shl.b32 %r12, %r12, 2; cvt.u64.u32 %rd7, %r12; add.u64 %rd7, %rd5, %rd7;
add.u32 %r13, %r1, 1; st.shared.u32 [%rd6], %r13;
AGAIN: mbarrier.arrive.shared.b64 %rd8, [%rd4];
W1: mbarrier.test_wait.shared.b64 %p2, [%rd4], %rd8; @!%p2 bra W1; ld.shared.u32 %r10, [%rd7];
mbarrier.arrive.shared.b64 %rd8, [%rd4];
W2: mbarrier.test_wait.shared.b64 %p2, [%rd4], %rd8; @!%p2 bra W2; st.shared.u32 [%rd6], %r10;
add.u32 %r15, %r15, 1; setp.lt.u32 %p3, %r15, 3; @%p3 bra AGAIN;)",
                   kStore),
      {{}, {64, 1, 1}}, 64, [](int i) { return (i ^ 63) + 1; },
      ".shared .align 8 .b8 bar[8]; .shared .align 4 .b8 s[256];");
}

// Only with independent lanes: the one that holds the lock must go on while the others spin.
TEST(Launch, ALockTakenByLanesOfOneWarp) {
  ExpectWords(
      R"(L: atom.relaxed.gpu.global.cas.b32 %r11, [%rd1], 0, 1; setp.ne.u32 %p1, %r11, 0; @%p1 bra L;
fence.acq_rel.gpu;
ld.global.u32 %r12, [%rd1+4]; add.u32 %r12, %r12, %r1; st.global.u32 [%rd1+4], %r12;
fence.acq_rel.gpu; atom.relaxed.gpu.global.exch.b32 %r13, [%rd1], 0; ret;)",
      {}, 2, [](int i) { return i == 0 ? 0 : 496; });
}

TEST(Launch, ABarrierOfTheGridWithMoreBlocksThanTheHostHasThreads) {
  for (const int threads : {1, 2, 4}) {
    const Outcome outcome = RunKernel(absl::StrCat(R"(red.relaxed.gpu.global.add.u32 [%rd1+4096], 1;
L: ld.relaxed.gpu.global.u32 %r12, [%rd1+4096]; setp.lt.u32 %p1, %r12, 200; @%p1 bra L;
add.u32 %r10, %r2, %r12;)",
                                                   kStore),
                                      {{200, 1, 1}, {1, 1, 1}, threads}, "", 1025);
    ASSERT_TRUE(outcome.status.ok()) << outcome.status;
    EXPECT_EQ(outcome.Kinds(), "");
    for (uint32_t i = 0; i < 200; ++i) EXPECT_EQ(outcome.words[i], i + 200);
  }
}

// 132 multiprocessors with 32 blocks each: the next block begins when one ends.
TEST(Launch, ABarrierOfMoreBlocksThanFitOnTheDevice) {
  const Outcome outcome = RunKernel(R"(red.relaxed.gpu.global.add.u32 [%rd1], 1;
L: ld.relaxed.gpu.global.u32 %r12, [%rd1]; setp.lt.u32 %p1, %r12, 4225; @%p1 bra L; ret;)",
                                    {{4225, 1, 1}, {1, 1, 1}});
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  ASSERT_FALSE(outcome.faults.empty());
  EXPECT_EQ(outcome.faults.front().kind, FaultKind::kDeadlock);
  EXPECT_TRUE(absl::StrContains(outcome.faults.front().message, "room for 4224 at a time"))
      << outcome.faults.front().message;
}

TEST(Launch, ALoopThatWaitsForTheClockEnds) {
  ExpectWords(absl::StrCat(R"(mov.u64 %rd4, %clock64; add.u64 %rd4, %rd4, 100000;
L: mov.u64 %rd5, %clock64; setp.lt.u64 %p1, %rd5, %rd4; @%p1 bra L; mov.u32 %r10, 1;)",
                           kStore),
              {}, 32, [](int) { return 1; });
}

// nvcc writes s[31 - i] as [%r + 124] with %r below zero.
TEST(Launch, AddressesInAWordWrap) {
  ExpectWords(absl::StrCat(R"(.shared .align 4 .b8 s[128]; mov.u32 %r11, s; shl.b32 %r12, %r1, 2;
add.u32 %r13, %r11, %r12; st.shared.u32 [%r13], %r1; bar.sync 0; sub.u32 %r14, %r11, %r12;
ld.shared.u32 %r10, [%r14+124];)",
                           kStore),
              {}, 32, [](int i) { return 31 - i; });
}

TEST(Launch, Deadlocks) {
  EXPECT_EQ(RunKernel("L: bra L;", {}).Kinds(), "deadlock");
  EXPECT_EQ(
      RunKernel("setp.lt.u32 %p1, %r1, 32; @%p1 bar.sync 1, 64; ret;", {{}, {64, 1, 1}}).Kinds(),
      "deadlock");
}

TEST(Launch, LoopsEndAtTheLimitOfSteps) {
  for (const char* body : {"L: add.u32 %r10, %r10, 1; bra L;", "L: bar.sync 0; bra L;",
                           "L: red.global.add.u32 [%rd1], 1; bra L;",
                           "L: bar.warp.sync -1; add.u32 %r10, %r10, 1; bra L;",
                           R"(setp.lt.u32 %p1, %r1, 5; @%p1 bra M; L: add.u32 %r10, %r10, 1; bra L;
                           M: add.u32 %r11, %r11, 1; bra M;)"}) {
    const Outcome outcome = RunKernel(body, {{3, 1, 1}, {64, 1, 1}, 2, 10000000});
    EXPECT_EQ(outcome.status.code(), absl::StatusCode::kResourceExhausted) << body;
    EXPECT_TRUE(absl::StartsWith(
        outcome.status.message(),
        "k is not done after 10000000 steps (instructions x threads), which is the limit"))
        << outcome.status;
  }
  // A grid of blocks that do end.
  EXPECT_EQ(RunKernel("ret;", {{2147483647, 1, 1}, {1, 1, 1}, 2, 1000000}).status.code(),
            absl::StatusCode::kResourceExhausted);
}

// The body begins in line 9.
TEST(Launch, TheLimitOfStepsSaysWhereThreadsWere) {
  for (const char* loop : {"add.u32 %r10, %r10, 1;", "mov.u64 %rd4, %globaltimer;",
                           "ld.volatile.global.u32 %r10, [%rd2]; add.u32 %r11, %r11, 1;"}) {
    const Outcome outcome =
        RunKernel(absl::StrCat("setp.ne.u32 %p1, %r1, 37;\n@%p1 exit;\nL: ", loop, "\nbra L;"),
                  {{3, 1, 1}, {64, 1, 1}, 1, 1000000});
    EXPECT_EQ(
        outcome.status.message(),
        "k is not done after 1000000 steps (instructions x threads), which is the limit; line "
        "11: thread (37,0,0) of block (0,0,0) was still running")
        << loop;
  }
}

// A block counts at least its warps as steps; one without an instruction need not run.
TEST(Launch, GridsOfEmptyBlocksEnd) {
  EXPECT_EQ(RunKernel("ret;", {{2147483647, 1, 1}, {32, 1, 1}, 2, 1000000}).status.code(),
            absl::StatusCode::kResourceExhausted);
  absl::StatusOr<ptx::Module> parsed =
      ptx::ParsePtx(".version 8.6\n.target sm_90a\n.address_size 64\n.entry k() { }", "k.ptx");
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  GlobalMemory memory;
  auto module = EmulatorModule::Load(*std::move(parsed), &memory);
  ASSERT_TRUE(module.ok()) << module.status();
  LaunchRequest request;
  request.grid = {2147483647, 1, 1};
  request.block = {1024, 1, 1};
  absl::StatusOr<LaunchResult> result =
      Launch(**module, **(*module)->Kernel("k"), request, &memory);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(result->ended.ok()) << result->ended;
}

// What no compiler writes is an error, whatever is wrong with it.
TEST(Launch, MalformedInstructions) {
  for (const char* body :
       {"add.u32 %r10, %r1;", "add.f32 %r10, %r1;", "mad.lo.u32 %r10, %r1, %r1;", "neg.s32 %r10;",
        "not.b32 %r10, %r1, %r1;", "shl.b32 %r10, %r1;", "fma.rn.f32 %r10, %r1, %r1;",
        "add.u32 {%r10, %r11}, %r1, %r1;", "selp.b32 %r10, %r1, %r1;", "setp.eq.u32 %p1, %r1;",
        "testp.finite.f32 %p1;", "mov.b64 {%r10, %r11, %r12}, %rd1;", "sad.u32 %r10, %r1;",
        "shfl.sync.idx.b32 %r10, %r1, 0;", "cvt.u32.u16 %r10;", "ld.global.u32 %r10;",
        "st.global.u32 [%rd2];", "atom.global.add.u32 %r10, [%rd2];"}) {
    const Outcome outcome = RunKernel(body, {{1, 1, 1}, {32, 1, 1}, 1});
    EXPECT_EQ(outcome.status.code(), absl::StatusCode::kInvalidArgument) << body;
  }
}

TEST(Launch, Traps) {
  const Outcome outcome = RunKernel(
      "add.u32 %r5, %r2, %r1;\nsetp.eq.u32 %p1, %r5, 7; @%p1 trap; ret;", {{3, 1, 1}, {6, 1, 1}});
  EXPECT_EQ(outcome.status.code(), absl::StatusCode::kAborted);
  EXPECT_EQ(outcome.status.message(), "k: line 10: thread (5,0,0) of block (2,0,0) ran into trap");
  EXPECT_TRUE(RunKernel("setp.eq.u32 %p1, %r1, 70; @%p1 trap; ret;", {}).status.ok());
  // What stands behind it is never reached.
  EXPECT_TRUE(RunKernel("L: setp.ne.u32 %p1, %r1, 70; @%p1 bra END; trap; bra L; END: ret;", {})
                  .status.ok());
}

// What was found and counted before the end is told.
TEST(Launch, FaultsBeforeATrapOrTheLimitOfSteps) {
  const std::string fault = "ld.global.u32 %r10, [%rd1+1024]; ";
  const Outcome trap = RunKernel(fault + "trap;", {{}, {32, 1, 1}});
  EXPECT_EQ(trap.status.code(), absl::StatusCode::kAborted);
  EXPECT_EQ(trap.Kinds(), "out_of_bounds out_of_bounds out_of_bounds out_of_bounds");
  EXPECT_EQ(trap.executed.back().lanes, 32U);
  const Outcome limit =
      RunKernel(fault + "L: add.u32 %r10, %r10, 1; bra L;", {{}, {1, 1, 1}, 1, 1000000});
  EXPECT_EQ(limit.status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(limit.Kinds(), "out_of_bounds");
  EXPECT_GT(limit.executed.back().warps, 400000U);
}

TEST(Launch, ParametersAtWrongOffsets) {
  EXPECT_EQ(RunKernel("ld.param.u32 %r10, [p+2]; ret;", {{}, {1, 1, 1}}).Kinds(), "misaligned");
  EXPECT_EQ(RunKernel("ld.param.u32 %r10, [p+8]; ret;", {{}, {1, 1, 1}}).Kinds(), "out_of_bounds");
  // Nobody goes there.
  EXPECT_EQ(RunKernel("setp.eq.u32 %p1, %r1, 70; @%p1 ld.param.u32 %r10, [p+8]; ret;", {}).Kinds(),
            "");
}

TEST(Launch, FramesThatAreTooLarge) {
  const Outcome outcome = RunKernel(
      ".local .align 4 .b8 a[524292]; mov.u64 %rd4, a; st.local.u32 [%rd4], %r1; ret;", {});
  ASSERT_EQ(outcome.Kinds(), "resource_limit");
  EXPECT_EQ(outcome.faults[0].message, "524292 bytes of local memory a thread; at most 524288");
}

// Faults, numbers of executions and memory do not depend on the threads of the host.
TEST(Launch, OneAndFourThreadsOfTheHostGiveTheSame) {
  const std::string body = absl::StrCat(R"(setp.gt.u32 %p1, %r1, 40; bar.sync 0;
mov.u32 %r11, 0; L: add.u32 %r11, %r11, %r1; add.u32 %r12, %r12, 1; setp.le.u32 %p2, %r12, %r2; @%p2 bra L;
red.global.add.u32 [%rd1+4000], %r1; @%p1 ld.global.u32 %r13, [%rd1+8000]; add.u32 %r10, %r11, %r13;)",
                                        kStore);
  const Outcome one = RunKernel(body, {{15, 1, 1}, {64, 1, 1}, 1}, "", 1001);
  const Outcome four = RunKernel(body, {{15, 1, 1}, {64, 1, 1}, 4}, "", 1001);
  ASSERT_TRUE(one.status.ok() && four.status.ok());
  EXPECT_EQ(one.words, four.words);
  EXPECT_EQ(one.words[1000], 15U * 2016);
  EXPECT_EQ(one.words[64 * 2 + 10], 30U);
  EXPECT_FALSE(one.faults.empty());
  EXPECT_EQ(one.Kinds(), four.Kinds());
  for (size_t i = 0; i < one.faults.size() && i < four.faults.size(); ++i) {
    EXPECT_EQ(one.faults[i].thread, four.faults[i].thread);
    EXPECT_EQ(one.faults[i].block, four.faults[i].block);
  }
  ASSERT_EQ(one.executed.size(), four.executed.size());
  for (size_t i = 0; i < one.executed.size(); ++i) {
    EXPECT_EQ(one.executed[i].warps, four.executed[i].warps);
    EXPECT_EQ(one.executed[i].lanes, four.executed[i].lanes);
  }
}

}  // namespace
}  // namespace stax::emulator
