#include "runtime/emulator/translate/control_flow.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "runtime/emulator/ptx/module.h"
#include "runtime/emulator/ptx/parser.h"
#include "runtime/emulator/translate/flat_kernel.h"

namespace stax::emulator {
namespace {

struct Kernel {
  FlatKernel flat;
  ControlFlow flow;
};

// The body's blocks are marked by `mov.u32 %r0, N`.
Kernel Find(const std::string& body) {
  Kernel kernel;
  absl::StatusOr<ptx::Module> module =
      ptx::ParsePtx(absl::StrCat(".version 8.0\n.target sm_80\n.address_size 64\n.entry k() {\n"
                                 ".reg .b32 %r<9>; .reg .pred %p<9>;\n",
                                 body, "\n}"),
                    "k.ptx");
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return kernel;
  absl::StatusOr<FlatKernel> flat = Flatten(*module, *module->FindFunction("k"), {});
  EXPECT_TRUE(flat.ok()) << flat.status();
  if (!flat.ok()) return kernel;
  kernel.flat = *std::move(flat);
  kernel.flow = FindControlFlow(kernel.flat);
  return kernel;
}

// The marks in the order of the blocks.
std::string OrderOf(const std::string& body) {
  const Kernel kernel = Find(body);
  std::string order;
  for (const BasicBlock& block : kernel.flow.blocks) {
    for (int i = block.begin; i < block.end; ++i) {
      const ptx::Instruction& instruction = kernel.flat.instructions[i];
      if (instruction.opcode == "mov")
        absl::StrAppend(&order, order.empty() ? "" : " ", instruction.operands[1].integer);
    }
  }
  return order;
}

// "%r1 %p1": what lives behind the block that begins with the mark.
std::string LiveBehind(const Kernel& kernel, int mark) {
  std::string names;
  for (const BasicBlock& block : kernel.flow.blocks) {
    if (block.begin == block.end) continue;
    const ptx::Instruction& first = kernel.flat.instructions[block.begin];
    if (first.opcode != "mov" || first.operands[1].integer != mark) continue;
    for (int reg : block.live_out)
      absl::StrAppend(&names, names.empty() ? "" : " ", kernel.flat.registers[reg].name);
  }
  return names;
}

TEST(ControlFlow, TheJoinOfAnIfComesAfterBothPaths) {
  EXPECT_EQ(OrderOf(R"(mov.u32 %r0, 1; @%p1 bra ELSE; mov.u32 %r0, 2; bra JOIN;
ELSE: mov.u32 %r0, 3; JOIN: mov.u32 %r0, 4; ret;)")
                .back(),
            '4');
  // Also when the join stands first in the text.
  const std::string order = OrderOf(R"(mov.u32 %r0, 1; bra START; JOIN: mov.u32 %r0, 4; ret;
START: @%p1 bra ELSE; mov.u32 %r0, 2; bra JOIN; ELSE: mov.u32 %r0, 3; bra JOIN;)");
  EXPECT_TRUE(order == "1 2 3 4" || order == "1 3 2 4") << order;
}

TEST(ControlFlow, WhatFollowsALoopComesAfterIt) {
  EXPECT_EQ(OrderOf(R"(mov.u32 %r0, 1; LOOP: mov.u32 %r0, 2; @%p1 bra END; mov.u32 %r0, 3; bra LOOP;
END: mov.u32 %r0, 4; ret;)"),
            "1 2 3 4");
  // The exit stands in front of the rest of the loop.
  EXPECT_EQ(OrderOf(R"(mov.u32 %r0, 1; LOOP: mov.u32 %r0, 2; @%p1 bra REST; mov.u32 %r0, 4; ret;
REST: mov.u32 %r0, 3; bra LOOP;)"),
            "1 2 3 4");
}

TEST(ControlFlow, NestedLoopsStandTogether) {
  EXPECT_EQ(OrderOf(R"(mov.u32 %r0, 1; OUTER: mov.u32 %r0, 2; bra INNER;
AFTER: mov.u32 %r0, 5; ret; LATCH: mov.u32 %r0, 4; @%p2 bra OUTER; bra AFTER;
INNER: mov.u32 %r0, 3; @%p1 bra INNER; bra LATCH;)"),
            "1 2 3 4 5");
}

TEST(ControlFlow, ALoopWithTwoExitsComesBeforeBoth) {
  const std::string order = OrderOf(R"(mov.u32 %r0, 1; LOOP: mov.u32 %r0, 2; @%p1 bra BREAK;
mov.u32 %r0, 3; @%p2 bra LOOP; mov.u32 %r0, 4; bra JOIN; BREAK: mov.u32 %r0, 5;
JOIN: mov.u32 %r0, 6; ret;)");
  EXPECT_TRUE(order == "1 2 3 4 5 6" || order == "1 2 3 5 4 6") << order;
}

// Two blocks that go to each other and are both entered from outside.
TEST(ControlFlow, ALoopWithTwoEntries) {
  const std::string order = OrderOf(R"(mov.u32 %r0, 1; @%p1 bra B; A: mov.u32 %r0, 2; @%p2 bra END;
B: mov.u32 %r0, 3; bra A; END: mov.u32 %r0, 4; ret;)");
  EXPECT_TRUE(order == "1 2 3 4" || order == "1 3 2 4") << order;
}

// Whatever the graph, a loop has a jump that counts as one back.
TEST(ControlFlow, EveryCycleHasABackwardJump) {
  for (const char* body : {"L: bra L;", "A: @%p1 bra B; bra A; B: @%p2 bra A; @%p3 bra B; ret;",
                           "@%p1 bra B; A: bra C; B: bra A; C: @%p2 bra B; ret;"}) {
    const ControlFlow flow = Find(body).flow;
    // Forward jumps lead to larger numbers, so that without the others there is no cycle.
    EXPECT_TRUE(std::any_of(flow.blocks.begin(), flow.blocks.end(), [&](const BasicBlock& block) {
      const int number = static_cast<int>(&block - flow.blocks.data());
      return std::any_of(block.successors.begin(), block.successors.end(),
                         [&](int to) { return ControlFlow::IsBackward(number, to); });
    })) << body;
  }
}

TEST(ControlFlow, TheLastBlockIsTheEndAndWhatIsNotReachedIsLeftOut) {
  const ControlFlow flow = Find("mov.u32 %r0, 1; ret; mov.u32 %r0, 2; ret;").flow;
  ASSERT_EQ(flow.blocks.size(), 2U);
  EXPECT_EQ(flow.blocks[1].begin, flow.blocks[1].end);
  EXPECT_EQ(flow.block_of[2], -1);
  EXPECT_EQ(Find("L: bra L;").flow.blocks.size(), 2U);
  EXPECT_EQ(Find("").flow.blocks.size(), 1U);
}

TEST(ControlFlow, InstructionsThatWaitBeginABlockAndBarriersEndOne) {
  const ControlFlow flow =
      Find(
          "mov.u32 %r0, 1; shfl.sync.idx.b32 %r1, %r2, 0, 31, -1; mov.u32 %r0, 2; bar.sync 0;\n"
          "mov.u32 %r0, 3; ret;")
          .flow;
  ASSERT_EQ(flow.blocks.size(), 5U);
  EXPECT_EQ(flow.blocks[1].begin, 1);
  EXPECT_EQ(flow.blocks[1].end, 3);
  EXPECT_EQ(flow.blocks[2].begin, 3);
  EXPECT_EQ(flow.blocks[2].end, 4);
}

TEST(ControlFlow, LongBlocksAreCut) {
  std::string body;
  for (int i = 0; i < 1200; ++i) body += "add.u32 %r1, %r1, 1;\n";
  const ControlFlow flow = Find(body + "ret;").flow;
  ASSERT_EQ(flow.blocks.size(), 4U);
  EXPECT_EQ(flow.blocks[0].end, 500);
  EXPECT_EQ(flow.blocks[1].successors, std::vector<int>{2});
  EXPECT_EQ(flow.blocks[0].live_out.size(), 1U);
}

TEST(Liveness, AcrossBranchesAndLoops) {
  const Kernel kernel = Find(R"(mov.u32 %r0, 1; mov.b32 %r1, 5; mov.b32 %r2, 6; mov.b32 %r3, 7;
LOOP: mov.u32 %r0, 2; add.u32 %r1, %r1, %r2; setp.lt.u32 %p1, %r1, 9; @%p1 bra LOOP;
mov.u32 %r0, 3; add.u32 %r4, %r1, 1; ret;)");
  EXPECT_EQ(LiveBehind(kernel, 1), "%r1 %r2");
  EXPECT_EQ(LiveBehind(kernel, 2), "%r1 %r2");
  EXPECT_EQ(LiveBehind(kernel, 3), "");
}

// A guarded write leaves the old value in the other lanes: it does not end its life.
TEST(Liveness, AGuardedWriteKeepsTheRegisterAlive) {
  const Kernel guarded = Find(R"(mov.u32 %r0, 1; mov.b32 %r1, 5; bra NEXT;
NEXT: mov.u32 %r0, 2; @%p1 mov.b32 %r1, 6; bra LAST; LAST: mov.u32 %r0, 3; add.u32 %r2, %r1, 1; ret;)");
  EXPECT_EQ(LiveBehind(guarded, 1), "%r1 %p1");
  const Kernel plain = Find(R"(mov.u32 %r0, 1; mov.b32 %r1, 5; bra NEXT;
NEXT: mov.u32 %r0, 2; mov.b32 %r1, 6; bra LAST; LAST: mov.u32 %r0, 3; add.u32 %r2, %r1, 1; ret;)");
  EXPECT_EQ(LiveBehind(plain, 1), "");
  EXPECT_EQ(LiveBehind(plain, 2), "%r1");
}

TEST(Liveness, AddressesOfStoresAreRead) {
  const Kernel kernel = Find(R"(mov.u32 %r0, 1; mov.b32 %r1, 5; mov.b32 %r2, 6; bra NEXT;
NEXT: mov.u32 %r0, 2; st.shared.u32 [%r1], %r2; atom.shared.add.u32 %r3, [%r1], %r4; ret;)");
  EXPECT_EQ(LiveBehind(kernel, 1), "%r1 %r2 %r4");
}

}  // namespace
}  // namespace stax::emulator
