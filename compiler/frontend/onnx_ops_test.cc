// Values of operators where a plausible translation goes wrong: NaN, infinities, signed zeros,
// ties, integer rounding, legacy operator sets. (onnx_node_test has the ordinary values.)
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "compiler/frontend/onnx.h"
#include "compiler/frontend/onnx_text_model.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/graph_interpreter.h"
#include "ir/testing/graph_values.h"

namespace stax {
namespace {

using ::testing::HasSubstr;

const double kNaN = std::numeric_limits<double>::quiet_NaN();
const double kInf = std::numeric_limits<double>::infinity();

// All outputs of a model whose operands are constants, one after the other.
std::vector<double> Values(const std::string& text, int opset = 17) {
  const auto graph = GraphFromOnnx(OnnxBytesFromText(text, opset));
  EXPECT_TRUE(graph.ok()) << graph.status() << text;
  if (!graph.ok()) return {};
  const auto outputs = InterpretGraph(*graph, {}, {}, Precision::kTyped);
  EXPECT_TRUE(outputs.ok()) << outputs.status() << text;
  if (!outputs.ok()) return {};
  std::vector<double> all;
  for (size_t o = 0; o < graph->outputs.size(); ++o) {
    const DType dtype = graph->tensors[graph->outputs[o]].dtype;
    for (double v : Unpack(dtype, outputs->at(graph->output_names[o]))) all.push_back(v);
  }
  return all;
}

// The node "y = .." on x = f32 with these elements.
std::vector<double> OnX(const std::string& x, const std::string& node, int opset = 17) {
  const auto count = std::count(x.begin(), x.end(), ',') + 1;
  return Values(
      "x = const f32[" + std::to_string(count) + "] {" + x + "}\ny = " + node + "\noutput y",
      opset);
}

void ExpectNear(const std::vector<double>& got, const std::vector<double>& want,
                double tolerance = 2e-6) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) {
    if (std::isnan(want[i]) || std::isinf(want[i])) {
      EXPECT_TRUE(std::isnan(want[i]) ? std::isnan(got[i]) : got[i] == want[i])
          << "element " << i << ": " << got[i] << ", expected " << want[i];
    } else {
      EXPECT_NEAR(got[i], want[i], tolerance * std::max(1.0, std::abs(want[i]))) << "element " << i;
      EXPECT_EQ(std::signbit(got[i]), std::signbit(want[i])) << "element " << i;
    }
  }
}

TEST(OnnxOpsTest, ActivationsOfSpecialNumbers) {
  const std::string x = "nan, inf, -inf, -0.0, 100, -100";
  ExpectNear(OnX(x, "Relu(x)"), {kNaN, kInf, 0, 0, 100, 0});
  ExpectNear(OnX(x, "LeakyRelu(x) alpha=0.5"), {kNaN, kInf, -kInf, -0.0, 100, -50});
  ExpectNear(OnX(x, "Elu(x)"), {kNaN, kInf, -1, -0.0, 100, -1});
  ExpectNear(OnX(x, "Celu(x) alpha=2.0"), {kNaN, kInf, -2, -0.0, 100, -2});
  ExpectNear(OnX(x, "ThresholdedRelu(x)"), {0, kInf, 0, 0, 100, 0});
  ExpectNear(OnX(x, "HardSigmoid(x)"), {kNaN, 1, 0, 0.5, 1, 0});
  ExpectNear(OnX(x, "HardSwish(x)"), {kNaN, kInf, kNaN, -0.0, 100, -0.0});
  ExpectNear(OnX(x, "Softplus(x)"), {kNaN, kInf, 0, std::log(2.0), 100, std::exp(-100.0)});
  ExpectNear(OnX(x, "Softsign(x)"), {kNaN, kNaN, kNaN, -0.0, 100 / 101.0, -100 / 101.0});
  ExpectNear(OnX(x, "Shrink(x) bias=1.0"), {0, kInf, -kInf, 0, 99, -99});
  ExpectNear(OnX(x, "Sigmoid(x)"), {kNaN, 1, 0, 0.5, 1, std::exp(-100.0)});
  ExpectNear(OnX(x, "IsNaN(x)"), {1, 0, 0, 0, 0, 0});
  ExpectNear(OnX(x, "IsInf(x)"), {0, 1, 1, 0, 0, 0});
  ExpectNear(OnX(x, "IsInf(x) detect_negative=0"), {0, 1, 0, 0, 0, 0});
  ExpectNear(OnX(x, "IsInf(x) detect_negative=0 detect_positive=0"), {0, 0, 0, 0, 0, 0});
}

