#include "ir/graph_interpreter.h"

#include <limits>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/graph_builder.h"
#include "ir/testing/graph_values.h"

namespace stax {
namespace {

using ::testing::ElementsAre;
using ::testing::IsNan;
using Tensor = GraphBuilder::Tensor;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// 1, 2, ... as f32.
Tensor Count(GraphBuilder& b, const std::vector<int64_t>& dims) {
  int64_t n = 1;
  for (int64_t dim : dims) n *= dim;
  std::vector<double> values;
  for (int64_t i = 1; i <= n; ++i) values.push_back(static_cast<double>(i));
  return Values(b, DType::kF32, dims, values);
}

TEST(GraphInterpreterTest, Views) {
  GraphBuilder t("t"), e("e"), r("r");
  EXPECT_THAT(Evaluate(t, t.Transpose(Count(t, {2, 3}), {1, 0})), ElementsAre(1, 4, 2, 5, 3, 6));
  EXPECT_THAT(Evaluate(e, e.Expand(Count(e, {2, 1}), {2, 2, 3})),
              ElementsAre(1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2));
  EXPECT_THAT(Evaluate(r, r.Transpose(r.Reshape(Count(r, {2, 3}), {3, 2}), {1, 0})),
              ElementsAre(1, 3, 5, 2, 4, 6));
}

TEST(GraphInterpreterTest, TransposeOfThreeAxes) {
  GraphBuilder b("t");
  // numpy.arange(1, 7).reshape(1, 2, 3).transpose(2, 0, 1)
  EXPECT_THAT(Evaluate(b, b.Transpose(Count(b, {1, 2, 3}), {2, 0, 1})),
              ElementsAre(1, 4, 2, 5, 3, 6));
}

TEST(GraphInterpreterTest, Slices) {
  const auto slice = [](int64_t start, int64_t step, int64_t size) {
    GraphBuilder b("slice");
    return Evaluate(b, b.Slice(Count(b, {6}), 0, start, step, size));
  };
  EXPECT_THAT(slice(1, 2, 3), ElementsAre(2, 4, 6));
  EXPECT_THAT(slice(5, -2, 3), ElementsAre(6, 4, 2));
  EXPECT_THAT(slice(5, -1, 6), ElementsAre(6, 5, 4, 3, 2, 1));
  EXPECT_THAT(slice(6, 1, 0), ElementsAre());
}

TEST(GraphInterpreterTest, Pads) {
  const auto pad = [](int64_t before, int64_t after, PadMode mode) {
    GraphBuilder b("pad");
    return Evaluate(b, b.Pad(Count(b, {3}), {before}, {after}, mode, std::nullopt));
  };
  EXPECT_THAT(pad(1, 2, PadMode::kConstant), ElementsAre(0, 1, 2, 3, 0, 0));
  EXPECT_THAT(pad(2, 1, PadMode::kReflect), ElementsAre(3, 2, 1, 2, 3, 2));
  EXPECT_THAT(pad(1, 2, PadMode::kEdge), ElementsAre(1, 1, 2, 3, 3, 3));
  EXPECT_THAT(pad(-1, 1, PadMode::kConstant), ElementsAre(2, 3, 0));
  EXPECT_THAT(pad(-1, 1, PadMode::kReflect), ElementsAre(2, 3, 2));
  EXPECT_THAT(pad(-1, -2, PadMode::kEdge), ElementsAre());
}

TEST(GraphInterpreterTest, PadOfTwoAxesWithValue) {
  GraphBuilder b("pad");
  const Tensor value = b.Scalar(DType::kF32, 9);
  EXPECT_THAT(Evaluate(b, b.Pad(Count(b, {1, 2}), {1, 0}, {0, 1}, PadMode::kConstant, value)),
              ElementsAre(9, 9, 9, 1, 2, 9));
}

TEST(GraphInterpreterTest, Concat) {
  GraphBuilder b("concat");
  const Tensor x = Count(b, {2, 2});
  EXPECT_THAT(Evaluate(b, b.Concat({x, Count(b, {2, 1}), x}, 1)),
              ElementsAre(1, 2, 1, 1, 2, 3, 4, 2, 3, 4));
}

TEST(GraphInterpreterTest, Gathers) {
  GraphBuilder rows("rows"), columns("columns"), elements("elements");
  // numpy.take(x, [[2, 0], [-1, 1]], axis=0) of a vector
  EXPECT_THAT(Evaluate(rows, rows.Gather(Count(rows, {3}),
                                         Values(rows, DType::kI64, {2, 2}, {2, 0, -1, 1}), 0)),
              ElementsAre(3, 1, 3, 2));
  EXPECT_THAT(Evaluate(columns, columns.Gather(Count(columns, {2, 3}),
                                               Values(columns, DType::kI32, {2}, {2, 0}), 1)),
              ElementsAre(3, 1, 6, 4));
  // numpy.take_along_axis(x, [[0, 2], [1, -3]], axis=1)
  EXPECT_THAT(Evaluate(elements, elements.GatherElements(
                                     Count(elements, {2, 3}),
                                     Values(elements, DType::kI64, {2, 2}, {0, 2, 1, -3}), 1)),
              ElementsAre(1, 3, 5, 4));
}

TEST(GraphInterpreterTest, IndicesOutsideAreClamped) {
  GraphBuilder b("gather");
  EXPECT_THAT(Evaluate(b, b.Gather(Count(b, {3}), Values(b, DType::kI64, {2}, {7, -9}), 0)),
              ElementsAre(3, 1));
}

TEST(GraphInterpreterTest, MeansOfNarrowIntegersFit) {
  const auto mean = [](DType type, const std::vector<double>& values) {
    GraphBuilder b("mean");
    const auto count = static_cast<int64_t>(values.size());
    return Evaluate(b, b.Mean(Values(b, type, {count}, values), {0}));
  };
  EXPECT_THAT(mean(DType::kU8, std::vector<double>(300, 200)), ElementsAre(200));
  EXPECT_THAT(mean(DType::kI8, std::vector<double>(256, 1)), ElementsAre(1));
  EXPECT_THAT(mean(DType::kI32, {2147483647, 2147483645}), ElementsAre(2147483646));
  EXPECT_THAT(mean(DType::kI8, {-1, -2}), ElementsAre(-1));
}

TEST(GraphInterpreterTest, GathersFromAnEmptyAxisGiveZero) {
  GraphBuilder b("empty");
  b.Symbol({"n", 2, 64, 16});
  const IndexExpr n = IndexExpr::Var("n");
  const Tensor x = b.Iota(DType::kF32, {n}, 0);
  const Tensor part = b.Add(b.Slice(x, 0, 0, 1, FloorDiv(n, 8)), b.Scalar(DType::kF32, 5));
  const Tensor indices = Values(b, DType::kI64, {2}, {0, -1});
  b.Output("y", b.Concat({b.Gather(part, indices, 0), b.GatherElements(part, indices, 0)}, 0));
  const Graph graph = *b.Build();
  const auto y = [&](int64_t size) {
    return Unpack(DType::kF32, InterpretGraph(graph, {{"n", size}}, {})->at("y"));
  };
  EXPECT_THAT(y(2), ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(y(24), ElementsAre(5, 7, 5, 7));
}

TEST(GraphInterpreterTest, ExtremesAndPositionsWithNaN) {
  const auto reduce = [](ReduceKind kind) {
    GraphBuilder b("reduce");
    const Tensor x = Values(b, DType::kF32, {2, 4}, {1, kNaN, 3, kNaN, 3, 1, 3, 1});
    return Evaluate(b, b.Reduce(kind, x, {1}));
  };
  EXPECT_THAT(reduce(ReduceKind::kMax), ElementsAre(IsNan(), 3));
  EXPECT_THAT(reduce(ReduceKind::kMin), ElementsAre(IsNan(), 1));
  EXPECT_THAT(reduce(ReduceKind::kArgMax), ElementsAre(1, 0));
  EXPECT_THAT(reduce(ReduceKind::kArgMaxLast), ElementsAre(3, 2));
  EXPECT_THAT(reduce(ReduceKind::kArgMin), ElementsAre(1, 1));
  EXPECT_THAT(reduce(ReduceKind::kArgMinLast), ElementsAre(3, 3));
}

TEST(GraphInterpreterTest, CumulativeMaxAndProd) {
  const auto run = [](ReduceKind kind, bool exclusive) {
    GraphBuilder b("run");
    const Tensor x = Values(b, DType::kI32, {4}, {2, 3, 1, 4});
    return Evaluate(b, b.Cumulative(kind, x, 0, exclusive, false));
  };
  EXPECT_THAT(run(ReduceKind::kMax, false), ElementsAre(2, 3, 3, 4));
  EXPECT_THAT(run(ReduceKind::kMin, false), ElementsAre(2, 2, 1, 1));
  EXPECT_THAT(run(ReduceKind::kProd, true), ElementsAre(1, 2, 6, 6));
}

TEST(GraphInterpreterTest, CumulativeAlongTheFirstAxis) {
  GraphBuilder b("run");
  EXPECT_THAT(Evaluate(b, b.Cumulative(ReduceKind::kSum, Count(b, {3, 2}), 0, false, true)),
              ElementsAre(9, 12, 8, 10, 5, 6));
}

TEST(GraphInterpreterTest, HalvesRoundAfterEveryOp) {
  GraphBuilder b("half");
  const Tensor one = b.Scalar(DType::kF16, 1), big = b.Scalar(DType::kF16, 2048);
  // 2048 + 1 = 2049 ties to 2048, twice.
  EXPECT_THAT(Evaluate(b, b.Add(b.Add(big, one), one)), ElementsAre(2048));
}

TEST(GraphInterpreterTest, F32IsComputedInF64AndRoundedWhereStored) {
  GraphBuilder b("f32");
  const Tensor one = b.Scalar(DType::kF32, 1), tiny = b.Scalar(DType::kF32, 1e-10);
  const double kept = 1e-10f;
  EXPECT_THAT(Evaluate(b, b.Sub(b.Add(one, tiny), one)),
              ElementsAre(::testing::DoubleNear(kept, 1e-16)));
}

TEST(GraphInterpreterTest, SymbolsAndShapeValues) {
  GraphBuilder b("symbols");
  b.Symbol({"n", 2, 8, 4});
  const IndexExpr n = IndexExpr::Var("n");
  const Tensor x = b.Input("x", DType::kI64, {n});
  const Tensor y = b.Add(b.Slice(x, 0, n - 1, -1, n), b.ShapeValue({3 * n}, {}));
  EXPECT_THAT(Evaluate(b, y, {{"n", 3}}, {{"x", Pack(DType::kI64, {1, 2, 3})}}),
              ElementsAre(12, 11, 10));
}

TEST(GraphInterpreterTest, OutputsMayRepeatAndBeInputs) {
  GraphBuilder b("outputs");
  const Tensor x = b.Input("x", DType::kF16, {1});
  b.Output("a", x);
  b.Output("b", x);
  const auto outputs = InterpretGraph(*b.Build(), {}, {{"x", Pack(DType::kF16, {0.5})}});
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_EQ(outputs->at("a"), Pack(DType::kF16, {0.5}));
  EXPECT_EQ(outputs->at("b"), Pack(DType::kF16, {0.5}));
}

TEST(GraphInterpreterTest, Errors) {
  GraphBuilder b("errors");
  b.Symbol({"n", 2, 8, 4});
  const Tensor x = b.Input("x", DType::kF32, {IndexExpr::Var("n")});
  const Tensor s = b.Input("s", DType::kI64, {1});
  b.Specialise(s, Pack(DType::kI64, {5}));
  b.Output("y", x);
  const Graph graph = *b.Build();
  const Bytes three = Pack(DType::kF32, {1, 2, 3}), five = Pack(DType::kI64, {5});
  const auto error = [&](const std::map<std::string, int64_t>& sizes,
                         const std::map<std::string, Bytes>& inputs) {
    return InterpretGraph(graph, sizes, inputs).status();
  };
  const auto invalid = [](const char* message) { return absl::InvalidArgumentError(message); };
  EXPECT_EQ(error({{"n", 3}}, {{"x", three}, {"s", five}}), absl::OkStatus());
  EXPECT_EQ(error({}, {}), invalid("no value for symbol 'n'"));
  EXPECT_EQ(error({{"n", 9}}, {}), invalid("symbol 'n' = 9 is outside 2 to 8"));
  EXPECT_EQ(error({{"n", 3}}, {}), invalid("no input 'x'"));
  EXPECT_EQ(error({{"n", 4}}, {{"x", three}}), invalid("input 'x' has 12 bytes instead of 16"));
  EXPECT_EQ(error({{"n", 3}}, {{"x", three}, {"s", Pack(DType::kI64, {6})}}),
            invalid("input 's' is not the value the graph is specialised on"));
}

}  // namespace
}  // namespace stax
