#include "compiler/lowering/pass_plan.h"

#include "compiler/codegen/testing/nest_kernel.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stax {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(PassPlan, SoftmaxHasThreePasses) {
  const LoopNest nest = NestOrDie(R"(nest softmax {
  buffer x: f32[256000] in
  buffer y: f32[256000] out
  loop i0: 256
  reduce r0: 1000
  %0 = load x[1000*i0 + r0] : f32
  %1 = reduce.max %0 : f32
  %2 = sub %0, %1 : f32
  %3 = exp %2 : f32
  %4 = reduce.sum %3 : f32
  %5 = div %3, %4 : f32
  store y[1000*i0 + r0], %5
})");
  const PassPlan plan = MakePassPlan(nest, false);
  ASSERT_EQ(plan.passes.size(), 3u);
  EXPECT_THAT(plan.passes[0].inner, ElementsAre(0));
  EXPECT_THAT(plan.passes[0].reduces, ElementsAre(1));
  EXPECT_THAT(plan.passes[1].inner, ElementsAre(0, 2, 3));
  EXPECT_THAT(plan.passes[1].reduces, ElementsAre(4));
  EXPECT_THAT(plan.passes[2].inner, ElementsAre(0, 2, 3, 5, 6));
  EXPECT_THAT(plan.passes[2].reduces, IsEmpty());
  EXPECT_THAT(plan.after, IsEmpty());

  const PassPlan online = MakePassPlan(nest, true);
  ASSERT_EQ(online.passes.size(), 2u);
  EXPECT_THAT(online.passes[0].inner, ElementsAre(0));
  EXPECT_THAT(online.passes[0].reduces, ElementsAre(1));
  ASSERT_EQ(online.passes[0].online.size(), 1u);
  EXPECT_EQ(online.passes[0].online[0].sum, 4);
  EXPECT_FALSE(online.passes[0].online[0].guarded);
  EXPECT_THAT(online.passes[1].inner, ElementsAre(0, 2, 3, 5, 6));
}

// The shift that is 0 for an infinite maximum, and a sum of something else.
TEST(PassPlan, OnlineSumOfLogSumExp) {
  const LoopNest nest = NestOrDie(R"(nest lse {
  buffer x: f32[256000] in
  buffer y: f32[256] out
  buffer z: f32[256] out
  loop i0: 256
  reduce r0: 1000
  %0 = load x[1000*i0 + r0] : f32
  %1 = reduce.max %0 : f32
  %2 = abs %1 : f32
  %3 = const inf : f32
  %4 = eq %2, %3 : bool
  %5 = const 0.0 : f32
  %6 = select %4, %5, %1 : f32
  %7 = sub %0, %6 : f32
  %8 = exp %7 : f32
  %9 = reduce.sum %8 : f32
  %10 = mul %8, %8 : f32
  %11 = reduce.sum %10 : f32
  store y[i0], %9
  store z[i0], %11
})");
  const PassPlan plan = MakePassPlan(nest, true);
  ASSERT_EQ(plan.passes.size(), 2u);
  ASSERT_EQ(plan.passes[0].online.size(), 1u);
  EXPECT_TRUE(plan.passes[0].online[0].guarded);
  EXPECT_THAT(plan.passes[1].reduces, ElementsAre(11));
}

// Loads come first, dead ops not at all, outer ops where their operands are there.
TEST(PassPlan, OrderAndLevels) {
  const LoopNest nest = NestOrDie(R"(nest order {
  buffer a: f32[10] in
  buffer x: f32[1000] in
  buffer w: f32[1000] in
  buffer s: f32[10] out
  buffer t: f32[10] out
  loop i0: 10
  reduce r0: 100
  %0 = load a[i0] : f32
  %1 = neg %0 : f32
  %2 = load x[100*i0 + r0] : f32
  %3 = neg %2 : f32
  %4 = load w[100*i0 + r0] : f32
  %5 = mul %3, %4 : f32
  %6 = reduce.sum %5 : f32
  %7 = reduce.max %4 : f32
  %8 = add %6, %1 : f32
  store s[i0], %8
  store t[i0], %7
  %11 = mul %5, %5 : f32
})");
  const PassPlan plan = MakePassPlan(nest, false);
  ASSERT_EQ(plan.passes.size(), 1u);
  EXPECT_THAT(plan.passes[0].before, ElementsAre(0, 1));
  EXPECT_THAT(plan.passes[0].inner, ElementsAre(2, 4, 3, 5));
  EXPECT_THAT(plan.passes[0].reduces, ElementsAre(6, 7));
  EXPECT_THAT(plan.after, ElementsAre(8, 9, 10));
}

TEST(PassPlan, PointwiseIsOuter) {
  const LoopNest nest = NestOrDie(R"(nest copy {
  buffer x: f32[10] in
  buffer y: f32[10] out
  loop i0: 10
  %0 = load x[i0] : f32
  store y[i0], %0
})");
  const PassPlan plan = MakePassPlan(nest, false);
  EXPECT_THAT(plan.passes, IsEmpty());
  EXPECT_THAT(plan.after, ElementsAre(0, 1));
}

// An inner store takes part in the earliest pass where its value is there.
TEST(PassPlan, InnerStoresComeEarly) {
  const LoopNest nest = NestOrDie(R"(nest early {
  buffer x: f32[1000] in
  buffer y: f32[1000] out
  buffer s: f32[10] out
  loop i0: 10
  reduce r0: 100
  %0 = load x[100*i0 + r0] : f32
  %1 = neg %0 : f32
  %2 = reduce.sum %1 : f32
  store y[100*i0 + r0], %1
  store s[i0], %2
})");
  const PassPlan plan = MakePassPlan(nest, false);
  ASSERT_EQ(plan.passes.size(), 1u);
  EXPECT_THAT(plan.passes[0].inner, ElementsAre(0, 1, 3));
  EXPECT_THAT(plan.after, ElementsAre(4));
}

}  // namespace
}  // namespace stax
