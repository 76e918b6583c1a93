// Every op on every type it allows: what the code computes against the interpreter, with special
// values (NaN, infinities, zeros of both signs, denormals, extremes) among the inputs.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/codegen/testing/check_kernel.h"
#include "compiler/codegen/testing/nest_kernel.h"
#include "compiler/codegen/testing/op_nests.h"
#include "gtest/gtest.h"
#include "ir/loop_op.h"
#include "ir/scalar.h"

namespace stax {
namespace {

std::string Name(DType t) { return std::string(DTypeName(t)); }

std::string CheckOps(const std::vector<OpCode>& ops, DType type, Tolerance tolerance) {
  const KernelSpec kernel = MakeKernel(OpsNest(ops, type), KernelForm::kPointwise);
  return CheckKernel(kernel, CompleteConfig(kernel, {{"XBLOCK", 32}}), {}, tolerance,
                     /*specials=*/true);
}

class OpTest : public testing::TestWithParam<DType> {};

TEST_P(OpTest, ComputesWhatTheInterpreterComputes) {
  const DType type = GetParam();
  EXPECT_EQ(CheckOps(OpsOnType(type, /*math=*/false), type, {}), "");
  if (!IsFloat(type)) return;
  EXPECT_EQ(CheckOps(OpsOnType(type, /*math=*/true), type, MathTolerance(type)), "");
}

INSTANTIATE_TEST_SUITE_P(Types, OpTest, testing::ValuesIn(AllTypes()),
                         [](const auto& info) { return Name(info.param); });

class CastTest : public testing::TestWithParam<DType> {};

TEST_P(CastTest, ToEveryType) {
  const KernelSpec kernel = MakeKernel(CastsNest(GetParam()), KernelForm::kPointwise);
  EXPECT_EQ(CheckKernel(kernel, CompleteConfig(kernel, {{"XBLOCK", 64}}), {}, {},
                        /*specials=*/true),
            "");
}

INSTANTIATE_TEST_SUITE_P(Types, CastTest, testing::ValuesIn(AllTypes()),
                         [](const auto& info) { return Name(info.param); });

// A double between two half values, closer to a tie than f32 can tell: rounding twice, through
// f32, would give the even neighbour.
TEST(CastToHalf, RoundsOnce) {
  for (DType half : {DType::kF16, DType::kBF16}) {
    const double ulp = half == DType::kF16 ? 0x1p-10 : 0x1p-7;
    const std::vector<double> values = {1 + ulp / 2 + 0x1p-40, 1 + 3 * ulp / 2 - 0x1p-40,
                                        -(1 + ulp / 2 + 0x1p-40), 1 + ulp / 2};
    const std::vector<double> expected = {1 + ulp, 1 + ulp, -(1 + ulp), 1};
    const LoopNest nest = NestOrDie(
        absl::StrCat("nest casts {\n  buffer a: f64[4] in\n  buffer o: f64[4] out\n  loop i0: 4\n",
                     "  %0 = load a[i0] : f64\n  %1 = cast %0 : ", Name(half),
                     "\n  %2 = cast %1 : f64\n  store o[i0], %2\n}\n"));
    std::map<std::string, Bytes> memory, outputs;
    const std::byte* bytes = reinterpret_cast<const std::byte*>(values.data());
    memory["a"].assign(bytes, bytes + 4 * sizeof(double));
    outputs = memory;
    ASSERT_TRUE(Interpret(nest, {}, outputs).ok());
    for (int i = 0; i < 4; ++i)
      EXPECT_EQ(LoadScalar(DType::kF64, &outputs["o"][8 * i]).f, expected[i]) << i;
    const KernelSpec kernel = MakeKernel(nest, KernelForm::kPointwise);
    EXPECT_EQ(CheckKernel(kernel, CompleteConfig(kernel, {{"XBLOCK", 4}}), {}, memory, {}), "");
  }
}

TEST(Select, WithConditionsAndScalars) {
  const KernelSpec kernel = MakeKernel(R"(
nest selects {
  buffer a: f32[100] in
  buffer s: f32[1] in
  buffer c: bool[100] in
  buffer o: f32[100] out
  loop i0: 100
  %0 = load a[i0] : f32
  %1 = load s[0] : f32
  %2 = load c[i0] : bool
  %3 = lt %0, %1 : bool
  %4 = and %2, %3 : bool
  %5 = select %4, %0, %1 : f32
  %6 = index 3*i0 : f32
  %7 = add %5, %6 : f32
  store o[i0], %7
}
)",
                                       KernelForm::kPointwise);
  for (int64_t block : {1, 4, 32, 256}) {
    EXPECT_EQ(CheckKernel(kernel, CompleteConfig(kernel, {{"XBLOCK", block}, {"WARPS", 2}}), {}, {},
                          /*specials=*/true),
              "");
  }
}

}  // namespace
}  // namespace stax
