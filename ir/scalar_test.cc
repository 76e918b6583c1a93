#include "ir/scalar.h"

#include <mpfr.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace stax {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::string Text(const Scalar& s) { return ToText(s); }

uint64_t Bits(double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

// Rounding by MPFR in the given format, to nearest even.
class MpfrFormat {
 public:
  MpfrFormat(int precision, int min_exponent, int max_exponent)
      : min_(min_exponent - precision + 2), max_(max_exponent + 1) {
    mpfr_init2(x_, precision);
  }
  ~MpfrFormat() { mpfr_clear(x_); }

  double Round(double value) {
    const mpfr_exp_t old_min = mpfr_get_emin(), old_max = mpfr_get_emax();
    mpfr_set_emin(min_);
    mpfr_set_emax(max_);
    const int inexact = mpfr_set_d(x_, value, MPFR_RNDN);
    mpfr_subnormalize(x_, inexact, MPFR_RNDN);
    mpfr_set_emin(old_min);
    mpfr_set_emax(old_max);
    return mpfr_get_d(x_, MPFR_RNDN);
  }

 private:
  mpfr_t x_;
  const mpfr_exp_t min_, max_;
};

// Doubles that make rounding to `t` hard: every value of the half types, the midpoints between
// neighbours, and the doubles next to both.
std::vector<double> HardCases(DType t) {
  std::vector<double> cases;
  for (int bits = 0; bits < 0x7fff; ++bits) {
    const uint16_t low = static_cast<uint16_t>(bits), high = static_cast<uint16_t>(bits + 1);
    const double a = LoadScalar(t, &low).f, b = LoadScalar(t, &high).f;
    if (!std::isfinite(a)) break;
    // Beyond the largest value the midpoint is the one with the next power of two.
    const uint16_t before = static_cast<uint16_t>(bits - 1);
    const double step = std::isfinite(b) ? b - a : a - LoadScalar(t, &before).f;
    for (double c : {a, a + step / 2}) {
      cases.push_back(c);
      cases.push_back(std::nextafter(c, kInf));
      cases.push_back(std::nextafter(c, -kInf));
    }
  }
  return cases;
}

void CheckAgainstMpfr(DType t, MpfrFormat format) {
  std::vector<double> cases = HardCases(t);
  ASSERT_GT(cases.size(), 180000u);
  for (double c : {5e-324, 1e-300, 1e300, std::numeric_limits<double>::max()}) cases.push_back(c);
  std::mt19937_64 random(1);
  for (int i = 0; i < 100000; ++i)  // exponents from far below to far above the type's
    cases.push_back(
        std::ldexp(static_cast<double>(random()), static_cast<int>(random() % 340) - 234));
  for (double c : cases) {
    ASSERT_EQ(Bits(RoundTo(t, c)), Bits(format.Round(c))) << c;
    ASSERT_EQ(Bits(RoundTo(t, -c)), Bits(format.Round(-c))) << c;
  }
}

TEST(ScalarTest, RoundsF16LikeMpfr) { CheckAgainstMpfr(DType::kF16, MpfrFormat(11, -14, 15)); }
TEST(ScalarTest, RoundsBF16LikeMpfr) { CheckAgainstMpfr(DType::kBF16, MpfrFormat(8, -126, 127)); }

TEST(ScalarTest, RoundingKeepsSpecials) {
  for (DType t : {DType::kF16, DType::kBF16, DType::kF32, DType::kF64}) {
    EXPECT_EQ(RoundTo(t, kInf), kInf);
    EXPECT_EQ(RoundTo(t, -kInf), -kInf);
    EXPECT_TRUE(std::isnan(RoundTo(t, kNaN)));
    EXPECT_EQ(Bits(RoundTo(t, -0.0)), Bits(-0.0));
  }
  EXPECT_EQ(RoundTo(DType::kF32, 0.1), static_cast<double>(0.1f));
  EXPECT_EQ(RoundTo(DType::kF64, 0.1), 0.1);
}

// Values by NumPy 1.24: float16(x).
TEST(ScalarTest, RoundsF16LikeNumPy) {
  EXPECT_EQ(RoundTo(DType::kF16, 65519.0), 65504.0);
  EXPECT_EQ(RoundTo(DType::kF16, 65520.0), kInf);
  EXPECT_EQ(RoundTo(DType::kF16, 1 + std::ldexp(1, -11)), 1.0);
  EXPECT_EQ(RoundTo(DType::kF16, 1 + std::ldexp(1, -11) + std::ldexp(1, -30)), 1.0009765625);
  EXPECT_EQ(RoundTo(DType::kF16, std::ldexp(1, -25)), 0.0);
  EXPECT_EQ(RoundTo(DType::kF16, std::ldexp(1 + 1e-10, -25)), 5.960464477539063e-08);
  EXPECT_EQ(RoundTo(DType::kF16, 6.1e-5), 6.097555160522461e-05);
}

TEST(ScalarTest, IntegersWrap) {
  EXPECT_EQ(Scalar::Int(DType::kI8, 200).i, -56);
  EXPECT_EQ(Scalar::Int(DType::kU8, -1).i, 255);
  EXPECT_EQ(Scalar::Int(DType::kI16, 40000).i, -25536);
  EXPECT_EQ(Scalar::Int(DType::kU16, 65537).i, 1);
  EXPECT_EQ(Scalar::Int(DType::kI32, int64_t{1} << 31).i, INT32_MIN);
  EXPECT_EQ(Scalar::Int(DType::kU32, -1).i, 4294967295);
  EXPECT_EQ(Scalar::Int(DType::kU64, -1).i, -1);
  EXPECT_EQ(Scalar::Int(DType::kBool, 6).i, 1);
}

TEST(ScalarTest, FromDoubleTruncatesAndSaturates) {
  EXPECT_EQ(Scalar::FromDouble(DType::kI32, 2.9).i, 2);
  EXPECT_EQ(Scalar::FromDouble(DType::kI32, -2.9).i, -2);
  EXPECT_EQ(Scalar::FromDouble(DType::kI8, 300).i, 127);
  EXPECT_EQ(Scalar::FromDouble(DType::kI8, -300).i, -128);
  EXPECT_EQ(Scalar::FromDouble(DType::kI8, -128.9).i, -128);
  EXPECT_EQ(Scalar::FromDouble(DType::kU8, -0.9).i, 0);
  EXPECT_EQ(Scalar::FromDouble(DType::kU16, 1e9).i, 65535);
  EXPECT_EQ(Scalar::FromDouble(DType::kI16, 1e9).i, 32767);
  EXPECT_EQ(Scalar::FromDouble(DType::kU32, 1e10).i, 4294967295);
  EXPECT_EQ(Scalar::FromDouble(DType::kI64, kInf).i, INT64_MAX);
  EXPECT_EQ(Scalar::FromDouble(DType::kI64, std::ldexp(1, 63)).i, INT64_MAX);
  EXPECT_EQ(Scalar::FromDouble(DType::kI64, -kInf).i, INT64_MIN);
  EXPECT_EQ(Scalar::FromDouble(DType::kU64, std::ldexp(1, 63)).i, INT64_MIN);  // the bits of 2^63
  EXPECT_EQ(Scalar::FromDouble(DType::kU64, std::ldexp(1, 64)).i, -1);         // 2^64 - 1
  EXPECT_EQ(Scalar::FromDouble(DType::kU64, -5).i, 0);
  EXPECT_EQ(Scalar::FromDouble(DType::kI32, kNaN).i, 0);
  EXPECT_EQ(Scalar::FromDouble(DType::kBool, kNaN).i, 1);
  EXPECT_EQ(Scalar::FromDouble(DType::kBool, 1e-300).i, 1);
  EXPECT_EQ(Scalar::FromDouble(DType::kBool, -0.0).i, 0);
  EXPECT_EQ(Scalar::FromDouble(DType::kF16, 1e6).f, kInf);
}

TEST(ScalarTest, EqualityIsByBits) {
  EXPECT_TRUE(Scalar::Float(DType::kF32, kNaN) == Scalar::Float(DType::kF32, -kNaN));
  EXPECT_FALSE(Scalar::Float(DType::kF32, 0.0) == Scalar::Float(DType::kF32, -0.0));
  EXPECT_FALSE(Scalar::Float(DType::kF32, 1) == Scalar::Float(DType::kF64, 1));
  EXPECT_FALSE(Scalar::Float(DType::kF32, kNaN) == Scalar::Float(DType::kF32, 1));
  EXPECT_TRUE(Scalar::Int(DType::kI8, 200) == Scalar::Int(DType::kI8, -56));
  EXPECT_FALSE(Scalar::Int(DType::kI8, 2) == Scalar::Int(DType::kI8, 3));
}

TEST(ScalarTest, Text) {
  EXPECT_EQ(Text(Scalar::Float(DType::kF32, 0.5)), "0.5");
  EXPECT_EQ(Text(Scalar::Float(DType::kF32, -0.0)), "-0.0");
  EXPECT_EQ(Text(Scalar::Float(DType::kF32, 2)), "2.0");
  EXPECT_EQ(Text(Scalar::Float(DType::kF32, 0.1)), "0.1");
  EXPECT_EQ(Text(Scalar::Float(DType::kF64, 0.1)), "0.1");
  EXPECT_EQ(Text(Scalar::Float(DType::kF16, 0.1)), "0.1");
  EXPECT_EQ(Text(Scalar::Float(DType::kBF16, 3.140625)), "3.14");
  EXPECT_EQ(Text(Scalar::Float(DType::kF32, kInf)), "inf");
  EXPECT_EQ(Text(Scalar::Float(DType::kF32, -kInf)), "-inf");
  EXPECT_EQ(Text(Scalar::Float(DType::kF32, -kNaN)), "nan");
  EXPECT_EQ(Text(Scalar::Float(DType::kF32, 1e30)), "1e+30");
  EXPECT_EQ(Text(Scalar::Int(DType::kI32, -42)), "-42");
  EXPECT_EQ(Text(Scalar::Int(DType::kU64, -1)), "18446744073709551615");
  EXPECT_EQ(Text(Scalar::Int(DType::kBool, 1)), "true");
  EXPECT_EQ(Text(Scalar::Int(DType::kBool, 0)), "false");
}

void CheckRoundTrip(const Scalar& s) {
  const absl::StatusOr<Scalar> parsed = ParseScalar(s.dtype, ToText(s));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  ASSERT_TRUE(*parsed == s) << ToText(s);
}

TEST(ScalarTest, TextOfEveryHalfParsesBack) {
  for (DType t : {DType::kF16, DType::kBF16}) {
    for (int bits = 0; bits < 0x10000; ++bits) {
      const uint16_t memory = static_cast<uint16_t>(bits);
      CheckRoundTrip(LoadScalar(t, &memory));
    }
  }
}

TEST(ScalarTest, TextOfRandomValuesParsesBack) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 100000; ++i) {
    const uint64_t bits = random();
    for (int t = 0; t < kNumDTypes; ++t) CheckRoundTrip(LoadScalar(static_cast<DType>(t), &bits));
  }
}