// Near zero e^x - 1 must not cancel, and far below zero log(1 + e^x) must not vanish.
TEST(OnnxOpsTest, SmallResultsKeepTheirDigits) {
  const std::vector<double> elu = OnX("-1e-6, -1e-9", "Elu(x)");
  EXPECT_NEAR(elu[0] / -1e-6, 1, 1e-5);
  EXPECT_NEAR(elu[1] / -1e-9, 1, 1e-5);
  EXPECT_NEAR(OnX("-30.0, 0", "Softplus(x)")[0] / std::exp(-30.0), 1, 1e-5);
}

TEST(OnnxOpsTest, ClipPassesNaNAndPrefersMax) {
  ExpectNear(Values(R"(
x = const f32[4] {nan, -5, 0.5, 5}
low = const f32[] {2}
high = const f32[1] {1}
y = Clip(x, low, high)
z = Clip(x,, high)
output y, z)"),
             {kNaN, 1, 1, 1, kNaN, -5, 0.5, 1});
  ExpectNear(OnX("nan, -5, 5", "Clip(x) min=-1.0 max=1.0", 6), {kNaN, -1, 1});
}

TEST(OnnxOpsTest, PowOfMixedTypes) {
  ExpectNear(Values(R"(
i = const i32[4] {2, -3, 46341, 1}
f = const f32[4] {0.5, 3, 2, -2}
k = const i64[4] {10, 3, 1, -1}
a = Pow(i, f)
b = Pow(f, i)
c = Pow(i, k)
output a, b, c)"),
             {1, -27, 2147483647, 1, 0.25, std::pow(3.0, -3), kInf, -2, 1024, -27, 46341, 1});
}

TEST(OnnxOpsTest, IntegerDivisionAndModulo) {
  ExpectNear(Values(R"(
a = const i32[4] {7, -7, 7, -7}
b = const i32[4] {2, 2, -2, -2}
q = Div(a, b)
m = Mod(a, b)
f = Mod(a, b) fmod=1
output q, m, f)"),
             {3, -3, -3, 3, 1, 1, -1, -1, 1, -1, 1, -1});
}

TEST(OnnxOpsTest, UnsignedIntegers) {
  ExpectNear(Values(R"(
a = const u8[3] {200, 0, 255}
b = const u8[3] {100, 1, 9}
s = Add(a, b)
l = BitShift(a, b) direction="LEFT"
g = Sign(a)
p = Abs(a)
m = ReduceMax(a) keepdims=0
output s, l, g, p, m)"),
             {44, 1, 8, 0, 0, 0, 1, 0, 1, 200, 0, 255, 255});
}

TEST(OnnxOpsTest, LegacyBroadcastAlignsAtAxis) {
  EXPECT_THAT(Values(R"(
x = const f32[2, 3] {0, 0, 0, 0, 0, 0}
v = const f32[2] {1, 2}
y = Add(x, v) broadcast=1 axis=0
output y)",
                     6),
              ::testing::ElementsAre(1, 1, 1, 2, 2, 2));
}

TEST(OnnxOpsTest, SoftmaxBeforeSet13TakesAllAxesTogether) {
  const char* const kModel = R"(
x = const f32[1, 2, 2] {0, 0, 0, 0}
y = Softmax(x) axis=1
output y)";
  ExpectNear(Values(kModel, 12), {0.25, 0.25, 0.25, 0.25});
  ExpectNear(Values(kModel, 13), {0.5, 0.5, 0.5, 0.5});
}

TEST(OnnxOpsTest, ArgMaxOfTies) {
  ExpectNear(OnX("1, 3, 3, 0", "ArgMax(x)"), {1});
  ExpectNear(OnX("1, 3, 3, 0", "ArgMax(x) select_last_index=1"), {2});
  ExpectNear(OnX("1, nan, 3, nan", "ArgMax(x)"), {1});
  ExpectNear(OnX("1, 3, 3, 0", "Hardmax(x) axis=0"), {0, 1, 0, 0});
}

TEST(OnnxOpsTest, ReductionsOfIntegers) {
  ExpectNear(Values(R"(
x = const i32[3] {1, 2, 4}
a = ReduceMean(x) keepdims=0
b = ReduceL2(x) keepdims=0
c = ReduceProd(x) keepdims=0
d = ReduceLogSum(x) keepdims=0
output a, b, c, d)"),
             {2, 4, 8, 1});
}

TEST(OnnxOpsTest, EmptyReductions) {
  ExpectNear(Values(R"(
x = const f32[0] {}
axis = const i64[1] {0}
none = const i64[0] {}
a = ReduceSum(x, axis)
b = ReduceMax(x)
c = ReduceMean(x)
v = const f32[2] {1, 2}
d = ReduceSum(v, none) noop_with_empty_axes=1
e = ReduceSum(v, none)
output a, b, c, d, e)"),
             {0, -kInf, kNaN, 1, 2, 3});
}

