// Each oracle is the ISA's own description, a bit at a time.
#include "runtime/emulator/isa/bit_operations.h"

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

uint64_t Mask(int bits) { return bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1; }
uint64_t Bit(uint64_t value, int index) { return value >> index & 1; }

std::vector<uint64_t> Values() {
  std::vector<uint64_t> result = {0,
                                  1,
                                  2,
                                  0x80000000,
                                  0xffffffff,
                                  0x7fffffff,
                                  0x8000,
                                  ~uint64_t{0},
                                  uint64_t{1} << 63,
                                  ~uint64_t{0} >> 1};
  RandomBits random(1);
  for (int i = 0; i < 60; ++i) result.push_back(random.Next() >> (random.Next() % 64));
  return result;
}
const uint32_t kAmounts[] = {0,  1,  2,  7,  15, 16, 17,  31,  32,         33,
                             47, 62, 63, 64, 65, 80, 255, 256, 0x80000000, 0xffffffff};

TEST(BitOperationsTest, Logic) {
  for (const int bits : {16, 32, 64}) {
    const std::string type = absl::StrCat(".b", bits);
    const OperationRunner and_op("and" + type), or_op("or" + type), xor_op("xor" + type);
    const OperationRunner not_op("not" + type), cnot("cnot" + type);
    for (const uint64_t a : Values()) {
      ASSERT_EQ(not_op(a), ~a & Mask(bits));
      ASSERT_EQ(cnot(a), (a & Mask(bits)) == 0 ? 1u : 0u);
      for (const uint64_t b : Values()) {
        ASSERT_EQ(and_op(a, b), a & b & Mask(bits));
        ASSERT_EQ(or_op(a, b), (a | b) & Mask(bits));
        ASSERT_EQ(xor_op(a, b), (a ^ b) & Mask(bits));
      }
    }
  }
}

TEST(BitOperationsTest, Shifts) {
  for (const int bits : {16, 32, 64}) {
    const OperationRunner shl(absl::StrCat("shl.b", bits)), shr(absl::StrCat("shr.u", bits));
    const OperationRunner sar(absl::StrCat("shr.s", bits)), untyped(absl::StrCat("shr.b", bits));
    for (const uint64_t a : Values()) {
      for (const uint32_t amount : kAmounts) {
        uint64_t left = 0, right = 0, arithmetic = 0;
        for (int i = 0; i < bits; ++i) {
          if (i >= static_cast<int64_t>(amount)) left |= Bit(a, i - static_cast<int>(amount)) << i;
          const int64_t source = i + int64_t{amount};
          if (source < bits) right |= Bit(a, static_cast<int>(source)) << i;
          arithmetic |= Bit(a, static_cast<int>(std::min<int64_t>(source, bits - 1))) << i;
        }
        ASSERT_EQ(shl(a, amount), left);
        ASSERT_EQ(shr(a, amount), right);
        ASSERT_EQ(untyped(a, amount), right);
        ASSERT_EQ(sar(a, amount), arithmetic);
      }
    }
  }
}

TEST(BitOperationsTest, FunnelShifts) {
  const OperationRunner left("shf.l.clamp.b32"), right("shf.r.clamp.b32");
  const OperationRunner left_wrap("shf.l.wrap.b32"), right_wrap("shf.r.wrap.b32");
  for (const uint64_t a : Values()) {
    for (const uint32_t amount : kAmounts) {
      const uint64_t b = (a * 0x9e3779b97f4a7c15) >> 32, low = a & 0xffffffff;
      const auto expected = [&](bool is_left, int n) {
        uint64_t result = 0;
        for (int i = 0; i < 32; ++i) {
          const int source = is_left ? i + 32 - n : i + n;  // in {b, a}
          result |= (source >= 32 ? Bit(b, source - 32) : Bit(low, source)) << i;
        }
        return result;
      };
      const int clamped = static_cast<int>(std::min(amount, 32u)), wrapped = amount % 32;
      ASSERT_EQ(left(low, b, amount), expected(true, clamped));
      ASSERT_EQ(right(low, b, amount), expected(false, clamped));
      ASSERT_EQ(left_wrap(low, b, amount), expected(true, wrapped));
      ASSERT_EQ(right_wrap(low, b, amount), expected(false, wrapped));
    }
  }
}