// 1 + 2^-24 is halfway between the f32 numbers 1 and 1 + 2^-23; a hair more rounds up. The double
// nearest to the text is the midpoint itself, which would round to even, down.
TEST(ScalarTest, ParsingRoundsOnce) {
  const absl::StatusOr<Scalar> s = ParseScalar(DType::kF32, "1.0000000596046447753906250000000001");
  ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_EQ(s->f, 1.00000011920928955078125);
}

TEST(ScalarTest, ParsingRefusesWhatIsNoValueOfTheType) {
  const auto fails = [](DType t, std::string_view text) {
    const absl::StatusOr<Scalar> s = ParseScalar(t, text);
    return !s.ok() && s.status().code() == absl::StatusCode::kInvalidArgument;
  };
  for (std::string_view text :
       {"", " 1", "1 ", "0x1p3", "Infinity", "+inf", "NaN", "nan(1)", "1.5.2", "--1", "1e", "abc"})
    EXPECT_TRUE(fails(DType::kF32, text) && fails(DType::kF64, text)) << text;
  EXPECT_TRUE(fails(DType::kF32, "1e39"));
  EXPECT_TRUE(fails(DType::kF64, "1e309"));
  EXPECT_TRUE(fails(DType::kF16, "65520"));
  EXPECT_FALSE(fails(DType::kF16, "65519"));
  for (std::string_view text : {"", " 1", "1.0", "128", "-129", "0x10", "+1", "true"})
    EXPECT_TRUE(fails(DType::kI8, text)) << text;
  EXPECT_TRUE(fails(DType::kU8, "-1"));
  EXPECT_TRUE(fails(DType::kU64, "-1"));
  EXPECT_TRUE(fails(DType::kU64, "18446744073709551616"));
  EXPECT_TRUE(fails(DType::kI64, "9223372036854775808"));
  EXPECT_TRUE(fails(DType::kBool, "1"));
  EXPECT_EQ(std::string(ParseScalar(DType::kI8, "128").status().message()),
            "expected a literal of type i8, got '128'");
}

