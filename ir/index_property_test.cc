// Properties of index expressions on seeded random ones: whatever Simplify, Bounds and Prove* say
// is compared with values. Each test also counts how often it had something to check.
#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "ir/index_expr.h"

namespace stax {
namespace {

constexpr int kAssignments = 6;  // tried per expression

using Values = std::map<std::string, int64_t>;

// Random ranges, expressions over them, and assignments within them.
class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {
    for (const char* name : {"n", "m", "k"}) {
      const int64_t lower = Pick(0, 3) == 0 ? Pick(1, 40) : Pick(1, 2);
      const int64_t upper = lower + (Pick(0, 2) == 0 ? Pick(0, 2000) : Pick(0, 4));
      ranges_.AddSize(name, lower, upper);
      sizes_.push_back({name, lower, upper});
    }
    const IndexExpr n = IndexExpr::Var("n"), m = IndexExpr::Var("m"), k = IndexExpr::Var("k");
    const IndexExpr extents[] = {
        n, m, k, m * n, n + 1, 2 * k, CeilDiv(n, 4), n * k + m, Max(n - 2, 1), FloorDiv(m, 3) + 1};
    for (int i = 0; i < 4; ++i) {
      const IndexExpr extent =
          Pick(0, 1) == 0 ? IndexExpr(Pick(1, 40)) : extents[Pick(0, std::size(extents) - 1)];
      AddLoop("i" + std::to_string(i), extent);
    }
    // The inner part of a loop over n in tiles of 8.
    AddLoop("o", CeilDiv(n, 8));
    AddLoop("t", Min(8, n - 8 * IndexExpr::Var("o")));
  }

  const RangeContext& ranges() const { return ranges_; }

  int64_t Pick(int64_t lo, int64_t hi) {
    return std::uniform_int_distribution<int64_t>(lo, hi)(random_);
  }

  Values Assignment() {
    Values values;
    for (const auto& [name, lower, upper] : sizes_) {
      const int64_t extremes[] = {lower, upper};
      values[name] = Pick(0, 2) == 0 ? extremes[Pick(0, 1)] : Pick(lower, upper);
    }
    for (const auto& [name, extent] : loops_) {
      const int64_t last = extent.Evaluate(values).value() - 1;
      EXPECT_GE(last, 0);
      const int64_t extremes[] = {0, last};
      values[name] = Pick(0, 2) == 0 ? extremes[Pick(0, 1)] : Pick(0, last);
    }
    return values;
  }

  IndexExpr Var() {
    const size_t i = Pick(0, sizes_.size() + 2 * loops_.size() - 1);
    if (i < sizes_.size()) return IndexExpr::Var(sizes_[i].name);
    return IndexExpr::Var(loops_[(i - sizes_.size()) / 2].first);
  }

  // At least 1.
  IndexExpr Divisor() {
    switch (Pick(0, 5)) {
      case 0:
        return IndexExpr::Var(sizes_[Pick(0, 2)].name);
      case 1:
        return IndexExpr::Var("n") * Pick(1, 4);
      case 2:
        return IndexExpr::Var("m") * IndexExpr::Var("n");
      default:
        return Pick(1, 24);
    }
  }

  // Each step has a variable, since compilers order the evaluation of arguments differently.
  IndexExpr Expr(int depth) {
    if (depth == 0) return Pick(0, 4) == 0 ? IndexExpr(Pick(-20, 20)) : Var();
    const int64_t kind = Pick(0, 9);
    const IndexExpr a = Expr(depth - 1);
    if (kind <= 1) return a + Expr(depth - 1);
    if (kind == 2) return a - Expr(depth - 1);
    if (kind == 3) return a * Pick(-12, 12);
    if (kind == 4) return a * Expr(0);
    if (kind <= 6) return FloorDiv(a, Divisor());
    if (kind == 7) return Mod(a, Divisor());
    return kind == 8 ? Min(a, Expr(depth - 1)) : Max(a, Expr(depth - 1));
  }

