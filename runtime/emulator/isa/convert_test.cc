#include "runtime/emulator/isa/convert.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "mpfr.h"
#include "runtime/emulator/isa/find_operation.h"
#include "runtime/emulator/isa/testing/mpfr_oracle.h"
#include "runtime/emulator/isa/testing/operation_runner.h"

namespace stax::isa {
namespace {

struct IntType {
  const char* name;
  int bits;
  bool is_signed;
};
constexpr IntType kInts[] = {{"u8", 8, false},   {"s8", 8, true},    {"u16", 16, false},
                             {"s16", 16, true},  {"u32", 32, false}, {"s32", 32, true},
                             {"u64", 64, false}, {"s64", 64, true}};
struct FloatTypeName {
  const char* name;
  OracleFormat format;
};
constexpr FloatTypeName kFloats[] = {
    {"f16", kOracleF16}, {"bf16", kOracleBF16}, {"f32", kOracleF32}, {"f64", kOracleF64}};
struct RoundingMode {
  const char* name;
  const char* to_integer;
  mpfr_rnd_t mode;
};
constexpr RoundingMode kRoundings[] = {{"rn", "rni", MPFR_RNDN},
                                       {"rz", "rzi", MPFR_RNDZ},
                                       {"rm", "rmi", MPFR_RNDD},
                                       {"rp", "rpi", MPFR_RNDU}};

uint64_t Mask(int bits) { return bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1; }
__int128 MinOf(const IntType& t) { return t.is_signed ? -(__int128{1} << (t.bits - 1)) : 0; }
__int128 MaxOf(const IntType& t) {
  return (__int128{1} << (t.is_signed ? t.bits - 1 : t.bits)) - 1;
}
__int128 ValueOf(const IntType& t, uint64_t bits) {
  const __int128 value = bits & Mask(t.bits);
  return value > MaxOf(t) ? value - (__int128{1} << t.bits) : value;
}
// The element of a register is at least 16 bits wide, extended by the type's sign.
uint64_t InRegister(const IntType& t, __int128 value) {
  return static_cast<uint64_t>(value) & Mask(t.bits == 8 ? 16 : t.bits);
}

std::vector<uint64_t> IntegerSamples() {
  std::vector<uint64_t> result;
  for (int shift = 0; shift < 64; ++shift) {
    for (int64_t delta = -2; delta <= 2; ++delta) {
      result.push_back((uint64_t{1} << shift) + delta);
      result.push_back(0 - (uint64_t{1} << shift) + delta);
      result.push_back((uint64_t{3} << shift) + delta);
    }
  }
  RandomBits random(1);
  for (int i = 0; i < 1000; ++i) result.push_back(random.Next() >> (random.Next() % 64));
  return result;
}

std::vector<uint64_t> FloatSamples(const OracleFormat& format) {
  std::vector<uint64_t> result = SpecialBits(format);
  if (format.bits == 16) {
    for (uint64_t i = 0; i < 65536; ++i) result.push_back(i);
    return result;
  }
  RandomBits random(2);
  for (int i = 0; i < 2000; ++i) {
    result.push_back(random.Next() >> (64 - format.bits));
    // Around what integers and halves can hold, ties among them.
    const int exponent = static_cast<int>(random.Next() % 100) - 30;
    const double value = std::ldexp(static_cast<double>(random.Next() % 4096), exponent);
    result.push_back(OracleBits(format, format.bits == 32 ? static_cast<float>(value) : value));
    result.push_back(result.back() ^ uint64_t{1} << (format.bits - 1));
    result.push_back(result.back() + random.Next() % 3 - 1);
  }
  return result;
}

TEST(ConvertTest, IntegerToInteger) {
  const std::vector<uint64_t> samples = IntegerSamples();
  for (const IntType& from : kInts) {
    for (const IntType& to : kInts) {
      const OperationRunner wrap(absl::StrCat("cvt.", to.name, ".", from.name));
      const OperationRunner clamp(absl::StrCat("cvt.sat.", to.name, ".", from.name));
      for (const uint64_t bits : samples) {
        const __int128 value = ValueOf(from, bits);
        ASSERT_EQ(wrap(bits), InRegister(to, ValueOf(to, static_cast<uint64_t>(value))))
            << to.name << from.name << bits;
        const __int128 clamped = std::min(std::max(value, MinOf(to)), MaxOf(to));
        ASSERT_EQ(clamp(bits), InRegister(to, clamped)) << to.name << from.name << bits;
      }
      EXPECT_EQ(wrap.operation().result_signed, to.is_signed);
    }
  }
}

TEST(ConvertTest, IntegerToFloat) {
  const std::vector<uint64_t> samples = IntegerSamples();
  for (const IntType& from : kInts) {
    for (const FloatTypeName& to : kFloats) {
      for (const RoundingMode& rounding : kRoundings) {
        const std::string name = absl::StrCat("cvt.", rounding.name, ".", to.name, ".", from.name);
        const OperationRunner run(name);
        for (const uint64_t bits : samples) {
          const __int128 value = ValueOf(from, bits);
          BigFloat big;
          mpfr_set_d(big.get(), static_cast<double>(static_cast<int64_t>(value >> 32)), MPFR_RNDN);
          mpfr_mul_2ui(big.get(), big.get(), 32, MPFR_RNDN);
          mpfr_add_ui(big.get(), big.get(), static_cast<uint32_t>(value), MPFR_RNDN);
          ASSERT_EQ(run(bits), big.Round(to.format, rounding.mode)) << name << " " << bits;
        }
      }
    }
  }
}

TEST(ConvertTest, FloatToInteger) {
  for (const FloatTypeName& from : kFloats) {
    const std::vector<uint64_t> samples = FloatSamples(from.format);
    for (const IntType& to : kInts) {
      for (const RoundingMode& rounding : kRoundings) {
        if (from.format.bits == 16 && to.bits % 3 == 1) continue;  // exhaustive, but not everywhere
        const std::string name =
            absl::StrCat("cvt.", rounding.to_integer, ".", to.name, ".", from.name);
        const OperationRunner run(name);
        for (const uint64_t bits : samples) {
          const double value = OracleValue(from.format, bits);
          __int128 expected = 0;
          if (std::isnan(value)) {
            const bool wide = to.bits == 64 || from.format.bits == 64;
            expected = wide ? __int128{1} << (to.bits - 1) : 0;
            expected = ValueOf(to, static_cast<uint64_t>(expected));
          } else if (value >= 0x1p65) {
            expected = MaxOf(to);
          } else if (value <= -0x1p65) {
            expected = MinOf(to);
          } else {
            mpfr_t big;
            mpfr_init2(big, 200);
            mpfr_set_d(big, value, MPFR_RNDN);
            mpfr_rint(big, big, rounding.mode);
            expected = static_cast<__int128>(mpfr_get_d(big, MPFR_RNDN));  // exact
            mpfr_clear(big);
            expected = std::min(std::max(expected, MinOf(to)), MaxOf(to));
          }
          ASSERT_EQ(run(bits), InRegister(to, expected)) << name << " " << value;
        }
      }
    }
  }
}

TEST(ConvertTest, FloatToFloat) {
  for (const FloatTypeName& from : kFloats) {
    const std::vector<uint64_t> samples = FloatSamples(from.format);
    for (const FloatTypeName& to : kFloats) {
      const bool same = absl::string_view(from.name) == to.name;
      const bool narrows = !same && to.format.bits <= from.format.bits;
      for (const RoundingMode& rounding : kRoundings) {
        if (!narrows && !same && rounding.mode != MPFR_RNDN) continue;
        std::string modifiers;
        if (narrows) modifiers = absl::StrCat(".", rounding.name);
        if (same) modifiers = absl::StrCat(".", rounding.to_integer);
        const std::string name = absl::StrCat("cvt", modifiers, ".", to.name, ".", from.name);
        const OperationRunner run(name);
        for (const uint64_t bits : samples) {
          BigFloat big(from.format, bits);
          if (same) mpfr_rint(big.get(), big.get(), rounding.mode);
          const uint64_t expected = big.Round(to.format, rounding.mode);
          const uint64_t actual = run(bits);
          if (same && from.format.bits == 64 && OracleIsNan(from.format, bits)) continue;
          ASSERT_EQ(actual, expected) << name << " " << std::hex << bits;
        }
      }
    }
  }
}

TEST(ConvertTest, FloatModifiers) {
  const OperationRunner ftz("cvt.rn.ftz.f16.f32"), widening("cvt.ftz.f32.f16");
  EXPECT_EQ(ftz(0x80000001), 0x8000u);
  EXPECT_EQ(ftz(0x33800000), 0x0001u);  // a subnormal f16, but no subnormal f32
  EXPECT_EQ(widening(0x0001), 0x33800000u);
  const OperationRunner bf16("cvt.ftz.f32.bf16"), sat("cvt.rn.sat.f16.f32"),
      both("cvt.ftz.sat.f32.f32");
  EXPECT_EQ(bf16(0x0001), 0u);
  EXPECT_EQ(sat(0x40000000), 0x3c00u);
  EXPECT_EQ(sat(0xc0000000), 0u);
  EXPECT_EQ(sat(0x7fc00000), 0u);
  EXPECT_EQ(both(0x00000001), 0u);
  EXPECT_EQ(both(0x3f000000), 0x3f000000u);
  const OperationRunner relu("cvt.rn.relu.bf16.f32"), finite("cvt.rn.satfinite.bf16.f32");
  EXPECT_EQ(relu(0xc0000000), 0u);
  EXPECT_EQ(relu(0x40000000), 0x4000u);
  EXPECT_EQ(relu(0xffc00000), 0x7fffu);
  EXPECT_EQ(finite(0x7f800000), 0x7f7fu);
  EXPECT_EQ(finite(0xff7fffff), 0xff7fu);
  EXPECT_EQ(finite(0x7fc00000), 0x7fffu);
  const OperationRunner wide("cvt.rn.sat.f32.s32");
  EXPECT_EQ(wide(5), 0x3f800000u);
  EXPECT_EQ(wide(0xfffffffb), 0u);
}

TEST(ConvertTest, OnlyWhatTheIsaHas) {
  for (const absl::string_view name :
       {"cvt.s32.f32", "cvt.f32.s32", "cvt.f16.f32", "cvt.rn.f32.f16", "cvt.rn.s32.f32",
        "cvt.rzi.f32.s32", "cvt.ftz.f64.f16", "cvt.rn.relu.f32.f64", "cvt.rm.relu.f16.f32",
        "cvt.rni.f16.f32", "cvt.rn.u32.u32", "cvt.ftz.u32.u16", "cvt.f32", "cvt.rn.b32.f32",
        "cvt.rn.sat.bf16.f32"}) {
    EXPECT_FALSE(FindWarpOperation(name).has_value()) << name;
  }
}

}  // namespace
}  // namespace stax::isa
