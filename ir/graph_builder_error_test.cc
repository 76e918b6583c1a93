// The exact words of GraphBuilder's errors.
#include <functional>
#include <limits>
#include <string>

#include "gtest/gtest.h"
#include "ir/graph_builder.h"
#include "ir/testing/graph_values.h"

namespace stax {
namespace {

using Tensor = GraphBuilder::Tensor;

struct Case {
  const char* name;
  std::function<void(GraphBuilder&)> build;
  std::string message;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class ErrorTest : public ::testing::TestWithParam<Case> {};

TEST_P(ErrorTest, SaysWhatIsWrong) {
  GraphBuilder b("errors");
  b.Symbol({"n", 2, 4096, 64});
  b.Symbol({"m", 2, 4096, 64});
  GetParam().build(b);
  const auto graph = b.Build();
  EXPECT_EQ(graph.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(graph.status().message(), GetParam().message);
}

Tensor In(GraphBuilder& b, Dims dims, DType type = DType::kF32) {
  static int count = 0;
  return b.Input(absl::StrCat("x", ++count), type, std::move(dims));
}

const IndexExpr n = IndexExpr::Var("n");
const IndexExpr m = IndexExpr::Var("m");
const IndexExpr kHuge = int64_t{1} << 20;

INSTANTIATE_TEST_SUITE_P(
    Elementwise, ErrorTest,
    ::testing::Values(
        Case{"dtypes", [](auto& b) { b.Add(In(b, {2}), In(b, {2}, DType::kF16)); },
             "add: operands f32[2] and f16[2]: both must have one dtype, cast one of them"},
        Case{"shapes", [](auto& b) { b.Mul(In(b, {2, 3}), In(b, {4, 3})); },
             "mul: shapes [2, 3] and [4, 3] do not broadcast: 2 and 4 differ"},
        Case{"symbols", [](auto& b) { b.Sub(In(b, {n}), In(b, {m})); },
             "sub: shapes [n] and [m] do not broadcast: n and m are not known to be equal"},
        Case{"symbol and number", [](auto& b) { b.Sub(In(b, {n, 2}), In(b, {5, 2})); },
             "sub: shapes [n, 2] and [5, 2] do not broadcast: n and 5 are not known to be equal"},
        Case{"float op", [](auto& b) { b.Unary(OpCode::kExp, In(b, {2}, DType::kI32)); },
             "exp: operand i32[2]: takes floats"},
        Case{"arithmetic on bool",
             [](auto& b) { b.Add(In(b, {2}, DType::kBool), In(b, {2}, DType::kBool)); },
             "add: operands bool[2] and bool[2]: takes integers or floats"},
        Case{"shift of bool",
             [](auto& b) {
               b.Binary(OpCode::kShl, In(b, {2}, DType::kBool), In(b, {2}, DType::kBool));
             },
             "shl: operands bool[2] and bool[2]: takes integers"},
        Case{"arity", [](auto& b) { b.Unary(OpCode::kAdd, In(b, {2})); },
             "add: not a unary operator"},
        Case{"special op", [](auto& b) { b.Unary(OpCode::kLoad, In(b, {2})); },
             "load: not a unary operator"},
        Case{"condition", [](auto& b) { b.Where(In(b, {2}), In(b, {2}), In(b, {2})); },
             "where: the condition is f32[2]; it must be bool"},
        Case{"no tensor", [](auto& b) { b.Add(In(b, {2}), Tensor{}); },
             "add: operand 1 is not a tensor of this graph"},
        Case{"gelu of integers", [](auto& b) { b.Gelu(In(b, {2}, DType::kI32)); },
             "gelu: operand i32[2]: takes floats"}));

INSTANTIATE_TEST_SUITE_P(
    Sizes, ErrorTest,
    ::testing::Values(
        Case{"too many elements", [](auto& b) { b.Expand(In(b, {kHuge, 1}), {kHuge, kHuge}); },
             "expand: f32[1048576, 1048576]: a tensor of 1099511627776 elements; at most "
             "1099511627775 are supported"},
        Case{"far too many elements", [](auto& b) { In(b, {kHuge, kHuge, kHuge, kHuge}); },
             "input: f32[1048576, 1048576, 1048576, 1048576]: a tensor of 2^63 or more elements; "
             "at most 1099511627775 are supported"},
        Case{"symbolic", [](auto& b) { In(b, {n, kHuge * n, kHuge * m, kHuge * m}); },
             "input: f32[n, 1048576*n, 1048576*m, 1048576*m]: a tensor of 2^63 or more elements; "
             "at most 1099511627775 are supported"},
        Case{"negative", [](auto& b) { In(b, {2, -1}); }, "input: f32[2, -1]: size -1 is negative"},
        Case{"maybe negative", [](auto& b) { In(b, {n - 3}); },
             "input: f32[n - 3]: size n - 3 may be negative"},
        Case{"undeclared", [](auto& b) { In(b, {IndexExpr::Var("q")}); },
             "input: f32[q]: 'q' is not a declared symbol (declared: m, n)"},
        Case{"divisor", [](auto& b) { In(b, {FloorDiv(64, n - 2)}); },
             "input: f32[floordiv(64, n - 2)]: divisor n - 2 may be zero or negative"},
        Case{"symbol name", [](auto& b) { b.Symbol({"2n", 2, 4, 2}); },
             "symbol '2n': a name starts with a letter or '_'; letters, digits, '_', '.' follow"},
        Case{"reserved", [](auto& b) { b.Symbol({"i0", 2, 4, 2}); },
             "symbol 'i0': this name is reserved for loop variables and functions"},
        Case{"lower", [](auto& b) { b.Symbol({"k", 0, 4, 2}); },
             "symbol 'k': the lower bound is 0; sizes of 0 must be literal"},
        Case{"hint", [](auto& b) { b.Symbol({"k", 2, 4, 8}); },
             "symbol 'k': lower <= hint <= upper does not hold for 2, 8, 4"},
        Case{"twice", [](auto& b) { b.Symbol({"n", 2, 4, 2}); },
             "symbol 'n': declared twice with different bounds"}));

INSTANTIATE_TEST_SUITE_P(
    Views, ErrorTest,
    ::testing::Values(
        Case{"reshape", [](auto& b) { b.Reshape(In(b, {2, 3}), {4, 2}); },
             "reshape: [2, 3] to [4, 2]: 6 and 8 elements"},
        Case{"symbolic reshape", [](auto& b) { b.Reshape(In(b, {n, 4}), {m, 4}); },
             "reshape: [n, 4] to [m, 4]: 4*n and 4*m elements are not known to be equal"},
        Case{"transpose", [](auto& b) { b.Transpose(In(b, {2, 3}), {0, 0}); },
             "transpose: axes [0, 0] are not a permutation of the 2 axes of f32[2, 3]"},
        Case{"expand", [](auto& b) { b.Expand(In(b, {2, 3}), {2, 4}); },
             "expand: [2, 3] does not broadcast to [2, 4]"},
        Case{"expand to lower rank", [](auto& b) { b.Expand(In(b, {1, 3}), {3}); },
             "expand: [1, 3] does not broadcast to [3]"},
        Case{"squeeze", [](auto& b) { b.Squeeze(In(b, {1, 3}), {1}); },
             "squeeze: axis 1 of f32[1, 3] has size 3, not 1"},
        Case{"axis", [](auto& b) { b.Sum(In(b, {2, 3}), {2}); },
             "sum: axis 2 is outside [-2, 1] of a tensor of rank 2"},
        Case{"axis of a scalar", [](auto& b) { b.Softmax(In(b, {}), -1); },
             "max: axis -1 of a tensor of rank 0, which has no axes"},
        Case{"axis twice", [](auto& b) { b.Sum(In(b, {2, 3}), {1, -1}); },
             "sum: axis 1 is given twice"},
        Case{"slice", [](auto& b) { b.Slice(In(b, {2, 3}), 1, 1, 1, 3); },
             "slice: axis 1 of f32[2, 3]: elements 1 to 3 are not inside [0, 3)"},
        Case{"slice back", [](auto& b) { b.Slice(In(b, {3}), 0, 1, -1, 3); },
             "slice: axis 0 of f32[3]: elements -1 to 1 are not inside [0, 3)"},
        Case{"slice step", [](auto& b) { b.Slice(In(b, {3}), 0, 0, 0, 2); },
             "slice: axis 0 of f32[3]: step 0 is not known to be non-zero of one sign"},
        Case{"large step",
             [](auto& b) { b.Slice(In(b, {3}), 0, 0, std::numeric_limits<int64_t>::max(), 2); },
             "slice: step: 9223372036854775807 is too large; at most 1099511627775 is supported"},
        Case{"pad count",
             [](auto& b) { b.Pad(In(b, {2, 3}), {1}, {1, 1}, PadMode::kConstant, std::nullopt); },
             "pad: 1 sizes before and 2 after for f32[2, 3], which has 2 axes"},
        Case{"reflect",
             [](auto& b) { b.Pad(In(b, {3}), {3}, {0}, PadMode::kReflect, std::nullopt); },
             "pad: axis 0 of f32[3]: padded by 3 and 0; to reflect, pads must be known to be less "
             "than the size"},
        Case{"edge", [](auto& b) { b.Pad(In(b, {0}), {1}, {0}, PadMode::kEdge, std::nullopt); },
             "pad: axis 0 of f32[0]: padded by 1 and 0, but it may have no edge to repeat"},
        Case{"pad value",
             [](auto& b) {
               b.Pad(In(b, {3}), {1}, {0}, PadMode::kConstant, b.Scalar(DType::kF64, 0));
             },
             "pad: the value is f64[]; it must be one f32"},
        Case{"crop", [](auto& b) { b.Pad(In(b, {3}), {-4}, {0}, PadMode::kEdge, std::nullopt); },
             "slice: f32[-1]: size -1 is negative"}));

INSTANTIATE_TEST_SUITE_P(
    Others, ErrorTest,
    ::testing::Values(
        Case{"concat", [](auto& b) { b.Concat({In(b, {2, 3}), In(b, {2, 4})}, 0); },
             "concat: operands f32[2, 3] and f32[2, 4] must agree in dtype and in all sizes but "
             "axis 0"},
        Case{"concat nothing", [](auto& b) { b.Concat({}, 0); }, "concat: there are no operands"},
        Case{"gather", [](auto& b) { b.Gather(In(b, {3}), In(b, {2}), 0); },
             "gather: indices are f32[2]; they must be integers"},
        Case{"gather from nothing",
             [](auto& b) { b.Gather(In(b, {0, 2}), In(b, {2}, DType::kI64), 0); },
             "gather: axis 0 of f32[0, 2] is empty: no index is valid"},
        Case{"gather elements",
             [](auto& b) { b.GatherElements(In(b, {3, 2}), In(b, {4, 1}, DType::kI32), 1); },
             "gather_elements: data f32[3, 2] and indices i32[4, 1]: axis 0 of the indices may be "
             "the larger one"},
        Case{"matmul", [](auto& b) { b.MatMul(In(b, {2, 3}), In(b, {4, 2})); },
             "matmul: operands f32[2, 3] and f32[4, 2]: the inner sizes 3 and 4 differ"},
        Case{"matmul of scalar", [](auto& b) { b.MatMul(In(b, {}), In(b, {4, 2})); },
             "matmul: operands f32[] and f32[4, 2]: both must have at least one axis"},
        Case{"matmul batch", [](auto& b) { b.MatMul(In(b, {2, 1, 3}), In(b, {5, 3, 2})); },
             "matmul: operands f32[2, 1, 3] and f32[5, 3, 2]: batch shapes [2] and [5] do not "
             "broadcast: 2 and 5 differ"},
        Case{"einsum sizes", [](auto& b) { b.Einsum("ij,jk", {In(b, {2, 3}), In(b, {4, 2})}); },
             "einsum: equation 'ij,jk': label 'j' has sizes 3 and 4"},
        Case{"diagonal", [](auto& b) { b.Einsum("ii->i", {In(b, {2, 3})}); },
             "einsum: label 'i' names dims 0 and 1 of f32[2, 3], which differ"},
        Case{"einsum dtype",
             [](auto& b) { b.Einsum("i,i", {In(b, {2}), In(b, {2}, DType::kI32)}); },
             "einsum: operand i32[2]: all operands must be numbers of one dtype, like the first, "
             "f32[2]"},
        Case{"argmax of nothing",
             [](auto& b) { b.Reduce(ReduceKind::kArgMax, In(b, {2, 0}), {1}); },
             "argmax: axis 1 of f32[2, 0] is empty: it has no extreme"},
        Case{"sum of bool", [](auto& b) { b.Sum(In(b, {2}, DType::kBool), {0}); },
             "sum: operand bool[2]: takes integers, f32 or f64 (cast first)"},
        Case{"constant", [](auto& b) { b.Constant(DType::kF32, {3}, Bytes(8)); },
             "constant: 8 bytes of data (2 elements) for f32[3], which takes 12"},
        Case{"shape value", [](auto& b) { b.ShapeValue({n, 2}, {3}); },
             "shape value: 2 values for shape [3]"},
        Case{"input that is no UTF-8", [](auto& b) { b.Input("x\xff", DType::kF32, {2}); },
             "input 'x\xff': the name is no UTF-8"},
        Case{"output that is no UTF-8",
             [](auto& b) { b.Output("\xe2\x82", b.Input("x", DType::kF32, {2})); },
             "output '\xe2\x82': the name is no UTF-8"},
        Case{"input twice",
             [](auto& b) {
               b.Input("x", DType::kF32, {2});
               b.Input("x", DType::kF32, {2});
             },
             "input 'x': another tensor has this name"},
        Case{"output twice",
             [](auto& b) {
               const Tensor x = In(b, {2});
               b.Output("y", x);
               b.Output("y", x);
             },
             "output: two outputs are named 'y'"},
        Case{"specialised differently",
             [](auto& b) {
               const Tensor x = In(b, {1}, DType::kI64);
               b.Specialise(x, Pack(DType::kI64, {1}));
               b.Specialise(x, Pack(DType::kI64, {2}));
             },
             "specialise: the input was specialised on another value before"}));

TEST(ErrorOriginTest, FirstErrorIsKeptWithItsOrigin) {
  GraphBuilder b("origin");
  b.SetOrigin("Add_3 (Add)");
  const Tensor bad = b.Add(In(b, {2}), In(b, {3}));
  EXPECT_EQ(bad.id, -1);
  EXPECT_EQ(b.rank(bad), 0);
  b.SetOrigin("Mul_4 (Mul)");
  b.Mul(bad, bad);
  EXPECT_EQ(b.Build().status().message(),
            "Add_3 (Add): add: shapes [2] and [3] do not broadcast: 2 and 3 differ");
}

}  // namespace
}  // namespace stax
