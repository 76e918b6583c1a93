#include "ir/interpreter_plan.h"

#include "gtest/gtest.h"

namespace stax {
namespace {

using Ids = std::vector<ValueId>;

std::vector<InterpreterStage> Plan(std::string_view text) {
  const absl::StatusOr<LoopNest> nest = ParseLoopNest(text);
  EXPECT_TRUE(nest.ok()) << nest.status();
  EXPECT_TRUE(Verify(*nest).ok()) << Verify(*nest);
  return PlanStages(*nest);
}

TEST(InterpreterPlanTest, WithoutReductionsThereIsOneStage) {
  const auto stages = Plan(R"(nest n {
    buffer x: f32[4] in
    buffer y: f32[4] out
    loop i0: 4
    %0 = load x[i0] : f32
    %1 = neg %0 : f32
    store y[i0], %1
  })");
  ASSERT_EQ(stages.size(), 1u);
  EXPECT_EQ(stages[0].outer, (Ids{0, 1, 2}));
  EXPECT_TRUE(stages[0].inner.empty());
  EXPECT_TRUE(stages[0].reduces.empty());
}

// Two independent reductions share a pass; the store comes after both of its reductions.
TEST(InterpreterPlanTest, SoftmaxWithItsMean) {
  const auto stages = Plan(R"(nest n {
    buffer x: f32[32] in
    buffer y: f32[32] out
    buffer z: f32[4] out
    loop i0: 4
    reduce r0: 8
    %0 = load x[8*i0 + r0] : f32
    %1 = reduce.max %0 : f32
    %2 = sub %0, %1 : f32
    %3 = exp %2 : f32
    %4 = reduce.sum %3 : f32
    %5 = reduce.sum %0 : f32
    %6 = div %3, %4 : f32
    store y[8*i0 + r0], %6
    %8 = neg %5 : f32
    store z[i0], %8
    %10 = neg %0 : f32
  })");
  ASSERT_EQ(stages.size(), 3u);
  EXPECT_EQ(stages[0].outer, Ids{});
  EXPECT_EQ(stages[0].inner, Ids{0});  // not 10, which nothing uses
  EXPECT_EQ(stages[0].reduces, (Ids{1, 5}));
  EXPECT_EQ(stages[1].outer, (Ids{8, 9}));
  EXPECT_EQ(stages[1].inner, (Ids{0, 2, 3}));
  EXPECT_EQ(stages[1].reduces, Ids{4});
  EXPECT_EQ(stages[2].outer, Ids{});
  EXPECT_EQ(stages[2].inner, (Ids{0, 2, 3, 6, 7}));
  EXPECT_EQ(stages[2].reduces, Ids{});
}

// Op 3 needs op 2 through the variable in its index only.
TEST(InterpreterPlanTest, FollowsIndirectVariables) {
  const auto stages = Plan(R"(nest n {
    buffer x: i64[8] in
    buffer y: i64[1] out
    reduce r0: 8
    %0 = load x[r0] : i64
    %1 = reduce.max %0 : i64
    %2 = indirect %1 : 8
    %3 = load x[t2] : i64
    store y[0], %3
  })");
  ASSERT_EQ(stages.size(), 2u);
  EXPECT_EQ(stages[0].inner, Ids{0});
  EXPECT_EQ(stages[0].reduces, Ids{1});
  EXPECT_EQ(stages[1].outer, (Ids{2, 3, 4}));
}

}  // namespace
}  // namespace stax
