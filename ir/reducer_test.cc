#include "ir/reducer.h"

#include <cmath>
#include <limits>
#include <vector>

#include "gtest/gtest.h"

namespace stax {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Number ReduceF(ReduceKind kind, DType t, const std::vector<double>& values,
               Precision precision = Precision::kTyped) {
  Reducer reducer(kind, t, precision);
  for (double v : values) reducer.Add({v, 0});
  return reducer.Result();
}
int64_t ReduceI(ReduceKind kind, DType t, const std::vector<int64_t>& values) {
  Reducer reducer(kind, t, Precision::kTyped);
  for (int64_t v : values) reducer.Add({0.0, v});
  return reducer.Result().i;
}

TEST(ReducerTest, EmptyReductionsGiveTheIdentity) {
  EXPECT_EQ(ReduceF(ReduceKind::kSum, DType::kF32, {}).f, 0);
  EXPECT_EQ(ReduceF(ReduceKind::kProd, DType::kF32, {}).f, 1);
  EXPECT_EQ(ReduceF(ReduceKind::kMax, DType::kF32, {}).f, -kInf);
  EXPECT_EQ(ReduceF(ReduceKind::kMin, DType::kF16, {}).f, kInf);
  EXPECT_EQ(ReduceI(ReduceKind::kProd, DType::kI8, {}), 1);
  EXPECT_EQ(ReduceI(ReduceKind::kMax, DType::kI8, {}), -128);
  EXPECT_EQ(ReduceI(ReduceKind::kMin, DType::kI8, {}), 127);
  EXPECT_EQ(ReduceI(ReduceKind::kMax, DType::kI32, {}), INT32_MIN);
  EXPECT_EQ(ReduceI(ReduceKind::kMax, DType::kI64, {}), INT64_MIN);
  EXPECT_EQ(ReduceI(ReduceKind::kMin, DType::kI64, {}), INT64_MAX);
  EXPECT_EQ(ReduceI(ReduceKind::kMax, DType::kU32, {}), 0);
  EXPECT_EQ(ReduceI(ReduceKind::kMin, DType::kU32, {}), 4294967295);
  EXPECT_EQ(ReduceI(ReduceKind::kMax, DType::kU64, {}), 0);
  EXPECT_EQ(ReduceI(ReduceKind::kMin, DType::kU64, {}), -1);
  for (ReduceKind kind :
       {ReduceKind::kArgMax, ReduceKind::kArgMin, ReduceKind::kArgMaxLast, ReduceKind::kArgMinLast})
    EXPECT_EQ(ReduceF(kind, DType::kF32, {}).i, 0);
}

TEST(ReducerTest, IntegerSumsAndProductsWrap) {
  EXPECT_EQ(ReduceI(ReduceKind::kSum, DType::kI8, {100, 100, 100}), 44);
  EXPECT_EQ(ReduceI(ReduceKind::kProd, DType::kI8, {100, 3}), 44);
  EXPECT_EQ(ReduceI(ReduceKind::kSum, DType::kI64, {INT64_MAX, 1}), INT64_MIN);
  EXPECT_EQ(ReduceI(ReduceKind::kSum, DType::kU8, {200, 100}), 44);
}

TEST(ReducerTest, FloatSumsRoundOnceAtTheEnd) {
  // In f16 1 + 2^-11 is 1 again, and 2048 of them change nothing.
  std::vector<double> values(2048, std::ldexp(1, -11));
  values.push_back(1);
  EXPECT_EQ(ReduceF(ReduceKind::kSum, DType::kF16, values).f, 2);
  EXPECT_EQ(ReduceF(ReduceKind::kSum, DType::kF16, {60000, 60000}).f, kInf);
  EXPECT_EQ(ReduceF(ReduceKind::kSum, DType::kF16, {60000, 60000, -60000}).f, 60000);
  EXPECT_EQ(ReduceF(ReduceKind::kSum, DType::kF32, {1, std::ldexp(1, -30)}).f, 1);
  EXPECT_EQ(ReduceF(ReduceKind::kSum, DType::kF32, {1, std::ldexp(1, -30)}, Precision::kDouble).f,
            1 + std::ldexp(1, -30));
  EXPECT_EQ(ReduceF(ReduceKind::kProd, DType::kF32, {1e30, 1e30}, Precision::kDouble).f, kInf);
}

TEST(ReducerTest, ExtremesPropagateNaN) {
  EXPECT_TRUE(std::isnan(ReduceF(ReduceKind::kMax, DType::kF32, {1, kNaN, 3}).f));
  EXPECT_TRUE(std::isnan(ReduceF(ReduceKind::kMin, DType::kF32, {1, kNaN, 3}).f));
  EXPECT_EQ(ReduceF(ReduceKind::kMax, DType::kF32, {-1, -3}).f, -1);
  EXPECT_EQ(ReduceF(ReduceKind::kMin, DType::kF32, {-1, -3}).f, -3);
  EXPECT_EQ(ReduceI(ReduceKind::kMax, DType::kU64, {1, -1, 2}), -1);
}

TEST(ReducerTest, PositionsOfExtremes) {
  const std::vector<double> ties = {1, 5, 2, 5, 1};
  EXPECT_EQ(ReduceF(ReduceKind::kArgMax, DType::kF32, ties).i, 1);
  EXPECT_EQ(ReduceF(ReduceKind::kArgMaxLast, DType::kF32, ties).i, 3);
  EXPECT_EQ(ReduceF(ReduceKind::kArgMin, DType::kF32, ties).i, 0);
  EXPECT_EQ(ReduceF(ReduceKind::kArgMinLast, DType::kF32, ties).i, 4);
  EXPECT_EQ(ReduceF(ReduceKind::kArgMax, DType::kF32, {-0.0, 0.0}).i, 0);
  EXPECT_EQ(ReduceF(ReduceKind::kArgMax, DType::kF32, {-kInf, -kInf}).i, 0);
  EXPECT_EQ(ReduceF(ReduceKind::kArgMaxLast, DType::kF32, {-kInf, -kInf}).i, 1);
  EXPECT_EQ(ReduceI(ReduceKind::kArgMax, DType::kU64, {1, -1, 2}), 1);
  EXPECT_EQ(ReduceI(ReduceKind::kArgMin, DType::kI64, {1, -1, 2}), 1);
}

// NumPy: argmax([1, nan, 3, nan]) and argmin of it are 1.
TEST(ReducerTest, NaNIsTheExtreme) {
  const std::vector<double> values = {1, kNaN, 3, kNaN};
  EXPECT_EQ(ReduceF(ReduceKind::kArgMax, DType::kF32, values).i, 1);
  EXPECT_EQ(ReduceF(ReduceKind::kArgMin, DType::kF32, values).i, 1);
  EXPECT_EQ(ReduceF(ReduceKind::kArgMaxLast, DType::kF32, values).i, 3);
  EXPECT_EQ(ReduceF(ReduceKind::kArgMinLast, DType::kF32, values).i, 3);
  EXPECT_EQ(ReduceF(ReduceKind::kArgMaxLast, DType::kF32, {kNaN, 1}).i, 0);
}

// In f32 the two are equal, so the first wins.
TEST(ReducerTest, PositionsSeeF32RoundedInDoublePrecision) {
  const std::vector<double> values = {1, 1 + std::ldexp(1, -40)};
  EXPECT_EQ(ReduceF(ReduceKind::kArgMax, DType::kF32, values, Precision::kDouble).i, 0);
  EXPECT_EQ(ReduceF(ReduceKind::kArgMax, DType::kF64, values, Precision::kDouble).i, 1);
}

}  // namespace
}  // namespace stax
