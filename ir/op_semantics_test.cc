#include "ir/op_semantics.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace stax {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

double F(OpCode code, DType t, double a, double b = 0, Precision p = Precision::kTyped) {
  return EvalScalarOp(code, t, {a, 0}, {b, 0}, p).f;
}
int64_t I(OpCode code, DType t, int64_t a, int64_t b = 0) {
  return EvalScalarOp(code, t, {0.0, a}, {0.0, b}, Precision::kTyped).i;
}
bool CompareF(OpCode code, double a, double b) {
  return EvalScalarOp(code, DType::kF64, {a, 0}, {b, 0}, Precision::kTyped).i != 0;
}

// Same bits, all NaNs alike.
bool Same(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b && std::signbit(a) == std::signbit(b);
}

// ----- Integers.

TEST(OpSemanticsTest, IntegersWrap) {
  EXPECT_EQ(I(OpCode::kAdd, DType::kI8, 100, 100), -56);
  EXPECT_EQ(I(OpCode::kMul, DType::kI8, 100, 3), 44);
  EXPECT_EQ(I(OpCode::kSub, DType::kU8, 3, 5), 254);
  EXPECT_EQ(I(OpCode::kAdd, DType::kI64, INT64_MAX, 1), INT64_MIN);
  EXPECT_EQ(I(OpCode::kMul, DType::kI64, INT64_MIN, -1), INT64_MIN);
  EXPECT_EQ(I(OpCode::kNeg, DType::kI16, -32768), -32768);
  EXPECT_EQ(I(OpCode::kNeg, DType::kU16, 1), 65535);
  EXPECT_EQ(I(OpCode::kAbs, DType::kI8, -128), -128);
  EXPECT_EQ(I(OpCode::kAbs, DType::kI64, INT64_MIN), INT64_MIN);
  EXPECT_EQ(I(OpCode::kAbs, DType::kI32, -7), 7);
  EXPECT_EQ(I(OpCode::kAbs, DType::kU64, -1), -1);
}

TEST(OpSemanticsTest, IntegerDivision) {
  EXPECT_EQ(I(OpCode::kDiv, DType::kI32, 7, 2), 3);
  EXPECT_EQ(I(OpCode::kDiv, DType::kI32, -7, 2), -3);
  EXPECT_EQ(I(OpCode::kDiv, DType::kI32, -7, 0), 0);
  EXPECT_EQ(I(OpCode::kDiv, DType::kI8, -128, -1), -128);
  EXPECT_EQ(I(OpCode::kDiv, DType::kI32, INT32_MIN, -1), INT32_MIN);
  EXPECT_EQ(I(OpCode::kDiv, DType::kI64, INT64_MIN, -1), INT64_MIN);
  EXPECT_EQ(I(OpCode::kDiv, DType::kU64, -1, 2), INT64_MAX);
  EXPECT_EQ(I(OpCode::kDiv, DType::kU64, 5, 0), 0);
  EXPECT_EQ(I(OpCode::kDiv, DType::kU64, 5, -1), 0);
}

// The first four rows by NumPy: mod and fmod of int32.
TEST(OpSemanticsTest, IntegerRemainders) {
  const int64_t rows[][4] = {{7, 3, 1, 1},  {-7, 3, 2, -1}, {7, -3, -2, 1}, {-7, -3, -1, -1},
                             {6, -3, 0, 0}, {7, 0, 0, 0},   {7, -1, 0, 0},  {INT32_MIN, -1, 0, 0}};
  for (const auto& row : rows) {
    EXPECT_EQ(I(OpCode::kMod, DType::kI32, row[0], row[1]), row[2]) << row[0] << " " << row[1];
    EXPECT_EQ(I(OpCode::kFmod, DType::kI32, row[0], row[1]), row[3]) << row[0] << " " << row[1];
  }
  EXPECT_EQ(I(OpCode::kMod, DType::kI64, INT64_MIN, -1), 0);
  EXPECT_EQ(I(OpCode::kFmod, DType::kI64, INT64_MIN, -1), 0);
  EXPECT_EQ(I(OpCode::kMod, DType::kU64, -1, 10), 5);  // 18446744073709551615 mod 10
  EXPECT_EQ(I(OpCode::kFmod, DType::kU64, -1, 0), 0);
}

