#include "compiler/codegen/precision.h"

#include <string>

#include "compiler/codegen/math/relaxed_forms.h"
#include "compiler/codegen/testing/nest_kernel.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stax {
namespace {

constexpr double kBF16 = HalfTolerance(DType::kBF16);
constexpr double kF16 = HalfTolerance(DType::kF16);

// The body of a nest over rows of 64, with inputs x, y (bf16), h (f16), f (f32) and outputs o
// (bf16), oh (f16), of (f32).
std::vector<double> Tolerances(const std::string& body) {
  return OpTolerances(NestOrDie(R"(nest test {
  buffer x: bf16[4096] in
  buffer y: bf16[4096] in
  buffer h: f16[4096] in
  buffer f: f32[4096] in
  buffer o: bf16[4096] out
  buffer oh: f16[4096] out
  buffer of: f32[4096] out
  buffer row: f32[64] out
  loop i0: 64
  reduce r0: 64
)" + body + "\n}"));
}

TEST(Precision, Softmax) {
  const auto t = Tolerances(R"(
  %0 = load x[64*i0 + r0] : bf16
  %1 = cast %0 : f32
  %2 = reduce.max %1 : f32
  %3 = sub %1, %2 : f32
  %4 = exp %3 : f32
  %5 = reduce.sum %4 : f32
  %6 = div %4, %5 : f32
  %7 = cast %6 : bf16
  store o[64*i0 + r0], %7)");
  EXPECT_EQ(t[6], kBF16 / 2);
  EXPECT_EQ(t[4], kBF16 / 4);  // the other half is for both operands
  EXPECT_EQ(t[2], 0);
  EXPECT_EQ(t[3], 0);
}

// The sum is stored as it is.
TEST(Precision, SoftmaxWithItsSum) {
  const auto t = Tolerances(R"(
  %0 = load x[64*i0 + r0] : bf16
  %1 = cast %0 : f32
  %2 = reduce.max %1 : f32
  %3 = sub %1, %2 : f32
  %4 = exp %3 : f32
  %5 = reduce.sum %4 : f32
  %6 = div %4, %5 : f32
  %7 = cast %6 : bf16
  store o[64*i0 + r0], %7
  store row[i0], %5)");
  EXPECT_EQ(t[6], kBF16 / 2);
  EXPECT_EQ(t[4], 0);
}

// The logarithm of a sum near 1 is anything, and it is subtracted.
TEST(Precision, LogSoftmaxIsNotRelaxed) {
  const auto t = Tolerances(R"(
  %0 = load x[64*i0 + r0] : bf16
  %1 = cast %0 : f32
  %2 = reduce.max %1 : f32
  %3 = sub %1, %2 : f32
  %4 = exp %3 : f32
  %5 = reduce.sum %4 : f32
  %6 = log %5 : f32
  %7 = sub %3, %6 : f32
  %8 = cast %7 : bf16
  store o[64*i0 + r0], %8)");
  EXPECT_EQ(t[4], 0);
  EXPECT_EQ(t[6], 0);
}

TEST(Precision, SwiGlu) {
  const auto t = Tolerances(R"(
  %0 = load x[64*i0 + r0] : bf16
  %1 = cast %0 : f32
  %2 = sigmoid %1 : f32
  %3 = mul %1, %2 : f32
  %4 = cast %3 : bf16
  %5 = load y[64*i0 + r0] : bf16
  %6 = mul %4, %5 : bf16
  store o[64*i0 + r0], %6)");
  EXPECT_EQ(t[2], kBF16);
}

// 1 + erf cancels, and so does the sum of both terms.
TEST(Precision, GeluBackwardIsNotRelaxed) {
  const auto t = Tolerances(R"(
  %0 = load x[64*i0 + r0] : bf16
  %1 = cast %0 : f32
  %2 = const 1.0 : f32
  %3 = erf %1 : f32
  %4 = add %2, %3 : f32
  %5 = mul %1, %1 : f32
  %6 = exp %5 : f32
  %7 = mul %1, %6 : f32
  %8 = add %4, %7 : f32
  %9 = cast %8 : bf16
  store o[64*i0 + r0], %9)");
  EXPECT_EQ(t[3], 0);
  EXPECT_EQ(t[6], 0);
}

// The scale may be off, the difference may not; the affine part adds terms of any sign.
TEST(Precision, NormalizedRows) {
  const std::string normalized = R"(
  %0 = load x[64*i0 + r0] : bf16
  %1 = cast %0 : f32
  %2 = reduce.sum %1 : f32
  %3 = const 0.015625 : f32
  %4 = mul %2, %3 : f32
  %5 = sub %1, %4 : f32
  %6 = mul %5, %5 : f32
  %7 = reduce.sum %6 : f32
  %8 = mul %7, %3 : f32
  %9 = const 1e-05 : f32
  %10 = add %8, %9 : f32
  %11 = sqrt %10 : f32
  %12 = div %5, %11 : f32
)";
  auto t = Tolerances(normalized + R"(
  %13 = cast %12 : bf16
  store o[64*i0 + r0], %13)");
  EXPECT_EQ(t[12], kBF16 / 2);
  EXPECT_EQ(t[11], kBF16 / 2);
  EXPECT_EQ(t[5], 0);
  t = Tolerances(normalized + R"(
  %13 = load y[64*i0 + r0] : bf16
  %14 = cast %13 : f32
  %15 = add %12, %14 : f32
  %16 = cast %15 : bf16
  store o[64*i0 + r0], %16)");
  EXPECT_EQ(t[12], 0);
  EXPECT_EQ(t[11], 0);
}

