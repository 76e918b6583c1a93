#include "runtime/emulator/isa/integer.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "runtime/emulator/isa/find_operation.h"
#include "runtime/emulator/isa/testing/operation_runner.h"

namespace stax::isa {
namespace {

struct IntType {
  const char* name;
  int bits;
  bool is_signed;
};
constexpr IntType kInts[] = {{"u16", 16, false}, {"s16", 16, true},  {"u32", 32, false},
                             {"s32", 32, true},  {"u64", 64, false}, {"s64", 64, true}};

uint64_t Mask(int bits) { return bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1; }
__int128 ValueOf(const IntType& t, uint64_t bits) {
  const __int128 value = bits & Mask(t.bits);
  return t.is_signed && (bits >> (t.bits - 1) & 1) != 0 ? value - (__int128{1} << t.bits) : value;
}
uint64_t Wrap(const IntType& t, __int128 value) {
  return static_cast<uint64_t>(value) & Mask(t.bits);
}
uint64_t Clamp32(__int128 value) {
  return static_cast<uint32_t>(
      static_cast<int32_t>(std::min<__int128>(std::max<__int128>(value, INT32_MIN), INT32_MAX)));
}

std::vector<uint64_t> Samples() {
  std::vector<uint64_t> result;
  for (const int shift : {0, 1, 4, 7, 8, 15, 16, 23, 24, 31, 32, 47, 62, 63}) {
    for (int64_t delta = -1; delta <= 1; ++delta) {
      result.push_back((uint64_t{1} << shift) + delta);
      result.push_back(0 - (uint64_t{1} << shift) + delta);
    }
  }
  RandomBits random(1);
  for (int i = 0; i < 100; ++i) result.push_back(random.Next() >> (random.Next() % 64));
  return result;
}

// The product as 256 bits is not needed: the upper half of a 128-bit one, from 64-bit factors.
__int128 Product(const IntType& t, uint64_t a, uint64_t b) {
  if (!t.is_signed) {
    return static_cast<__int128>(static_cast<unsigned __int128>(a & Mask(t.bits)) *
                                 (b & Mask(t.bits)));
  }
  return ValueOf(t, a) * ValueOf(t, b);
}

// Of the product of two u64 the sum may not fit.
__int128 WrappingSum(__int128 a, __int128 b) {
  return static_cast<__int128>(static_cast<unsigned __int128>(a) +
                               static_cast<unsigned __int128>(b));
}

TEST(IntegerTest, Arithmetic) {
  const std::vector<uint64_t> samples = Samples();
  for (const IntType& t : kInts) {
    const auto named = [&](absl::string_view opcode) {
      return OperationRunner(absl::StrCat(opcode, ".", t.name));
    };
    const OperationRunner add = named("add"), sub = named("sub"), mul_lo = named("mul.lo"),
                          mul_hi = named("mul.hi"), mad_lo = named("mad.lo"),
                          mad_hi = named("mad.hi"), sad = named("sad"), min = named("min"),
                          max = named("max"), div = named("div"), rem = named("rem");
    uint64_t c = 12345;
    for (const uint64_t a : samples) {
      for (const uint64_t b : samples) {
        c = c * 6364136223846793005 + 1442695040888963407;
        const __int128 x = ValueOf(t, a), y = ValueOf(t, b), z = ValueOf(t, c);
        ASSERT_EQ(add(a, b), Wrap(t, x + y));
        ASSERT_EQ(sub(a, b), Wrap(t, x - y));
        ASSERT_EQ(mul_lo(a, b), Wrap(t, Product(t, a, b)));
        ASSERT_EQ(mul_hi(a, b), Wrap(t, Product(t, a, b) >> t.bits));
        ASSERT_EQ(mad_lo(a, b, c), Wrap(t, WrappingSum(Product(t, a, b), z)));
        ASSERT_EQ(mad_hi(a, b, c), Wrap(t, (Product(t, a, b) >> t.bits) + z));
        ASSERT_EQ(sad(a, b, c), Wrap(t, z + (x > y ? x - y : y - x)));
        ASSERT_EQ(min(a, b), Wrap(t, std::min(x, y)));
        ASSERT_EQ(max(a, b), Wrap(t, std::max(x, y)));
        ASSERT_EQ(div(a, b), y == 0 ? Mask(t.bits) : Wrap(t, x / y)) << t.name;
        ASSERT_EQ(rem(a, b), Wrap(t, y == 0 ? x : x % y));
      }
    }
    if (t.bits < 64) {
      const IntType wide = {"", 2 * t.bits, t.is_signed};
      const OperationRunner mul = named("mul.wide"), mad = named("mad.wide");
      for (const uint64_t a : samples) {
        for (const uint64_t b : samples) {
          ASSERT_EQ(mul(a, b), Wrap(wide, Product(t, a, b)));
          ASSERT_EQ(mad(a, b, a), Wrap(wide, Product(t, a, b) + ValueOf(wide, a)));
        }
      }
    }
    if (t.is_signed) {
      const OperationRunner neg = named("neg"), abs = named("abs");
      for (const uint64_t a : samples) {
        const __int128 x = ValueOf(t, a);
        ASSERT_EQ(neg(a), Wrap(t, -x));
        ASSERT_EQ(abs(a), Wrap(t, x < 0 ? -x : x));
      }
    }
  }
}

TEST(IntegerTest, SaturatesAndClampsAtZero) {
  const IntType t = kInts[3];
  const OperationRunner add("add.sat.s32"), sub("sub.sat.s32"), mad("mad.hi.sat.s32");
  const OperationRunner min("min.relu.s32"), max("max.relu.s32");
  for (const uint64_t a : Samples()) {
    for (const uint64_t b : Samples()) {
      const __int128 x = ValueOf(t, a), y = ValueOf(t, b);
      ASSERT_EQ(add(a, b), Clamp32(x + y));
      ASSERT_EQ(sub(a, b), Clamp32(x - y));
      ASSERT_EQ(mad(a, b, a), Clamp32((x * y >> 32) + x));
      ASSERT_EQ(min(a, b), Wrap(t, std::max<__int128>(0, std::min(x, y))));
      ASSERT_EQ(max(a, b), Wrap(t, std::max({__int128{0}, x, y})));
    }
  }
}

TEST(IntegerTest, TwentyFourBits) {
  for (const bool is_signed : {false, true}) {
    const std::string type = is_signed ? "s32" : "u32";
    const IntType t24 = {"", 24, is_signed}, t = {"", 32, is_signed};
    const OperationRunner lo("mul24.lo." + type), hi("mul24.hi." + type);
    const OperationRunner mad_lo("mad24.lo." + type), mad_hi("mad24.hi." + type);
    const OperationRunner sat("mad24.hi.sat.s32");
    for (const uint64_t a : Samples()) {
      for (const uint64_t b : Samples()) {
        const __int128 product = ValueOf(t24, a) * ValueOf(t24, b);
        const __int128 upper = ValueOf(t, static_cast<uint64_t>(product >> 16));
        ASSERT_EQ(lo(a, b), Wrap(t, product));
        ASSERT_EQ(hi(a, b), Wrap(t, product >> 16));
        ASSERT_EQ(mad_lo(a, b, a), Wrap(t, product + ValueOf(t, a)));
        ASSERT_EQ(mad_hi(a, b, a), Wrap(t, upper + ValueOf(t, a)));
        if (is_signed) ASSERT_EQ(sat(a, b, b), Clamp32(upper + ValueOf(t, b)));
      }
    }
  }
}

TEST(IntegerTest, BothHalves) {
  RandomBits random(4);
  for (const bool is_signed : {false, true}) {
    const IntType t = is_signed ? kInts[1] : kInts[0];
    const auto named = [&](absl::string_view opcode) {
      return OperationRunner(absl::StrCat(opcode, ".", t.name, "x2"));
    };
    const OperationRunner add = named("add"), min = named("min"), max = named("max");
    for (int i = 0; i < 10000; ++i) {
      const uint64_t a = random.Next() >> 32, b = random.Next() >> 32;
      uint64_t sum = 0, least = 0, most = 0;
      for (const int shift : {0, 16}) {
        const __int128 x = ValueOf(t, a >> shift), y = ValueOf(t, b >> shift);
        sum |= Wrap(t, x + y) << shift;
        least |= Wrap(t, std::min(x, y)) << shift;
        most |= Wrap(t, std::max(x, y)) << shift;
      }
      ASSERT_EQ(add(a, b), sum);
      ASSERT_EQ(min(a, b), least);
      ASSERT_EQ(max(a, b), most);
    }
  }
  const OperationRunner relu("max.relu.s16x2");
  EXPECT_EQ(relu(0xfffe0003, 0xffff0002), 0x00000003u);
}

TEST(IntegerTest, DotProducts) {
  RandomBits random(5);
  for (int signs = 0; signs < 4; ++signs) {
    const bool a_signed = (signs & 2) != 0, b_signed = (signs & 1) != 0;
    const IntType a8 = {"", 8, a_signed}, b8 = {"", 8, b_signed}, a16 = {"", 16, a_signed};
    const std::string types = absl::StrCat(a_signed ? ".s32" : ".u32", b_signed ? ".s32" : ".u32");
    const OperationRunner dp4a("dp4a" + types), lo("dp2a.lo" + types), hi("dp2a.hi" + types);
    for (int i = 0; i < 10000; ++i) {
      const uint64_t a = random.Next(), b = random.Next(), c = random.Next() >> 32;
      __int128 four = c, low = c, high = c;
      for (int j = 0; j < 4; ++j) four += ValueOf(a8, a >> 8 * j) * ValueOf(b8, b >> 8 * j);
      for (int j = 0; j < 2; ++j) {
        low += ValueOf(a16, a >> 16 * j) * ValueOf(b8, b >> 8 * j);
        high += ValueOf(a16, a >> 16 * j) * ValueOf(b8, b >> (16 + 8 * j));
      }
      ASSERT_EQ(dp4a(a, b, c), static_cast<uint32_t>(four));
      ASSERT_EQ(lo(a, b, c), static_cast<uint32_t>(low));
      ASSERT_EQ(hi(a, b, c), static_cast<uint32_t>(high));
    }
  }
}

TEST(IntegerTest, OnlyWhatTheIsaHas) {
  for (const absl::string_view name :
       {"add.sat.u32", "add.u8", "mul.u32", "mul.wide.u64", "mad.lo.sat.s32", "neg.u32", "abs.u16",
        "min.relu.u32", "mul24.lo.u16", "dp4a.u32", "dp2a.u32.u32", "add.sat.s16x2", "sad.f32",
        "add.b32", "mul24.wide.u32", "max.relu.u16x2"}) {
    EXPECT_FALSE(FindWarpOperation(name).has_value()) << name;
  }
}

}  // namespace
}  // namespace stax::isa