  // An index taken apart and put together again, as by reshapes.
  IndexExpr Reshaped(int depth) {
    if (depth == 0) return Expr(1);
    const IndexExpr x = Reshaped(depth - 1);
    const IndexExpr d = Divisor();
    const IndexExpr e = Divisor();
    const IndexExpr inner = Mod(Var(), d);
    switch (Pick(0, 4)) {
      case 0:
        return d * FloorDiv(x, d) + Mod(x, d);
      case 1:
        return d * e * FloorDiv(x, d * e) + d * Mod(FloorDiv(x, d), e) + Mod(x, d);
      case 2:
        return FloorDiv(x * d + inner, d);
      case 3:
        return Mod(x * d + inner, d * e);
      default:
        return FloorDiv(Mod(x, d * e), d) * d + Mod(x, d);
    }
  }

  IndexExpr Any() {
    const bool reshaped = Pick(0, 1) == 0;
    const int depth = Pick(1, reshaped ? 3 : 5);
    return reshaped ? Reshaped(depth) : Expr(depth);
  }

 private:
  struct Size {
    std::string name;
    int64_t lower, upper;
  };

  void AddLoop(const std::string& name, const IndexExpr& extent) {
    ranges_.AddLoop(name, extent);
    loops_.emplace_back(name, extent);
  }

