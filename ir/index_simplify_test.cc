// Simplify on the expressions that reshapes, transposes, splits and tiles give rise to.
#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "ir/index_expr.h"

namespace stax {
namespace {

IndexExpr Parsed(const std::string& text) { return IndexExpr::Parse(text).value(); }

// Sizes k, m, n of at least 1; k2 of at least 2. Loops a < m, b < n, c < k2 - 1, i3 < 3, i4 < 4,
// j4 < 4, one < 1, x < 1000, and a loop over n in tiles of 32: o < ceil(n / 32), t < the rest.
RangeContext Ranges() {
  RangeContext ranges;
  for (const char* name : {"k", "m", "n"}) ranges.AddSize(name, 1, (int64_t{1} << 31) - 1);
  ranges.AddSize("k2", 2, (int64_t{1} << 31) - 1);
  ranges.AddSize("seven", 7, 7);
  const std::pair<const char*, const char*> kLoops[] = {{"a", "m"},
                                                        {"b", "n"},
                                                        {"c", "k2 - 1"},
                                                        {"i3", "3"},
                                                        {"i4", "4"},
                                                        {"j4", "4"},
                                                        {"one", "1"},
                                                        {"x", "1000"},
                                                        {"o", "floordiv(n + 31, 32)"},
                                                        {"t", "min(32, n - 32*o)"}};
  for (const auto& [name, extent] : kLoops) ranges.AddLoop(name, Parsed(extent));
  return ranges;
}

TEST(IndexSimplifyTest, Table) {
  const struct {
    const char* text;
    const char* simple;
  } kCases[] = {
      // Variables of one value.
      {"8*one + x", "x"},
      {"seven*x", "7*x"},
      // Constant extents.
      {"floordiv(16*i3 + 4*i4 + j4, 16)", "i3"},
      {"mod(floordiv(16*i3 + 4*i4 + j4, 4), 4)", "i4"},
      {"mod(16*i3 + 4*i4 + j4, 4)", "j4"},
      {"floordiv(4*x + i4, 8)", "floordiv(x, 2)"},
      {"mod(4*x + i4, 8)", "i4 + 4*mod(x, 2)"},
      {"mod(x, 1000)", "x"},
      {"mod(x + 1000, 1000)", "x"},
      {"floordiv(3 - i4, 4)", "0"},
      {"mod(4*x - i4 + 3, 4)", "-i4 + 3"},
      // Symbolic extents.
      {"floordiv(n*a + b, n)", "a"},
      {"mod(n*a + b, n)", "b"},
      {"floordiv(n*a + b, m*n)", "0"},
      {"mod(n*a + b, m*n)", "a*n + b"},
      {"floordiv(4*n*a + 4*b + i4, 4*n)", "a"},
      {"mod(floordiv(4*n*a + 4*b + i4, 4), n)", "b"},
      {"floordiv(n - 1 - b, n)", "0"},
      {"mod(n - 1 - b, n)", "-b + n - 1"},
      {"floordiv(a*(k2 - 1) + c, k2 - 1)", "a"},
      {"mod(a*(k2 - 1) + c, k2 - 1)", "c"},
      {"mod(floordiv((a*(k2 - 1) + c)*n + b, n), k2 - 1)", "c"},
      {"floordiv(32*o + t, 32)", "o"},
      {"mod(32*o + t, 32)", "t"},
      // Digits put together again.
      {"4*floordiv(x, 4) + mod(x, 4)", "x"},
      {"12*floordiv(x, 12) + 4*mod(floordiv(x, 4), 3) + mod(x, 4)", "x"},
      {"4*mod(floordiv(x, 4), 3) + mod(x, 4)", "mod(x, 12)"},
      {"x - 4*floordiv(x, 4)", "mod(x, 4)"},
      {"floordiv(x, n) - 4*floordiv(x, 4*n)", "mod(floordiv(x, n), 4)"},
      {"k*n*floordiv(x, n) + k*mod(x, n)", "k*x"},
      {"m*n*floordiv(x, m*n) + n*mod(floordiv(x, n), m) + mod(x, n)", "x"},
      {"n*floordiv(n*a + b, n) + mod(n*a + b, n)", "a*n + b"},
      {"floordiv(12*floordiv(x, 12) + 4*mod(floordiv(x, 4), 3) + mod(x, 4), 8)", "floordiv(x, 8)"},
      {"5*floordiv(mod(x, 35), 5) + mod(x, 5)", "mod(x, 35)"},
      // Order.
      {"min(n, min(n - 1, m))", "min(m, n - 1)"},
      {"max(x, min(n, max(0, x)))", "x"},
      {"min(b, n)", "b"},
      {"min(x, 999)", "x"},
      {"max(32 - n + 32*o, 32 - t)", "-t + 32"},
      {"min(32, n - 32*o)", "min(32, n - 32*o)"},
      // Nothing to do.
      {"floordiv(x, 7)", "floordiv(x, 7)"},
      {"4*floordiv(x, 4)", "4*floordiv(x, 4)"},
      {"3*x + mod(x, 5)", "3*x + mod(x, 5)"},
      {"floordiv(b, 4)", "floordiv(b, 4)"},
      {"mod(unknown, n)", "mod(unknown, n)"},
  };
  const RangeContext ranges = Ranges();
  for (const auto& [text, simple] : kCases) {
    EXPECT_EQ(Simplify(Parsed(text), ranges).ToString(), simple) << text;
  }
}

// A view of a tensor: sizes and the indices that stand for its axes. Reshapes and transposes act on
// both; a dimension is the product of the factors it was merged from.
struct View {
  std::vector<std::vector<IndexExpr>> dims;
  std::vector<IndexExpr> indices;

