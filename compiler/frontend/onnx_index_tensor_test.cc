#include "compiler/frontend/onnx_index_tensor.h"

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stax {
namespace {

using ::testing::ElementsAre;

RangeContext Ranges() {
  RangeContext ranges;
  ranges.AddSize("n", 2, 64);
  ranges.AddSize("m", 2, 64);
  return ranges;
}

int64_t Truth(IndexOp op, int64_t a, int64_t b) {
  switch (op) {
    case IndexOp::kAdd:
      return a + b;
    case IndexOp::kSub:
      return a - b;
    case IndexOp::kMul:
      return a * b;
    case IndexOp::kDiv:
      return a / b;
    case IndexOp::kMod:
      return ((a % b) + b) % b;
    case IndexOp::kFmod:
      return a % b;
    case IndexOp::kMax:
      return a > b ? a : b;
    case IndexOp::kMin:
      return a < b ? a : b;
    case IndexOp::kEq:
      return a == b;
    case IndexOp::kLt:
      return a < b;
    case IndexOp::kLe:
      return a <= b;
    case IndexOp::kAnd:
      return a != 0 && b != 0;
    case IndexOp::kOr:
      return a != 0 || b != 0;
    case IndexOp::kXor:
      return (a != 0) != (b != 0);
  }
  return 0;
}

IndexExpr RandomExpr(std::mt19937& random) {
  const auto number = [&] { return static_cast<int64_t>(random() % 11) - 5; };
  const IndexExpr n = IndexExpr::Var("n"), m = IndexExpr::Var("m");
  switch (random() % 4) {
    case 0:
      return number();
    case 1:
      return n + number();
    case 2:
      return number() * n + number() * m + number();
    default:
      return n * m + number();
  }
}

// Whatever Apply gives is right for all sizes; it may decline.
TEST(IndexTensorTest, ApplyIsSound) {
  const RangeContext ranges = Ranges();
  std::mt19937 random(7);
  int given = 0;
  for (int k = 0; k < 3000; ++k) {
    const auto op = static_cast<IndexOp>(random() % 14);
    const IndexExpr a = RandomExpr(random), b = RandomExpr(random);
    const std::optional<IndexExpr> result = Apply(op, a, b, ranges);
    if (!result.has_value()) continue;
    ++given;
    for (int64_t n : {2, 3, 7, 64}) {
      for (int64_t m : {2, 5, 64}) {
        const std::map<std::string, int64_t> sizes = {{"n", n}, {"m", m}};
        const int64_t left = *a.Evaluate(sizes), right = *b.Evaluate(sizes);
        EXPECT_EQ(*result->Evaluate(sizes), Truth(op, left, right))
            << static_cast<int>(op) << ": " << a.ToString() << " and " << b.ToString();
      }
    }
  }
  EXPECT_GT(given, 1500);
}

TEST(IndexTensorTest, OverflowIsRefused) {
  const RangeContext ranges = Ranges();
  const IndexExpr big = INT64_MAX, n = IndexExpr::Var("n");
  EXPECT_FALSE(Apply(IndexOp::kAdd, big, 1, ranges).has_value());
  EXPECT_FALSE(Apply(IndexOp::kMul, big, 2, ranges).has_value());
  EXPECT_FALSE(Apply(IndexOp::kSub, -big, 1, ranges).has_value());
  EXPECT_FALSE(Apply(IndexOp::kDiv, 1, 0, ranges).has_value());
  EXPECT_FALSE(Apply(IndexOp::kAdd, big, n, ranges).has_value());
  EXPECT_EQ(*Apply(IndexOp::kDiv, -7, 2, ranges), IndexExpr(-3));
  EXPECT_EQ(*Apply(IndexOp::kMod, -7, 2, ranges), IndexExpr(1));
  EXPECT_EQ(*Apply(IndexOp::kFmod, -7, 2, ranges), IndexExpr(-1));
}

TEST(IndexTensorTest, FitsDType) {
  const RangeContext ranges = Ranges();
  const auto fits = [&](IndexExpr e, DType dtype) {
    return FitsDType({{}, {e}, {}}, dtype, ranges);
  };
  EXPECT_TRUE(fits(127, DType::kI8));
  EXPECT_FALSE(fits(128, DType::kI8));
  EXPECT_FALSE(fits(-1, DType::kU32));
  EXPECT_TRUE(fits(IndexExpr::Var("n"), DType::kI8));
  EXPECT_FALSE(fits(4 * IndexExpr::Var("n"), DType::kI8));
  EXPECT_TRUE(fits(1 << 24, DType::kF32));
  EXPECT_FALSE(fits((1 << 24) + 1, DType::kF32));
  EXPECT_FALSE(fits(2, DType::kBool));
}

TEST(IndexTensorTest, ValuesThatAreNoIndices) {
  OnnxValue value;
  value.dtype = DType::kI64;
  value.bytes.assign(8, std::byte{0});
  value.bytes[7] = std::byte{0x80};  // -2^63
  EXPECT_FALSE(IndexTensorFromValue(value).has_value());
  EXPECT_EQ(ClampedIndexTensor(value)->values[0], IndexExpr(-INT64_MAX));
  value.dtype = DType::kF64;  // -0.0
  EXPECT_FALSE(IndexTensorFromValue(value).has_value());
  value.bytes[7] = std::byte{0x3f};
  value.bytes[6] = std::byte{0xe0};  // 0.5
  EXPECT_FALSE(IndexTensorFromValue(value).has_value());
  value.bytes[6] = std::byte{0xf0};  // 1.0
  EXPECT_EQ(IndexTensorFromValue(value)->values[0], IndexExpr(1));
}

TEST(IndexTensorTest, ReduceKeepsOrDropsDims) {
  const IndexTensor t{{2, 3}, {1, 2, 3, 4, 5, 6}, {}};
  const auto rows = ReduceIndex(IndexOp::kAdd, t, {1}, /*keep_dims=*/false, Ranges());
  EXPECT_THAT(rows->dims, ElementsAre(2));
  EXPECT_THAT(rows->values, ElementsAre(IndexExpr(6), IndexExpr(15)));
  const auto all = ReduceIndex(IndexOp::kMul, t, {0, 1}, /*keep_dims=*/true, Ranges());
  EXPECT_THAT(all->dims, ElementsAre(1, 1));
  EXPECT_THAT(all->values, ElementsAre(IndexExpr(720)));
  const IndexTensor none{{0}, {}, {}};
  EXPECT_EQ(ReduceIndex(IndexOp::kMul, none, {0}, false, Ranges())->values[0], IndexExpr(1));
  EXPECT_FALSE(ReduceIndex(IndexOp::kMax, none, {0}, false, Ranges()).has_value());
}

TEST(IndexTensorTest, DivideExactly) {
  const RangeContext ranges = Ranges();
  const IndexExpr n = IndexExpr::Var("n"), m = IndexExpr::Var("m");
  const auto divide = [&](const std::vector<IndexExpr>& a, const std::vector<IndexExpr>& b) {
    const absl::StatusOr<IndexExpr> r = DivideExactly(a, b, ranges);
    return r.ok() ? r->ToString() : std::string(r.status().message());
  };
  EXPECT_EQ(divide({n, m, 768}, {12, n, m}), "64");
  EXPECT_EQ(divide({n, m}, {n}), "m");
  EXPECT_EQ(divide({n + m, 6}, {2, n + m}), "3");
  EXPECT_EQ(divide({4 * n * m}, {2 * m}), "2*n");
  EXPECT_EQ(divide({4 * n + 8}, {2}), "2*n + 4");
  EXPECT_EQ(divide({n}, {2}), "(n) is not known to be divisible by (2)");
  EXPECT_EQ(divide({n}, {m}), "(n) is not known to be divisible by (m)");
  EXPECT_EQ(divide({7}, {2}), "(7) is not known to be divisible by (2)");
}

}  // namespace
}  // namespace stax
