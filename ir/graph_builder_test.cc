#include "ir/graph_builder.h"

#include <cmath>
#include <limits>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/testing/graph_values.h"

namespace stax {
namespace {

using ::testing::ElementsAre;
using ::testing::Pointwise;
using Tensor = GraphBuilder::Tensor;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Within a few units in the last place of an f32 near one; infinities and NaN exactly.
MATCHER(IsClose, "") {
  const double got = std::get<0>(arg), want = std::get<1>(arg);
  if (std::isnan(want)) return std::isnan(got);
  return got == want || std::fabs(got - want) <= 1e-6 * std::max(1.0, std::fabs(want));
}

auto Close(const std::vector<double>& want) { return Pointwise(IsClose(), want); }

TEST(GraphBuilderTest, ExampleAsText) {
  GraphBuilder b("example_1_1");
  const Tensor x = b.Input("x", DType::kF32, {64, 128});
  const Tensor w = b.Input("w", DType::kF32, {64, 128});
  const Tensor relu = b.Relu(b.Add(x, w));
  b.SetOrigin("double (Mul)");
  const Tensor twice = b.Mul(relu, b.Scalar(DType::kF32, 2.0));
  b.SetOrigin("");
  b.Output("y", b.Sum(twice, {-1}));
  const auto graph = b.Build();
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(ToText(*graph), R"(graph example_1_1 {
  x = input : f32[64, 128]
  w = input : f32[64, 128]
  %2 = add x, w : f32[64, 128]
  %3 = constant {0.0} : f32[]
  %4 = reshape %3 : f32[1, 1]
  %5 = expand %4 : f32[64, 128]
  %6 = max %2, %5 : f32[64, 128]
  %7 = constant {2.0} : f32[]  # double (Mul)
  %8 = reshape %7 : f32[1, 1]  # double (Mul)
  %9 = expand %8 : f32[64, 128]  # double (Mul)
  %10 = mul %6, %9 : f32[64, 128]  # double (Mul)
  y = reduce.sum %10, axes [1] : f32[64]
  output y = y
}
)");
}

TEST(GraphBuilderTest, NamesStayUnique) {
  GraphBuilder b("names");
  const Tensor x = b.Input("%1", DType::kF32, {2});
  const Tensor y = b.Unary(OpCode::kExp, x);
  b.Output("%1", y);  // taken by the input: the tensor keeps its own name
  b.Output("z", y);
  b.Output("x", x);
  const auto graph = b.Build();
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(graph->tensors[x.id].name, "%1");
  EXPECT_EQ(graph->tensors[y.id].name, "z");
  EXPECT_THAT(graph->output_names, ElementsAre("%1", "z", "x"));
  EXPECT_THAT(graph->outputs, ElementsAre(y.id, y.id, x.id));
}

TEST(GraphBuilderTest, OpsThatChangeNothingAreLeftOut) {
  GraphBuilder b("same");
  const Tensor x = b.Input("x", DType::kF32, {2, 3});
  EXPECT_EQ(b.Reshape(x, {2, 3}).id, x.id);
  EXPECT_EQ(b.Transpose(x, {0, 1}).id, x.id);
  EXPECT_EQ(b.Expand(x, {2, 3}).id, x.id);
  EXPECT_EQ(b.Cast(x, DType::kF32).id, x.id);
  EXPECT_EQ(b.Slice(x, 1, 0, 1, 3).id, x.id);
  EXPECT_EQ(b.Pad(x, {0, 0}, {0, 0}, PadMode::kEdge, std::nullopt).id, x.id);
  EXPECT_EQ(b.Concat({x}, 0).id, x.id);
  EXPECT_EQ(b.Sum(x, {}).id, x.id);
  EXPECT_TRUE(b.status().ok()) << b.status();
}

TEST(GraphBuilderTest, BinaryBroadcasts) {
  GraphBuilder b("broadcast");
  const Tensor column = Values(b, DType::kI32, {2, 1}, {10, 20});
  const Tensor row = Values(b, DType::kI32, {3}, {1, 2, 3});
  EXPECT_THAT(Evaluate(b, b.Add(column, row)), ElementsAre(11, 12, 13, 21, 22, 23));
}

TEST(GraphBuilderTest, CompareAndWhere) {
  GraphBuilder b("where");
  const Tensor x = Values(b, DType::kF32, {3}, {-1, kNaN, 2});
  const Tensor zero = b.Scalar(DType::kF32, 0);
  const Tensor y = b.Where(b.Binary(OpCode::kGt, x, zero), x, b.Scalar(DType::kF32, 7));
  EXPECT_THAT(Evaluate(b, y), ElementsAre(7, 7, 2));
}

TEST(GraphBuilderTest, Activations) {
  const std::vector<double> x = {-1, 0, 1, kNaN};
  GraphBuilder relu("relu"), gelu("gelu"), silu("silu");
  EXPECT_THAT(Evaluate(relu, relu.Relu(Values(relu, DType::kF32, {4}, x))), Close({0, 0, 1, kNaN}));
  // The normal distribution's function at 1 is 0.8413447; the logistic one's is 0.7310586.
  EXPECT_THAT(Evaluate(gelu, gelu.Gelu(Values(gelu, DType::kF32, {4}, x))),
              Close({-0.1586552539, 0, 0.8413447461, kNaN}));
  EXPECT_THAT(Evaluate(silu, silu.Silu(Values(silu, DType::kF32, {4}, x))),
              Close({-0.2689414214, 0, 0.7310585786, kNaN}));
}

TEST(GraphBuilderTest, Reductions) {
  const std::vector<double> x = {1, 2, 3, 4, 5, 6};
  const auto reduce = [&](ReduceKind kind, const std::vector<int>& axes) {
    GraphBuilder b("reduce");
    return Evaluate(b, b.Reduce(kind, Values(b, DType::kF32, {2, 3}, x), axes));
  };
  EXPECT_THAT(reduce(ReduceKind::kSum, {0}), ElementsAre(5, 7, 9));
  EXPECT_THAT(reduce(ReduceKind::kSum, {-1}), ElementsAre(6, 15));
  EXPECT_THAT(reduce(ReduceKind::kProd, {1, 0}), ElementsAre(720));
  EXPECT_THAT(reduce(ReduceKind::kMin, {0, 1}), ElementsAre(1));
  EXPECT_THAT(reduce(ReduceKind::kArgMax, {0}), ElementsAre(1, 1, 1));
  EXPECT_THAT(reduce(ReduceKind::kArgMax, {0, 1}), ElementsAre(5));
  EXPECT_THAT(reduce(ReduceKind::kArgMax, {}), ElementsAre(0, 0, 0, 0, 0, 0));
}

TEST(GraphBuilderTest, ReductionsOfNothing) {
  const auto reduce = [&](ReduceKind kind, DType type) {
    GraphBuilder b("empty");
    return Evaluate(b, b.Reduce(kind, Values(b, type, {2, 0}, {}), {1}));
  };
  EXPECT_THAT(reduce(ReduceKind::kSum, DType::kF32), ElementsAre(0, 0));
  EXPECT_THAT(reduce(ReduceKind::kProd, DType::kI8), ElementsAre(1, 1));
  EXPECT_THAT(reduce(ReduceKind::kMax, DType::kF32), ElementsAre(-kInf, -kInf));
  EXPECT_THAT(reduce(ReduceKind::kMin, DType::kI8), ElementsAre(127, 127));
}

TEST(GraphBuilderTest, ReductionOfBool) {
  GraphBuilder b("bool");
  const Tensor x = Values(b, DType::kBool, {2, 2}, {0, 1, 0, 0});
  const Tensor any = b.Max(x, {1});
  EXPECT_EQ(b.dtype(any), DType::kBool);
  EXPECT_THAT(Evaluate(b, any), ElementsAre(1, 0));
}

TEST(GraphBuilderTest, KeepDims) {
  GraphBuilder b("keep");
  const Tensor x = b.Input("x", DType::kF32, {2, 3, 4});
  EXPECT_EQ(b.dims(b.Sum(x, {0, 2}, true)), (Dims{1, 3, 1}));
  EXPECT_EQ(b.dims(b.Sum(x, b.AllAxes(x), true)), (Dims{1, 1, 1}));
  EXPECT_EQ(b.dims(b.Sum(x, b.AllAxes(x))), Dims{});
}

TEST(GraphBuilderTest, MeanOfIntegersTruncates) {
  GraphBuilder b("mean");
  EXPECT_THAT(Evaluate(b, b.Mean(Values(b, DType::kI32, {2, 2}, {-3, -4, 3, 4}), {1})),
              ElementsAre(-3, 3));
}

TEST(GraphBuilderTest, MeanOfHalvesRoundsOnce) {
  GraphBuilder b("mean");
  // 2051 / 4 = 512.75, a tie that goes to 513. In f16 throughout 2048 + 1 would stay 2048.
  EXPECT_THAT(Evaluate(b, b.Mean(Values(b, DType::kF16, {4}, {2048, 1, 1, 1}), {0})),
              ElementsAre(513));
}

TEST(GraphBuilderTest, MeanOverSymbolicSize) {
  GraphBuilder b("mean");
  b.Symbol({"n", 2, 100, 4});
  const Tensor x = b.Input("x", DType::kF32, {IndexExpr::Var("n")});
  EXPECT_THAT(Evaluate(b, b.Mean(x, {0}), {{"n", 3}}, {{"x", Pack(DType::kF32, {1, 2, 6})}}),
              ElementsAre(3));
}

TEST(GraphBuilderTest, Softmax) {
  GraphBuilder b("softmax");
  const Tensor x = Values(b, DType::kF32, {3, 3}, {1, 2, 3, 1e4, -kInf, 1e4, 0, kNaN, 0});
  EXPECT_THAT(Evaluate(b, b.Softmax(x, 1)), Close({0.0900305732, 0.2447284711, 0.6652409558,  //
                                                   0.5, 0, 0.5, kNaN, kNaN, kNaN}));
}

TEST(GraphBuilderTest, SoftmaxOfHalvesIsComputedInF32) {
  GraphBuilder b("softmax");
  // 1/3 rounded to f16 once: 1365 * 2^-12.
  EXPECT_THAT(Evaluate(b, b.Softmax(Values(b, DType::kF16, {3}, {5, 5, 5}), 0)),
              ElementsAre(0.333251953125, 0.333251953125, 0.333251953125));
}

TEST(GraphBuilderTest, LogSoftmaxStaysFiniteWhereSoftmaxVanishes) {
  GraphBuilder b("log_softmax");
  const Tensor x = Values(b, DType::kF32, {2, 3}, {1, 2, 3, 0, 1000, -1000});
  EXPECT_THAT(Evaluate(b, b.LogSoftmax(x, -1)),
              Close({-2.4076059645, -1.4076059645, -0.4076059645, -1000, 0, -2000}));
}

TEST(GraphBuilderTest, LogSumExpOfExtremes) {
  GraphBuilder b("log_sum_exp");
  const Tensor x = Values(b, DType::kF32, {7, 2},
                          {1000, 1000, -1000, -1000, -kInf, -kInf, kInf, 0,  //
                           kInf, -kInf, kNaN, 1, -kInf, 3});
  const double log2 = std::log(2.0);
  EXPECT_THAT(Evaluate(b, b.LogSumExp(x, {1})),
              Close({1000 + log2, -1000 + log2, -kInf, kInf, kInf, kNaN, 3}));
}

TEST(GraphBuilderTest, LogSumExpOfNothing) {
  GraphBuilder b("log_sum_exp");
  EXPECT_THAT(Evaluate(b, b.LogSumExp(Values(b, DType::kF32, {1, 0}, {}), {1}, true)),
              ElementsAre(-kInf));
}

TEST(GraphBuilderTest, LayerNorm) {
  GraphBuilder b("layer_norm");
  const Tensor x = Values(b, DType::kF32, {2, 2, 2}, {1, 2, 3, 4, 1e4, 1e4 + 2, 1e4 + 4, 1e4 + 6});
  const Tensor scale = Values(b, DType::kF32, {2}, {1, 10});
  const Tensor bias = b.Scalar(DType::kF32, 0.5);
  // Deviations -1.5, -0.5, 0.5, 1.5 over sqrt(1.25), and twice those over sqrt(5).
  const double s = 1 / std::sqrt(1.25);
  const std::vector<double> row = {-1.5 * s + 0.5, -5 * s + 0.5, 0.5 * s + 0.5, 15 * s + 0.5};
  std::vector<double> want = row;
  want.insert(want.end(), row.begin(), row.end());
  EXPECT_THAT(Evaluate(b, b.LayerNorm(x, 1, scale, bias, 0)), Close(want));
}

TEST(GraphBuilderTest, Cumulative) {
  const auto sum = [&](bool exclusive, bool reverse) {
    GraphBuilder b("cumulative");
    const Tensor x = Values(b, DType::kI32, {2, 3}, {1, 2, 3, 4, 5, 6});
    return Evaluate(b, b.Cumulative(ReduceKind::kSum, x, 1, exclusive, reverse));
  };
  EXPECT_THAT(sum(false, false), ElementsAre(1, 3, 6, 4, 9, 15));
  EXPECT_THAT(sum(true, false), ElementsAre(0, 1, 3, 0, 4, 9));
  EXPECT_THAT(sum(false, true), ElementsAre(6, 5, 3, 15, 11, 6));
  EXPECT_THAT(sum(true, true), ElementsAre(5, 3, 0, 11, 6, 0));
}

TEST(GraphBuilderTest, CumulativeSumOfHalvesRoundsEachElementOnce) {
  GraphBuilder b("cumulative");
  // In bf16 256 + 1 = 256: the running sum must be kept in f32. 257 ties to 256, 258 is exact.
  const Tensor x = Values(b, DType::kBF16, {3}, {256, 1, 1});
  EXPECT_THAT(Evaluate(b, b.Cumulative(ReduceKind::kSum, x, 0, false, false)),
              ElementsAre(256, 256, 258));
}

TEST(GraphBuilderTest, SymbolicShapes) {
  GraphBuilder b("symbolic");
  b.Symbol({"n", 2, 4096, 64});
  const IndexExpr n = IndexExpr::Var("n");
  const Tensor x = b.Input("x", DType::kF32, {n, 128});
  EXPECT_EQ(b.dims(b.Reshape(x, {2 * n, 64})), (Dims{2 * n, 64}));
  EXPECT_EQ(b.dims(b.Add(x, b.Input("row", DType::kF32, {128}))), (Dims{n, 128}));
  EXPECT_EQ(b.dims(b.Add(x, b.Input("one", DType::kF32, {1, 1}))), (Dims{n, 128}));
  EXPECT_EQ(b.dims(b.Concat({x, x, b.Input("y", DType::kF32, {3, 128})}, 0)),
            (Dims{2 * n + 3, 128}));
  EXPECT_EQ(b.dims(b.Slice(x, 0, 1, 1, n - 1)), (Dims{n - 1, 128}));
  EXPECT_EQ(b.dims(b.MatMul(b.Transpose(x, {1, 0}), x)), (Dims{128, 128}));
  EXPECT_TRUE(b.status().ok()) << b.status();
}

TEST(GraphBuilderTest, IotaOfOtherTypesIsCast) {
  GraphBuilder b("iota");
  EXPECT_THAT(Evaluate(b, b.Iota(DType::kF16, {2, 3}, -1)), ElementsAre(0, 1, 2, 0, 1, 2));
}

TEST(GraphBuilderTest, SpecialisedInputs) {
  GraphBuilder b("specialised");
  const Tensor shape = b.Input("shape", DType::kI64, {2});
  b.Specialise(shape, Pack(DType::kI64, {2, 3}));
  b.Specialise(shape, Pack(DType::kI64, {2, 3}));  // the same again says nothing new
  b.Output("y", shape);
  const auto graph = b.Build();
  ASSERT_TRUE(graph.ok()) << graph.status();
  ASSERT_EQ(graph->specialised.size(), 1u);
  EXPECT_EQ(*graph->specialised[0].data, Pack(DType::kI64, {2, 3}));
}

}  // namespace
}  // namespace stax