TEST(OpSemanticsTest, IntegerPowers) {
  EXPECT_EQ(I(OpCode::kPow, DType::kI32, 3, 25), 1180052131);           // by NumPy
  EXPECT_EQ(I(OpCode::kPow, DType::kI8, -3, 5), 13);                    // by NumPy
  EXPECT_EQ(I(OpCode::kPow, DType::kI64, 7, 30), 1576789505350337489);  // by NumPy
  EXPECT_EQ(I(OpCode::kPow, DType::kI32, 0, 0), 1);
  EXPECT_EQ(I(OpCode::kPow, DType::kI32, 5, -1), 0);
  EXPECT_EQ(I(OpCode::kPow, DType::kI32, 0, -1), 0);
  EXPECT_EQ(I(OpCode::kPow, DType::kI32, 1, -7), 1);
  EXPECT_EQ(I(OpCode::kPow, DType::kI32, -1, -7), -1);
  EXPECT_EQ(I(OpCode::kPow, DType::kI32, -1, -8), 1);
  EXPECT_EQ(I(OpCode::kPow, DType::kU64, -1, -1), -1);  // (2^64-1)^(2^64-1): odd powers of -1
  EXPECT_EQ(I(OpCode::kPow, DType::kU8, 2, 8), 0);
}

TEST(OpSemanticsTest, Shifts) {
  EXPECT_EQ(I(OpCode::kShl, DType::kI8, 64, 1), -128);
  EXPECT_EQ(I(OpCode::kShr, DType::kI8, -128, 3), -16);
  EXPECT_EQ(I(OpCode::kShl, DType::kI8, 1, 8), 0);
  EXPECT_EQ(I(OpCode::kShr, DType::kI8, -1, 8), 0);
  EXPECT_EQ(I(OpCode::kShr, DType::kI8, -1, 7), -1);
  EXPECT_EQ(I(OpCode::kShr, DType::kI32, -8, -1), 0);  // a negative count is beyond the width
  EXPECT_EQ(I(OpCode::kShl, DType::kI32, 1, -1), 0);
  EXPECT_EQ(I(OpCode::kShl, DType::kU64, 1, 63), INT64_MIN);
  EXPECT_EQ(I(OpCode::kShl, DType::kI64, 1, 64), 0);
  EXPECT_EQ(I(OpCode::kShr, DType::kU64, -1, 60), 15);
  EXPECT_EQ(I(OpCode::kShr, DType::kU64, -1, 64), 0);
  EXPECT_EQ(I(OpCode::kShr, DType::kU8, 255, 4), 15);
}

TEST(OpSemanticsTest, BitsAndBools) {
  EXPECT_EQ(I(OpCode::kAnd, DType::kI32, 12, 10), 8);
  EXPECT_EQ(I(OpCode::kOr, DType::kI32, 12, 10), 14);
  EXPECT_EQ(I(OpCode::kXor, DType::kI32, 12, 10), 6);
  EXPECT_EQ(I(OpCode::kNot, DType::kI32, 0), -1);
  EXPECT_EQ(I(OpCode::kNot, DType::kU8, 1), 254);
  EXPECT_EQ(I(OpCode::kNot, DType::kBool, 0), 1);
  EXPECT_EQ(I(OpCode::kNot, DType::kBool, 1), 0);
  EXPECT_EQ(I(OpCode::kXor, DType::kBool, 1, 1), 0);
}

