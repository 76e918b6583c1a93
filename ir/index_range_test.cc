// Bounds and proofs from the ranges of variables.
#include <cstdint>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "ir/index_expr.h"

namespace stax {
namespace {

constexpr int64_t kMaxSize = (int64_t{1} << 31) - 1;

IndexExpr Parsed(const std::string& text) { return IndexExpr::Parse(text).value(); }

// Sizes m, n of at least 1, k of at least 2, z of at least 0. Loops a < m, b < n, c < k - 1,
// e < z, x < 1000, and a loop over n in tiles of 32: o < ceil(n / 32), t < the rest.
RangeContext Ranges() {
  RangeContext ranges;
  ranges.AddSize("m", 1, kMaxSize);
  ranges.AddSize("n", 1, kMaxSize);
  ranges.AddSize("k", 2, 64);
  ranges.AddSize("z", 0, kMaxSize);
  const std::pair<const char*, const char*> kLoops[] = {{"a", "m"},
                                                        {"b", "n"},
                                                        {"c", "k - 1"},
                                                        {"e", "z"},
                                                        {"x", "1000"},
                                                        {"o", "floordiv(n + 31, 32)"},
                                                        {"t", "min(32, n - 32*o)"}};
  for (const auto& [name, extent] : kLoops) ranges.AddLoop(name, Parsed(extent));
  return ranges;
}

TEST(RangeContextTest, KnowsExtents) {
  const RangeContext ranges = Ranges();
  EXPECT_EQ(ranges.Extent("a"), IndexExpr::Var("m"));
  EXPECT_EQ(ranges.Extent("m"), std::nullopt);
  EXPECT_EQ(ranges.Extent("unknown"), std::nullopt);
}

TEST(RangeContextTest, Bounds) {
  constexpr int64_t kNegInf = Interval::kNegInf, kPosInf = Interval::kPosInf;
  const struct {
    const char* text;
    int64_t lo, hi;
  } kCases[] = {
      {"7", 7, 7},
      {"3*x - 5", -5, 2992},
      {"n", 1, kMaxSize},
      {"b", 0, kMaxSize - 1},
      {"c", 0, 62},
      {"n*a + b", 0, kMaxSize * kMaxSize - 1},
      {"k*x + c", 0, 64 * 999 + 62},
      {"unknown", kNegInf, kPosInf},
      {"mod(unknown, 8)", 0, 7},
      {"mod(x, 2000)", 0, 999},
      {"mod(x + 5, 2000) - 5", 0, 999},
      {"floordiv(x, 8)", 0, 124},
      {"floordiv(-x, 8)", -125, 0},
      {"floordiv(x, k)", 0, 499},
      {"min(x, 8)", 0, 8},
      {"max(x, 8)", 8, 999},
      // Correlated.
      {"n - 1 - b", 0, kMaxSize - 1},
      {"n - 32*o", 1, kMaxSize},
      {"32*o + t", 0, kMaxSize - 1},
      {"min(32, n - 32*o)", 1, 32},
      {"x - 4*floordiv(x, 4)", 0, 3},
      {"n - b - 1 - floordiv(n - b - 1, 2)", 0, kPosInf},
      // Saturating.
      {"m*n*n", 1, kPosInf},
      {"-m*n*n", kNegInf, -1},
      {"m*n*n - m*n*n*n", kNegInf, 0},
  };
  const RangeContext ranges = Ranges();
  for (const auto& [text, lo, hi] : kCases) {
    const Interval bounds = ranges.Bounds(Parsed(text));
    EXPECT_EQ(bounds.lo, lo) << text;
    if (hi == kPosInf) continue;  // not the point of the case
    EXPECT_EQ(bounds.hi, hi) << text;
  }
}

TEST(RangeContextTest, ProvesOrder) {
  const std::pair<const char*, const char*> kTrue[] = {
      {"n*a + b + 1", "m*n"},
      {"m*b + a + 1", "m*n"},
      {"x*n + b + 1", "1000*n"},
      {"(k - 1)*n*a + n*c + b + 1", "m*n*(k - 1)"},
      {"n", "2*n - 1"},
      {"m*n", "m*n*n"},
      {"m + n", "m*n + 1"},
      {"n*n", "n*n*n"},
      {"32*o + t + 1", "n"},
      {"1", "min(32, n - 32*o)"},
      {"floordiv(b, 4) + 1", "floordiv(n + 3, 4)"},
      {"floordiv(n*a + b, n) + 1", "m"},
      {"mod(x, n) + 1", "n"},
      {"n*floordiv(x, n)", "x"},
      {"4*floordiv(x, 4) + mod(x, 4)", "x"},
      {"floordiv(b, m)", "floordiv(n - 1, m)"},
      {"32*floordiv(n + 31, 32)", "n + 31"},
      {"min(m, n) + a", "a + m"},
      {"min(m, n)", "max(m, n)"},
      {"floordiv(n, 2) + floordiv(n, 3)", "n"},
      // e exists, so z is not 0.
      {"e + 1", "z"},
      {"1", "z + 0*e + mod(e, z)"},
  };
  const std::pair<const char*, const char*> kNotProved[] = {
      {"n*a + b + 2", "m*n"},
      {"n*a + b + 1", "m*n - 1"},
      {"b", "n - 2"},
      {"n", "m"},
      {"1", "z"},
      {"unknown", "n"},
      {"x", "998"},
      {"2*n - 1", "n"},
      {"c + 2", "k - 1"},
      {"mod(x, n) + 2", "n"},
      {"t + 1", "31"},
      {"m*n", "n"},
      {"floordiv(n + 3, 4)", "floordiv(n, 4)"},
  };
  const RangeContext ranges = Ranges();
  for (const auto& [a, b] : kTrue) {
    EXPECT_TRUE(ranges.ProveLe(Parsed(a), Parsed(b))) << a << " <= " << b;
  }
  for (const auto& [a, b] : kNotProved) {
    EXPECT_FALSE(ranges.ProveLe(Parsed(a), Parsed(b))) << a << " <= " << b;
  }
  EXPECT_TRUE(ranges.ProveLt(Parsed("n*a + b"), Parsed("m*n")));
  EXPECT_FALSE(ranges.ProveLt(Parsed("n*a + b"), Parsed("m*n - 1")));
  // Far outside int64: not proved instead of a wrong or no answer.
  EXPECT_FALSE(ranges.ProveLe(Parsed("9223372036854775807*m"), Parsed("-9223372036854775807*m")));
}

// Row-major positions where the sizes themselves are formulas.
TEST(RangeContextTest, ProvesOrderOfPositionsInFormulas) {
  for (const char* size : {"floordiv(n, 8)", "floordiv(n + 1, 2)", "floordiv(min(100, n) + 1, 2)",
                           "max(m, n)", "min(m, 5)", "mod(n, 8) + 1", "max(0, n - 5)"}) {
    RangeContext ranges = Ranges();
    const IndexExpr rows = Parsed(size), columns = Parsed("floordiv(k, 2) + 1");
    ranges.AddLoop("i", rows);
    ranges.AddLoop("j", columns);
    const IndexExpr i = IndexExpr::Var("i"), j = IndexExpr::Var("j"), x = IndexExpr::Var("x");
    EXPECT_TRUE(ranges.ProveLt(1000 * i + x, 1000 * rows)) << size;
    EXPECT_TRUE(ranges.ProveLt(rows * x + i, 1000 * rows)) << size;
    EXPECT_TRUE(ranges.ProveLt(columns * i + j, columns * rows)) << size;
    EXPECT_TRUE(ranges.ProveLt(rows * j + i, columns * rows)) << size;
    EXPECT_TRUE(ranges.ProveLe(0, columns * (rows - 1 - i) + j)) << size;
    EXPECT_FALSE(ranges.ProveLt(columns * i + j + 1, columns * rows)) << size;
    EXPECT_FALSE(ranges.ProveLt(1000 * i + x, 1000 * rows - 1)) << size;
  }
}

// Every second row of every second row: floordiv(n + 3, 4) of floordiv(n + 1, 2) rows.
TEST(RangeContextTest, ProvesOrderOfSteppedPositions) {
  RangeContext ranges = Ranges();
  ranges.AddLoop("i", Parsed("floordiv(n + 3, 4)"));
  const IndexExpr i = IndexExpr::Var("i"), a = IndexExpr::Var("a"), x = IndexExpr::Var("x");
  const IndexExpr rows = Parsed("floordiv(n + 1, 2)"), m = IndexExpr::Var("m");
  EXPECT_TRUE(ranges.ProveLt(2 * i, rows));
  EXPECT_TRUE(ranges.ProveLt(2000 * i + x, 1000 * rows));
  EXPECT_TRUE(ranges.ProveLt(2 * m * i + a, m * rows));
  EXPECT_FALSE(ranges.ProveLt(2 * i + 1, rows));
  EXPECT_FALSE(ranges.ProveLt(2 * m * i + a + 1, m * rows));
}

TEST(RangeContextTest, ProvesEquality) {
  const RangeContext ranges = Ranges();
  const std::pair<const char*, const char*> kTrue[] = {
      {"n*a + b", "b + a*n"},
      {"12*floordiv(x, 12) + 4*mod(floordiv(x, 4), 3) + mod(x, 4)", "x"},
      {"mod(x, 12) - mod(x, 4)", "4*mod(floordiv(x, 4), 3)"},
      {"floordiv(mod(x, 12), 4)", "mod(floordiv(x, 4), 3)"},
      {"min(m, n) + 1", "min(n, m) + 1"},
      {"mod(n*a + b, n)", "b"},
  };
  for (const auto& [a, b] : kTrue) {
    EXPECT_TRUE(ranges.ProveEq(Parsed(a), Parsed(b))) << a << " == " << b;
  }
  EXPECT_FALSE(ranges.ProveEq(Parsed("mod(x, 12)"), Parsed("mod(x, 4)")));
  EXPECT_FALSE(ranges.ProveEq(Parsed("n"), Parsed("m")));
}

TEST(RangeContextTest, ProvesDivisibility) {
  const std::pair<const char*, int64_t> kTrue[] = {
      {"8*x + 4*b", 4},
      {"0", 7},
      {"mod(8*x, 12)", 4},
      {"floordiv(8*x, 2)", 4},
      {"x - mod(x, 4)", 4},
      {"3*b*min(4*x, 8*n)", 12},
      {"4*n*x", 4},
      {"floordiv(8*n*a + 8*b, n)*2", 2},
      {"floordiv(4*x + 3, 4)*8", 8},
      {"2*floordiv(4*x, 2)", 4},
      {"n*4*floordiv(b, 4) + mod(8*b, 16)", 4},
  };
  const std::pair<const char*, int64_t> kNotProved[] = {
      {"8*x + 2*b", 4}, {"n", 2},       {"mod(8*x, 6)", 4}, {"floordiv(8*x, 3)", 2},
      {"4*x", 0},       {"4*x + 1", 2}, {"4*x", -2},
  };
  const RangeContext ranges = Ranges();
  for (const auto& [text, d] : kTrue) {
    EXPECT_TRUE(ranges.ProveDivisible(Parsed(text), d)) << d << " divides " << text;
  }
  for (const auto& [text, d] : kNotProved) {
    EXPECT_FALSE(ranges.ProveDivisible(Parsed(text), d)) << d << " divides " << text;
  }
}

// Extents that depend on each other in a circle are a mistake, but not a hang.
TEST(RangeContextTest, CircularExtentsEnd) {
  RangeContext ranges;
  ranges.AddLoop("p", IndexExpr::Var("q"));
  ranges.AddLoop("q", IndexExpr::Var("p"));
  EXPECT_FALSE(ranges.ProveLe(Parsed("p"), Parsed("7")));
  EXPECT_EQ(ranges.Bounds(Parsed("p - q")).lo, Interval::kNegInf);
}

}  // namespace
}  // namespace stax
