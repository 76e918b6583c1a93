// The fragments are filled by the formulas of the ISA, shape by shape as it writes them; the result
// is compared with a plain product of matrices.
#include "runtime/emulator/isa/mma.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
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

struct At {
  int row, column;
};
// Position of the element i of a lane, counted over its registers as the ISA counts a0, a1, ...
using Layout = std::function<At(int group, int thread, int i)>;

struct Shape {
  int m, k;
  int bits;  // of an element of a and b
  Layout a, b;
};

// PTX ISA 8.5, 9.7.14.5 "Matrix multiply-accumulate operation using mma instruction".
const Shape kShapes[] = {
    // m8n8k4 .f64
    {8, 4, 64, [](int g, int t, int) { return At{g, t}; },
     [](int g, int t, int) { return At{t, g}; }},
    // m16n8k4 .f64
    {16, 4, 64, [](int g, int t, int i) { return At{i == 0 ? g : g + 8, t}; },
     [](int g, int t, int) { return At{t, g}; }},
    // m16n8k8 .f64
    {16, 8, 64,
     [](int g, int t, int i) { return At{i == 0 || i == 2 ? g : g + 8, i < 2 ? t : t + 4}; },
     [](int g, int t, int i) { return At{i == 0 ? t : t + 4, g}; }},
    // m16n8k16 .f64
    {16, 16, 64,
     [](int g, int t, int i) {
       return At{i % 2 == 0 ? g : g + 8, i % 2 == 0 ? i * 2 + t : i * 2 - 2 + t};
     },
     [](int g, int t, int i) { return At{t + i * 4, g}; }},
    // m16n8k4 .tf32
    {16, 4, 32, [](int g, int t, int i) { return At{i == 0 ? g : g + 8, t}; },
     [](int g, int t, int) { return At{t, g}; }},
    // m16n8k8 .tf32
    {16, 8, 32,
     [](int g, int t, int i) { return At{i == 0 || i == 2 ? g : g + 8, i < 2 ? t : t + 4}; },
     [](int g, int t, int i) { return At{i == 0 ? t : t + 4, g}; }},
    // m16n8k8 .f16 .bf16
    {16, 8, 16, [](int g, int t, int i) { return At{i < 2 ? g : g + 8, t * 2 + (i & 1)}; },
     [](int g, int t, int i) { return At{t * 2 + i, g}; }},
    // m16n8k16 .f16 .bf16
    {16, 16, 16,
     [](int g, int t, int i) {
       return At{i < 2 || (4 <= i && i < 6) ? g : g + 8,
                 i < 4 ? t * 2 + (i & 1) : t * 2 + (i & 1) + 8};
     },
     [](int g, int t, int i) { return At{i < 2 ? t * 2 + (i & 1) : t * 2 + (i & 1) + 8, g}; }},
    // m8n8k16 .s8 .u8
    {8, 16, 8, [](int g, int t, int i) { return At{g, t * 4 + i}; },
     [](int g, int t, int i) { return At{t * 4 + i, g}; }},
    // m16n8k16 .s8 .u8 .e4m3 .e5m2
    {16, 16, 8, [](int g, int t, int i) { return At{i < 4 ? g : g + 8, t * 4 + (i & 3)}; },
     [](int g, int t, int i) { return At{t * 4 + i, g}; }},
    // m16n8k32 .s8 .u8 .e4m3 .e5m2
    {16, 32, 8,
     [](int g, int t, int i) {
       return At{i < 4 || (8 <= i && i < 12) ? g : g + 8,
                 i < 8 ? t * 4 + (i & 3) : t * 4 + (i & 3) + 16};
     },
     [](int g, int t, int i) { return At{i < 4 ? t * 4 + (i & 3) : t * 4 + (i & 3) + 16, g}; }},
    // m8n8k32 .s4 .u4
    {8, 32, 4, [](int g, int t, int i) { return At{g, t * 8 + i}; },
     [](int g, int t, int i) { return At{t * 8 + i, g}; }},
    // m16n8k32 .s4 .u4
    {16, 32, 4, [](int g, int t, int i) { return At{i < 8 ? g : g + 8, t * 8 + (i & 7)}; },
     [](int g, int t, int i) { return At{t * 8 + i, g}; }},
    // m16n8k64 .s4 .u4
    {16, 64, 4,
     [](int g, int t, int i) {
       return At{i < 8 || (16 <= i && i < 24) ? g : g + 8,
                 i < 16 ? t * 8 + (i & 7) : t * 8 + (i & 7) + 32};
     },
     [](int g, int t, int i) { return At{i < 8 ? t * 8 + (i & 7) : t * 8 + (i & 7) + 32, g}; }}};

At AccumulatorAt(int group, int thread, int i) {
  return {i < 2 ? group : group + 8, thread * 2 + (i & 1)};
}

