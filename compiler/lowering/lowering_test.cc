#include "compiler/lowering/lowering.h"

#include "compiler/lowering/testing/run_program.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/graph_builder.h"

namespace stax {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Tensor = GraphBuilder::Tensor;

const IndexExpr kN = IndexExpr::Var("n");

struct Lowered {
  Graph graph;
  LoopProgram program;
};

Lowered Lower(GraphBuilder& b, const char* target = "cuda") {
  absl::StatusOr<Graph> graph = b.Build();
  EXPECT_TRUE(graph.ok()) << graph.status();
  absl::StatusOr<LoopProgram> program = LowerGraph(*graph, ParseTarget(target).value());
  EXPECT_TRUE(program.ok()) << program.status();
  return {*graph, *program};
}

void ExpectRight(const Lowered& l, const Sizes& sizes = {}) {
  const TensorBytes inputs = RandomInputs(l.graph, sizes, 1);
  absl::StatusOr<TensorBytes> got = RunNests(l.program, l.program.nests, sizes, inputs);
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(CompareWithGraph(l.graph, sizes, inputs, *got), "");
}

std::string Texts(const LoopProgram& program) {
  std::string text;
  for (const LoopNest& nest : program.nests) text += ToText(nest);
  return text;
}

const PlanBuffer& BufferNamed(const LoopProgram& program, const std::string& name) {
  for (const PlanBuffer& b : program.buffers)
    if (b.name == name) return b;
  ADD_FAILURE() << "no buffer " << name;
  return program.buffers[0];
}

TEST(LoweringTest, Example11) {
  GraphBuilder b("example_1_1");
  const Tensor x = b.Input("x", DType::kF32, {64, 128}), w = b.Input("w", DType::kF32, {64, 128});
  b.Output("y", b.Sum(b.Mul(b.Relu(b.Add(x, w)), b.Scalar(DType::kF32, 2)), {-1}));
  EXPECT_EQ(Texts(Lower(b).program), R"(nest sum_0 {
  buffer x: f32[8192] in
  buffer w: f32[8192] in
  buffer y: f32[64] out
  loop i0: 64
  reduce r0: 128
  %0 = load x[128*i0 + r0] : f32
  %1 = load w[128*i0 + r0] : f32
  %2 = add %0, %1 : f32
  %3 = const 0.0 : f32
  %4 = max %2, %3 : f32
  %5 = const 2.0 : f32
  %6 = mul %4, %5 : f32
  %7 = reduce.sum %6 : f32
  store y[i0], %7
}
)");
}

TEST(LoweringTest, HalfSumsAccumulateInF32AndRoundOnce) {
  GraphBuilder b("half");
  b.Output("y", b.Einsum("ij,jk->ik",
                         {b.Input("x", DType::kF16, {2, 3}), b.Input("w", DType::kF16, {3, 4})}));
  EXPECT_EQ(Texts(Lower(b).program), R"(nest einsum_0 {
  buffer x: f16[6] in
  buffer w: f16[12] in
  buffer y: f16[8] out
  loop i0: 2
  loop i1: 4
  reduce r0: 3
  %0 = load x[3*i0 + r0] : f16
  %1 = cast %0 : f32
  %2 = load w[i1 + 4*r0] : f16
  %3 = cast %2 : f32
  %4 = mul %1, %3 : f32
  %5 = reduce.sum %4 : f32
  %6 = cast %5 : f16
  store y[4*i0 + i1], %6
}
)");
}

TEST(LoweringTest, ViewsAreIndexArithmetic) {
  GraphBuilder b("views");
  const Tensor x = b.Input("x", DType::kF32, {2, 3, 4});
  const Tensor t = b.Reshape(b.Transpose(x, {2, 0, 1}), {8, 3});
  b.Output("y", b.Unary(OpCode::kNeg, b.Slice(t, 0, 7, -1, 8)));
  const Lowered l = Lower(b);
  ASSERT_EQ(l.program.nests.size(), 1);
  ExpectRight(l);
}

TEST(LoweringTest, SymbolicReshapeNeedsNoDivision) {
  GraphBuilder b("views");
  b.Symbol({"n", 2, 100, 8});
  const Tensor x = b.Input("x", DType::kF32, {4, kN, 16});
  b.Output("y", b.Unary(OpCode::kExp, b.Reshape(x, {4 * kN, 2, 8})));
  EXPECT_EQ(Texts(Lower(b).program), R"(nest exp_0 {
  size n in [2, 100] hint 8
  buffer x: f32[64*n] in
  buffer y: f32[64*n] out
  loop i0: 4*n
  loop i1: 2
  loop i2: 8
  %0 = load x[16*i0 + 8*i1 + i2] : f32
  %1 = exp %0 : f32
  store y[16*i0 + 8*i1 + i2], %1
}
)");
}