TEST(Precision, F32ResultsAreNotRelaxed) {
  const auto t = Tolerances(R"(
  %0 = load x[64*i0 + r0] : bf16
  %1 = cast %0 : f32
  %2 = reduce.max %1 : f32
  %3 = sub %1, %2 : f32
  %4 = exp %3 : f32
  %5 = reduce.sum %4 : f32
  %6 = log %5 : f32
  %7 = tanh %1 : f32
  %8 = div %7, %5 : f32
  store row[i0], %6
  store of[64*i0 + r0], %8)");
  for (double tolerance : t) EXPECT_EQ(tolerance, 0);
}

TEST(Precision, TheStrictestUseCounts) {
  const auto t = Tolerances(R"(
  %0 = load f[64*i0 + r0] : f32
  %1 = exp %0 : f32
  %2 = cast %1 : bf16
  store o[64*i0 + r0], %2
  %4 = cast %1 : f16
  store oh[64*i0 + r0], %4
  %6 = tanh %0 : f32
  %7 = cast %6 : bf16
  %8 = gt %6, %0 : bool
  %9 = select %8, %0, %0 : f32
  store of[64*i0 + r0], %9)");
  EXPECT_EQ(t[1], kF16);
  EXPECT_EQ(t[6], 0);
}

// Ops on halves are rounded at once. Correctly rounded quotients and roots stay so.
TEST(Precision, HalfOps) {
  const auto t = Tolerances(R"(
  %0 = load x[64*i0 + r0] : bf16
  %1 = exp %0 : bf16
  %2 = div %1, %0 : bf16
  %3 = sub %2, %0 : bf16
  store o[64*i0 + r0], %3
  %5 = load h[64*i0 + r0] : f16
  %6 = tanh %5 : f16
  %7 = div %6, %5 : f16
  %8 = sqrt %7 : f16
  store oh[64*i0 + r0], %8)");
  EXPECT_EQ(t[1], kBF16);
  EXPECT_EQ(t[2], kBF16);
  EXPECT_EQ(t[6], kF16);
  EXPECT_EQ(t[7], 0);
  EXPECT_EQ(t[8], 0);
}

