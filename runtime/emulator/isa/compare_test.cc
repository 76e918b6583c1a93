#include "runtime/emulator/isa/compare.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "runtime/emulator/isa/testing/mpfr_oracle.h"
#include "runtime/emulator/isa/testing/operation_runner.h"
#include "runtime/emulator/isa/warp_operation.h"

namespace stax::isa {
namespace {

struct FloatComparison {
  const char* name;
  std::function<bool(double, double)> holds;
};
bool Unordered(double a, double b) { return std::isnan(a) || std::isnan(b); }
const FloatComparison kFloatComparisons[] = {
    {"eq", [](double a, double b) { return a == b; }},
    {"ne", [](double a, double b) { return !Unordered(a, b) && a != b; }},
    {"lt", [](double a, double b) { return a < b; }},
    {"le", [](double a, double b) { return a <= b; }},
    {"gt", [](double a, double b) { return a > b; }},
    {"ge", [](double a, double b) { return a >= b; }},
    {"equ", [](double a, double b) { return Unordered(a, b) || a == b; }},
    {"neu", [](double a, double b) { return a != b; }},
    {"ltu", [](double a, double b) { return !(a >= b); }},
    {"leu", [](double a, double b) { return !(a > b); }},
    {"gtu", [](double a, double b) { return !(a <= b); }},
    {"geu", [](double a, double b) { return !(a < b); }},
    {"num", [](double a, double b) { return !Unordered(a, b); }},
    {"nan", [](double a, double b) { return Unordered(a, b); }}};

// Compares one pair in a lane of its own.
bool Holds(CompareFunction function, int bytes, uint64_t a, uint64_t b) {
  alignas(8) uint8_t x[256] = {}, y[256] = {};
  constexpr int kLane = 13;
  std::memcpy(x + kLane * bytes, &a, bytes);
  std::memcpy(y + kLane * bytes, &b, bytes);
  const uint32_t result = function(uint32_t{1} << kLane, x, y);
  EXPECT_EQ(result & ~(uint32_t{1} << kLane), 0u);
  return result != 0;
}

TEST(CompareTest, Floats) {
  constexpr struct {
    const char* name;
    OracleFormat format;
    bool may_flush;
    bool x2;
  } kTypes[] = {{"f16", kOracleF16, true, false},    {"f16x2", kOracleF16, true, true},
                {"bf16", kOracleBF16, false, false}, {"bf16x2", kOracleBF16, false, true},
                {"f32", kOracleF32, true, false},    {"f64", kOracleF64, false, false}};
  for (const auto& type : kTypes) {
    for (const FloatComparison& comparison : kFloatComparisons) {
      for (const bool ftz : {false, true}) {
        const std::string name =
            absl::StrCat("setp.", comparison.name, ftz ? ".ftz." : ".", type.name);
        const std::optional<CompareOperation> found = FindCompareOperation(name);
        ASSERT_EQ(found.has_value(), !ftz || type.may_flush) << name;
        if (!found.has_value()) continue;
        ASSERT_EQ(found->high != nullptr, type.x2);
        const int bytes = found->source_bytes;
        for (const uint64_t a : SpecialBits(type.format)) {
          for (const uint64_t b : SpecialBits(type.format)) {
            const uint64_t x = ftz ? OracleFlush(type.format, a) : a;
            const uint64_t y = ftz ? OracleFlush(type.format, b) : b;
            const bool expected =
                comparison.holds(OracleValue(type.format, x), OracleValue(type.format, y));
            const uint64_t other = type.x2 ? 0x3c00 : 0;  // in the half that is not looked at
            ASSERT_EQ(Holds(found->function, bytes, a | other << 16, b), expected)
                << name << std::hex << " " << a << " " << b;
            if (!type.x2) continue;
            ASSERT_EQ(Holds(found->high, bytes, a << 16 | other, b << 16), expected);
          }
        }
      }
    }
  }
}

TEST(CompareTest, Integers) {
  const struct {
    const char* name;
    int bits;
    bool is_signed;
  } types[] = {{"u16", 16, false}, {"s16", 16, true},  {"u32", 32, false},
               {"s32", 32, true},  {"u64", 64, false}, {"s64", 64, true}};
  RandomBits random(1);
  for (const auto& type : types) {
    const auto value = [&](uint64_t bits) {
      const __int128 low = type.bits == 64 ? bits : bits & ((uint64_t{1} << type.bits) - 1);
      const bool negative = type.is_signed && (low >> (type.bits - 1) & 1) != 0;
      return negative ? low - (__int128{1} << type.bits) : low;
    };
    for (int i = 0; i < 2000; ++i) {
      const uint64_t a = random.Next() >> random.Next() % 64;
      const uint64_t b = i % 3 == 0 ? a : random.Next() >> random.Next() % 64;
      const auto check = [&](absl::string_view op, bool expected) {
        const CompareOperation found =
            *FindCompareOperation(absl::StrCat("setp.", op, ".", type.name));
        ASSERT_EQ(Holds(found.function, found.source_bytes, a, b), expected) << op << type.name;
      };
      check("eq", value(a) == value(b));
      check("ne", value(a) != value(b));
      check("lt", value(a) < value(b));
      check("le", value(a) <= value(b));
      check("gt", value(a) > value(b));
      check("ge", value(a) >= value(b));
      if (type.is_signed) continue;
      check("lo", value(a) < value(b));
      check("ls", value(a) <= value(b));
      check("hi", value(a) > value(b));
      check("hs", value(a) >= value(b));
    }
  }
}

TEST(CompareTest, CombinesWithAPredicate) {
  EXPECT_EQ(FindCompareOperation("setp.lt.s32")->combine, PredicateOp::kNone);
  EXPECT_EQ(FindCompareOperation("setp.lt.and.s32")->combine, PredicateOp::kAnd);
  EXPECT_EQ(FindCompareOperation("setp.lt.or.ftz.f32")->combine, PredicateOp::kOr);
  EXPECT_EQ(FindCompareOperation("setp.ne.xor.b64")->combine, PredicateOp::kXor);
}

TEST(CompareTest, AllLanes) {
  uint32_t a[kWarpLanes], b[kWarpLanes];
  for (uint32_t i = 0; i < kWarpLanes; ++i) {
    a[i] = i;
    b[i] = 20;
  }
  const CompareFunction less = FindCompareOperation("setp.lt.u32")->function;
  EXPECT_EQ(less(kAllLanes, a, b), 0x000fffffu);
  EXPECT_EQ(less(0xf00f0000, a, b), 0x000f0000u);
}

TEST(CompareTest, Properties) {
  const auto test = [](absl::string_view property, uint64_t bits) {
    const CompareOperation f32 = *FindCompareOperation(absl::StrCat("testp.", property, ".f32"));
    EXPECT_EQ(f32.sources, 1);
    return Holds(f32.function, f32.source_bytes, bits, 0);
  };
  for (const uint64_t bits : SpecialBits(kOracleF32)) {
    const double value = OracleValue(kOracleF32, bits);
    const bool tiny = std::fabs(value) < 0x1p-126;
    EXPECT_EQ(test("finite", bits), std::isfinite(value));
    EXPECT_EQ(test("infinite", bits), std::isinf(value));
    EXPECT_EQ(test("number", bits), !std::isnan(value));
    EXPECT_EQ(test("notanumber", bits), std::isnan(value));
    EXPECT_EQ(test("normal", bits), std::isfinite(value) && !tiny);
    EXPECT_EQ(test("subnormal", bits), tiny && value != 0);
  }
}

TEST(CompareTest, Set) {
  const OperationRunner ones("set.lt.u32.f32"), one("set.gt.f32.s32"), wide("set.eq.s32.f64");
  EXPECT_EQ(ones(0x3f800000, 0x40000000), 0xffffffffu);
  EXPECT_EQ(ones(0x40000000, 0x3f800000), 0u);
  EXPECT_EQ(one(3, 0xffffffff), 0x3f800000u);
  EXPECT_EQ(wide(0, 0x8000000000000000), 0xffffffffu);
  const OperationRunner half("set.leu.ftz.f16.f16"), bf16("set.nan.bf16.bf16");
  EXPECT_EQ(half(0x7e00, 0), 0x3c00u);
  EXPECT_EQ(half(0x0002, 0x0001), 0x3c00u);
  EXPECT_EQ(bf16(0x3f80, 0x7fff), 0x3f80u);
  const OperationRunner x2("set.ge.f16x2.f16x2"), mask("set.ge.u32.bf16x2");
  EXPECT_EQ(x2(0x3c000000, 0x00003c00), 0x3c000000u);
  EXPECT_EQ(mask(0x3f800000, 0x00003f80), 0xffff0000u);
}

TEST(CompareTest, OnlyWhatTheIsaHas) {
  for (const absl::string_view name :
       {"setp.lo.s32", "setp.lt.b32", "setp.equ.s32", "setp.lo.f32", "setp.f32", "setp.lt",
        "setp.lt.u8", "setp.lt.ftz.f64", "setp.lt.ftz.and.f32", "testp.zero.f32",
        "testp.normal.f16", "set.lt.f32.f32"}) {
    EXPECT_FALSE(FindCompareOperation(name).has_value()) << name;
  }
}

}  // namespace
}  // namespace stax::isa
