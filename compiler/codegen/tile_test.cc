#include "compiler/codegen/tile.h"

#include <string>

#include "compiler/codegen/testing/nest_kernel.h"
#include "gtest/gtest.h"

namespace stax {
namespace {

TargetSpec Cuda() {
  TargetSpec target;
  target.kind = TargetSpec::Kind::kCuda;
  target.arch = "sm_90a";
  return target;
}

Tile TileOf(const KernelSpec& kernel, const Config& config) {
  absl::StatusOr<Tile> tile = MakeTile(kernel, CompleteConfig(kernel, config), Cuda());
  EXPECT_TRUE(tile.ok()) << tile.status();
  return *tile;
}

// x over i0 (6) and i1 (128).
KernelSpec TwoDims(const std::string& index) {
  return MakeKernel(
      "nest two {\n  buffer a: f32[100000] in\n  buffer o: f32[768] out\n"
      "  loop i0: 6\n  loop i1: 128\n  %0 = load a[" +
          index + "] : f32\n  store o[128*i0 + i1], %0\n}",
      KernelForm::kPointwise);
}

AccessPattern PatternOf(const KernelSpec& kernel, const Config& config) {
  return AnalyzeAccess(TileOf(kernel, config), kernel.nest.body[0].index);
}

TEST(AnalyzeAccess, MergesDimsThatAreWalkedAsOne) {
  const AccessPattern p = PatternOf(TwoDims("128*i0 + i1 + 5"), {{"XBLOCK", 64}});
  EXPECT_EQ(p.walks[kAxisX].suffix, 2);
  EXPECT_EQ(p.index.ToString(), "x.flat + 5");
  EXPECT_EQ(p.BitStride({kAxisX, 9}), 512);
}

TEST(AnalyzeAccess, StopsAtTheDimThatBreaksTheWalk) {
  const AccessPattern p = PatternOf(TwoDims("1000*i0 + 2*i1"), {{"XBLOCK", 64}});
  EXPECT_EQ(p.walks[kAxisX].suffix, 1);
  EXPECT_EQ(p.index.ToString(), "2*x.flat + 1000*i0");
  // i1 has 128 points: bits 0 to 6 never carry into i0.
  EXPECT_EQ(p.BitStride({kAxisX, 6}), 128);
  EXPECT_EQ(p.BitStride({kAxisX, 7}), std::nullopt);
}

TEST(AnalyzeAccess, BroadcastAlongTheInnerDim) {
  const AccessPattern p = PatternOf(TwoDims("3*i0"), {{"XBLOCK", 64}});
  EXPECT_EQ(p.BitStride({kAxisX, 6}), 0);
  EXPECT_EQ(p.BitStride({kAxisX, 7}), std::nullopt);
}

TEST(AnalyzeAccess, LinearWithinADivision) {
  const AccessPattern p = PatternOf(TwoDims("16*i0 + floordiv(i1, 8)"), {{"XBLOCK", 64}});
  EXPECT_EQ(p.BitStride({kAxisX, 2}), 0);  // 8 neighbours read the same
  EXPECT_EQ(p.BitStride({kAxisX, 3}), std::nullopt);
}

TEST(ProveAligned, NeedsEveryTermToBeAMultiple) {
  const KernelSpec even = TwoDims("132*i0 + i1");
  const KernelSpec odd = TwoDims("130*i0 + i1");
  const Config config = {{"XBLOCK", 64}};
  const std::array<int, kNumAxes> low_bits = {0, 2, 0};
  EXPECT_TRUE(ProveAligned(TileOf(even, config), PatternOf(even, config), low_bits, 4));
  EXPECT_FALSE(ProveAligned(TileOf(odd, config), PatternOf(odd, config), low_bits, 4));
  EXPECT_TRUE(ProveAligned(TileOf(odd, config), PatternOf(odd, config), {0, 1, 0}, 2));
}

std::string LayoutText(const KernelSpec& kernel, const Config& config) {
  return ChooseTileLayout(TileOf(kernel, config), kernel.nest).ToString();
}

KernelSpec RowSum(const char* type, int length, KernelForm form) {
  const std::string t = type, n = std::to_string(length);
  return MakeKernel("nest sum {\n  buffer x: " + t + "[64*" + n + "] in\n  buffer o: " + t +
                        "[64] out\n  loop i0: 64\n  reduce r0: " + n + "\n  %0 = load x[" + n +
                        "*i0 + r0] : " + t + "\n  %1 = reduce.sum %0 : " + t +
                        "\n  store o[i0], %1\n}",
                    form);
}

TEST(ChooseTileLayout, VectorsAreSixteenBytes) {
  const Config config = {{"RBLOCK", 1024}, {"WARPS", 1}};
  EXPECT_EQ(LayoutText(RowSum("f32", 1024, KernelForm::kLooped), config).substr(0, 12),
            "regs r0 r1 r");
  EXPECT_EQ(LayoutText(RowSum("bf16", 1024, KernelForm::kLooped), config).substr(0, 15),
            "regs r0 r1 r2 r");
  EXPECT_EQ(LayoutText(RowSum("f64", 1024, KernelForm::kLooped), config).substr(0, 17),
            "regs r0 r6 r7 r8 ");
}

// Rows of odd length start unaligned. A tile of one row begins where memory is aligned; with
// several rows neighbouring lanes take neighbouring elements instead.
TEST(ChooseTileLayout, UnalignedRows) {
  const KernelSpec kernel = RowSum("f32", 1001, KernelForm::kLooped);
  EXPECT_EQ(LayoutText(kernel, {{"RBLOCK", 128}}), "regs r0 r1 | lanes r2 r3 r4 r5 r6 | warps");
  EXPECT_EQ(LayoutText(kernel, {{"RBLOCK", 64}, {"XBLOCK", 2}}),
            "regs r5 x0 | lanes r0 r1 r2 r3 r4 | warps");
}

TEST(RowShift, AlignsTheRow) {
  const KernelSpec kernel = RowSum("f32", 1001, KernelForm::kLooped);
  const Tile tile = TileOf(kernel, {{"RBLOCK", 128}});
  ASSERT_TRUE(tile.row_shift.has_value());
  EXPECT_EQ(tile.row_shift->base.ToString(), "1001*i0");
  EXPECT_EQ(tile.row_shift->vector(), 4);
  EXPECT_TRUE(tile.axes[kAxisR].needs_mask);
  const AccessPattern row = AnalyzeAccess(tile, kernel.nest.body[0].index);
  EXPECT_TRUE(ProveAligned(tile, row, {0, 0, 2}, 4));
  EXPECT_FALSE(ProveAligned(tile, row, {0, 0, 3}, 8));  // aligned to the vector only
  // A vector of weights, the same for all rows, does not move with them.
  const AccessPattern weights = AnalyzeAccess(tile, IndexExpr::Var("r0"));
  EXPECT_FALSE(ProveAligned(tile, weights, {0, 0, 2}, 4));
}

TEST(RowShift, OnlyWhereItHelps) {
  EXPECT_FALSE(TileOf(RowSum("f32", 1000, KernelForm::kLooped), {{"RBLOCK", 128}}).row_shift);
  EXPECT_FALSE(
      TileOf(RowSum("f32", 1001, KernelForm::kLooped), {{"RBLOCK", 128}, {"XBLOCK", 2}}).row_shift);
  // A persistent tile must have room for the elements before the row.
  EXPECT_TRUE(TileOf(RowSum("f32", 1021, KernelForm::kPersistent), {}).row_shift);
  EXPECT_FALSE(TileOf(RowSum("f32", 1023, KernelForm::kPersistent), {}).row_shift);
}

TEST(ChooseTileLayout, ColumnsOfAnOuterReduction) {
  const KernelSpec kernel = MakeKernel(R"(nest columns {
  buffer x: f32[65536] in
  buffer o: f32[256] out
  reduce r0: 256
  loop i0: 256
  %0 = load x[256*r0 + i0] : f32
  %1 = reduce.sum %0 : f32
  store o[i0], %1
})",
                                       KernelForm::kLooped);
  EXPECT_EQ(LayoutText(kernel, {{"XBLOCK", 128}, {"RBLOCK", 32}, {"WARPS", 8}}),
            "regs x0 x1 r3 r4 | lanes x2 x3 x4 x5 x6 | warps r0 r1 r2");
}