// The instruction's error near 1 is absolute; halves keep a distance from 1.
TEST(Precision, LogarithmsOfHalvesOnly) {
  const auto t = Tolerances(R"(
  %0 = load x[64*i0 + r0] : bf16
  %1 = log %0 : bf16
  store o[64*i0 + r0], %1
  %3 = load h[64*i0 + r0] : f16
  %4 = log2 %3 : f16
  store oh[64*i0 + r0], %4
  %6 = load f[64*i0 + r0] : f32
  %7 = log %6 : f32
  %8 = cast %7 : bf16
  %9 = cast %0 : f32
  %10 = log2 %9 : f32
  %11 = neg %10 : f32
  %12 = cast %11 : f16
  %13 = mul %12, %4 : f16
  store of[64*i0 + r0], %9)");
  EXPECT_EQ(t[1], kBF16 / 256);
  EXPECT_NE(FindRelaxedForm(OpCode::kLog, t[1]), nullptr);
  EXPECT_EQ(FindRelaxedForm(OpCode::kLog2, t[4]), nullptr);
  EXPECT_EQ(t[7], 0);
  EXPECT_EQ(t[10], kF16 / 256);
  EXPECT_NE(FindRelaxedForm(OpCode::kLog2, t[10]), nullptr);
}

// Every factor with an error takes its share; exact ones take none.
TEST(Precision, ProductsShare) {
  const auto t = Tolerances(R"(
  %0 = load f[64*i0 + r0] : f32
  %1 = exp2 %0 : f32
  %2 = mul %1, %1 : f32
  %3 = mul %2, %0 : f32
  %4 = abs %3 : f32
  %5 = rsqrt %4 : f32
  %6 = cast %5 : bf16
  store o[64*i0 + r0], %6)");
  EXPECT_EQ(t[1], kBF16);
  EXPECT_EQ(t[5], 0);  // has no relaxed form
}

// 1 / -0.0 and rsqrt(-0.0) are -inf, so that a maximum with them may be negative.
TEST(Precision, InfinitiesOfZeros) {
  const LoopNest nest = NestOrDie(R"(nest zeros {
  buffer f: f32[64] in
  buffer of: f32[64] out
  loop i0: 64
  reduce r0: 4
  %0 = load f[i0] : f32
  %1 = abs %0 : f32
  %2 = rsqrt %1 : f32
  %3 = div %1, %1 : f32
  %4 = max %2, %0 : f32
  %5 = max %3, %0 : f32
  %6 = reduce.max %1 : f32
  %7 = reduce.sum %1 : f32
  %8 = add %4, %5 : f32
  %9 = add %8, %6 : f32
  %10 = add %9, %7 : f32
  store of[i0], %10
})");
  std::vector<ValueId> found;
  const std::vector<bool> known = NonNegativeValues(nest);
  for (ValueId id = 0; id <= 10; ++id)
    if (known[id]) found.push_back(id);
  EXPECT_THAT(found, testing::ElementsAre(1, 7));  // a maximum of nothing is -inf
}

TEST(Precision, NonNegativeValues) {
  const LoopNest nest = NestOrDie(R"(nest signs {
  buffer f: f32[64] in
  buffer of: f32[64] out
  loop i0: 64
  %0 = load f[i0] : f32
  %1 = mul %0, %0 : f32
  %2 = const 0.0 : f32
  %3 = max %0, %2 : f32
  %4 = add %1, %3 : f32
  %5 = min %4, %0 : f32
  %6 = neg %4 : f32
  %7 = gt %0, %2 : bool
  %8 = select %7, %4, %1 : f32
  %9 = sub %8, %1 : f32
  %10 = const -1.0 : f32
  %11 = cast %7 : f32
  %12 = div %11, %8 : f32
  %13 = tanh %0 : f32
  store of[i0], %12
})");
  std::vector<ValueId> found;
  const std::vector<bool> known = NonNegativeValues(nest);
  for (ValueId id = 0; id <= 13; ++id)
    if (known[id]) found.push_back(id);
  EXPECT_THAT(found, testing::ElementsAre(1, 2, 3, 4, 7, 8, 11));
}

}  // namespace
}  // namespace stax
