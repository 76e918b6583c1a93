#include "compiler/codegen/layout.h"

#include <random>
#include <set>
#include <tuple>

#include "gtest/gtest.h"

namespace stax {
namespace {

LayoutRequest Request(int y, int x, int r, int warp_bits, std::vector<LayoutRequest::Side> sides) {
  LayoutRequest request;
  request.axis_bits[kAxisY] = y;
  request.axis_bits[kAxisX] = x;
  request.axis_bits[kAxisR] = r;
  request.lane_bits = 5;
  request.warp_bits = warp_bits;
  request.sides = std::move(sides);
  return request;
}

TEST(ChooseLayout, PointwiseTakesVectorsThenLanesThenWarps) {
  EXPECT_EQ(ChooseLayout(Request(0, 10, 0, 3, {{kAxisX, 2}})).ToString(),
            "regs x0 x1 | lanes x2 x3 x4 x5 x6 | warps x7 x8 x9");
}

TEST(ChooseLayout, MoreElementsThanThreadsTimesVectorAreMoreSlots) {
  EXPECT_EQ(ChooseLayout(Request(0, 11, 0, 3, {{kAxisX, 2}})).ToString(),
            "regs x0 x1 x10 | lanes x2 x3 x4 x5 x6 | warps x7 x8 x9");
}

TEST(ChooseLayout, AVectorNeverLeavesThreadsIdle) {
  EXPECT_EQ(ChooseLayout(Request(0, 9, 0, 3, {{kAxisX, 2}})).ToString(),
            "regs x0 | lanes x1 x2 x3 x4 x5 | warps x6 x7 x8");
}

TEST(ChooseLayout, SmallTilesLeaveLanesAndWarpsIdle) {
  EXPECT_EQ(ChooseLayout(Request(0, 3, 0, 1, {{kAxisX, 2}})).ToString(),
            "regs | lanes x0 x1 x2 - - | warps -");
}

// A row per block: warps along r. With rows to spare the warps take those, so that no reduction
// needs shared memory.
TEST(ChooseLayout, WarpsPreferRowsToTheReduction) {
  EXPECT_EQ(ChooseLayout(Request(0, 0, 10, 2, {{kAxisR, 2}})).ToString(),
            "regs r0 r1 r9 | lanes r2 r3 r4 r5 r6 | warps r7 r8");
  EXPECT_EQ(ChooseLayout(Request(0, 2, 10, 2, {{kAxisR, 2}})).ToString(),
            "regs r0 r1 r7 r8 r9 | lanes r2 r3 r4 r5 r6 | warps x0 x1");
}

// Short rows: neighbouring rows continue them in the lanes.
TEST(ChooseLayout, LanesContinueOverRows) {
  EXPECT_EQ(ChooseLayout(Request(0, 6, 1, 0, {{kAxisR, 2}})).ToString(),
            "regs r0 x5 | lanes x0 x1 x2 x3 x4 | warps");
}

// Example 6.1: both sides get 16-byte vectors, 128 and 64 contiguous bytes a warp access.
TEST(ChooseLayout, TransposeSplitsLanes) {
  EXPECT_EQ(ChooseLayout(Request(6, 6, 0, 3, {{kAxisX, 2}, {kAxisY, 2}})).ToString(),
            "regs x0 x1 y0 y1 | lanes x2 x3 x4 y2 y3 | warps x5 y4 y5");
}

TEST(ChooseLayout, SimdFillsLanesFirst) {
  LayoutRequest request = Request(0, 6, 0, 0, {{kAxisX, 2}});
  request.lane_bits = 3;
  request.simd = true;
  EXPECT_EQ(ChooseLayout(request).ToString(), "regs x3 x4 x5 | lanes x0 x1 x2 | warps");
}

// The law of every layout: each tile element is somewhere, and, idle bits apart, in one place only.
TEST(ChooseLayout, CoversEveryElementOnce) {
  std::mt19937 random(7);
  for (int i = 0; i < 500; ++i) {
    LayoutRequest request = Request(random() % 4, random() % 5, random() % 5, random() % 4, {});
    request.lane_bits = 1 + random() % 5;
    request.simd = random() % 2 == 0;
    if (request.simd) request.warp_bits = 0;
    for (int axis = 0; axis < kNumAxes && request.sides.size() < random() % 3; ++axis)
      request.sides.push_back({axis, static_cast<int>(random() % 4)});
    const Layout layout = ChooseLayout(request);
    ASSERT_EQ(layout.lanes.size(), static_cast<size_t>(request.lane_bits));
    ASSERT_EQ(layout.warps.size(), static_cast<size_t>(request.warp_bits));
    std::set<std::pair<int, int>> seen;
    for (const auto* bits : {&layout.regs, &layout.lanes, &layout.warps}) {
      for (const AxisBit& bit : *bits) {
        if (bit.idle()) continue;
        EXPECT_LT(bit.bit, request.axis_bits[bit.axis]);
        EXPECT_TRUE(seen.insert({bit.axis, bit.bit}).second) << layout.ToString();
      }
    }
    EXPECT_EQ(seen.size(), static_cast<size_t>(request.axis_bits[0] + request.axis_bits[1] +
                                               request.axis_bits[2]))
        << layout.ToString();
  }
}

TEST(Layout, OffsetsAndBits) {
  const Layout layout = ChooseLayout(Request(0, 2, 10, 2, {{kAxisR, 2}}));
  EXPECT_EQ(layout.RegBits(AxisBitOf(kAxisR)), 0b11111u);
  EXPECT_EQ(layout.WarpBits(AxisBitOf(kAxisX)), 0b11u);
  EXPECT_EQ(layout.RegOffset(kAxisR, 0b00111), 1 + 2 + 128);
  EXPECT_EQ(layout.LaneOffset(kAxisR, 31), 4 + 8 + 16 + 32 + 64);
  EXPECT_EQ(layout.MaxThreadOffset(kAxisX), 3);
}

TEST(Bits, PackAndSpreadAreInverse) {
  EXPECT_EQ(PackBits(0b101100, 0b100100), 0b11u);
  EXPECT_EQ(SpreadBits(0b10, 0b100100), 0b100000u);
  for (uint32_t packed = 0; packed < 8; ++packed)
    EXPECT_EQ(PackBits(SpreadBits(packed, 0b1011000), 0b1011000), packed);
  EXPECT_EQ(CountBits(0b1011000), 3);
}

}  // namespace
}  // namespace stax