TEST(MakeTile, MasksOnlyWhereNeeded) {
  const Tile tile = TileOf(TwoDims("i1"), {{"XBLOCK", 256}});
  EXPECT_FALSE(tile.axes[kAxisX].needs_mask);  // 768 = 3 * 256
  EXPECT_TRUE(TileOf(TwoDims("i1"), {{"XBLOCK", 512}}).axes[kAxisX].needs_mask);
  EXPECT_EQ(TileOf(TwoDims("i1"), {{"XBLOCK", 512}}).axes[kAxisX].divisible_bits, 8);
}

TEST(MakeTile, WideIndexIsDecidedAtTheUpperBounds) {
  auto wide = [](const char* upper) {
    return TileOf(MakeKernel(std::string("nest w {\n  size n in [2, ") + upper +
                                 "] hint 64\n  buffer x: f32[1024*n] in\n  buffer o: f32[1024*n] "
                                 "out\n  loop i0: n\n  loop i1: 1024\n  %0 = load x[1024*i0 + i1] "
                                 ": f32\n  store o[1024*i0 + i1], %0\n}",
                             KernelForm::kPointwise),
                  {{"XBLOCK", 256}})
        .wide_index;
  };
  EXPECT_FALSE(wide("2097151"));  // 1024 * 2097151 + 256 < 2^31
  EXPECT_TRUE(wide("2097152"));
}