  std::mt19937_64 random_;
  RangeContext ranges_;
  std::vector<Size> sizes_;
  std::vector<std::pair<std::string, IndexExpr>> loops_;
};

std::string Describe(const Values& values) {
  std::string text;
  for (const auto& [name, value] : values) text += " " + name + "=" + std::to_string(value);
  return text;
}

TEST(IndexPropertyTest, TextParsesBack) {
  for (uint64_t seed = 0; seed < 10000; ++seed) {
    Generator generator(seed);
    const IndexExpr e = generator.Any();
    const absl::StatusOr<IndexExpr> parsed = IndexExpr::Parse(e.ToString());
    ASSERT_TRUE(parsed.ok()) << e.ToString() << ": " << parsed.status();
    ASSERT_EQ(parsed->ToString(), e.ToString()) << "seed " << seed;
    ASSERT_TRUE(*parsed == e);
  }
}

TEST(IndexPropertyTest, SimplifyKeepsValuesAndIsIdempotent) {
  int changed = 0, shorter = 0, compared = 0;
  for (uint64_t seed = 0; seed < 12000; ++seed) {
    Generator generator(seed);
    const IndexExpr e = generator.Any();
    const IndexExpr simple = Simplify(e, generator.ranges());
    const IndexExpr again = Simplify(simple, generator.ranges());
    ASSERT_EQ(again.ToString(), simple.ToString()) << "seed " << seed << ": " << e.ToString();
    changed += simple != e;
    shorter += simple.ToString().size() < e.ToString().size();
    for (int i = 0; i < kAssignments; ++i) {
      const Values values = generator.Assignment();
      const absl::StatusOr<int64_t> expected = e.Evaluate(values);
      if (!expected.ok()) continue;  // the original overflows
      const absl::StatusOr<int64_t> actual = simple.Evaluate(values);
      ASSERT_TRUE(actual.ok()) << actual.status();
      ASSERT_EQ(*actual, *expected) << "seed " << seed << ": " << e.ToString() << " became "
                                    << simple.ToString() << " at" << Describe(values);
      ++compared;
    }
  }
  EXPECT_GT(changed, 3000);
  EXPECT_GT(shorter, 3000);
  EXPECT_GT(compared, 60000);
}

// The constructors know nothing of ranges; they must agree with the definition of the operation
// for all values, here also negative ones.
TEST(IndexPropertyTest, ConstructorsKeepValues) {
  int compared = 0, overflows = 0;
  for (uint64_t seed = 0; seed < 5000; ++seed) {
    Generator generator(seed);
    const IndexExpr a = generator.Any();
    const IndexExpr b = generator.Any();
    const IndexExpr d = generator.Divisor();
    const IndexExpr results[] = {FloorDiv(a, d), Mod(a, d), Min(a, b), Max(a, b)};
    for (int i = 0; i < kAssignments; ++i) {
      Values values = generator.Assignment();
      for (auto& [name, value] : values) {
        if (name[0] == 'i') value = generator.Pick(-100, 100);
      }
      const absl::StatusOr<int64_t> x = a.Evaluate(values), y = b.Evaluate(values);
      if (!x.ok() || !y.ok()) continue;
      const int64_t z = d.Evaluate(values).value();
      const int64_t quotient = *x / z - (*x % z < 0 ? 1 : 0);
      const int64_t expected[] = {quotient, *x - z * quotient, std::min(*x, *y), std::max(*x, *y)};
      for (int k = 0; k < 4; ++k) {
        const absl::StatusOr<int64_t> actual = results[k].Evaluate(values);
        // Nested divisions become one, by a product that may be out of range.
        overflows += absl::IsOutOfRange(actual.status());
        if (absl::IsOutOfRange(actual.status())) continue;
        ASSERT_TRUE(actual.ok()) << actual.status();
        ASSERT_EQ(*actual, expected[k]) << "operation " << k << " on " << a.ToString() << ", "
                                        << b.ToString() << ", " << d.ToString() << Describe(values);
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 100000);
  EXPECT_LT(overflows, 100);
}

TEST(IndexPropertyTest, BoundsHoldAllValues) {
  int finite = 0, tight = 0;
  for (uint64_t seed = 0; seed < 12000; ++seed) {
    Generator generator(seed);
    const IndexExpr e = generator.Any();
    const Interval bounds = generator.ranges().Bounds(e);
    finite += bounds.lo != Interval::kNegInf && bounds.hi != Interval::kPosInf;
    for (int i = 0; i < kAssignments; ++i) {
      const Values values = generator.Assignment();
      const absl::StatusOr<int64_t> value = e.Evaluate(values);
      if (!value.ok()) continue;
      ASSERT_LE(bounds.lo, *value)
          << "seed " << seed << ": " << e.ToString() << " at" << Describe(values);
      ASSERT_GE(bounds.hi, *value)
          << "seed " << seed << ": " << e.ToString() << " at" << Describe(values);
      tight += *value == bounds.lo || *value == bounds.hi;
    }
  }
  EXPECT_GT(finite, 10000);
  EXPECT_GT(tight, 9000);
}

TEST(IndexPropertyTest, NothingFalseIsProved) {
  int proved_le = 0, proved_eq = 0, proved_divisible = 0;
  for (uint64_t seed = 0; seed < 10000; ++seed) {
    Generator generator(seed);
    const RangeContext& ranges = generator.ranges();
    const IndexExpr a = generator.Any();
    // Related sides, since independent ones are rarely ordered.
    const IndexExpr b = generator.Pick(0, 2) == 0   ? generator.Any()
                        : generator.Pick(0, 1) == 0 ? Simplify(a, ranges) + generator.Pick(-2, 2)
                                                    : a + generator.Expr(2);
    const int64_t d = generator.Pick(2, 8);
    const bool le = ranges.ProveLe(a, b), lt = ranges.ProveLt(a, b), eq = ranges.ProveEq(a, b);
    const bool divisible = ranges.ProveDivisible(a, d);
    proved_le += le, proved_eq += eq, proved_divisible += divisible;
    for (int i = 0; i < kAssignments; ++i) {
      const Values values = generator.Assignment();
      const absl::StatusOr<int64_t> x = a.Evaluate(values), y = b.Evaluate(values);
      if (!x.ok() || !y.ok()) continue;
      const std::string where = "seed " + std::to_string(seed) + ": " + a.ToString() + " and " +
                                b.ToString() + " at" + Describe(values);
      ASSERT_TRUE(!le || *x <= *y) << "<= " << where;
      ASSERT_TRUE(!lt || *x < *y) << "< " << where;
      ASSERT_TRUE(!eq || *x == *y) << "== " << where;
      ASSERT_TRUE(!divisible || *x % d == 0) << d << " divides the first: " << where;
    }
  }
  EXPECT_GT(proved_le, 2000);
  EXPECT_GT(proved_eq, 500);
  EXPECT_GT(proved_divisible, 500);
}

}  // namespace
}  // namespace stax
