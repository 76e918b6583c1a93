#include "compiler/lowering/access_pattern.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stax {
namespace {

using ::testing::ElementsAre;

LoopNest Nest(const char* text) {
  absl::StatusOr<LoopNest> nest = ParseLoopNest(text);
  EXPECT_TRUE(nest.ok()) << nest.status();
  return *nest;
}

TEST(AccessPatternTest, StridesAndElements) {
  const LoopNest nest = Nest(R"(nest n {
  size n in [2, 100] hint 10
  buffer x: f32[40*n] in
  buffer row: f16[4] in
  buffer index: i32[n] in
  buffer y: f32[n] out
  loop i0: n
  reduce r0: 4
  %0 = load x[40*i0 + r0] : f32
  %1 = load row[r0] : f16
  %2 = load index[i0] : i32
  %3 = indirect %2 : 4
  %4 = load row[t3] : f16
  %5 = cast %4 : f32
  %6 = mul %0, %5 : f32
  %7 = reduce.sum %6 : f32
  store y[i0], %7
})");
  const std::vector<Access> a = Accesses(nest);
  ASSERT_EQ(a.size(), 5);
  EXPECT_THAT(a[0].strides, ElementsAre(40, 1));
  EXPECT_EQ(a[0].elements, 40);
  EXPECT_THAT(a[1].strides, ElementsAre(0, 1));
  EXPECT_EQ(a[1].elements, 4);
  EXPECT_EQ(a[1].element_bytes, 2);
  EXPECT_THAT(a[3].strides, ElementsAre(Access::kOther, 0));  // through the index
  EXPECT_EQ(a[3].elements, 4);                                // no more than the buffer has
  EXPECT_TRUE(a[4].store);
  const auto dims = DependentDims(nest);
  EXPECT_THAT(dims[4], ElementsAre(0));
  EXPECT_THAT(dims[6], ElementsAre(0, 1));
  EXPECT_THAT(dims[7], ElementsAre(0));
  EXPECT_TRUE(ReducesContiguous(nest));
}

TEST(AccessPatternTest, Hints) {
  const IndexExpr n = IndexExpr::Var("n");
  const std::vector<SizeSymbol> symbols = {{"n", 2, 100, 10}};
  EXPECT_EQ(AtHint(n * n + 1, symbols), 101);
  EXPECT_EQ(AtHint(7, {}), 7);
  EXPECT_EQ(AtHint(n - 20, symbols), 0);
}

TEST(AccessPatternTest, ProvableIndices) {
  const char* text = R"(nest n {
  buffer x: f32[8] in
  buffer y: f32[4] out
  loop i0: 4
  %0 = load x[2*i0 + 2] : f32
  store y[i0], %0
})";
  EXPECT_FALSE(IndicesAreProvable(Nest(text)));
  std::string inside = text;
  inside.replace(inside.find("+ 2]"), 4, "+ 1]");
  EXPECT_TRUE(IndicesAreProvable(Nest(inside.c_str())));
}

}  // namespace
}  // namespace stax