TEST(BitOperationsTest, CountsAndFinds) {
  for (const int bits : {32, 64}) {
    const OperationRunner popc(absl::StrCat("popc.b", bits)), clz(absl::StrCat("clz.b", bits));
    const OperationRunner brev(absl::StrCat("brev.b", bits));
    const OperationRunner find_u(absl::StrCat("bfind.u", bits));
    const OperationRunner find_s(absl::StrCat("bfind.s", bits));
    const OperationRunner amount_u(absl::StrCat("bfind.shiftamt.u", bits));
    const OperationRunner amount_s(absl::StrCat("bfind.shiftamt.s", bits));
    for (const uint64_t a : Values()) {
      uint64_t ones = 0, reversed = 0;
      int highest = -1, highest_signed = -1;
      for (int i = 0; i < bits; ++i) {
        ones += Bit(a, i);
        reversed |= Bit(a, i) << (bits - 1 - i);
        if (Bit(a, i) != 0) highest = i;
        if (Bit(a, i) != Bit(a, bits - 1)) highest_signed = i;
      }
      ASSERT_EQ(popc(a), ones);
      ASSERT_EQ(clz(a), static_cast<uint64_t>(bits - 1 - highest));
      ASSERT_EQ(brev(a), reversed);
      ASSERT_EQ(find_u(a), static_cast<uint32_t>(highest));
      ASSERT_EQ(find_s(a), static_cast<uint32_t>(highest_signed));
      ASSERT_EQ(amount_u(a), highest < 0 ? 0xffffffff : bits - 1u - highest);
      ASSERT_EQ(amount_s(a), highest_signed < 0 ? 0xffffffff : bits - 1u - highest_signed);
    }
  }
}

TEST(BitOperationsTest, FindsTheNthBit) {
  const OperationRunner fns("fns.b32");
  for (const uint64_t value : Values()) {
    const uint64_t mask = value & 0xffffffff;
    for (int base = 0; base < 32; ++base) {
      for (int offset = -5; offset <= 5; ++offset) {
        uint32_t expected = 0xffffffff;
        if (offset == 0) {
          if (Bit(mask, base) != 0) expected = base;
        } else {
          int position = base, count = std::abs(offset) - 1;
          const int step = offset > 0 ? 1 : -1;
          while (position >= 0 && position < 32) {
            if (Bit(mask, position) != 0 && count-- == 0) {
              expected = position;
              break;
            }
            position += step;
          }
        }
        ASSERT_EQ(fns(mask, base, static_cast<uint32_t>(offset)), expected);
      }
    }
  }
}

TEST(BitOperationsTest, Fields) {
  for (const int bits : {32, 64}) {
    const OperationRunner extract_u(absl::StrCat("bfe.u", bits));
    const OperationRunner extract_s(absl::StrCat("bfe.s", bits));
    const OperationRunner insert(absl::StrCat("bfi.b", bits));
    for (const uint64_t a : Values()) {
      for (const uint32_t b : kAmounts) {
        for (const uint32_t c : kAmounts) {
          const int position = b & 0xff, length = c & 0xff, top = bits - 1;
          uint64_t field_u = 0, field_s = 0;
          const uint64_t sign = length == 0 ? 0 : Bit(a, std::min(position + length - 1, top));
          for (int i = 0; i <= top; ++i) {
            const bool inside = i < length && position + i <= top;
            field_u |= (inside ? Bit(a, position + i) : 0) << i;
            field_s |= (inside ? Bit(a, position + i) : sign) << i;
          }
          ASSERT_EQ(extract_u(a, b, c), field_u);
          ASSERT_EQ(extract_s(a, b, c), field_s) << a << " " << position << " " << length;
          const uint64_t into = a * 0x9e3779b97f4a7c15 & Mask(bits);
          uint64_t inserted = into;
          for (int i = 0; i < length && position + i <= top; ++i) {
            inserted &= ~(uint64_t{1} << (position + i));
            inserted |= Bit(a, i) << (position + i);
          }
          ASSERT_EQ(insert(a, into, b, c), inserted);
        }
      }
    }
  }
}