TEST(ScalarTest, MemoryRoundTripsEveryHalf) {
  for (DType t : {DType::kF16, DType::kBF16}) {
    for (int bits = 0; bits < 0x10000; ++bits) {
      const uint16_t before = static_cast<uint16_t>(bits);
      const Scalar s = LoadScalar(t, &before);
      if (std::isnan(s.f)) continue;
      uint16_t after = 0;
      StoreScalar(s, &after);
      ASSERT_EQ(before, after);
    }
  }
}

TEST(ScalarTest, HalfBits) {
  const auto load = [](DType t, uint16_t bits) { return LoadScalar(t, &bits).f; };
  EXPECT_EQ(load(DType::kF16, 0x3c00), 1.0);
  EXPECT_EQ(load(DType::kF16, 0xc000), -2.0);
  EXPECT_EQ(load(DType::kF16, 0x7bff), 65504.0);
  EXPECT_EQ(load(DType::kF16, 0x0001), std::ldexp(1, -24));
  EXPECT_EQ(load(DType::kF16, 0xfc00), -kInf);
  EXPECT_TRUE(std::isnan(load(DType::kF16, 0x7c01)));
  EXPECT_EQ(load(DType::kBF16, 0x3f80), 1.0);
  EXPECT_EQ(load(DType::kBF16, 0x0001), std::ldexp(1, -133));
  EXPECT_EQ(load(DType::kBF16, 0x7f80), kInf);
  EXPECT_TRUE(std::isnan(load(DType::kBF16, 0xffff)));
  // bf16 is the upper half of f32.
  for (int bits = 0; bits < 0x7f80; ++bits) {
    const uint32_t wide = static_cast<uint32_t>(bits) << 16;
    float f;
    std::memcpy(&f, &wide, sizeof(f));
    ASSERT_EQ(load(DType::kBF16, static_cast<uint16_t>(bits)), f);
  }
}