TEST(OpSemanticsTest, IntegerExtremesAndSigns) {
  EXPECT_EQ(I(OpCode::kMax, DType::kI32, -1, 1), 1);
  EXPECT_EQ(I(OpCode::kMin, DType::kI32, -1, 1), -1);
  EXPECT_EQ(I(OpCode::kMax, DType::kU64, -1, 1), -1);  // 2^64 - 1 is the larger
  EXPECT_EQ(I(OpCode::kMin, DType::kU64, -1, 1), 1);
  EXPECT_EQ(I(OpCode::kSign, DType::kI32, -9), -1);
  EXPECT_EQ(I(OpCode::kSign, DType::kI32, 0), 0);
  EXPECT_EQ(I(OpCode::kSign, DType::kU64, -9), 1);
  EXPECT_TRUE(I(OpCode::kLt, DType::kI64, -1, 1));
  EXPECT_FALSE(I(OpCode::kLt, DType::kU64, -1, 1));
  EXPECT_TRUE(I(OpCode::kGe, DType::kU64, -1, 1));
  EXPECT_TRUE(I(OpCode::kLt, DType::kBool, 0, 1));
}

// ----- Floats.

TEST(OpSemanticsTest, ComparisonsWithNaN) {
  for (double other : {1.0, kInf, kNaN}) {
    for (OpCode code : {OpCode::kEq, OpCode::kLt, OpCode::kLe, OpCode::kGt, OpCode::kGe}) {
      EXPECT_FALSE(CompareF(code, kNaN, other)) << OpName(code);
      EXPECT_FALSE(CompareF(code, other, kNaN)) << OpName(code);
    }
    EXPECT_TRUE(CompareF(OpCode::kNe, kNaN, other));
  }
  EXPECT_TRUE(CompareF(OpCode::kEq, 0.0, -0.0));
  EXPECT_TRUE(CompareF(OpCode::kLe, 1.0, 1.0));
  EXPECT_FALSE(CompareF(OpCode::kGt, 1.0, 1.0));
}

TEST(OpSemanticsTest, MaxAndMin) {
  EXPECT_TRUE(std::isnan(F(OpCode::kMax, DType::kF32, kNaN, 1)));
  EXPECT_TRUE(std::isnan(F(OpCode::kMax, DType::kF32, 1, kNaN)));
  EXPECT_TRUE(std::isnan(F(OpCode::kMin, DType::kF32, kNaN, kInf)));
  EXPECT_TRUE(std::isnan(F(OpCode::kMin, DType::kF32, -kInf, kNaN)));
  EXPECT_EQ(F(OpCode::kMax, DType::kF32, -kInf, 3), 3);
  EXPECT_EQ(F(OpCode::kMin, DType::kF32, -2, 3), -2);
  for (bool swap : {false, true}) {
    const double a = swap ? 0.0 : -0.0, b = swap ? -0.0 : 0.0;
    EXPECT_TRUE(Same(F(OpCode::kMax, DType::kF32, a, b), 0.0));
    EXPECT_TRUE(Same(F(OpCode::kMin, DType::kF32, a, b), -0.0));
  }
}

TEST(OpSemanticsTest, SignAndRounding) {
  EXPECT_TRUE(Same(F(OpCode::kSign, DType::kF32, -0.0), -0.0));
  EXPECT_TRUE(Same(F(OpCode::kSign, DType::kF32, 0.0), 0.0));
  EXPECT_TRUE(std::isnan(F(OpCode::kSign, DType::kF32, kNaN)));
  EXPECT_EQ(F(OpCode::kSign, DType::kF32, -kInf), -1);
  EXPECT_EQ(F(OpCode::kSign, DType::kF32, 1e-45), 1);
  EXPECT_EQ(F(OpCode::kRound, DType::kF32, 2.5), 2);
  EXPECT_EQ(F(OpCode::kRound, DType::kF32, 3.5), 4);
  EXPECT_EQ(F(OpCode::kRound, DType::kF32, -2.5), -2);
  EXPECT_TRUE(Same(F(OpCode::kRound, DType::kF32, -0.4), -0.0));
  EXPECT_EQ(F(OpCode::kFloor, DType::kF32, -0.5), -1);
  EXPECT_TRUE(Same(F(OpCode::kCeil, DType::kF32, -0.5), -0.0));
  EXPECT_EQ(F(OpCode::kTrunc, DType::kF32, -1.9), -1);
}