TEST(BitOperationsTest, MasksAndExtends) {
  for (const bool clamp : {true, false}) {
    const std::string mode = clamp ? "clamp" : "wrap";
    const OperationRunner bmsk("bmsk." + mode + ".b32"), unsigned_op("szext." + mode + ".u32");
    const OperationRunner signed_op("szext." + mode + ".s32");
    for (const uint32_t a : kAmounts) {
      for (const uint32_t b : kAmounts) {
        const uint64_t start = clamp ? a : a % 32, width = clamp ? b : b % 32;
        uint32_t ones = 0;
        for (uint64_t i = 0; i < 32; ++i) ones |= uint32_t{i >= start && i < start + width} << i;
        ASSERT_EQ(bmsk(a, b), ones) << mode << a << " " << b;
      }
    }
    for (const uint64_t value : Values()) {
      const uint32_t a = static_cast<uint32_t>(value);
      for (const uint32_t b : kAmounts) {
        const uint32_t width = clamp ? std::min(b, 32u) : b % 32;
        const uint32_t low = static_cast<uint32_t>(a & Mask(static_cast<int>(width)));
        const bool negative = width > 0 && Bit(a, static_cast<int>(width) - 1) != 0;
        ASSERT_EQ(unsigned_op(a, b), low);
        ASSERT_EQ(signed_op(a, b),
                  negative ? low | static_cast<uint32_t>(~Mask(static_cast<int>(width))) : low);
      }
    }
  }
}

TEST(BitOperationsTest, Permutes) {
  const OperationRunner generic("prmt.b32");
  const uint32_t a = 0x83828180, b = 0x07060504;  // byte i is i, the first four negative
  EXPECT_EQ(generic(a, b, 0x3210), a);
  EXPECT_EQ(generic(a, b, 0x7654), b);
  EXPECT_EQ(generic(a, b, 0x0516), 0x80058106u);
  EXPECT_EQ(generic(a, b, 0x8c9d), 0xff00ff00u);
  EXPECT_EQ(generic(a, b, 0xffff3210), a);  // only the low 16 bits select
  // The table of the ISA: d.b3 d.b2 d.b1 d.b0 as numbers of bytes, for c = 0, 1, 2, 3.
  const struct {
    const char* mode;
    const char* bytes[4];
  } table[] = {
      {"f4e", {"3210", "4321", "5432", "6543"}}, {"b4e", {"5670", "6701", "7012", "0123"}},
      {"rc8", {"0000", "1111", "2222", "3333"}}, {"ecl", {"3210", "3211", "3222", "3333"}},
      {"ecr", {"0000", "1110", "2210", "3210"}}, {"rc16", {"1010", "3232", "1010", "3232"}}};
  for (const auto& row : table) {
    const OperationRunner run(absl::StrCat("prmt.b32.", row.mode));
    for (uint32_t c = 0; c < 8; ++c) {
      uint64_t expected = 0;
      for (int i = 0; i < 4; ++i) {
        const int byte = row.bytes[c % 4][i] - '0';
        expected = expected << 8 | (byte < 4 ? 0x80 + byte : byte);
      }
      EXPECT_EQ(run(a, b, c), expected) << row.mode << c;
    }
  }
}

TEST(BitOperationsTest, AnyFunctionOfThree) {
  const OperationRunner lop3("lop3.b32");
  for (uint32_t table = 0; table < 256; ++table) {
    const uint32_t a = 0xf0f0a5c3, b = 0xccccff17, c = 0xaaaa0f59;
    uint32_t expected = 0;
    for (int i = 0; i < 32; ++i) {
      const uint64_t entry = Bit(a, i) << 2 | Bit(b, i) << 1 | Bit(c, i);
      expected |= static_cast<uint32_t>(Bit(table, static_cast<int>(entry)) << i);
    }
    ASSERT_EQ(lop3(a, b, c, table), expected);
  }
}

TEST(BitOperationsTest, Selects) {
  const OperationRunner by_integer("slct.b64.s32"), by_float("slct.f32.f32");
  const OperationRunner flushing("slct.ftz.u32.f32");
  EXPECT_EQ(by_integer(7, 8, 0), 7u);
  EXPECT_EQ(by_integer(7, 8, 0xffffffff), 8u);
  EXPECT_EQ(by_float(7, 8, 0x80000000), 7u);
  EXPECT_EQ(by_float(7, 8, 0x80000001), 8u);
  EXPECT_EQ(flushing(7, 8, 0x80000001), 7u);
  EXPECT_EQ(by_float(7, 8, 0x7fc00000), 8u);
}

TEST(BitOperationsTest, OnlyWhatTheIsaHas) {
  for (const absl::string_view name :
       {"and.u32", "shl.u32", "popc.b16", "bfe.u16", "bfi.b16", "shf.l.b32", "shf.clamp.b32",
        "bmsk.b32", "szext.clamp.b32", "prmt.b64", "prmt.b32.f8e", "lop3.b64", "fns.b64",
        "bfind.b32", "clz.u32", "and.pred"}) {
    EXPECT_FALSE(FindWarpOperation(name).has_value()) << name;
  }
}

}  // namespace
}  // namespace stax::isa
