#include "compiler/schedule/merge_dims.h"

#include <map>

#include "gtest/gtest.h"
#include "ir/interpreter.h"
#include "ir/testing/random_nest.h"

namespace stax {
namespace {

LoopNest Nest(const std::string& text) {
  absl::StatusOr<LoopNest> nest = ParseLoopNest(text);
  EXPECT_TRUE(nest.ok()) << nest.status();
  return *nest;
}

TEST(MergeDimsTest, Example62) {
  EXPECT_EQ(ToText(MergeDims(Nest(R"(nest sum {
  buffer x: f32[1048576] in
  buffer y: f32[128] out
  loop i0: 64
  loop i1: 2
  reduce r0: 8192
  %0 = load x[16384*i0 + 8192*i1 + r0] : f32
  %1 = reduce.sum %0 : f32
  store y[2*i0 + i1], %1
})"))),
            R"(nest sum {
  buffer x: f32[1048576] in
  buffer y: f32[128] out
  loop i0: 128
  reduce r0: 8192
  %0 = load x[8192*i0 + r0] : f32
  %1 = reduce.sum %0 : f32
  store y[i0], %1
}
)");
}

TEST(MergeDimsTest, BroadcastKeepsDimsApart) {
  const LoopNest nest = Nest(R"(nest add {
  buffer x: f32[60] in
  buffer bias: f32[4] in
  buffer y: f32[60] out
  loop i0: 3
  loop i1: 5
  loop i2: 4
  %0 = load x[20*i0 + 4*i1 + i2] : f32
  %1 = load bias[i2] : f32
  %2 = add %0, %1 : f32
  store y[20*i0 + 4*i1 + i2], %2
})");
  const LoopNest merged = MergeDims(nest);
  ASSERT_EQ(merged.dims.size(), 2);
  EXPECT_EQ(merged.dims[0].extent, 15);
  EXPECT_EQ(merged.dims[1].extent, 4);
}

TEST(MergeDimsTest, SymbolicDims) {
  const LoopNest merged = MergeDims(Nest(R"(nest exp {
  size n in [2, 100] hint 8
  size m in [2, 100] hint 8
  buffer x: f32[3*m*n] in
  buffer y: f32[3*m*n] out
  loop i0: 3
  loop i1: n
  loop i2: m
  %0 = load x[m*n*i0 + m*i1 + i2] : f32
  %1 = exp %0 : f32
  store y[m*n*i0 + m*i1 + i2], %1
})"));
  ASSERT_EQ(merged.dims.size(), 1);
  EXPECT_EQ(merged.dims[0].extent, 3 * IndexExpr::Var("m") * IndexExpr::Var("n"));
  EXPECT_EQ(merged.body[0].index, IndexExpr::Var("i0"));
}

TEST(MergeDimsTest, DimsOfOneGo) {
  const LoopNest merged = MergeDims(Nest(R"(nest sum {
  buffer x: f32[5] in
  buffer y: f32[1] out
  loop i0: 1
  reduce r0: 1
  reduce r1: 5
  %0 = load x[5*i0 + 5*r0 + r1] : f32
  %1 = reduce.sum %0 : f32
  store y[i0], %1
})"));
  ASSERT_EQ(merged.dims.size(), 1);
  EXPECT_EQ(merged.dims[0].name, "r0");
}

TEST(MergeDimsTest, VariablesInsideDivisions) {
  const IndexExpr i = IndexExpr::Var("i0"), j = IndexExpr::Var("i1"), m = IndexExpr::Var("m");
  const auto merge = [](const IndexExpr& e) { return MergeVariables(e, "i0", "i1", 6, "m"); };
  EXPECT_EQ(merge(FloorDiv(6 * i + j, 7) + 12 * i + 2 * j), FloorDiv(m, 7) + 2 * m);
  EXPECT_EQ(merge(Mod(j, 4)), std::nullopt);
  EXPECT_EQ(merge(6 * i), std::nullopt);
  EXPECT_EQ(merge(i * j), std::nullopt);
  EXPECT_EQ(merge(IndexExpr(3)), IndexExpr(3));
}

TEST(MergeDimsTest, ComputesTheSame) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    const LoopNest nest = RandomNest(seed, {}), merged = MergeDims(nest);
    SCOPED_TRACE(testing::Message() << "seed " << seed << "\n" << ToText(nest) << ToText(merged));
    EXPECT_TRUE(Verify(merged).ok()) << Verify(merged);
    EXPECT_LE(merged.dims.size(), nest.dims.size());
    std::map<std::string, int64_t> sizes = RandomSizes(nest, seed), fewer;
    for (const SizeSymbol& s : merged.symbols) fewer[s.name] = sizes[s.name];
    std::map<std::string, Bytes> want = RandomInputs(nest, sizes, seed), got = want;
    ASSERT_TRUE(Interpret(nest, sizes, want).ok());
    ASSERT_TRUE(Interpret(merged, fewer, got).ok());
    for (const NestBuffer& b : nest.buffers) EXPECT_EQ(got[b.name], want[b.name]) << b.name;
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace stax