// By NumPy: mod and fmod of float64.
TEST(OpSemanticsTest, FloatRemainders) {
  const double rows[][4] = {
      {7.5, 2.0, 1.5, 1.5},     {-7.5, 2.0, 0.5, -1.5},
      {7.5, -2.0, -0.5, 1.5},   {-7.5, -2.0, -1.5, -1.5},
      {6.0, -3.0, -0.0, 0.0},   {-6.0, 3.0, 0.0, -0.0},
      {-0.0, 3.0, 0.0, -0.0},   {1.0, kInf, 1.0, 1.0},
      {-1.0, kInf, kInf, -1.0}, {1.0, 0.0, kNaN, kNaN},
      {kInf, 2.0, kNaN, kNaN},  {5.3, 0.1, 0.09999999999999953, 0.09999999999999953}};
  for (const auto& row : rows) {
    EXPECT_TRUE(Same(F(OpCode::kMod, DType::kF64, row[0], row[1]), row[2])) << row[0] << row[1];
    EXPECT_TRUE(Same(F(OpCode::kFmod, DType::kF64, row[0], row[1]), row[3])) << row[0] << row[1];
  }
}

// By NumPy (erf: Python's math.erf), on {0.5, -1.25, 3} or where the domain is smaller
// {0.25, 0.5, 0.75}. Within the 4 ulp that f64 math functions may be off.
TEST(OpSemanticsTest, MathFunctions) {
  struct Row {
    OpCode code;
    double expected[3];
  };
  const Row wide[] = {
      {OpCode::kExp, {1.6487212707001282, 0.2865047968601901, 20.085536923187668}},
      {OpCode::kExp2, {1.4142135623730951, 0.42044820762685725, 8.0}},
      {OpCode::kExpm1, {0.6487212707001282, -0.7134952031398099, 19.085536923187668}},
      {OpCode::kSin, {0.47942553860420295, -0.9489846193555863, 0.1411200080598672}},
      {OpCode::kCos, {0.8775825618903725, 0.31532236239526873, -0.9899924966004454}},
      {OpCode::kTan, {0.5463024898437905, -3.009569673862831, -0.1425465430742778}},
      {OpCode::kAtan, {0.4636476090008061, -0.8960553845713439, 1.2490457723982544}},
      {OpCode::kSinh, {0.5210953054937474, -1.6019190803008254, 10.017874927409903}},
      {OpCode::kCosh, {1.1276259652063807, 1.8884238771610156, 10.067661995777764}},
      {OpCode::kTanh, {0.46211715726000974, -0.8482836399575129, 0.9950547536867305}},
      {OpCode::kAsinh, {0.48121182505960347, -1.0475930126492587, 1.8184464592320668}},
      {OpCode::kErf, {0.5204998778130465, -0.9229001282564582, 0.9999779095030014}},
      {OpCode::kSigmoid,
       {1.6487212707001282 / 2.6487212707001282, 0.2865047968601901 / 1.2865047968601901,
        20.085536923187668 / 21.085536923187668}},
  };
  const Row narrow[] = {
      {OpCode::kLog, {-1.3862943611198906, -0.6931471805599453, -0.2876820724517809}},
      {OpCode::kLog2, {-2.0, -1.0, -0.4150374992788438}},
      {OpCode::kLog1p, {0.22314355131420974, 0.4054651081081644, 0.5596157879354227}},
      {OpCode::kAsin, {0.25268025514207865, 0.5235987755982989, 0.8480620789814809}},
      {OpCode::kAcos, {1.318116071652818, 1.0471975511965976, 0.7227342478134157}},
      {OpCode::kAtanh, {0.25541281188299536, 0.5493061443340549, 0.9729550745276566}},
      {OpCode::kSqrt, {0.5, 0.7071067811865476, 0.8660254037844386}},
      {OpCode::kRsqrt, {2.0, 1.4142135623730951, 1.1547005383792517}},
  };
  const double wide_x[] = {0.5, -1.25, 3.0}, narrow_x[] = {0.25, 0.5, 0.75};
  const auto near = [](double a, double b) { return std::fabs(a - b) <= 9e-16 * std::fabs(b); };
  for (int k = 0; k < 3; ++k) {
    for (const Row& row : wide)
      EXPECT_TRUE(near(F(row.code, DType::kF64, wide_x[k]), row.expected[k])) << OpName(row.code);
    for (const Row& row : narrow)
      EXPECT_TRUE(near(F(row.code, DType::kF64, narrow_x[k]), row.expected[k])) << OpName(row.code);
  }
  EXPECT_TRUE(near(F(OpCode::kAcosh, DType::kF64, 1.5), 0.9624236501192069));
  EXPECT_TRUE(near(F(OpCode::kAtan2, DType::kF64, 1, -2), 2.677945044588987));
  EXPECT_TRUE(near(F(OpCode::kPow, DType::kF64, 2.5, 3), 15.625));
  EXPECT_EQ(F(OpCode::kSigmoid, DType::kF64, -1000), 0);
  EXPECT_EQ(F(OpCode::kSigmoid, DType::kF64, 1000), 1);
  EXPECT_EQ(F(OpCode::kRsqrt, DType::kF64, -0.0), -kInf);
}