TEST(ScalarTest, MemoryOfTheOtherTypes) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 1000; ++i) {
    for (DType t : {DType::kI8, DType::kI16, DType::kI32, DType::kI64, DType::kU8, DType::kU16,
                    DType::kU32, DType::kU64, DType::kF32, DType::kF64}) {
      const uint64_t before = random();
      const Scalar s = LoadScalar(t, &before);
      if (std::isnan(s.f)) continue;
      uint64_t after = 0;
      StoreScalar(s, &after);
      ASSERT_EQ(std::memcmp(&before, &after, DTypeBytes(t)), 0) << DTypeName(t);
    }
  }
  const uint8_t odd_bool = 7;
  EXPECT_EQ(LoadScalar(DType::kBool, &odd_bool).i, 1);
  const int8_t minus_two = -2;
  EXPECT_EQ(LoadScalar(DType::kI8, &minus_two).i, -2);
  EXPECT_EQ(LoadScalar(DType::kU8, &minus_two).i, 254);
}

TEST(ScalarTest, NaNsAreStoredAlike) {
  uint32_t f32 = 0;
  StoreScalar(Scalar::Float(DType::kF32, -kNaN), &f32);
  EXPECT_EQ(f32, 0x7fc00000u);
  uint64_t f64 = 0;
  StoreScalar(Scalar::Float(DType::kF64, -kNaN), &f64);
  EXPECT_EQ(f64, 0x7ff8000000000000u);
  uint16_t half = 0;
  StoreScalar(Scalar::Float(DType::kF16, -kNaN), &half);
  EXPECT_EQ(half, 0x7e00);
  StoreScalar(Scalar::Float(DType::kBF16, -kNaN), &half);
  EXPECT_EQ(half, 0x7fc0);
}

}  // namespace
}  // namespace stax
