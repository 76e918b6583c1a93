#include "runtime/emulator/isa/wmma.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "runtime/emulator/isa/mma.h"
#include "runtime/emulator/isa/testing/mpfr_oracle.h"
#include "runtime/emulator/isa/testing/operation_runner.h"
#include "runtime/emulator/isa/warp_operation.h"

namespace stax::isa {
namespace {

// A warp's registers of one matrix.
struct Registers {
  explicit Registers(const MmaFragment& f)
      : fragment(f), words(f.registers * kWarpLanes), narrow(words.size()) {}

  // Pointers to registers of 4 bytes, or of 8.
  std::vector<void*> Pointers() {
    std::vector<void*> result;
    for (int reg = 0; reg < fragment.registers; ++reg) {
      result.push_back(fragment.register_bytes == 8
                           ? static_cast<void*>(&words[reg * kWarpLanes])
                           : static_cast<void*>(&narrow[reg * kWarpLanes]));
    }
    return result;
  }

  MmaFragment fragment;
  std::vector<uint64_t> words;
  std::vector<uint32_t> narrow;
};

uint64_t Encode(MmaElement element, double value) {
  switch (element) {
    case MmaElement::kF16:
      return OracleBits(kOracleF16, value);
    case MmaElement::kBF16:
      return OracleBits(kOracleBF16, value);
    case MmaElement::kTF32:
    case MmaElement::kF32:
      return OracleBits(kOracleF32, value);
    case MmaElement::kF64:
      return OracleBits(kOracleF64, value);
    default:
      return static_cast<uint64_t>(static_cast<int64_t>(value)) &
             ((uint64_t{1} << BitsOf(element)) - 1);
  }
}

// What a load does: elements of a matrix in memory, as numbers, to registers.
void Load(const WmmaOperation& load, const std::vector<double>& memory, int stride,
          Registers& registers) {
  const int bits = BitsOf(load.fragment.element);
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    for (int reg = 0; reg < load.fragment.registers; ++reg) {
      for (int index = 0; index < load.fragment.elements_a_register; ++index) {
        const MatrixPosition at = FragmentPosition(load.fragment, load.matrix, lane, reg, index);
        const int offset =
            load.column_major ? at.column * stride + at.row : at.row * stride + at.column;
        const uint64_t value = Encode(load.fragment.element, memory[offset]) << (bits * index);
        registers.words[reg * kWarpLanes + lane] |= value;
        registers.narrow[reg * kWarpLanes + lane] |= static_cast<uint32_t>(value);
      }
    }
  }
}

// Loads, multiplies and stores in the given orders, against a product of matrices.
void Check(int m, int n, int k, const std::string& a_type, const std::string& d_type,
           const std::string& types, bool a_column_major, bool b_column_major) {
  const std::string shape = absl::StrCat("m", m, "n", n, "k", k);
  const char* a_order = a_column_major ? "col" : "row";
  const char* b_order = b_column_major ? "col" : "row";
  const std::string name =
      absl::StrCat("wmma.mma.sync.aligned.", a_order, ".", b_order, ".", shape, ".", types);
  SCOPED_TRACE(name);
  const auto load_a =
      FindWmma(absl::StrCat("wmma.load.a.sync.aligned.", a_order, ".", shape, ".global.", a_type));
  const auto load_b =
      FindWmma(absl::StrCat("wmma.load.b.sync.aligned.", b_order, ".", shape, ".", a_type));
  const auto load_c =
      FindWmma(absl::StrCat("wmma.load.c.sync.aligned.row.", shape, ".shared.", d_type));
  const auto store = FindWmma(absl::StrCat("wmma.store.d.sync.aligned.row.", shape, ".", d_type));
  const auto product = FindWmma(name);
  ASSERT_TRUE(load_a && load_b && load_c && store && product);
  RandomBits random(m + k);
  const auto draw = [&](int count) {
    std::vector<double> result(count);
    for (double& x : result) x = static_cast<double>(random.Next() % 8);
    return result;
  };
  const int a_stride = (a_column_major ? m : k) + 3, b_stride = (b_column_major ? k : n) + 5;
  const std::vector<double> a = draw(64 * 64), b = draw(64 * 64), c = draw(64 * 64);
  Registers ra(load_a->fragment), rb(load_b->fragment), rc(load_c->fragment), rd(store->fragment);
  ASSERT_EQ(product->mma.a.registers, load_a->fragment.registers);
  ASSERT_EQ(product->mma.d.registers, store->fragment.registers);
  Load(*load_a, a, a_stride, ra);
  Load(*load_b, b, b_stride, rb);
  Load(*load_c, c, n, rc);
  EXPECT_EQ(load_c->default_stride, n);
  RunMma(product->mma, ra.Pointers().data(), rb.Pointers().data(), rc.Pointers().data(),
         rd.Pointers().data());
  const int bits = BitsOf(store->fragment.element);
  std::vector<int> written(m * n);
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    for (int reg = 0; reg < rd.fragment.registers; ++reg) {
      for (int index = 0; index < rd.fragment.elements_a_register; ++index) {
        const MatrixPosition at = FragmentPosition(rd.fragment, store->matrix, lane, reg, index);
        ++written[at.row * n + at.column];
        double expected = c[at.row * n + at.column];
        for (int i = 0; i < k; ++i) {
          expected += a[a_column_major ? i * a_stride + at.row : at.row * a_stride + i] *
                      b[b_column_major ? at.column * b_stride + i : i * b_stride + at.column];
        }
        const uint64_t word = rd.fragment.register_bytes == 8 ? rd.words[reg * kWarpLanes + lane]
                                                              : rd.narrow[reg * kWarpLanes + lane];
        const uint64_t mask = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
        ASSERT_EQ(word >> (bits * index) & mask, Encode(rd.fragment.element, expected));
      }
    }
  }
  for (const int count : written) ASSERT_EQ(count, 1);
}