// f32 ops must equal the host's f32 arithmetic, which rounds once, bit for bit.
TEST(OpSemanticsTest, F32IsExact) {
  std::mt19937_64 random(4);
  for (int i = 0; i < 300000; ++i) {
    const uint32_t bits[2] = {static_cast<uint32_t>(random()), static_cast<uint32_t>(random())};
    float a, b;
    std::memcpy(&a, &bits[0], 4);
    std::memcpy(&b, &bits[1], 4);
    if (i % 2 == 0 && std::isnormal(a) && std::isnormal(b))  // of a size where sums round
      b = std::ldexp(b, std::ilogb(a) - std::ilogb(b) + i % 5);
    ASSERT_TRUE(Same(F(OpCode::kAdd, DType::kF32, a, b), a + b)) << a << " " << b;
    ASSERT_TRUE(Same(F(OpCode::kSub, DType::kF32, a, b), a - b)) << a << " " << b;
    ASSERT_TRUE(Same(F(OpCode::kMul, DType::kF32, a, b), a * b)) << a << " " << b;
    ASSERT_TRUE(Same(F(OpCode::kDiv, DType::kF32, a, b), a / b)) << a << " " << b;
    ASSERT_TRUE(Same(F(OpCode::kSqrt, DType::kF32, a), std::sqrt(a))) << a;
    ASSERT_TRUE(Same(F(OpCode::kFmod, DType::kF32, a, b), std::fmod(a, b))) << a << " " << b;
  }
}

// Half ops compute in f32 and round: the host's f32 arithmetic on the halves, then one rounding.
void CheckHalf(DType t) {
  std::mt19937_64 random(5);
  const auto round = [t](float x) { return RoundTo(t, x); };
  for (int i = 0; i < 300000; ++i) {
    const uint16_t bits[2] = {static_cast<uint16_t>(random()), static_cast<uint16_t>(random())};
    const float a = static_cast<float>(LoadScalar(t, &bits[0]).f);
    const float b = static_cast<float>(LoadScalar(t, &bits[1]).f);
    for (Precision p : {Precision::kTyped, Precision::kDouble}) {
      ASSERT_TRUE(Same(F(OpCode::kAdd, t, a, b, p), round(a + b))) << a << " " << b;
      ASSERT_TRUE(Same(F(OpCode::kSub, t, a, b, p), round(a - b))) << a << " " << b;
      ASSERT_TRUE(Same(F(OpCode::kMul, t, a, b, p), round(a * b))) << a << " " << b;
      ASSERT_TRUE(Same(F(OpCode::kDiv, t, a, b, p), round(a / b))) << a << " " << b;
      ASSERT_TRUE(Same(F(OpCode::kSqrt, t, a, 0, p), round(std::sqrt(a)))) << a;
    }
  }
}
TEST(OpSemanticsTest, F16ComputesInF32) { CheckHalf(DType::kF16); }
TEST(OpSemanticsTest, BF16ComputesInF32) { CheckHalf(DType::kBF16); }

