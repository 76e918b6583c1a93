// Verify finds each way in which a graph can be broken: a graph with every kind of op is changed in
// one place at a time.
#include <functional>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/graph_builder.h"
#include "ir/testing/graph_values.h"

namespace stax {
namespace {

using ::testing::HasSubstr;
using Tensor = GraphBuilder::Tensor;

// Has one op of each kind; Op() finds them.
Graph AllKinds() {
  GraphBuilder b("all");
  b.Symbol({"n", 2, 64, 8});
  const IndexExpr n = IndexExpr::Var("n");
  const Tensor x = b.Input("x", DType::kF32, {n, 4});
  const Tensor c = Values(b, DType::kF32, {4}, {1, 2, 3, 4});
  const Tensor sum = b.Add(x, c);
  b.Output("cast", b.Cast(sum, DType::kF16));
  b.Output("where", b.Where(b.Binary(OpCode::kLt, x, sum), x, sum));
  b.Output("reduce", b.Sum(x, {0}));
  b.Output("argmax", b.Reduce(ReduceKind::kArgMax, x, {1}));
  b.Output("cumulative", b.Cumulative(ReduceKind::kSum, x, 0, false, false));
  b.Output("einsum", b.Einsum("ij,kj->ik", {x, x}));
  b.Output("transpose", b.Transpose(x, {1, 0}));
  b.Output("slice", b.Slice(x, 1, 3, -1, 2));
  b.Output("pad", b.Pad(x, {1, 0}, {0, 2}, PadMode::kConstant, b.Scalar(DType::kF32, 1)));
  b.Output("concat", b.Concat({x, sum}, 0));
  const Tensor indices = b.Iota(DType::kI64, {3, 2}, 1);
  b.Output("gather", b.Gather(x, indices, 1));
  b.Output("gather_elements", b.GatherElements(c, b.Iota(DType::kI32, {2}, 0), 0));
  b.Output("shape", b.ShapeValue({n, 4}, {2}));
  b.Specialise(b.Input("s", DType::kI64, {1}), Pack(DType::kI64, {3}));
  return *b.Build();
}

GraphOp& Op(Graph& g, GraphOpKind kind) {
  for (GraphOp& op : g.ops) {
    if (op.kind == kind) return op;
  }
  ADD_FAILURE() << "no such op";
  return g.ops[0];
}

GraphTensor& ResultOf(Graph& g, GraphOpKind kind) { return g.tensors[Op(g, kind).result]; }

struct Case {
  std::string message;
  std::function<void(Graph&)> damage;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.message; }

class VerifyTest : public ::testing::TestWithParam<Case> {};

TEST_P(VerifyTest, FindsDamage) {
  Graph graph = AllKinds();
  ASSERT_TRUE(Verify(graph).ok()) << Verify(graph);
  GetParam().damage(graph);
  const absl::Status status = Verify(graph);
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(status.message()), HasSubstr(GetParam().message));
}

using K = GraphOpKind;

INSTANTIATE_TEST_SUITE_P(
    Graph, VerifyTest,
    ::testing::Values(
        Case{"two tensors are named 'x'", [](Graph& g) { g.tensors[3].name = "x"; }},
        Case{"'n' is not a declared symbol", [](Graph& g) { g.symbols.clear(); }},
        Case{"symbols are not sorted", [](Graph& g) { g.symbols.push_back(g.symbols[0]); }},
        Case{"a tensor is made by no op", [](Graph& g) { g.tensors.push_back({"z", {}, {}}); }},
        Case{"as many output names", [](Graph& g) { g.output_names.pop_back(); }},
        Case{"an output is made by no op", [](Graph& g) { g.outputs[0] = 1000; }},
        Case{"an input op is not listed", [](Graph& g) { g.inputs.pop_back(); }},
        Case{"an input is listed twice", [](Graph& g) { g.inputs.push_back(g.inputs[0]); }},
        Case{"a specialised value does not fit", [](Graph& g) { g.specialised[0].tensor = 0; }},
        Case{"is not defined before", [](Graph& g) { std::swap(g.ops[0], g.ops[4]); }},
        Case{"is no tensor, or is defined already", [](Graph& g) { g.ops[1].result = 0; }}));

INSTANTIATE_TEST_SUITE_P(
    Types, VerifyTest,
    ::testing::Values(
        Case{"(elementwise add): 1 operands instead of 2",
             [](Graph& g) { Op(g, K::kElementwise).operands.pop_back(); }},
        Case{"load is no scalar op", [](Graph& g) { Op(g, K::kElementwise).code = OpCode::kLoad; }},
        Case{"(elementwise or): of f32: it takes integers or bool",
             [](Graph& g) { Op(g, K::kElementwise).code = OpCode::kOr; }},
        Case{"(select): the condition is not bool",
             [](Graph& g) { Op(g, K::kSelect).operands[0] = 0; }},
        Case{"(einsum): operands differ in dtype",
             [](Graph& g) { Op(g, K::kEinsum).operands[1] = Op(g, K::kCast).result; }},
        Case{"(gather): indices are not integers",
             [](Graph& g) { Op(g, K::kGather).operands[1] = 0; }},
        Case{"(reduce): the result is f16 instead of f32",
             [](Graph& g) { ResultOf(g, K::kReduce).dtype = DType::kF16; }},
        Case{"(reduce): the result is f32 instead of i64",
             [](Graph& g) { Op(g, K::kReduce).reduce = ReduceKind::kArgMin; }},
        Case{"(reduce): of f16: it takes integers, f32 or f64 (cast first)",
             [](Graph& g) { Op(g, K::kReduce).operands[0] = Op(g, K::kCast).result; }},
        Case{"(cumulative): positions cannot be accumulated",
             [](Graph& g) { Op(g, K::kCumulative).reduce = ReduceKind::kArgMin; }},
        Case{"(iota): the result is f32 instead of i64",
             [](Graph& g) { ResultOf(g, K::kIota).dtype = DType::kF32; }},
        Case{"(shape_value): the result is i32 instead of i64",
             [](Graph& g) { ResultOf(g, K::kShapeValue).dtype = DType::kI32; }}));

INSTANTIATE_TEST_SUITE_P(
    Shapes, VerifyTest,
    ::testing::Values(
        Case{"(constant): data does not fill the result",
             [](Graph& g) { ResultOf(g, K::kConstant).dims = {5}; }},
        Case{"(shape_value): values do not fill the result",
             [](Graph& g) { Op(g, K::kShapeValue).values.pop_back(); }},
        Case{"(shape_value): 'q' is not a declared symbol (declared: n)",
             [](Graph& g) { Op(g, K::kShapeValue).values[0] = IndexExpr::Var("q"); }},
        Case{"(cast): the result is [n, 5] instead of [n, 4]",
             [](Graph& g) { ResultOf(g, K::kCast).dims[1] = 5; }},
        Case{"(reduce): axes are not sorted, distinct and inside the rank",
             [](Graph& g) { Op(g, K::kReduce).axes = {1, 0}; }},
        Case{"(reduce): axes are not sorted, distinct and inside the rank",
             [](Graph& g) { Op(g, K::kReduce).axes = {2}; }},
        Case{"(reduce): no axes", [](Graph& g) { Op(g, K::kReduce).axes = {}; }},
        Case{"(reduce): the result is [4] instead of [n]",
             [](Graph& g) { Op(g, K::kReduce).axes = {1}; }},
        Case{"(reshape): [4] and [1, 5] do not have equally many elements",
             [](Graph& g) { ResultOf(g, K::kReshape).dims[1] = 5; }},
        Case{"(transpose): perm is not a permutation",
             [](Graph& g) { Op(g, K::kTranspose).axes = {1, 1}; }},
        Case{"(transpose): the result is [4, n] instead of [n, 4]",
             [](Graph& g) { Op(g, K::kTranspose).axes = {0, 1}; }},
        Case{"(expand): the result is [n, 5] instead of [n, 4]",
             [](Graph& g) { ResultOf(g, K::kExpand).dims[1] = 5; }},
        Case{"(slice): elements 1 to 4 are not inside [0, 4)",
             [](Graph& g) {
               Op(g, K::kSlice).start = 4;
               Op(g, K::kSlice).step = -3;
             }},
        Case{"(slice): axis 2 of rank 2", [](Graph& g) { Op(g, K::kSlice).axis = 2; }},
        Case{"(pad): ranks differ", [](Graph& g) { Op(g, K::kPad).pads_before.pop_back(); }},
        Case{"(pad): axis 0: padded by 2 and -1, which may be negative",
             [](Graph& g) { Op(g, K::kPad).pads_before[0] = 2; }},
        Case{"(concat): the result is [2*n, 4] instead of [3*n, 4]",
             [](Graph& g) { Op(g, K::kConcat).operands.push_back(0); }},
        Case{"(gather): the result is [n, 3, 2] instead of [3, 2, 4]",
             [](Graph& g) { Op(g, K::kGather).axis = 0; }},
        Case{"(gather_elements): ranks differ",
             [](Graph& g) { Op(g, K::kGatherElements).operands[0] = 0; }}));

INSTANTIATE_TEST_SUITE_P(
    Equations, VerifyTest,
    ::testing::Values(
        Case{"the equation is not in its explicit form",
             [](Graph& g) { Op(g, K::kEinsum).equation = "ij,kj"; }},
        Case{"a label is repeated", [](Graph& g) { Op(g, K::kEinsum).equation = "ii,ki->ik"; }},
        Case{"a label occurs once only",
             [](Graph& g) { Op(g, K::kEinsum).equation = "ij,kl->ik"; }},
        Case{"sizes of a label differ", [](Graph& g) { Op(g, K::kEinsum).equation = "ij,jk->ik"; }},
        Case{"the result is [n, n] instead of [n]",
             [](Graph& g) { Op(g, K::kEinsum).equation = "ij,ij->i"; }},
        Case{"operand 0 has rank 2", [](Graph& g) { Op(g, K::kEinsum).equation = "i,kj->ik"; }}));

}  // namespace
}  // namespace stax