TEST(OnnxOpsTest, SlicesWithNegativeSteps) {
  EXPECT_THAT(Values(R"(
x = const f32[5] {0, 1, 2, 3, 4}
start = const i64[1] {9}
end = const i64[1] {-9223372036854775807}
axes = const i64[1] {-1}
two = const i64[1] {-2}
y = Slice(x, start, end, axes, two)
from = const i64[1] {1}
to = const i64[1] {3}
step = const i64[1] {-1}
z = Slice(x, from, to, axes, step)
output y, z)"),
              ::testing::ElementsAre(4, 2, 0));
}

// -5 is element 0 of 5, which an end leaves out; only below it all elements are taken.
TEST(OnnxOpsTest, SlicesBackToTheFirstElement) {
  EXPECT_THAT(Values(R"(
x = const f32[5] {0, 1, 2, 3, 4}
last = const i64[1] {-1}
first = const i64[1] {-5}
before = const i64[1] {-6}
axes = const i64[1] {0}
step = const i64[1] {-1}
y = Slice(x, last, first, axes, step)
z = Slice(x, last, before, axes, step)
w = Slice(x, first, before, axes, step)
output y, z, w)"),
              ::testing::ElementsAre(4, 3, 2, 1, 4, 3, 2, 1, 0, 0));
}

TEST(OnnxOpsTest, PadsMayBeNegative) {
  EXPECT_THAT(Values(R"(
x = const f32[4] {1, 2, 3, 4}
pads = const i64[2] {-1, 2}
value = const f32[] {9}
y = Pad(x, pads, value)
reflect = const i64[2] {2, -1}
z = Pad(x, reflect) mode="reflect"
output y, z)"),
              ::testing::ElementsAre(2, 3, 4, 9, 9, 3, 2, 1, 2, 3));
}

// Labels that are ignored need not be classes.
TEST(OnnxOpsTest, LossesIgnoreLabels) {
  const char* const kModel = R"(
x = const f32[3, 2] {-1, -2, -3, -4, -5, -6}
t = const i64[3] {1, -100, 0}
w = const f32[2] {2, 4}
a = NegativeLogLikelihoodLoss(x, t) ignore_index=-100
b = NegativeLogLikelihoodLoss(x, t, w) ignore_index=-100
c = NegativeLogLikelihoodLoss(x, t, w) ignore_index=-100 reduction="none"
d = NegativeLogLikelihoodLoss(x, t, w) ignore_index=-100 reduction="sum"
output a, b, c, d)";
  ExpectNear(Values(kModel), {3.5, (8 + 10) / 6.0, 8, 0, 10, 18});
}

TEST(OnnxOpsTest, OneHotWrapsNegativeIndices) {
  EXPECT_THAT(Values(R"(
i = const i64[3] {0, -1, 7}
d = const i64[] {3}
v = const f32[2] {5, 1}
y = OneHot(i, d, v)
output y)"),
              ::testing::ElementsAre(1, 5, 5, 5, 5, 1, 5, 5, 5));
}

TEST(OnnxOpsTest, ScatterAddsRepeatedIndices) {
  EXPECT_THAT(Values(R"(
x = const f32[3] {1, 2, 3}
i = const i64[3] {0, -3, 2}
u = const f32[3] {10, 20, 30}
y = ScatterElements(x, i, u) reduction="add"
z = ScatterElements(x, i, u)
output y, z)"),
              ::testing::ElementsAre(31, 2, 33, 20, 2, 30));
}

TEST(OnnxOpsTest, TopKKeepsTheOrderOfEqualElements) {
  EXPECT_THAT(Values(R"(
x = const f32[5] {1, 3, 2, 3, 0}
k = const i64[1] {3}
v, i = TopK(x, k)
s, j = TopK(x, k) largest=0
output v, i, s, j)"),
              ::testing::ElementsAre(3, 3, 2, 1, 3, 2, 0, 1, 2, 4, 0, 2));
}

// NaN is above all numbers, as where NumPy and PyTorch sort.
TEST(OnnxOpsTest, TopKOfNaN) {
  ExpectNear(Values(R"(
x = const f32[5] {1, nan, 3, nan, 2}
k = const i64[1] {3}
v, i = TopK(x, k)
s, j = TopK(x, k) largest=0
all = const i64[1] {5}
t, l = TopK(x, all) largest=0
output v, i, s, j, l)"),
             {kNaN, kNaN, 3, 1, 3, 2, 1, 2, 3, 0, 4, 2, 0, 4, 2, 1, 3});
}