// 1 + 2^-11 + 2^-26 is 1 + 2^-11 in f32, which is a midpoint of f16 and goes down to even.
TEST(OpSemanticsTest, HalvesRoundTwice) {
  const double just_above_midpoint = 1 + std::ldexp(1, -11) + std::ldexp(1, -26);
  EXPECT_EQ(RoundTo(DType::kF16, just_above_midpoint), 1 + std::ldexp(1, -10));
  EXPECT_EQ(RoundResult(DType::kF16, just_above_midpoint, Precision::kTyped), 1.0);
}

// f32 values in double precision.
TEST(OpSemanticsTest, WideF32) {
  const Precision wide = Precision::kDouble;
  EXPECT_EQ(F(OpCode::kDiv, DType::kF32, 1, 3, wide), 1.0 / 3.0);
  EXPECT_EQ(F(OpCode::kDiv, DType::kF32, 1, 3), static_cast<double>(1.0f / 3.0f));
  // The range is that of f32 all the same.
  EXPECT_EQ(F(OpCode::kMul, DType::kF32, 1e30, 1e30, wide), kInf);
  EXPECT_EQ(F(OpCode::kExp, DType::kF32, 89, 0, wide), kInf);
  EXPECT_TRUE(Same(F(OpCode::kMul, DType::kF32, -1e-30, 1e-30, wide), -0.0));
  // Ops that jump see the rounded number: 1 - 2^-40 is 1 in f32.
  const double almost_one = 1 - std::ldexp(1, -40);
  EXPECT_EQ(F(OpCode::kFloor, DType::kF32, almost_one, 0, wide), 1);
  EXPECT_EQ(F(OpCode::kMod, DType::kF32, almost_one, 1, wide), 0);
  EXPECT_EQ(F(OpCode::kAcos, DType::kF32, 2 - almost_one, 0, wide), 0);
  EXPECT_EQ(EvalScalarOp(OpCode::kEq, DType::kF32, {almost_one, 0}, {1, 0}, wide).i, 1);
  EXPECT_EQ(EvalCast(DType::kF32, DType::kI32, {almost_one, 0}, wide).i, 1);
  EXPECT_EQ(EvalCast(DType::kF32, DType::kF64, {almost_one, 0}, wide).f, almost_one);
}

// ----- Casts.

// By NumPy: int64 and uint64 arrays as float32 and float64.
TEST(OpSemanticsTest, CastsOfIntegersRoundOnce) {
  const auto cast = [](DType from, DType to, int64_t i) {
    return EvalCast(from, to, {0.0, i}, Precision::kDouble).f;
  };
  EXPECT_EQ(cast(DType::kI64, DType::kF32, 16777217), 16777216.0);
  EXPECT_EQ(cast(DType::kI64, DType::kF32, 16777219), 16777220.0);
  // Through double this would round to even twice, to 2^62.
  EXPECT_EQ(cast(DType::kI64, DType::kF32, 4611686293305294849), 4.611686568183202e+18);
  EXPECT_EQ(cast(DType::kI64, DType::kF64, 9007199254740993), 9007199254740992.0);
  EXPECT_EQ(cast(DType::kU64, DType::kF32, -1), 1.8446744073709552e+19);
  EXPECT_EQ(cast(DType::kU64, DType::kF64, INT64_MIN), 9.223372036854776e+18);
  EXPECT_EQ(cast(DType::kI64, DType::kF16, 65520), kInf);
  EXPECT_EQ(cast(DType::kI32, DType::kBF16, 257), 256.0);
  EXPECT_EQ(cast(DType::kBool, DType::kF16, 1), 1.0);
}

