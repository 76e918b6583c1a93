// Functions of halves as kernels compute them, on the emulator: every f16 and bf16 argument, within
// 1 ulp of MPFR's value. Ops on halves, and the same through f32 with a cast at the end, are the
// two ways in which graphs ask for them.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/substitute.h"
#include "compiler/codegen/codegen.h"
#include "compiler/codegen/math/reference.h"
#include "compiler/codegen/testing/nest_kernel.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/scalar.h"
#include "runtime/device.h"

namespace stax {
namespace {

using ::testing::HasSubstr;

constexpr int kNumbers = 65536;

const OpCode kUnary[] = {OpCode::kExp, OpCode::kExp2, OpCode::kSigmoid, OpCode::kTanh, OpCode::kErf,
                         OpCode::kLog, OpCode::kLog2, OpCode::kSqrt,    OpCode::kRsqrt};

TargetSpec Cuda() {
  TargetSpec target;
  target.kind = TargetSpec::Kind::kCuda;
  target.arch = "sm_90a";
  return target;
}

// Runs one kernel; buffers in the nest's order, the last is written.
void Compute(const KernelSpec& kernel, const Config& config, int64_t grid,
             std::vector<std::vector<uint16_t>>& buffers, std::string* ptx = nullptr) {
  const absl::StatusOr<Variant> variant =
      CompileVariant(kernel, CompleteConfig(kernel, config), Cuda(), {});
  ASSERT_TRUE(variant.ok()) << variant.status();
  if (ptx != nullptr) *ptx = variant->ptx();
  auto device = OpenDevice("emu");
  ASSERT_TRUE(device.ok()) << device.status();
  std::vector<void*> memory;
  for (const std::vector<uint16_t>& buffer : buffers) {
    auto allocated = (*device)->Allocate(2 * buffer.size());
    ASSERT_TRUE(allocated.ok()) << allocated.status();
    memory.push_back(*allocated);
    ASSERT_TRUE((*device)->CopyIn(memory.back(), buffer.data(), 2 * buffer.size()).ok());
  }
  auto loaded = (*device)->Load(*variant);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  const absl::Status launched = (*loaded)->Launch(memory, {}, grid, nullptr);
  ASSERT_TRUE(launched.ok()) << launched;
  ASSERT_TRUE((*device)->Synchronize().ok());
  std::vector<uint16_t>& out = buffers.back();
  ASSERT_TRUE((*device)->CopyOut(out.data(), memory.back(), 2 * out.size()).ok());
  for (void* m : memory) (*device)->Free(m);
}

double Value(DType type, uint16_t bits) { return LoadScalar(type, &bits).f; }

std::vector<uint16_t> AllNumbers() {
  std::vector<uint16_t> all(kNumbers);
  for (int i = 0; i < kNumbers; ++i) all[i] = static_cast<uint16_t>(i);
  return all;
}

struct Case {
  OpCode code;
  DType type;
  bool through_f32;
};

std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (OpCode code : kUnary)
    for (DType type : {DType::kF16, DType::kBF16})
      for (bool through_f32 : {false, true}) cases.push_back({code, type, through_f32});
  return cases;
}

class HalfMathTest : public testing::TestWithParam<Case> {};

TEST_P(HalfMathTest, EveryNumberIsWithinAnUlp) {
  const Case& c = GetParam();
  const std::string nest = absl::Substitute(
      R"(nest unary {
  buffer a: $0[65536] in
  buffer o: $0[65536] out
  loop i0: 65536
  %0 = load a[i0] : $0
  $2
  store o[i0], %$1
})",
      std::string(DTypeName(c.type)), c.through_f32 ? 3 : 1,
      absl::Substitute(c.through_f32 ? "%1 = cast %0 : f32\n  %2 = $0 %1 : f32\n"
                                       "  %3 = cast %2 : $1"
                                     : "%1 = $0 %0 : $1",
                       std::string(OpName(c.code)), std::string(DTypeName(c.type))));
  std::vector<std::vector<uint16_t>> buffers = {AllNumbers(), std::vector<uint16_t>(kNumbers)};
  Compute(MakeKernel(nest, KernelForm::kPointwise), {{"XBLOCK", 1024}, {"WARPS", 4}},
          kNumbers / 1024, buffers);
  for (int i = 0; i < kNumbers; ++i) {
    const double x = Value(c.type, buffers[0][i]), y = Value(c.type, buffers[1][i]);
    ASSERT_LE(math::UlpErrorIn(c.code, c.type, y, x, 0), 1) << x << " -> " << y;
  }
}