TEST(WmmaTest, EveryShapeAndType) {
  const struct {
    int m, n, k;
  } shapes[] = {{16, 16, 16}, {32, 8, 16}, {8, 32, 16}};
  for (const auto& s : shapes) {
    for (const bool a_col : {false, true}) {
      for (const bool b_col : {false, true}) {
        Check(s.m, s.n, s.k, "f16", "f32", "f32.f32", a_col, b_col);
        Check(s.m, s.n, s.k, "f16", "f16", "f16.f16", a_col, b_col);
        Check(s.m, s.n, s.k, "bf16", "f32", "f32.bf16.bf16.f32", a_col, b_col);
        Check(s.m, s.n, s.k, "s8", "s32", "s32.s8.s8.s32", a_col, b_col);
        Check(s.m, s.n, s.k, "u8", "s32", "s32.u8.u8.s32.satfinite", a_col, b_col);
      }
    }
  }
  Check(16, 16, 8, "tf32", "f32", "f32.tf32.tf32.f32", false, true);
  Check(8, 8, 4, "f64", "f64", "rn.f64.f64.f64.f64", false, true);
  Check(8, 8, 4, "f64", "f64", "f64.f64.f64.f64", true, false);
  Check(8, 8, 32, "u4", "s32", "s32.u4.u4.s32", false, true);
}

TEST(WmmaTest, RegistersOfTheIsa) {
  const auto registers = [](absl::string_view name) { return FindWmma(name)->fragment.registers; };
  EXPECT_EQ(registers("wmma.load.a.sync.aligned.row.m8n32k16.f16"), 8);
  EXPECT_EQ(registers("wmma.load.b.sync.aligned.row.m8n32k16.f16"), 8);
  EXPECT_EQ(registers("wmma.load.a.sync.aligned.row.m16n16k16.bf16"), 4);
  EXPECT_EQ(registers("wmma.load.b.sync.aligned.row.m8n32k16.bf16"), 8);
  EXPECT_EQ(registers("wmma.load.a.sync.aligned.row.m16n16k8.tf32"), 4);
  EXPECT_EQ(registers("wmma.load.a.sync.aligned.row.m16n16k16.s8"), 2);
  EXPECT_EQ(registers("wmma.load.a.sync.aligned.row.m8n8k4.f64"), 1);
  EXPECT_EQ(registers("wmma.load.c.sync.aligned.row.m16n16k16.f16"), 4);
  EXPECT_EQ(registers("wmma.load.c.sync.aligned.row.m16n16k16.f32"), 8);
  EXPECT_EQ(registers("wmma.load.c.sync.aligned.row.m8n8k4.f64"), 2);
}

TEST(WmmaTest, OnlyWhatTheIsaHas) {
  for (const absl::string_view name :
       {"wmma.load.a.sync.aligned.m16n16k16.f16", "wmma.load.d.sync.aligned.row.m16n16k16.f32",
        "wmma.load.a.sync.aligned.row.m16n16k16.f32", "wmma.load.a.sync.aligned.row.m16n16k8.f16",
        "wmma.store.d.sync.aligned.row.m16n16k16.bf16",
        "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f16.f16.f32",
        "wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.u8.s32",
        "wmma.mma.sync.aligned.row.m16n16k16.f32.f32", "wmma.mma.sync.aligned.row.col.m16n16k16",
        "wmma.mma.sync.aligned.row.col.m8n8k4.rz.f64.f64.f64.f64"}) {
    EXPECT_FALSE(FindWmma(name).has_value()) << name;
  }
}

}  // namespace
}  // namespace stax::isa