TEST(MakeTile, BlocksOfAClusterShareATile) {
  const KernelSpec kernel = RowSum("f32", 4096, KernelForm::kPersistent);
  const Config config = {{"WARPS", 2}, {"CLUSTER", 4}};
  EXPECT_EQ(LayoutText(kernel, config),
            "regs r0 r1 r10 r11 | lanes r2 r3 r4 r5 r6 | warps r7 r8 r9");
  EXPECT_EQ(*TileOf(kernel, config).GridSize().AsConst(), 64 * 4);
}

TEST(MakeTile, MinBlocks) {
  const KernelSpec kernel = RowSum("f32", 4096, KernelForm::kPersistent);
  EXPECT_EQ(TileOf(kernel, {{"WARPS", 4}}).min_blocks, 0);
  EXPECT_EQ(TileOf(kernel, {{"WARPS", 4}, {"MIN_BLOCKS", 3}}).min_blocks, 3);
  for (const int64_t bad : {-1, 33}) {
    const Config config = CompleteConfig(kernel, {{"WARPS", 4}, {"MIN_BLOCKS", bad}});
    EXPECT_EQ(MakeTile(kernel, config, Cuda()).status().message(),
              "MIN_BLOCKS=" + std::to_string(bad) +
                  ": expected a number from 0 (the emitter's choice) to 32");
  }
}

TEST(MakeTile, GridFormula) {
  const KernelSpec kernel = MakeKernel(R"(nest g {
  size m in [1, 100] hint 10
  buffer x: f32[37*m] in
  buffer o: f32[37*m] out
  loop i0: m
  loop i1: 37
  %0 = load x[37*i0 + i1] : f32
  store o[37*i0 + i1], %0
})",
                                       KernelForm::kPointwise, 1);
  const Tile tile = TileOf(kernel, {{"YBLOCK", 8}, {"XBLOCK", 16}});
  EXPECT_EQ(*tile.GridSize().Evaluate({{"m", 17}}), 3 * 3);
  EXPECT_EQ(*tile.GridSize().Evaluate({{"m", 16}}), 2 * 3);
}

}  // namespace
}  // namespace stax
