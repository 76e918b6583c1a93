#include "runtime/emulator/isa/carry.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "runtime/emulator/isa/testing/operation_runner.h"
#include "runtime/emulator/isa/warp_operation.h"

namespace stax::isa {
namespace {

using Wide = unsigned __int128;

// Adds, subtracts and multiplies numbers of two registers as compilers do, against one wide number.
template <typename T>
void CheckDoubleWidth(absl::string_view type) {
  constexpr int kBits = 8 * sizeof(T);
  const auto find = [&](absl::string_view opcode) {
    return FindCarryOperation(std::string(opcode.data(), opcode.size()) +
                              std::string(type.data(), type.size()))
        ->function;
  };
  const Wide mask = kBits == 64 ? ~Wide{0} : (Wide{1} << (2 * kBits)) - 1;
  RandomBits random(1);
  for (int round = 0; round < 200; ++round) {
    T a_low[kWarpLanes], a_high[kWarpLanes], b_low[kWarpLanes], b_high[kWarpLanes];
    T low[kWarpLanes] = {}, high[kWarpLanes] = {};
    for (int i = 0; i < kWarpLanes; ++i) {
      for (T* value : {&a_low[i], &a_high[i], &b_low[i], &b_high[i]}) {
        *value = random.Next() % 3 == 0 ? static_cast<T>(0 - random.Next() % 2)
                                        : static_cast<T>(random.Next());
      }
    }
    const auto join = [&](T upper, T lower) { return Wide{upper} << kBits | lower; };
    const uint32_t lanes = static_cast<uint32_t>(random.Next());
    uint32_t carry = find("add.cc")(lanes, 0, a_low, b_low, nullptr, low);
    EXPECT_EQ(carry & ~lanes, 0u);
    EXPECT_EQ(find("addc")(lanes, carry, a_high, b_high, nullptr, high), carry);
    for (int i = 0; i < kWarpLanes; ++i) {
      if ((lanes >> i & 1) == 0) {
        ASSERT_EQ(low[i], 0u);
        continue;
      }
      const Wide sum = join(a_high[i], a_low[i]) + join(b_high[i], b_low[i]);
      ASSERT_TRUE(join(high[i], low[i]) == (sum & mask));
    }
    carry = find("sub.cc")(kAllLanes, 0, a_low, b_low, nullptr, low);
    carry = find("subc.cc")(kAllLanes, carry, a_high, b_high, nullptr, high);
    for (int i = 0; i < kWarpLanes; ++i) {
      const Wide a = join(a_high[i], a_low[i]), b = join(b_high[i], b_low[i]);
      ASSERT_TRUE(join(high[i], low[i]) == ((a - b) & mask));
      ASSERT_EQ(carry >> i & 1, a < b ? 1u : 0u);
    }
    // {high, low} = a_low * b_low + {b_high, a_high}
    carry = find("mad.lo.cc")(kAllLanes, 0, a_low, b_low, a_high, low);
    find("madc.hi")(kAllLanes, carry, a_low, b_low, b_high, high);
    for (int i = 0; i < kWarpLanes; ++i) {
      const Wide expected = Wide{a_low[i]} * b_low[i] + join(b_high[i], a_high[i]);
      ASSERT_TRUE(join(high[i], low[i]) == (expected & mask));
    }
  }
}

TEST(CarryTest, DoubleWidthU32) { CheckDoubleWidth<uint32_t>(".u32"); }
TEST(CarryTest, DoubleWidthU64) { CheckDoubleWidth<uint64_t>(".u64"); }

TEST(CarryTest, SignedProducts) {
  const int32_t a[kWarpLanes] = {-3}, b[kWarpLanes] = {5}, c[kWarpLanes] = {1};
  int32_t d[kWarpLanes] = {};
  EXPECT_EQ(FindCarryOperation("mad.hi.cc.s32")->function(1, 0xf0, a, b, c, d), 0xf1u);
  EXPECT_EQ(d[0], 0);  // -1 + 1
  EXPECT_EQ(FindCarryOperation("madc.hi.s32")->sources, 3);
  EXPECT_EQ(FindCarryOperation("subc.cc.u64")->bytes, 8);
}

TEST(CarryTest, OnlyWhatTheIsaHas) {
  for (const absl::string_view name : {"add.u32", "sub.s32", "mad.lo.u32", "mad.cc.u32", "addc.u16",
                                       "add.cc.f32", "mul.cc.u32", "addc.cc", "addc.cc.u32."}) {
    EXPECT_FALSE(FindCarryOperation(name).has_value()) << name;
  }
}

}  // namespace
}  // namespace stax::isa