  IndexExpr Flat() const {
    IndexExpr flat;
    for (size_t i = 0; i < dims.size(); ++i) flat = flat * Product(dims[i]) + indices[i];
    return flat;
  }

  void Transpose(const std::vector<int>& order) {
    View next;
    for (const int i : order) {
      next.dims.push_back(dims[i]);
      next.indices.push_back(indices[i]);
    }
    *this = std::move(next);
  }

  // Cuts the factors of all dimensions after each where `cut` says so.
  void Reshape(const std::vector<bool>& cut, const RangeContext& ranges) {
    IndexExpr rest = Flat();
    std::vector<IndexExpr> factors;
    for (const auto& dim : dims) factors.insert(factors.end(), dim.begin(), dim.end());
    dims.assign(1, {});
    for (size_t i = 0; i < factors.size(); ++i) {
      dims.back().push_back(factors[i]);
      if (i + 1 < factors.size() && cut[i]) dims.emplace_back();
    }
    indices.assign(dims.size(), 0);
    for (size_t i = dims.size() - 1; i > 0; --i) {
      const IndexExpr size = Product(dims[i]);
      indices[i] = Simplify(Mod(rest, size), ranges);
      rest = FloorDiv(rest, size);
    }
    indices[0] = Simplify(rest, ranges);
  }
};

// Whatever is merged, split and transposed, the index into the buffer is affine in loops over the
// finest dimensions; no division may be left. Up to two sizes are symbolic, some like n + 2.
TEST(IndexSimplifyTest, ReshapeChainsBecomeAffine) {
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    std::mt19937_64 random(seed);
    const auto pick = [&](int lo, int hi) {
      return std::uniform_int_distribution<int>(lo, hi)(random);
    };
    RangeContext ranges;
    View view;
    int symbols = 0;
    const int rank = pick(2, 6);
    for (int i = 0; i < rank; ++i) {
      IndexExpr size = pick(2, 12);
      if (symbols < 2 && pick(0, 2) == 0) {
        const std::string name = "n" + std::to_string(symbols++);
        ranges.AddSize(name, pick(0, 1), (int64_t{1} << 31) - 1);
        size = IndexExpr::Var(name) + (pick(0, 3) == 0 ? pick(1, 3) : 0);
      }
      const std::string loop = "i" + std::to_string(i);
      ranges.AddLoop(loop, size);
      view.dims.push_back({size});
      view.indices.push_back(IndexExpr::Var(loop));
    }
    for (int step = 0; step < 3; ++step) {
      std::vector<int> order(view.dims.size());
      std::iota(order.begin(), order.end(), 0);
      std::shuffle(order.begin(), order.end(), random);
      view.Transpose(order);
      std::vector<bool> cut(rank);
      for (int i = 0; i < rank; ++i) cut[i] = pick(0, 1) == 1;
      view.Reshape(cut, ranges);
    }
    const IndexExpr index = Simplify(view.Flat(), ranges);
    for (int i = 0; i < rank; ++i) {
      ASSERT_TRUE(index.StrideOf("i" + std::to_string(i)).has_value())
          << "seed " << seed << ": " << index.ToString();
    }
  }
}

// Taking a coarse dimension apart in two ways and back again gives the same index.
TEST(IndexSimplifyTest, ReshapeAndBackIsTheIdentity) {
  const RangeContext ranges = Ranges();
  const IndexExpr x = IndexExpr::Var("x");
  for (int p = 2; p < 40; ++p) {
    for (int q = 2; q < 30; ++q) {
      const IndexExpr outer = FloorDiv(x, p * q), middle = Mod(FloorDiv(x, p), q),
                      inner = Mod(x, p);
      const IndexExpr row = Simplify(outer * q + middle, ranges);
      EXPECT_EQ(Simplify(row * p + inner, ranges), x) << p << " " << q;
      // As [.., p, q] instead of [.., q, p].
      const IndexExpr flat = outer * (p * q) + middle * p + inner;
      const IndexExpr again =
          FloorDiv(flat, p * q) * (p * q) + Mod(FloorDiv(flat, q), p) * q + Mod(flat, q);
      EXPECT_EQ(Simplify(again, ranges), x) << p << " " << q;
    }
  }
}

}  // namespace
}  // namespace stax