INSTANTIATE_TEST_SUITE_P(All, HalfMathTest, testing::ValuesIn(Cases()), [](const auto& info) {
  return std::string(OpName(info.param.code)) + "_" + std::string(DTypeName(info.param.type)) +
         (info.param.through_f32 ? "_f32" : "");
});

// Rows divided by one number each, by the product with the reciprocal where that is normal.
TEST(HalfMathTest, RowsDividedByAnyNumber) {
  constexpr int kRows = 256, kLength = 256;
  const std::string nest = R"(nest rows {
  buffer a: bf16[256] in
  buffer b: bf16[256] in
  buffer o: bf16[65536] out
  loop i0: 256
  reduce r0: 256
  %0 = load a[r0] : bf16
  %1 = cast %0 : f32
  %2 = load b[i0] : bf16
  %3 = cast %2 : f32
  %4 = div %1, %3 : f32
  %5 = cast %4 : bf16
  store o[256*i0 + r0], %5
})";
  std::vector<std::vector<uint16_t>> buffers(3);
  for (int i = 0; i < kLength; ++i) buffers[0].push_back(static_cast<uint16_t>(257 * i));
  for (int i = 0; i < kRows; ++i)
    buffers[1].push_back(static_cast<uint16_t>(256 * i + 37 * i % 256));
  buffers[2].resize(kRows * kLength);
  std::string ptx;
  Compute(MakeKernel(nest, KernelForm::kPersistent), {}, kRows, buffers, &ptx);
  EXPECT_THAT(ptx, HasSubstr("rcp.approx.ftz.f32"));
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < kLength; ++j) {
      const double a = Value(DType::kBF16, buffers[0][j]), b = Value(DType::kBF16, buffers[1][i]);
      const double q = Value(DType::kBF16, buffers[2][kLength * i + j]);
      ASSERT_LE(math::UlpErrorIn(OpCode::kDiv, DType::kBF16, q, a, b), 1)
          << a << " / " << b << " = " << q;
    }
  }
}

// Exponentials, their sum, in passes over the row or all at once, and the quotients.
TEST(HalfMathTest, SoftmaxIsWithinAnUlp) {
  constexpr int kRows = 16, kLength = 1024;
  for (DType type : {DType::kF16, DType::kBF16}) {
    const std::string nest = absl::Substitute(R"(nest softmax {
  buffer x: $0[16384] in
  buffer o: $0[16384] out
  loop i0: 16
  reduce r0: 1024
  %0 = load x[1024*i0 + r0] : $0
  %1 = cast %0 : f32
  %2 = reduce.max %1 : f32
  %3 = sub %1, %2 : f32
  %4 = exp %3 : f32
  %5 = reduce.sum %4 : f32
  %6 = div %4, %5 : f32
  %7 = cast %6 : $0
  store o[1024*i0 + r0], %7
})",
                                              std::string(DTypeName(type)));
    std::vector<std::vector<uint16_t>> buffers(2, std::vector<uint16_t>(kRows * kLength));
    for (int i = 0; i < kRows * kLength; ++i) {  // ever steeper rows
      const int row = i / kLength;
      const double x = std::sin(i * 0.7) * (1 + 4 * row);
      StoreScalar(Scalar::Float(type, x), &buffers[0][i]);
    }
    for (KernelForm form : {KernelForm::kPersistent, KernelForm::kLooped}) {
      Compute(MakeKernel(nest, form), {{"RBLOCK", form == KernelForm::kLooped ? 256 : 1024}}, kRows,
              buffers);
      for (int row = 0; row < kRows; ++row) {
        const uint16_t* x = &buffers[0][row * kLength];
        double max = -HUGE_VAL, sum = 0;
        for (int i = 0; i < kLength; ++i) max = std::max(max, Value(type, x[i]));
        for (int i = 0; i < kLength; ++i) sum += std::exp(Value(type, x[i]) - max);
        for (int i = 0; i < kLength; ++i) {
          const double y = Value(type, buffers[1][row * kLength + i]);
          ASSERT_LE(math::UlpErrorIn(OpCode::kDiv, type, y, std::exp(Value(type, x[i]) - max), sum),
                    1)
              << "row " << row << ", " << i << ": " << y;
        }
      }
    }
  }
}

}  // namespace
}  // namespace stax
