#include "runtime/emulator/isa/float_functions.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/base/casts.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "mpfr.h"
#include "runtime/emulator/isa/find_operation.h"
#include "runtime/emulator/isa/testing/mpfr_oracle.h"
#include "runtime/emulator/isa/testing/operation_runner.h"

namespace stax::isa {
namespace {

using MpfrFunction = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
int Reciprocal(mpfr_ptr d, mpfr_srcptr a, mpfr_rnd_t mode) { return mpfr_ui_div(d, 1, a, mode); }
// MPFR's 1 / sqrt(-0) is +infinity; that of IEEE 754 and the ISA is -infinity.
int ReciprocalSqrt(mpfr_ptr d, mpfr_srcptr a, mpfr_rnd_t mode) {
  return mpfr_zero_p(a) != 0 ? mpfr_ui_div(d, 1, a, mode) : mpfr_rec_sqrt(d, a, mode);
}

constexpr struct {
  const char* name;
  MpfrFunction function;
} kFunctions[] = {{"rcp", &Reciprocal}, {"rsqrt", &ReciprocalSqrt}, {"sqrt", &mpfr_sqrt},
                  {"sin", &mpfr_sin},   {"cos", &mpfr_cos},         {"lg2", &mpfr_log2},
                  {"ex2", &mpfr_exp2},  {"tanh", &mpfr_tanh}};

// The function rounded once to the format, from 200 bits.
uint64_t Oracle(MpfrFunction function, const OracleFormat& format, uint64_t bits, bool ftz) {
  if (ftz) bits = OracleFlush(format, bits);
  BigFloat a(format, bits), d;
  mpfr_prec_round(a.get(), 60, MPFR_RNDN);  // exact, and MPFR takes less time
  mpfr_set_prec(d.get(), 200);
  function(d.get(), a.get(), MPFR_RNDN);
  const uint64_t result = d.Round(format, MPFR_RNDN);
  return ftz ? OracleFlush(format, result) : result;
}

TEST(FloatFunctionsTest, ApproximateF32IsRoundedToNearest) {
  std::vector<uint64_t> samples = SpecialBits(kOracleF32);
  RandomBits random(1);
  for (int i = 0; i < 3000; ++i) {
    samples.push_back(random.Next() >> 32);
    // Around 1, where sin, lg2 and ex2 are used.
    samples.push_back(0x3a000000 + random.Next() % 0x0a000000);
    samples.push_back(samples.back() | 0x80000000);
  }
  for (const auto& [name, function] : kFunctions) {
    for (const bool ftz : {false, true}) {
      if (ftz && function == &mpfr_tanh) continue;
      const OperationRunner run(absl::StrCat(name, ".approx", ftz ? ".ftz" : "", ".f32"));
      for (const uint64_t bits : samples) {
        ASSERT_EQ(run(bits), Oracle(function, kOracleF32, bits, ftz))
            << name << " " << std::hex << bits;
      }
    }
  }
}

TEST(FloatFunctionsTest, ApproximateHalves) {
  const OperationRunner tanh_f16("tanh.approx.f16"), tanh_bf16("tanh.approx.bf16");
  const OperationRunner tanh_f16x2("tanh.approx.f16x2"), tanh_bf16x2("tanh.approx.bf16x2");
  const OperationRunner ex2_f16("ex2.approx.f16"), ex2_bf16("ex2.approx.ftz.bf16");
  const OperationRunner ex2_f16x2("ex2.approx.f16x2"), ex2_bf16x2("ex2.approx.ftz.bf16x2");
  for (uint64_t i = 0; i < 65536; ++i) {
    ASSERT_EQ(tanh_f16(i), Oracle(&mpfr_tanh, kOracleF16, i, false)) << i;
    ASSERT_EQ(tanh_bf16(i), Oracle(&mpfr_tanh, kOracleBF16, i, false)) << i;
    ASSERT_EQ(ex2_f16(i), Oracle(&mpfr_exp2, kOracleF16, i, false)) << i;
    ASSERT_EQ(ex2_bf16(i), Oracle(&mpfr_exp2, kOracleBF16, i, true)) << i;
    const uint64_t j = i * 40503 % 65536, pair = i | j << 16;
    ASSERT_EQ(tanh_f16x2(pair), tanh_f16(i) | tanh_f16(j) << 16);
    ASSERT_EQ(tanh_bf16x2(pair), tanh_bf16(i) | tanh_bf16(j) << 16);
    ASSERT_EQ(ex2_f16x2(pair), ex2_f16(i) | ex2_f16(j) << 16);
    ASSERT_EQ(ex2_bf16x2(pair), ex2_bf16(i) | ex2_bf16(j) << 16);
  }
}

TEST(FloatFunctionsTest, ApproximateDivision) {
  const OperationRunner approx("div.approx.f32"), full("div.full.f32"), ftz("div.full.ftz.f32");
  RandomBits random(2);
  for (int i = 0; i < 20000; ++i) {
    const uint64_t a = random.Next() >> 32, b = random.Next() >> 32;
    BigFloat x(kOracleF32, a), y(kOracleF32, b), q;
    mpfr_div(q.get(), x.get(), y.get(), MPFR_RNDN);
    const uint64_t expected = q.Round(kOracleF32, MPFR_RNDN);
    ASSERT_EQ(full(a, b), expected);
    if ((b & 0x7fffffff) <= 0x7e800000) ASSERT_EQ(approx(a, b), expected);
  }
  EXPECT_EQ(approx(0x40000000, 0x7e800001), 0u);           // above 2^126
  EXPECT_EQ(approx(0x7f800000, 0x7f000000), 0x7fffffffu);  // infinity by 2^127
  EXPECT_EQ(approx(0x7f800000, 0x7e800000), 0x7f800000u);  // infinity by 2^126
  EXPECT_EQ(approx(0x40000000, 0x7f800000), 0u);
  EXPECT_EQ(ftz(0x3f800000, 0x00000001), 0x7f800000u);
}

TEST(FloatFunctionsTest, F64FormsUseTheUpperHalf) {
  const OperationRunner rcp("rcp.approx.ftz.f64"), rsqrt("rsqrt.approx.ftz.f64");
  RandomBits random(3);
  for (int i = 0; i < 20000; ++i) {
    const double a = std::ldexp(1 + static_cast<double>(random.Next() >> 12) * 0x1p-52,
                                static_cast<int>(random.Next() % 2000) - 1000);
    const uint64_t bits = OracleBits(kOracleF64, a);
    const double r = OracleValue(kOracleF64, rcp(bits)), s = OracleValue(kOracleF64, rsqrt(bits));
    ASSERT_EQ(rcp(bits) & 0xffffffff, 0u);
    ASSERT_EQ(rsqrt(bits) & 0xffffffff, 0u);
    // 20 bits of the operand and of the result: 2^-20 and 2^-21 relative.
    ASSERT_NEAR(r * a, 1, 0x1.9p-20) << a;
    ASSERT_NEAR(s * s * a, 1, 0x1.9p-19) << a;
  }
  const OperationRunner full("rsqrt.approx.f64");
  EXPECT_EQ(full(0x0000000000000001), 0x6180000000000000u);  // 2^-1074: subnormal numbers count
  for (int i = 0; i < 2000; ++i) {
    const uint64_t bits = random.Next() >> 1 & ~(uint64_t{1} << 62);
    const uint64_t expected = Oracle(&ReciprocalSqrt, kOracleF64, bits, false);
    ASSERT_LE(full(bits) - expected + 1, 2u) << bits;  // within 1 ulp
  }
  EXPECT_EQ(full(0x8000000000000000), 0xfff0000000000000u);
  EXPECT_EQ(rcp(0x0000000100000000), 0x7ff0000000000000u);  // subnormal
  EXPECT_EQ(rcp(0x8000000000000000), 0xfff0000000000000u);
  EXPECT_EQ(rcp(0xfff0000000000000), 0x8000000000000000u);
  EXPECT_EQ(rcp(0x7fefffffffffffff), 0u);  // the result would be subnormal
  EXPECT_TRUE(std::isnan(OracleValue(kOracleF64, rcp(0x7ff0000000000001))));
  EXPECT_EQ(rsqrt(0x8000000000000000), 0xfff0000000000000u);
  EXPECT_TRUE(std::isnan(OracleValue(kOracleF64, rsqrt(0xbff0000000000000))));
}

// min and max in terms of comparisons of doubles.
uint64_t MinMaxOracle(const OracleFormat& format, bool max, bool nan, bool xorsign, uint64_t a,
                      uint64_t b) {
  const uint64_t sign = uint64_t{1} << (format.bits - 1);
  if (xorsign) {
    const uint64_t result = MinMaxOracle(format, max, nan, false, a & ~sign, b & ~sign);
    return OracleIsNan(format, result) ? result : result | ((a ^ b) & sign);
  }
  const double x = OracleValue(format, a), y = OracleValue(format, b);
  if (std::isnan(x) && std::isnan(y)) return sign - 1;
  if (nan && (std::isnan(x) || std::isnan(y))) return sign - 1;
  if (std::isnan(x)) return b;
  if (std::isnan(y)) return a;
  if (x == 0 && y == 0) return std::signbit(x) != max ? a : b;
  return (x < y) != max ? a : b;
}

TEST(FloatFunctionsTest, MinMax) {
  constexpr struct {
    const char* name;
    OracleFormat format;
    bool may_flush;
  } kTypes[] = {{"f16", kOracleF16, true},
                {"bf16", kOracleBF16, false},
                {"f32", kOracleF32, true},
                {"f64", kOracleF64, false}};
  for (const auto& type : kTypes) {
    std::vector<uint64_t> samples = SpecialBits(type.format);
    RandomBits random(4);
    for (int i = 0; i < 60; ++i) samples.push_back(random.Next() >> (64 - type.format.bits));
    for (int variant = 0; variant < 16; ++variant) {
      const bool max = (variant & 1) != 0, nan = (variant & 2) != 0, xorsign = (variant & 4) != 0;
      const bool ftz = (variant & 8) != 0;
      if ((ftz && !type.may_flush) || (type.format.bits == 64 && (nan || xorsign))) continue;
      const std::string modifiers =
          absl::StrCat(max ? "max" : "min", ftz ? ".ftz" : "", nan ? ".NaN" : "",
                       xorsign ? ".xorsign.abs." : ".", type.name);
      const OperationRunner run(modifiers);
      for (const uint64_t a : samples) {
        for (const uint64_t b : samples) {
          const uint64_t x = ftz ? OracleFlush(type.format, a) : a;
          const uint64_t y = ftz ? OracleFlush(type.format, b) : b;
          ASSERT_EQ(run(a, b), MinMaxOracle(type.format, max, nan, xorsign, x, y))
              << modifiers << std::hex << " " << a << " " << b;
        }
      }
    }
  }
  const OperationRunner pair("min.NaN.f16x2"), other("max.bf16x2");
  EXPECT_EQ(pair(0x3c00c000, 0x7e003c00), 0x7fffc000u);
  EXPECT_EQ(other(0x3f80bf80, 0x40000000), 0x40000000u);
}

TEST(FloatFunctionsTest, Signs) {
  const OperationRunner neg("neg.f16x2"), abs("abs.ftz.f32"), negf("neg.ftz.f32"), abs64("abs.f64");
  const OperationRunner copy("copysign.f32"), copy64("copysign.f64"), bf("abs.bf16");
  EXPECT_EQ(neg(0x3c008000), 0xbc000000u);
  EXPECT_EQ(abs(0x80000001), 0u);
  EXPECT_EQ(abs(0xbf800000), 0x3f800000u);
  EXPECT_EQ(negf(0x00000001), 0x80000000u);
  EXPECT_EQ(abs64(0xc000000000000000), 0x4000000000000000u);
  EXPECT_EQ(copy(0x80000000, 0x3f800000), 0xbf800000u);  // the sign of the first source
  EXPECT_EQ(copy64(0, 0xbff0000000000000), 0x3ff0000000000000u);
  EXPECT_EQ(bf(0xbf80), 0x3f80u);
}

TEST(FloatFunctionsTest, OnlyWhatTheIsaHas) {
  for (const absl::string_view name :
       {"sin.f32", "sin.approx.f64", "tanh.approx.ftz.f32", "ex2.approx.bf16", "ex2.approx.ftz.f16",
        "rcp.approx.f64", "neg.ftz.f64", "min.NaN.f64", "min.xorsign.f32", "min.ftz.bf16",
        "copysign.f16", "div.full.f64", "div.approx.f16", "tanh.approx.f64", "lg2.approx.f16"}) {
    EXPECT_FALSE(FindWarpOperation(name).has_value()) << name;
  }
}

}  // namespace
}  // namespace stax::isa