TEST(OpSemanticsTest, CastsOfFloats) {
  const auto to_int = [](DType to, double f) {
    return EvalCast(DType::kF64, to, {f, 0}, Precision::kTyped).i;
  };
  EXPECT_EQ(to_int(DType::kI8, 300), 127);
  EXPECT_EQ(to_int(DType::kU8, -1.5), 0);
  EXPECT_EQ(to_int(DType::kI32, kNaN), 0);
  EXPECT_EQ(to_int(DType::kBool, kNaN), 1);
  EXPECT_EQ(to_int(DType::kBool, -0.0), 0);
  // f64 -> f16 rounds once, from the f64 value.
  const double above_midpoint = 1 + std::ldexp(1, -11) + std::ldexp(1, -40);
  EXPECT_EQ(EvalCast(DType::kF64, DType::kF16, {above_midpoint, 0}, Precision::kTyped).f,
            1 + std::ldexp(1, -10));
  EXPECT_EQ(EvalCast(DType::kF64, DType::kF32, {0.1, 0}, Precision::kDouble).f,
            static_cast<double>(0.1f));
}

TEST(OpSemanticsTest, CastsBetweenIntegers) {
  const auto cast = [](DType from, DType to, int64_t i) {
    return EvalCast(from, to, {0.0, i}, Precision::kTyped).i;
  };
  EXPECT_EQ(cast(DType::kI64, DType::kI8, 300), 44);
  EXPECT_EQ(cast(DType::kI8, DType::kU8, -1), 255);
  EXPECT_EQ(cast(DType::kI8, DType::kU64, -1), -1);  // sign-extended bits
  EXPECT_EQ(cast(DType::kU8, DType::kI8, 200), -56);
  EXPECT_EQ(cast(DType::kI64, DType::kBool, 256), 1);
  EXPECT_EQ(cast(DType::kBool, DType::kI32, 1), 1);
}

TEST(OpSemanticsTest, IndirectIndicesAreClamped) {
  EXPECT_EQ(ClampIndirect(DType::kI64, 3, 5), 3);
  EXPECT_EQ(ClampIndirect(DType::kI64, -1, 5), 4);
  EXPECT_EQ(ClampIndirect(DType::kI64, -5, 5), 0);
  EXPECT_EQ(ClampIndirect(DType::kI64, -6, 5), 0);
  EXPECT_EQ(ClampIndirect(DType::kI64, 5, 5), 4);
  EXPECT_EQ(ClampIndirect(DType::kI64, INT64_MIN, 5), 0);
  EXPECT_EQ(ClampIndirect(DType::kU64, INT64_MIN, 5), 4);  // 2^63, not negative
  EXPECT_EQ(ClampIndirect(DType::kI64, 3, 0), 0);
}

TEST(OpSemanticsTest, AllowedTypesAndExactness) {
  EXPECT_TRUE(OpAllowsType(OpCode::kAdd, DType::kU8));
  EXPECT_FALSE(OpAllowsType(OpCode::kAdd, DType::kBool));
  EXPECT_FALSE(OpAllowsType(OpCode::kExp, DType::kI32));
  EXPECT_TRUE(OpAllowsType(OpCode::kExp, DType::kBF16));
  EXPECT_TRUE(OpAllowsType(OpCode::kXor, DType::kBool));
  EXPECT_FALSE(OpAllowsType(OpCode::kShl, DType::kBool));
  EXPECT_FALSE(OpAllowsType(OpCode::kAnd, DType::kF32));
  EXPECT_TRUE(OpAllowsType(OpCode::kEq, DType::kBool));
  EXPECT_TRUE(IsExactOp(OpCode::kPow, DType::kI32));
  EXPECT_FALSE(IsExactOp(OpCode::kPow, DType::kF32));
  EXPECT_FALSE(IsExactOp(OpCode::kRsqrt, DType::kF32));
  EXPECT_TRUE(IsExactOp(OpCode::kSqrt, DType::kF16));
  EXPECT_TRUE(IsExactOp(OpCode::kLt, DType::kF32));
}

}  // namespace
}  // namespace stax