TEST(LoweringTest, PadAndConcatLoadUnderMasks) {
  GraphBuilder b("masks");
  const Tensor x = b.Input("x", DType::kF32, {3, 4}), y = b.Input("y", DType::kF32, {3, 2});
  const Tensor value = b.Scalar(DType::kF32, 7);
  b.Output("z", b.Concat({b.Pad(x, {0, 1}, {0, 0}, PadMode::kConstant, value), y}, 1));
  const Lowered l = Lower(b);
  ASSERT_EQ(l.program.nests.size(), 1);
  for (const LoopOp& op : l.program.nests[0].body) {
    if (op.code == OpCode::kLoad) {
      EXPECT_EQ(op.operands.size(), 1);
    }
  }
  ExpectRight(l);
}

TEST(LoweringTest, GatherIsIndirect) {
  GraphBuilder b("gather");
  const Tensor table = b.Input("table", DType::kF32, {5, 3});
  const Tensor ids = b.Input("ids", DType::kI32, {2, 2});
  b.Output("y", b.Gather(table, ids, 0));
  const Lowered l = Lower(b);
  EXPECT_EQ(Texts(l.program), R"(nest gather_0 {
  buffer ids: i32[4] in
  buffer table: f32[15] in
  buffer y: f32[12] out
  loop i0: 2
  loop i1: 2
  loop i2: 3
  %0 = load ids[2*i0 + i1] : i32
  %1 = indirect %0 : 5
  %2 = load table[i2 + 3*t1] : f32
  store y[6*i0 + 3*i1 + i2], %2
}
)");
  ExpectRight(l);
}

TEST(LoweringTest, OutputsThatAreOtherTensors) {
  GraphBuilder b("aliases");
  const Tensor x = b.Input("x", DType::kF32, {2, 3});
  const Tensor c = b.Constant(DType::kI32, {2}, std::vector<std::byte>(8));
  const Tensor y = b.Unary(OpCode::kExp, x);
  b.Output("same", x);
  b.Output("constant", c);
  b.Output("y", y);
  b.Output("again", y);
  b.Output("flat", b.Reshape(y, {6}));
  b.Output("view", b.Transpose(x, {1, 0}));
  const Lowered l = Lower(b);
  std::vector<std::string> buffers;
  for (const PlanOutput& o : l.program.outputs) buffers.push_back(o.buffer);
  EXPECT_EQ(buffers[0], "x");
  EXPECT_EQ(BufferNamed(l.program, buffers[1]).kind, PlanBuffer::Kind::kConstant);
  EXPECT_EQ(buffers[2], "y");
  EXPECT_EQ(buffers[3], "y");
  EXPECT_EQ(buffers[4], "flat");
  EXPECT_EQ(buffers[5], "view");
  EXPECT_EQ(l.program.nests.size(), 3);  // y, and copies that make flat and view
  ExpectRight(l);
}

TEST(LoweringTest, ReshapeOfAResultIsStoredInPlace) {
  GraphBuilder b("keep_dims");
  b.Output("y", b.Sum(b.Input("x", DType::kF32, {4, 5}), {1}, /*keep_dims=*/true));
  const Lowered l = Lower(b);
  EXPECT_EQ(l.program.nests.size(), 1);
  EXPECT_EQ(BufferNamed(l.program, "y").dims, Dims({4, 1}));
  ExpectRight(l);
}

TEST(LoweringTest, ConstantsOfOneValueAreInTheCode) {
  GraphBuilder b("constants");
  const Tensor x = b.Input("x", DType::kI32, {2});
  const Tensor ones =
      b.Constant(DType::kI32, {2}, {std::byte{3}, {}, {}, {}, std::byte{3}, {}, {}, {}});
  b.Output("y", b.Add(x, ones));
  const Lowered l = Lower(b);
  EXPECT_EQ(l.program.buffers.size(), 2);
  EXPECT_THAT(Texts(l.program), HasSubstr("const 3 : i32"));
  ExpectRight(l);
}

TEST(LoweringTest, ShapeValues) {
  GraphBuilder b("shape");
  b.Symbol({"n", 2, 100, 8});
  b.Input("x", DType::kF32, {kN});
  b.Output("y", b.ShapeValue({kN, 3, 2 * kN + 1}, {3}));
  ExpectRight(Lower(b), {{"n", 5}});
}