// Bits of a small integer.
uint64_t Encode(absl::string_view type, double value) {
  if (type == "f16") return OracleBits(kOracleF16, value);
  if (type == "bf16") return OracleBits(kOracleBF16, value);
  if (type == "f32") return OracleBits(kOracleF32, value);
  // tf32 ignores the low bits.
  if (type == "tf32") return OracleBits(kOracleF32, value) | (value == 0 ? 0 : 0x1abc);
  if (type == "f64") return OracleBits(kOracleF64, value);
  if (type == "e4m3") return OracleBits({8, 4, -6, 8}, value);
  if (type == "e5m2") return OracleBits({8, 3, -14, 15}, value);
  const auto integer = static_cast<uint64_t>(static_cast<int64_t>(value));
  if (type == "s32") return integer & 0xffffffff;
  return integer & (type == "s8" || type == "u8" ? 0xff : 0xf);
}

int BitsOfType(absl::string_view type) {
  if (type == "f64") return 64;
  if (type == "f16" || type == "bf16") return 16;
  if (type == "e4m3" || type == "e5m2" || type == "s8" || type == "u8") return 8;
  return type == "s4" || type == "u4" ? 4 : 32;
}

// Registers of a warp, 64 bits apart in each lane's row of bits.
class Registers {
 public:
  Registers(int count, int bytes) : bytes_(bytes), storage_(count * kWarpLanes * bytes) {
    for (int i = 0; i < count; ++i) pointers_.push_back(&storage_[i * kWarpLanes * bytes]);
  }
  void Set(int lane, int index, int bits, uint64_t value) {
    const int per_register = 8 * bytes_ / bits;
    uint8_t* element = &storage_[(index / per_register * kWarpLanes + lane) * bytes_];
    uint64_t word = 0;
    std::memcpy(&word, element, bytes_);
    word |= value << (bits * (index % per_register));
    std::memcpy(element, &word, bytes_);
  }
  uint64_t Get(int lane, int index, int bits) const {
    const int per_register = 8 * bytes_ / bits;
    uint64_t word = 0;
    std::memcpy(&word, &storage_[(index / per_register * kWarpLanes + lane) * bytes_], bytes_);
    return word >> (bits * (index % per_register)) &
           (bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1);
  }
  void* const* pointers() { return pointers_.data(); }

 private:
  int bytes_;
  std::vector<uint8_t> storage_;
  std::vector<void*> pointers_;
};

void Check(const Shape& shape, const std::string& d, const std::string& a, const std::string& b,
           const std::string& c) {
  constexpr int kN = 8;
  const std::string name = absl::StrCat("mma.sync.aligned.m", shape.m, "n8k", shape.k, ".row.col.",
                                        d, ".", a, ".", b, ".", c);
  SCOPED_TRACE(name);
  const auto mma = FindMma(name);
  ASSERT_TRUE(mma.has_value());
  RandomBits random(shape.m * shape.k);
  const bool no_sign_a = a[0] == 'u', no_sign_b = b[0] == 'u';
  std::vector<double> left(shape.m * shape.k), right(shape.k * kN), sums(shape.m * kN);
  for (double& x : left) x = static_cast<double>(random.Next() % 9) - (no_sign_a ? 0 : 4);
  for (double& x : right) x = static_cast<double>(random.Next() % 9) - (no_sign_b ? 0 : 4);
  for (double& x : sums) x = static_cast<double>(random.Next() % 100) - 50;
  const int bytes = shape.bits == 64 ? 8 : 4;
  const int c_bits = BitsOfType(c), d_bits = BitsOfType(d);
  const int c_count = shape.m * kN * c_bits / (kWarpLanes * 8 * bytes);
  const int d_count = shape.m * kN * d_bits / (kWarpLanes * 8 * bytes);
  Registers ra(mma->a.registers, bytes), rb(mma->b.registers, bytes), rc(c_count, bytes),
      rd(d_count, bytes);
  ASSERT_EQ(mma->c.registers, c_count);
  ASSERT_EQ(mma->d.registers, d_count);
  ASSERT_EQ(mma->a.registers * kWarpLanes * 8 * bytes, shape.m * shape.k * shape.bits);
  ASSERT_EQ(mma->b.registers * kWarpLanes * 8 * bytes, kN * shape.k * shape.bits);
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    for (int i = 0; i < shape.m * shape.k / kWarpLanes; ++i) {
      const At at = shape.a(lane >> 2, lane % 4, i);
      ra.Set(lane, i, shape.bits, Encode(a, left[at.row * shape.k + at.column]));
    }
    for (int i = 0; i < kN * shape.k / kWarpLanes; ++i) {
      const At at = shape.b(lane >> 2, lane % 4, i);
      rb.Set(lane, i, shape.bits, Encode(b, right[at.row * kN + at.column]));
    }
    for (int i = 0; i < shape.m * kN / kWarpLanes; ++i) {
      const At at = AccumulatorAt(lane >> 2, lane % 4, i);
      rc.Set(lane, i, c_bits, Encode(c, sums[at.row * kN + at.column]));
    }
  }
  RunMma(*mma, ra.pointers(), rb.pointers(), rc.pointers(), rd.pointers());
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    for (int i = 0; i < shape.m * kN / kWarpLanes; ++i) {
      const At at = AccumulatorAt(lane >> 2, lane % 4, i);
      double expected = sums[at.row * kN + at.column];
      for (int k = 0; k < shape.k; ++k) {
        expected += left[at.row * shape.k + k] * right[k * kN + at.column];
      }
      ASSERT_EQ(rd.Get(lane, i, d_bits), Encode(d, expected)) << lane << " " << i;
    }
  }
}