// Padding never is the maximum, not even of elements as low as it is.
TEST(OnnxOpsTest, MaxPoolIndicesAreInside) {
  const char* const kModel = R"(
x = const %[1, 1, 4] {%, %, 5, %}
y, i = MaxPool(x) kernel_shape=[2] pads=[1, 1]
output i)";
  for (const auto& [type, low] :
       {std::pair("u8", "0"), std::pair("i8", "-128"), std::pair("f32", "-inf")}) {
    std::string text = kModel;
    const char* const parts[] = {type, low, low, low};
    for (const char* part : parts) text.replace(text.find('%'), 1, part);
    EXPECT_THAT(Values(text), ::testing::ElementsAre(0, 0, 2, 2, 3)) << text;
  }
  EXPECT_THAT(Values(R"(
x = const f32[1, 1, 3] {1, nan, 2}
y, i = MaxPool(x) kernel_shape=[3] pads=[1, 1]
output i)"),
              ::testing::ElementsAre(1, 1, 1));
}

// PyTorch's rule, which ONNX took over: of windows that start behind the last element (or its left
// padding) there are none.
TEST(OnnxOpsTest, CeilModeHasNoWindowBehindTheEnd) {
  ExpectNear(Values(R"(
x = const f32[1, 1, 4] {1, 2, 3, 4}
a = AveragePool(x) kernel_shape=[1] strides=[2] ceil_mode=1
b = MaxPool(x) kernel_shape=[1] strides=[2] ceil_mode=1
c = MaxPool(x) kernel_shape=[2] strides=[2] pads=[1, 1] ceil_mode=1
d = AveragePool(x) kernel_shape=[2] strides=[3] pads=[1, 1] ceil_mode=1
output a, b, c, d)"),
             {1, 3, 1, 3, 1, 3, 4, 1, 3.5});
}

TEST(OnnxOpsTest, AveragePoolCountsWhatIsInside) {
  const char* const kModel = R"(
x = const f32[1, 1, 4] {1, 2, 3, 4}
y = AveragePool(x) kernel_shape=[3] pads=[1, 1]
z = AveragePool(x) kernel_shape=[3] pads=[1, 1] count_include_pad=1
c = AveragePool(x) kernel_shape=[3] strides=[2] ceil_mode=1
output y, z, c)";
  ExpectNear(Values(kModel), {1.5, 2, 3, 3.5, 1, 2, 3, 7 / 3.0, 2, 3.5});
}

// log(1 + e^x) at -8 is 3.35e-4; e^-8 added to 1 in f16 would give 1, and the logarithm 0.
TEST(OnnxOpsTest, HalvesAreRoundedOnce) {
  ExpectNear(Values("x = const f16[1] {-8}\ny = Softplus(x)\noutput y"),
             {std::log1p(std::exp(-8.0))}, 1e-3 * 3.4e-4);
}

TEST(OnnxOpsTest, TrainingIsNotSupported) {
  const auto graph = GraphFromOnnx(OnnxBytesFromText(R"(
x = input f32[2]
r = const f32[] {0.5}
t = const bool[] {1}
y = Dropout(x, r, t)
output y)"));
  EXPECT_EQ(graph.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(graph.status().message()), HasSubstr("operator Dropout (ai.onnx 17)"));
}

// 256 + 1 is 257, which bf16 cannot hold: rounded before the last 1 is added it would be 256 again.
TEST(OnnxOps, ProductsOfHalvesRoundOnce) {
  const std::string operands =
      "a = const bf16[1,2] {256, 1}\nb = const bf16[2,1] {1, 1}\nc = const bf16[1] {1}\n"
      "x = const bf16[1,1,2] {256, 1}\nk = const bf16[1,1,2] {1, 1}\n"
      "z = const bf16[1,2,1] {256, 1}\nt = const bf16[2,1,1] {1, 1}\n";
  EXPECT_EQ(Values(operands + "y = Gemm(a, b, c)\noutput y"), std::vector<double>{258});
  // 2 x 257 + 2 x 1; from 256 it would be 514, which bf16 rounds to 512.
  EXPECT_EQ(Values(operands + "y = Gemm(a, b, c) alpha=2.0 beta=2.0\noutput y"),
            std::vector<double>{516});
  EXPECT_EQ(Values(operands + "y = Conv(x, k, c)\noutput y"), std::vector<double>{258});
  EXPECT_EQ(Values(operands + "y = ConvTranspose(z, t, c)\noutput y"), std::vector<double>{258});
}

}  // namespace
}  // namespace stax