TEST(LoweringTest, SharedExpressionsStayLinear) {
  GraphBuilder b("doubling");
  Tensor x = b.Input("x", DType::kF32, {4, 4});
  for (int k = 0; k < 60; ++k) x = b.Add(x, b.Transpose(x, {1, 0}));
  b.Output("y", b.Mul(x, b.Scalar(DType::kF32, 0x1p-60)));
  const Lowered l = Lower(b);
  size_t ops = 0;
  for (const LoopNest& nest : l.program.nests) ops += nest.body.size();
  EXPECT_LE(ops, 300);
  ExpectRight(l);
}

TEST(LoweringTest, ZeroSizes) {
  GraphBuilder b("empty");
  const Tensor x = b.Input("x", DType::kF32, {3, 0});
  b.Output("sum", b.Sum(x, {1}));
  b.Output("exp", b.Unary(OpCode::kExp, x));
  b.Output("joined", b.Concat({x, b.Input("y", DType::kF32, {3, 2}), x}, 1));
  b.Output("product", b.MatMul(x, b.Input("z", DType::kF32, {0, 4})));
  const Lowered l = Lower(b);
  EXPECT_EQ(l.program.nests.size(), 3);  // exp has no elements to compute
  ExpectRight(l);
}

// Their loops end where formulas say, which proofs about row-major positions must see.
TEST(LoweringTest, SizesThatAreFormulas) {
  GraphBuilder b("formulas");
  b.Symbol({"m", 2, 1000, 8});
  b.Symbol({"n", 2, 1000, 8});
  const IndexExpr m = IndexExpr::Var("m");
  const Tensor x = b.Input("x", DType::kF32, {kN, m, 3});
  const Tensor odd = b.Slice(x, 0, 0, 2, FloorDiv(kN + 1, 2));
  const Tensor third = b.Slice(odd, 1, 0, 3, FloorDiv(m + 2, 3));
  b.Output("exp", b.Unary(OpCode::kExp, third));
  b.Output("turned", b.Transpose(third, {2, 1, 0}));
  b.Output("softmax", b.Softmax(third, 1));
  b.Output("stepped", b.Slice(odd, 0, 0, 2, FloorDiv(kN + 3, 4)));
  const Tensor y = b.Input("y", DType::kF32, {Max(kN, m), Mod(m, 8) + 1});
  b.Output("relu", b.Relu(y));
  b.Output("sum", b.Sum(y, {0}));
  const Lowered l = Lower(b);
  for (const Sizes& sizes : {Sizes{{"m", 2}, {"n", 2}}, Sizes{{"m", 7}, {"n", 16}}})
    ExpectRight(l, sizes);
}

// Indices from data need a mask where the axis may be empty, those that are in range do not.
TEST(LoweringTest, GathersFromAnAxisThatMayBeEmpty) {
  GraphBuilder b("gather");
  b.Symbol({"n", 2, 64, 16});
  const IndexExpr part = FloorDiv(IndexExpr::Var("n"), 8);
  const Tensor x = b.Input("x", DType::kF32, {part, 3});
  b.Output("y", b.Gather(x, b.Input("ids", DType::kI64, {4}), 0));
  b.Output("z", b.Gather(x, b.Iota(DType::kI64, {part}, 0), 0));
  const Lowered l = Lower(b);
  for (int64_t n : {2, 8, 63}) ExpectRight(l, {{"n", n}});
  ASSERT_EQ(l.program.nests.size(), 2);
  EXPECT_THAT(ToText(l.program.nests[0]), HasSubstr("load x[i1 + 3*t1] if"));
  EXPECT_THAT(ToText(l.program.nests[1]), HasSubstr("load x[3*i0 + i1] : f32"));
}

TEST(LoweringTest, NamesOfAnyText) {
  GraphBuilder b("names");
  const Tensor x = b.Input("/in:0", DType::kF32, {2}), y = b.Input("_in_0", DType::kF32, {2});
  b.Output("0", b.Add(x, y));
  const LoopProgram program = Lower(b).program;
  EXPECT_THAT(program.inputs, ElementsAre("_in_0", "_in_0_2"));
  EXPECT_EQ(BufferNamed(program, "_in_0").tensor, "/in:0");
  EXPECT_EQ(program.outputs[0].name, "0");
  EXPECT_EQ(program.outputs[0].buffer, "_0");
}

