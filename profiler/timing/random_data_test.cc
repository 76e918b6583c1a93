#include "profiler/timing/random_data.h"

#include <cmath>
#include <limits>

#include "gtest/gtest.h"
#include "ir/scalar.h"

namespace stax {
namespace {

std::vector<std::byte> Elements(DType dtype, const std::vector<double>& values) {
  std::vector<std::byte> bytes(values.size() * DTypeBytes(dtype));
  for (size_t i = 0; i < values.size(); ++i)
    StoreScalar(Scalar::FromDouble(dtype, values[i]), &bytes[i * DTypeBytes(dtype)]);
  return bytes;
}

TEST(RandomElements, SameSeedSameElementsOtherSeedOthers) {
  EXPECT_EQ(RandomElements(DType::kF32, 1000, 1), RandomElements(DType::kF32, 1000, 1));
  EXPECT_NE(RandomElements(DType::kF32, 1000, 1), RandomElements(DType::kF32, 1000, 2));
  EXPECT_EQ(RandomElements(DType::kF16, 200001, 1).size(), 400002u);
}

TEST(RelativeError, IsTheNormOfTheDifferenceOverTheNorm) {
  for (DType dtype : {DType::kF16, DType::kBF16, DType::kF32, DType::kF64, DType::kI32}) {
    // (3, 4) against (3, 5): 1 / sqrt(34).
    EXPECT_DOUBLE_EQ(RelativeError(dtype, Elements(dtype, {3, 4}), Elements(dtype, {3, 5})),
                     1 / std::sqrt(34.0))
        << DTypeName(dtype);
  }
}

TEST(RelativeError, NanAndInfinityMustBeWhereTheyBelong) {
  const double inf = std::numeric_limits<double>::infinity();
  for (DType dtype : {DType::kF16, DType::kBF16, DType::kF32, DType::kF64}) {
    EXPECT_EQ(RelativeError(dtype, Elements(dtype, {NAN, inf, 1}), Elements(dtype, {NAN, inf, 1})),
              0);
    EXPECT_EQ(RelativeError(dtype, Elements(dtype, {NAN, 1}), Elements(dtype, {1, 1})), inf);
    EXPECT_EQ(RelativeError(dtype, Elements(dtype, {1, 1}), Elements(dtype, {NAN, 1})), inf);
    EXPECT_EQ(RelativeError(dtype, Elements(dtype, {inf}), Elements(dtype, {-inf})), inf);
  }
}

}  // namespace
}  // namespace stax