TEST(MmaTest, EveryShapeAndType) {
  for (const Shape& shape : kShapes) {
    if (shape.bits == 64) Check(shape, "f64", "f64", "f64", "f64");
    if (shape.bits == 32) Check(shape, "f32", "tf32", "tf32", "f32");
    if (shape.bits == 16) {
      Check(shape, "f32", "bf16", "bf16", "f32");
      for (const char* d : {"f16", "f32"}) {
        for (const char* c : {"f16", "f32"}) Check(shape, d, "f16", "f16", c);
      }
    }
    if (shape.bits == 8) {
      for (const char* a : {"s8", "u8"}) {
        for (const char* b : {"s8", "u8"}) Check(shape, "s32", a, b, "s32");
      }
      if (shape.m == 8) continue;
      for (const char* a : {"e4m3", "e5m2"}) {
        for (const char* b : {"e4m3", "e5m2"}) {
          Check(shape, "f32", a, b, "f32");
          Check(shape, "f16", a, b, "f16");
        }
      }
    }
    if (shape.bits == 4) {
      for (const char* a : {"s4", "u4"}) {
        // 4 bits with a sign hold -8 to 7; the numbers here go to 4.
        for (const char* b : {"s4", "u4"}) Check(shape, "s32", a, b, "s32");
      }
    }
  }
}

// All elements of a and b are the same, so that each result is c + k * a * b.
uint64_t Uniform(absl::string_view name, uint64_t a, uint64_t b, uint64_t c) {
  const MmaOperation mma = *FindMma(name);
  Registers ra(mma.a.registers, 4), rb(mma.b.registers, 4), rc(mma.c.registers, 4);
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    for (int i = 0; i < mma.a.registers; ++i) ra.Set(lane, i, 32, a);
    for (int i = 0; i < mma.b.registers; ++i) rb.Set(lane, i, 32, b);
    for (int i = 0; i < mma.c.registers; ++i) rc.Set(lane, i, 32, c);
  }
  RunMma(mma, ra.pointers(), rb.pointers(), rc.pointers(), rc.pointers());
  return rc.Get(31, 0, 32);
}

TEST(MmaTest, IntegersWrapOrClamp) {
  EXPECT_EQ(Uniform("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32", 0xffffffff, 0xffffffff,
                    0x7fffffff),
            0x7fffffffu + 32 * 255 * 255);
  EXPECT_EQ(Uniform("mma.sync.aligned.m16n8k32.row.col.satfinite.s32.u8.u8.s32", 0xffffffff,
                    0xffffffff, 0x7fffffff),
            0x7fffffffu);
  EXPECT_EQ(Uniform("mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32", 0x80808080,
                    0xffffffff, 0x80000000),
            0x80000000u);
}

TEST(MmaTest, RoundsTheSumOnce) {
  // 1 + 16 * 2^-11 * 2^-13: a product alone is lost when added to 1, their sum is 8 units of 2^-23.
  const absl::string_view f16 = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32";
  EXPECT_EQ(Uniform(f16, 0x10001000, 0x08000800, 0x3f800000), 0x3f800008u);
  // 65504 * 65504 is no f16; the sum is the infinity of the accumulator's type.
  EXPECT_EQ(Uniform("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", 0x7bff7bff, 0x7bff7bff, 0),
            0x7c007c00u);
  EXPECT_EQ(Uniform(f16, 0x7c007c00, 0x00000000, 0), 0x7fffffffu);  // infinity * 0
  EXPECT_EQ(Uniform(f16, 0x00010001, 0x3c003c00, 0), 0x35800000u);  // subnormal numbers count
}

TEST(MmaTest, OnlyWhatTheIsaHas) {
  for (const absl::string_view name :
       {"mma.sync.aligned.m16n8k16.col.row.f32.f16.f16.f32",
        "mma.sync.aligned.m16n8k16.row.col.f16.bf16.bf16.f16",
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32",
        "mma.sync.aligned.m16n8k16.row.col.satfinite.f32.f16.f16.f32",
        "mma.sync.aligned.m16n8k4.row.col.f32.f16.f16.f32",
        "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32",
        "mma.sync.aligned.m16n8k8.row.col.s32.s8.s8.s32",
        "mma.sync.aligned.m16n8k32.row.col.s32.s8.s4.s32",
        "mma.aligned.m16n8k16.row.col.f32.f16.f16.f32", "mma.sync.aligned.m16n8k16.row.col.f32"}) {
    EXPECT_FALSE(FindMma(name).has_value()) << name;
  }
}

}  // namespace
}  // namespace stax::isa
