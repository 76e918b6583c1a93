#include "runtime/emulator/isa/atomic.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "mpfr.h"
#include "runtime/emulator/isa/testing/mpfr_oracle.h"
#include "runtime/emulator/isa/testing/operation_runner.h"

namespace stax::isa {
namespace {

uint64_t Apply(absl::string_view op, absl::string_view type, uint64_t old, uint64_t operand,
               uint64_t compare = 0, bool flush = false) {
  const std::optional<AtomicOperation> found = FindAtomicOperation(op, type, flush);
  EXPECT_TRUE(found.has_value()) << op << "." << type;
  return found.has_value() ? found->function(old, operand, compare) : 0;
}

TEST(AtomicTest, Integers) {
  RandomBits random(1);
  for (int i = 0; i < 2000; ++i) {
    const uint64_t a = random.Next(), b = random.Next();
    const uint64_t a32 = a >> 32, b32 = b >> 32;
    const auto sa = static_cast<int32_t>(a32), sb = static_cast<int32_t>(b32);
    const auto la = static_cast<int64_t>(a), lb = static_cast<int64_t>(b);
    ASSERT_EQ(Apply("add", "u32", a32, b32), (a32 + b32) & 0xffffffff);
    ASSERT_EQ(Apply("add", "s32", a32, b32), (a32 + b32) & 0xffffffff);
    ASSERT_EQ(Apply("add", "u64", a, b), a + b);
    ASSERT_EQ(Apply("min", "u32", a32, b32), std::min(a32, b32));
    ASSERT_EQ(Apply("max", "u64", a, b), std::max(a, b));
    ASSERT_EQ(Apply("min", "s32", a32, b32), static_cast<uint32_t>(std::min(sa, sb)));
    ASSERT_EQ(Apply("max", "s32", a32, b32), static_cast<uint32_t>(std::max(sa, sb)));
    ASSERT_EQ(Apply("min", "s64", a, b), static_cast<uint64_t>(std::min(la, lb)));
    ASSERT_EQ(Apply("and", "b32", a32, b32), a32 & b32);
    ASSERT_EQ(Apply("or", "b64", a, b), a | b);
    ASSERT_EQ(Apply("xor", "b64", a, b), a ^ b);
    ASSERT_EQ(Apply("exch", "b32", a32, b32), b32);
    ASSERT_EQ(Apply("cas", "b64", a, b, a), b);
    ASSERT_EQ(Apply("cas", "b64", a, b, b), a);
  }
  EXPECT_EQ(Apply("cas", "b16", 0x1234, 0x5678, 0x1234), 0x5678u);
  EXPECT_EQ(FindAtomicOperation("cas", "b16")->bytes, 2);
  EXPECT_EQ(FindAtomicOperation("cas", "b16")->sources, 2);
}

TEST(AtomicTest, Counters) {
  EXPECT_EQ(Apply("inc", "u32", 3, 5), 4u);
  EXPECT_EQ(Apply("inc", "u32", 5, 5), 0u);
  EXPECT_EQ(Apply("inc", "u32", 9, 5), 0u);
  EXPECT_EQ(Apply("dec", "u32", 3, 5), 2u);
  EXPECT_EQ(Apply("dec", "u32", 0, 5), 5u);
  EXPECT_EQ(Apply("dec", "u32", 9, 5), 5u);
}

TEST(AtomicTest, FloatSums) {
  constexpr struct {
    const char* type;
    OracleFormat format;
  } kTypes[] = {
      {"f16", kOracleF16}, {"bf16", kOracleBF16}, {"f32", kOracleF32}, {"f64", kOracleF64}};
  RandomBits random(2);
  for (const auto& type : kTypes) {
    const int shift = 64 - type.format.bits;
    for (int i = 0; i < 5000; ++i) {
      const uint64_t a = random.Next() >> shift;
      const uint64_t b = i % 2 == 0 ? random.Next() >> shift : a ^ (random.Next() >> shift >> 4);
      BigFloat x(type.format, a), y(type.format, b), sum;
      mpfr_add(sum.get(), x.get(), y.get(), MPFR_RNDN);
      const uint64_t expected = sum.Round(type.format, MPFR_RNDN);
      if (type.format.bits == 64 && OracleIsNan(type.format, expected)) continue;
      ASSERT_EQ(Apply("add", type.type, a, b), expected) << type.type << std::hex << a << " " << b;
    }
  }
  EXPECT_EQ(Apply("add", "f16x2", 0x3c004000, 0x3c000001), 0x40004000u);
  EXPECT_EQ(Apply("add", "bf16x2", 0x3f80bf80, 0x3f803f80), 0x40000000u);
  // On shared and on global memory.
  EXPECT_EQ(Apply("add", "f32", 1, 1), 2u);
  EXPECT_EQ(Apply("add", "f32", 1, 1, 0, /*flush=*/true), 0u);
}

TEST(AtomicTest, HalfExtremes) {
  EXPECT_EQ(Apply("min", "f16", 0x3c00, 0xbc00), 0xbc00u);
  EXPECT_EQ(Apply("max", "f16x2", 0x3c00bc00, 0x40007e00), 0x4000bc00u);
  EXPECT_EQ(Apply("min", "bf16", 0x0000, 0x8000), 0x8000u);
  EXPECT_EQ(Apply("max", "bf16x2", 0x3f804000, 0x40003f80), 0x40004000u);
}

TEST(AtomicTest, OnlyWhatTheIsaHas) {
  const struct {
    absl::string_view op, type;
  } cases[] = {{"add", "b32"}, {"add", "s64"}, {"and", "u32"}, {"inc", "s32"}, {"exch", "b16"},
               {"min", "f32"}, {"min", "f64"}, {"cas", "u32"}, {"sub", "u32"}, {"", ""}};
  for (const auto& c : cases) {
    EXPECT_FALSE(FindAtomicOperation(c.op, c.type).has_value()) << c.op << c.type;
  }
}

}  // namespace
}  // namespace stax::isa
