#include "compiler/lowering/index_map.h"

#include <map>
#include <random>

#include "gtest/gtest.h"

namespace stax {
namespace {

IndexExpr Var(const char* name) { return IndexExpr::Var(name); }

std::string Text(const Index& index) {
  std::string text;
  for (const IndexExpr& e : index) text += e.ToString() + "; ";
  return text;
}

TEST(IndexMapTest, FlatIndexIsRowMajor) {
  EXPECT_EQ(FlatIndex({Var("i0"), Var("i1"), 3}, {2, 5, 7}), 35 * Var("i0") + 7 * Var("i1") + 3);
  EXPECT_EQ(FlatIndex({}, {}), 0);
}

TEST(IndexMapTest, DivideExactly) {
  const IndexExpr n = Var("n"), m = Var("m");
  EXPECT_EQ(DivideExactly(12, 4), IndexExpr(3));
  EXPECT_EQ(DivideExactly(12, 5), std::nullopt);
  EXPECT_EQ(DivideExactly(12, 0), std::nullopt);
  EXPECT_EQ(DivideExactly(12, -4), std::nullopt);
  EXPECT_EQ(DivideExactly(6 * n * m, 2 * m), 3 * n);
  EXPECT_EQ(DivideExactly(n, m), std::nullopt);
}

TEST(IndexMapTest, GroupsOfOneDimNeedNoDivision) {
  RangeContext ranges;
  const IndexExpr b = Var("b"), s = Var("s");
  ranges.AddSize("b", 2, 100);
  ranges.AddSize("s", 2, 100);
  ranges.AddLoop("i0", b * s);
  ranges.AddLoop("i1", 8);
  ranges.AddLoop("i2", b);
  ranges.AddLoop("i3", s);
  EXPECT_EQ(
      Text(ReshapeIndex({b * s, 8}, {b, s, 1, 8}, {Var("i2"), Var("i3"), 0, Var("i1")}, ranges)),
      "s*i2 + i3; i1; ");
  EXPECT_EQ(Text(ReshapeIndex({b, s, 8}, {b * s, 8}, {Var("i0"), Var("i1")}, ranges)),
            "floordiv(i0, s); mod(i0, s); i1; ");
}

TEST(IndexMapTest, NoElements) {
  EXPECT_EQ(Text(ReshapeIndex({3, 0}, {0, 5}, {Var("i0"), Var("i1")}, RangeContext())), "0; 0; ");
}

// Factors of 48 in a random order with ones in between.
std::vector<IndexExpr> RandomShape(std::mt19937& random) {
  std::vector<IndexExpr> dims;
  int64_t rest = 48;
  while (rest > 1) {
    std::vector<int64_t> divisors;
    for (int64_t d = 1; d <= rest; ++d)
      if (rest % d == 0) divisors.push_back(d);
    const int64_t d = divisors[random() % divisors.size()];
    dims.emplace_back(d);
    rest /= d;
  }
  return dims;
}

TEST(IndexMapTest, ReshapeKeepsTheRowMajorPosition) {
  std::mt19937 random(1);
  for (int k = 0; k < 300; ++k) {
    const std::vector<IndexExpr> from = RandomShape(random), to = RandomShape(random);
    RangeContext ranges;
    Index index;
    for (size_t d = 0; d < to.size(); ++d) {
      const std::string name = "i" + std::to_string(d);
      ranges.AddLoop(name, to[d]);
      index.push_back(IndexExpr::Var(name));
    }
    const Index result = ReshapeIndex(from, to, index, ranges);
    ASSERT_EQ(result.size(), from.size());
    for (int64_t flat = 0; flat < 48; ++flat) {
      std::map<std::string, int64_t> values;
      int64_t rest = flat;
      for (size_t d = to.size(); d-- > 0;) {
        values["i" + std::to_string(d)] = rest % to[d].ConstOrDie();
        rest /= to[d].ConstOrDie();
      }
      int64_t position = 0;
      for (size_t d = 0; d < from.size(); ++d) {
        const int64_t at = result[d].Evaluate(values).value();
        EXPECT_GE(at, 0);
        EXPECT_LT(at, from[d].ConstOrDie());
        position = position * from[d].ConstOrDie() + at;
      }
      ASSERT_EQ(position, flat) << Text(from) << " as " << Text(to) << ": " << Text(result);
    }
  }
}

}  // namespace
}  // namespace stax