TEST(LoweringTest, SpecialisedInputsKeepTheirValue) {
  GraphBuilder b("special");
  const Tensor x = b.Input("x", DType::kF32, {1}), s = b.Input("s", DType::kI64, {1});
  b.Specialise(s, std::vector<std::byte>(8));
  b.Output("y", b.Unary(OpCode::kNeg, x));
  const LoopProgram program = Lower(b).program;
  EXPECT_EQ(BufferNamed(program, "x").data, nullptr);
  ASSERT_NE(BufferNamed(program, "s").data, nullptr);
  EXPECT_EQ(BufferNamed(program, "s").data->size(), 8);
}

TEST(LoweringTest, OriginsOfInlinedOps) {
  GraphBuilder b("origins");
  b.SetOrigin("first (Exp)");
  const Tensor x = b.Unary(OpCode::kExp, b.Input("x", DType::kF32, {4}));
  b.SetOrigin("second (Sum)");
  b.Output("y", b.Sum(x, {0}));
  const LoopProgram program = Lower(b).program;
  ASSERT_EQ(program.origins.size(), 1);
  EXPECT_THAT(program.origins[0], ElementsAre("first (Exp)", "second (Sum)"));
}

// What is stored: values several readers need and that cost something, and what a contraction
// would compute again for every row.
TEST(LoweringTest, WhatIsStored) {
  const auto temporaries = [](auto build) {
    GraphBuilder b("stored");
    build(b, b.Input("x", DType::kF32, {8, 8}));
    int count = 0;
    const Lowered l = Lower(b);
    for (const PlanBuffer& buffer : l.program.buffers)
      count += buffer.kind == PlanBuffer::Kind::kTemporary;
    ExpectRight(l);
    return count;
  };
  // Cheap and read twice: computed twice.
  EXPECT_EQ(temporaries([](GraphBuilder& b, Tensor x) {
              const Tensor y = b.Add(x, x);
              b.Output("a", b.Sum(y, {0}));
              b.Output("b", b.Sum(y, {1}));
            }),
            0);
  // Expensive and read twice.
  EXPECT_EQ(temporaries([](GraphBuilder& b, Tensor x) {
              const Tensor y = b.Unary(OpCode::kExp, x);
              b.Output("a", b.Sum(y, {0}));
              b.Output("b", b.Sum(y, {1}));
            }),
            1);
  // Expensive, but the two readers share it out between them.
  EXPECT_EQ(temporaries([](GraphBuilder& b, Tensor x) {
              const Tensor y = b.Unary(OpCode::kExp, x);
              b.Output("a", b.Slice(y, 1, 0, 1, 4));
              b.Output("b", b.Slice(y, 1, 4, 1, 4));
            }),
            0);
  // Operands of a contraction: expensive, and stored before the view of it.
  EXPECT_EQ(temporaries([](GraphBuilder& b, Tensor x) {
              b.Output("y", b.MatMul(b.Transpose(b.Unary(OpCode::kExp, x), {1, 0}), x));
            }),
            1);
  // Operands of a contraction: cheap.
  EXPECT_EQ(temporaries([](GraphBuilder& b, Tensor x) {
              b.Output("y", b.MatMul(b.Relu(x), b.Cast(b.Cast(x, DType::kF16), DType::kF32)));
            }),
            0);
}

struct SplitCase {
  const char* name;
  Dims dims;
  std::vector<int> axes;
  ReduceKind kind;
  DType dtype;
  size_t nests;
};

class SplitReductionTest : public testing::TestWithParam<SplitCase> {};

TEST_P(SplitReductionTest, IsRight) {
  const SplitCase& c = GetParam();
  GraphBuilder b("split");
  b.Symbol({"n", 2, 1 << 20, 70000});
  b.Output("y", b.Reduce(c.kind, b.Input("x", c.dtype, c.dims), c.axes));
  const Lowered l = Lower(b);
  EXPECT_EQ(l.program.nests.size(), c.nests);
  for (const PlanBuffer& buffer : l.program.buffers) {
    if (buffer.kind == PlanBuffer::Kind::kTemporary && c.dtype == DType::kF16) {
      EXPECT_EQ(buffer.dtype, DType::kF32);
    }
  }
  ExpectRight(l, {{"n", 20011}});
}

