#include "ir/loop_nest.h"

#include "gtest/gtest.h"

namespace stax {
namespace {

LoopNest Parse(std::string_view text) {
  absl::StatusOr<LoopNest> nest = ParseLoopNest(text);
  EXPECT_TRUE(nest.ok()) << nest.status();
  return nest.ok() ? *nest : LoopNest();
}

LoopNest MixedDims() {
  return Parse(R"(nest mixed {
    size n in [2, 100] hint 10
    buffer x: f32[24*n] in
    buffer at: i64[3] in
    buffer y: f32[4*n] out
    loop i0: n
    reduce r0: 3
    loop i1: 4
    reduce r1: 2
    %0 = load at[r0] : i64
    %1 = indirect %0 : n
    %2 = load x[8*t1 + i1] : f32
    %3 = load x[i1] : f32
    %4 = add %2, %3 : f32
    %5 = reduce.sum %4 : f32
    %6 = mul %5, %3 : f32
    store y[4*i0 + i1], %6
  })");
}

TEST(LoopNestTest, Dims) {
  const LoopNest nest = MixedDims();
  EXPECT_TRUE(nest.HasReduction());
  EXPECT_EQ(nest.LoopDims(), (std::vector<int>{0, 2}));
  EXPECT_EQ(nest.ReduceDims(), (std::vector<int>{1, 3}));
  EXPECT_EQ(nest.LoopNumel(), 4 * IndexExpr::Var("n"));
  EXPECT_EQ(nest.ReduceNumel(), IndexExpr(6));

  LoopNest scalar;
  EXPECT_FALSE(scalar.HasReduction());
  EXPECT_EQ(scalar.LoopNumel(), IndexExpr(1));
  EXPECT_EQ(scalar.ReduceNumel(), IndexExpr(1));
}

TEST(LoopNestTest, RangesCoverSymbolsDimsAndIndirectVariables) {
  const RangeContext ranges = MixedDims().Ranges();
  EXPECT_EQ(ranges.Bounds(IndexExpr::Var("n")).lo, 2);
  EXPECT_EQ(ranges.Bounds(IndexExpr::Var("n")).hi, 100);
  EXPECT_EQ(ranges.Bounds(IndexExpr::Var("r0")).hi, 2);
  EXPECT_TRUE(ranges.ProveLt(IndexExpr::Var("i0"), IndexExpr::Var("n")));
  EXPECT_TRUE(ranges.ProveLt(IndexExpr::Var("t1"), IndexExpr::Var("n")));
  EXPECT_TRUE(ranges.ProveLe(0, IndexExpr::Var("t1")));
}

// Inner: through the index, through an indirect variable, through operands. Outer: an index without
// reduction variables, a reduction, what uses only those.
TEST(LoopNestTest, InnerValues) {
  EXPECT_EQ(InnerValues(MixedDims()),
            (std::vector<bool>{true, true, true, false, true, false, false, false}));
}

TEST(LoopNestTest, AStoreOfAnOuterValueAtInnerIndicesIsInner) {
  const LoopNest nest = Parse(R"(nest broadcast {
    buffer x: f32[6] in
    buffer y: f32[6] out
    buffer z: f32[2] out
    loop i0: 2
    reduce r0: 3
    %0 = load x[3*i0 + r0] : f32
    %1 = reduce.max %0 : f32
    store y[3*i0 + r0], %1
    store z[i0], %1
    %4 = index 2*r0 : i32
    %5 = index 2*i0 : i32
  })");
  EXPECT_EQ(InnerValues(nest), (std::vector<bool>{true, false, true, false, true, false}));
}

TEST(LoopNestTest, OpEqualityLooksAtTheFieldsOfTheOp) {
  LoopOp a, b;
  a.code = b.code = OpCode::kAdd;
  a.operands = b.operands = {1, 2};
  b.buffer = 3;  // not a field of add
  EXPECT_TRUE(a == b);
  b.operands = {2, 1};
  EXPECT_FALSE(a == b);

  LoopOp load, other;
  load.code = other.code = OpCode::kLoad;
  load.buffer = other.buffer = 0;
  EXPECT_TRUE(load == other);
  other.index = 1;
  EXPECT_FALSE(load == other);
  other = load;
  other.buffer = 1;
  EXPECT_FALSE(load == other);
  other = load;
  other.dtype = DType::kF16;
  EXPECT_FALSE(load == other);

  LoopOp zero, minus_zero;
  minus_zero.literal.f = -0.0;
  EXPECT_FALSE(zero == minus_zero);

  LoopOp sum, max;
  sum.code = max.code = OpCode::kReduce;
  max.reduce = ReduceKind::kMax;
  EXPECT_FALSE(sum == max);
}

}  // namespace
}  // namespace stax