INSTANTIATE_TEST_SUITE_P(
    Cases, SplitReductionTest,
    testing::Values(
        SplitCase{"Short", {4, 16000}, {1}, ReduceKind::kSum, DType::kF32, 1},
        SplitCase{"Divides", {4, 16384}, {1}, ReduceKind::kMax, DType::kF32, 2},
        SplitCase{"Prime", {2, 40009}, {1}, ReduceKind::kSum, DType::kF32, 2},
        SplitCase{"PrimeMin", {2, 40009}, {1}, ReduceKind::kMin, DType::kI32, 2},
        SplitCase{"PrimeProduct", {1, 80021}, {1}, ReduceKind::kProd, DType::kI64, 2},
        SplitCase{"Half", {70000}, {0}, ReduceKind::kSum, DType::kF16, 3},  // and a cast
        SplitCase{"Positions", {2, 40009}, {1}, ReduceKind::kArgMax, DType::kF32, 2},
        SplitCase{"PositionsOfTies", {2, 40009}, {1}, ReduceKind::kArgMin, DType::kI8, 2},
        SplitCase{"LastPositions", {2, 40000}, {1}, ReduceKind::kArgMaxLast, DType::kI8, 2},
        SplitCase{
            "LastPositionsUnderAMask", {2, 40009}, {1}, ReduceKind::kArgMinLast, DType::kI8, 1},
        SplitCase{"PositionsOverThreeDims",
                  {7, 3, 3, 8192},
                  {0, 1, 3},
                  ReduceKind::kArgMax,
                  DType::kI8,
                  2},
        SplitCase{"PositionsDownColumns", {3001, 100}, {0}, ReduceKind::kArgMin, DType::kI8, 2},
        SplitCase{"Columns", {3000, 100}, {0}, ReduceKind::kSum, DType::kF32, 2},
        SplitCase{"PrimeColumns", {3001, 100}, {0}, ReduceKind::kMax, DType::kF32, 2},
        SplitCase{"FewColumns", {100003, 3}, {0}, ReduceKind::kSum, DType::kF32, 2},
        SplitCase{"Everything", {100, 3, 300}, {0, 1, 2}, ReduceKind::kSum, DType::kF32, 2},
        SplitCase{"WholeDims", {7, 3, 30000}, {0, 1, 2}, ReduceKind::kSum, DType::kF32, 2},
        SplitCase{"BatchStatistics", {8, 5, 60, 60}, {0, 2, 3}, ReduceKind::kSum, DType::kF32, 2},
        SplitCase{"Symbolic", {3, kN}, {1}, ReduceKind::kSum, DType::kF32, 2},
        SplitCase{"SymbolicMin", {3, kN}, {1}, ReduceKind::kMin, DType::kF32, 2},
        SplitCase{"SymbolicPositions", {3, kN}, {1}, ReduceKind::kArgMax, DType::kI8, 2},
        SplitCase{"SymbolicColumns", {kN, 30}, {0}, ReduceKind::kMax, DType::kI32, 2}),
    [](const auto& info) { return info.param.name; });

TEST(LoweringTest, CumulativeOfEveryKind) {
  for (ReduceKind kind :
       {ReduceKind::kSum, ReduceKind::kProd, ReduceKind::kMax, ReduceKind::kMin}) {
    for (const bool exclusive : {false, true}) {
      for (const bool reverse : {false, true}) {
        GraphBuilder b("cumulative");
        const Tensor x = b.Input("x", DType::kI32, {3, 5, 2});
        b.Output("y", b.Cumulative(kind, x, 1, exclusive, reverse));
        b.Output("z", b.Cumulative(kind, b.Slice(x, 1, 0, 1, 1), 1, exclusive, reverse));
        ExpectRight(Lower(b));
      }
    }
  }
}

TEST(LoweringTest, LongCumulativesAreCutIntoBlocks) {
  for (const IndexExpr& n : {IndexExpr(1003), kN}) {
    for (ReduceKind kind : {ReduceKind::kSum, ReduceKind::kMin}) {
      for (const bool exclusive : {false, true}) {
        for (const bool reverse : {false, true}) {
          GraphBuilder b("cumulative");
          b.Symbol({"n", 2, 100000, 900});
          const Tensor x = b.Input("x", DType::kI32, {2, n, 3});
          b.Output("y", b.Cumulative(kind, x, 1, exclusive, reverse));
          const Lowered l = Lower(b);
          EXPECT_EQ(l.program.nests.size(), 3);
          ExpectRight(l, {{"n", 777}});
        }
      }
    }
  }
}

TEST(LoweringTest, LongReductionsOnACpuStayInFewPieces) {
  GraphBuilder b("rows");
  b.Output("y", b.Sum(b.Input("x", DType::kF32, {8, 1 << 24}), {1}));
  const LoopProgram program = Lower(b, "cpu:x86-64-v3").program;
  ASSERT_EQ(program.nests.size(), 2);
  EXPECT_EQ(program.nests[0].LoopNumel(), 128);
}

}  // namespace
}  // namespace stax
