#include "compiler/frontend/textproto.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/graph_interpreter.h"
#include "ir/testing/graph_values.h"

namespace stax {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(TextProtoTest, Example) {
  const auto graph = GraphFromTextProto(R"(
    name: "example"
    symbol { name: "n" lower: 2 upper: 4096 }
    input { name: "x" dtype: "f32" dims: "n" dims: "128" }
    constant { name: "two" dtype: "f32" values: 2 }
    node { op: "sum" input: "c" output: "y" axes: -1 }
    node { op: "mul" input: "b" input: "two" output: "c" }
    node { op: "relu" input: "x" output: "b" }
    output: "y"
  )");
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(ToText(*graph), R"(graph example {
  symbol n: 2 to 4096, hint 64
  x = input : f32[n, 128]  # input 'x'
  %1 = constant {2.0} : f32[]  # constant 'two'
  %2 = constant {0.0} : f32[]  # b (relu)
  %3 = reshape %2 : f32[1, 1]  # b (relu)
  %4 = expand %3 : f32[n, 128]  # b (relu)
  %5 = max x, %4 : f32[n, 128]  # b (relu)
  %6 = reshape %1 : f32[1, 1]  # c (mul)
  %7 = expand %6 : f32[n, 128]  # c (mul)
  %8 = mul %5, %7 : f32[n, 128]  # c (mul)
  y = reduce.sum %8, axes [1] : f32[n]  # y (sum)
  output y = y
}
)");
}

// Result of one node on x = f32[2, 3] {1 .. 6}, i = i64[2] {1, 0} and v = f32[3] {10, 20, 30}.
std::vector<double> RunNode(const std::string& node, DType result = DType::kF32) {
  const auto graph = GraphFromTextProto(absl::StrCat(
      R"(symbol { name: "n" lower: 2 upper: 8 hint: 4 }
         input { name: "x" dtype: "f32" dims: "2" dims: "3" }
         constant { name: "i" dtype: "i64" dims: 2 ints: 1 ints: 0 }
         constant { name: "v" dtype: "f32" dims: 3 values: 10 values: 20 values: 30 }
         constant { name: "b" dtype: "bool" dims: 2 dims: 3 ints: 1 }
         output: "y" node { output: "y" )",
      node, "}"));
  EXPECT_TRUE(graph.ok()) << graph.status();
  if (!graph.ok()) return {};
  const auto outputs =
      InterpretGraph(*graph, {{"n", 5}}, {{"x", Pack(DType::kF32, {1, 2, 3, 4, 5, 6})}});
  EXPECT_TRUE(outputs.ok()) << outputs.status();
  return outputs.ok() ? Unpack(result, outputs->at("y")) : std::vector<double>{};
}

TEST(TextProtoTest, Elementwise) {
  EXPECT_THAT(RunNode(R"(op: "add" input: "x" input: "v")"), ElementsAre(11, 22, 33, 14, 25, 36));
  EXPECT_THAT(RunNode(R"(op: "neg" input: "v")"), ElementsAre(-10, -20, -30));
  EXPECT_THAT(RunNode(R"(op: "max" input: "v" input: "v")"), ElementsAre(10, 20, 30));
  EXPECT_THAT(RunNode(R"(op: "where" input: "b" input: "x" input: "v")"),
              ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(RunNode(R"(op: "cast" input: "v" dtype: "i32")", DType::kI32),
              ElementsAre(10, 20, 30));
  EXPECT_THAT(RunNode(R"(op: "silu" input: "x")").size(), 6);
  EXPECT_THAT(RunNode(R"(op: "gelu" input: "x")").size(), 6);
}

TEST(TextProtoTest, Reductions) {
  EXPECT_THAT(RunNode(R"(op: "sum" input: "x")"), ElementsAre(21));
  EXPECT_THAT(RunNode(R"(op: "sum" input: "x" axes: 0 keep_dims: true)"), ElementsAre(5, 7, 9));
  EXPECT_THAT(RunNode(R"(op: "prod" input: "x" axes: 1)"), ElementsAre(6, 120));
  EXPECT_THAT(RunNode(R"(op: "reduce_max" input: "x" axes: 1)"), ElementsAre(3, 6));
  EXPECT_THAT(RunNode(R"(op: "reduce_min" input: "x" axes: 1)"), ElementsAre(1, 4));
  EXPECT_THAT(RunNode(R"(op: "mean" input: "x" axes: 1)"), ElementsAre(2, 5));
  EXPECT_THAT(RunNode(R"(op: "argmax" input: "v" axes: 0)", DType::kI64), ElementsAre(2));
  EXPECT_THAT(RunNode(R"(op: "argmin_last" input: "v" axes: 0)", DType::kI64), ElementsAre(0));
}

TEST(TextProtoTest, CumulativeAndComposites) {
  EXPECT_THAT(RunNode(R"(op: "cum_sum" input: "v" axes: 0)"), ElementsAre(10, 30, 60));
  EXPECT_THAT(RunNode(R"(op: "cum_sum" input: "v" axes: 0 exclusive: true reverse: true)"),
              ElementsAre(50, 30, 0));
  EXPECT_THAT(RunNode(R"(op: "softmax" input: "x")").size(), 6);
  EXPECT_THAT(RunNode(R"(op: "log_softmax" input: "x" axes: 0)").size(), 6);
  EXPECT_THAT(RunNode(R"(op: "log_sum_exp" input: "x" axes: 0)").size(), 3);
  EXPECT_THAT(RunNode(R"(op: "layer_norm" input: "x" input: "v" input: "v" epsilon: 0.001)").size(),
              6);
}

TEST(TextProtoTest, Contractions) {
  EXPECT_THAT(RunNode(R"(op: "matmul" input: "x" input: "v")"), ElementsAre(140, 320));
  EXPECT_THAT(RunNode(R"(op: "einsum" input: "x" equation: "ij->ji")"),
              ElementsAre(1, 4, 2, 5, 3, 6));
  EXPECT_THAT(RunNode(R"(op: "einsum" input: "x" input: "v" equation: "ij,j->i")"),
              ElementsAre(140, 320));
}

TEST(TextProtoTest, Movement) {
  EXPECT_THAT(RunNode(R"(op: "reshape" input: "x" dims: "3" dims: "2")"),
              ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(RunNode(R"(op: "transpose" input: "x")"), ElementsAre(1, 4, 2, 5, 3, 6));
  EXPECT_THAT(RunNode(R"(op: "transpose" input: "x" axes: 0 axes: 1)"),
              ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(RunNode(R"(op: "expand" input: "v" dims: "2" dims: "3")"),
              ElementsAre(10, 20, 30, 10, 20, 30));
  EXPECT_THAT(RunNode(R"(op: "unsqueeze" input: "v" axes: 0 axes: -1)"), ElementsAre(10, 20, 30));
  EXPECT_THAT(RunNode(R"(op: "concat" input: "x" input: "x" axes: 1)").size(), 12);
  EXPECT_THAT(RunNode(R"(op: "gather" input: "v" input: "i" axes: 0)"), ElementsAre(20, 10));
  EXPECT_THAT(RunNode(R"(op: "gather_elements" input: "v" input: "i" axes: 0)"),
              ElementsAre(20, 10));
  EXPECT_THAT(RunNode(R"(op: "pad" input: "v" before: "1" after: "0" mode: "reflect")"),
              ElementsAre(20, 10, 20, 30));
  EXPECT_THAT(RunNode(R"(op: "pad" input: "v" before: "n - 2" after: "0")"),
              ElementsAre(0, 0, 0, 10, 20, 30));
}

TEST(TextProtoTest, Sources) {
  EXPECT_THAT(RunNode(R"(op: "iota" dtype: "i32" dims: "n")", DType::kI32),
              ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(RunNode(R"(op: "shape_value" dims: "n" dims: "2*n + 1")", DType::kI64),
              ElementsAre(5, 11));
}

TEST(TextProtoTest, SlicesLikePython) {
  const auto slice = [](const std::string& bounds) {
    return RunNode(absl::StrCat(R"(op: "slice" input: "v" )", bounds));
  };
  EXPECT_THAT(slice(R"(starts: "1" ends: "3")"), ElementsAre(20, 30));
  EXPECT_THAT(slice(R"(starts: "-2" ends: "9223372036854775807")"), ElementsAre(20, 30));
  EXPECT_THAT(slice(R"(starts: "0" ends: "-1")"), ElementsAre(10, 20));
  EXPECT_THAT(slice(R"(starts: "0" ends: "3" steps: "2")"), ElementsAre(10, 30));
  EXPECT_THAT(slice(R"(starts: "-1" ends: "-100" steps: "-1")"), ElementsAre(30, 20, 10));
  EXPECT_THAT(slice(R"(starts: "2" ends: "0" steps: "-1")"), ElementsAre(30, 20));
  EXPECT_THAT(slice(R"(starts: "2" ends: "1")"), ElementsAre());
  EXPECT_THAT(slice(R"(starts: "-100" ends: "100" steps: "-1")"), ElementsAre());
  EXPECT_THAT(RunNode(R"(op: "slice" input: "x" axes: -1 axes: 0 starts: "1" starts: "1"
                     ends: "3" ends: "2")"),
              ElementsAre(5, 6));
}

TEST(TextProtoTest, FilledConstantIsNotMaterialised) {
  const auto graph = GraphFromTextProto(R"(
    constant { name: "c" dtype: "f32" dims: 1000000 dims: 100000 values: 0.5 } output: "c")");
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(graph->ops[0].data->size(), 4u);
  EXPECT_EQ(graph->tensors[graph->outputs[0]].dims, (Dims{1000000, 100000}));
}

TEST(TextProtoTest, LongChainInReverseOrder) {
  std::string text = R"(input { name: "t0" dtype: "f32" } output: "t20000")";
  for (int k = 20000; k > 0; --k) {
    absl::StrAppend(&text, " node { op: 'neg' input: 't", k - 1, "' output: 't", k, "' }");
  }
  const auto graph = GraphFromTextProto(text);
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(graph->ops.size(), 20001u);
}

std::string ErrorOf(const std::string& text) {
  const auto graph = GraphFromTextProto(text);
  EXPECT_EQ(graph.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(graph.status().message());
}

TEST(TextProtoErrorTest, Text) {
  EXPECT_EQ(ErrorOf("name: \"x\"\nnodes { }"),
            "graph text: line 2, column 7: Message type \"stax.GraphDef\" has no field named "
            "\"nodes\".");
  EXPECT_EQ(ErrorOf(""), "the graph has no output; write output: \"name\"");
}

// One node beside inputs x and y, f32[2, 3].
std::string NodeError(const std::string& node) {
  return ErrorOf(absl::StrCat(R"(input { name: "x" dtype: "f32" dims: "2" dims: "3" }
                                 input { name: "y" dtype: "f32" dims: "2" dims: "3" }
                                 output: "z" node { output: "z" )",
                              node, "}"));
}

TEST(TextProtoErrorTest, Operators) {
  EXPECT_EQ(NodeError(R"(op: "rleu" input: "x")"),
            "node 'z': unknown op 'rleu', did you mean 'relu'?");
  const std::string unknown = NodeError(R"(op: "convolution" input: "x")");
  EXPECT_THAT(unknown, HasSubstr("node 'z': unknown op 'convolution', known are abs, acos, "));
  EXPECT_THAT(unknown, HasSubstr("where, xor"));
}

TEST(TextProtoErrorTest, Inputs) {
  EXPECT_EQ(NodeError(R"(op: "add" input: "x")"), "z (add): takes 2 inputs, not 1");
  EXPECT_EQ(NodeError(R"(op: "max" input: "x" axes: 0)"),
            "z (max): takes 2 inputs, not 1; to reduce a tensor use reduce_max");
  EXPECT_EQ(NodeError(R"(op: "concat")"), "z (concat): takes 1 or more inputs, not 0");
  EXPECT_EQ(NodeError(R"(op: "pad")"), "z (pad): takes 1 to 2 inputs, not 0");
  EXPECT_EQ(NodeError(R"(op: "neg" input: "weights")"),
            "z (neg): unknown input 'weights', known are x, y, z");
  EXPECT_EQ(NodeError(R"(op: "neg" input: "xx")"),
            "z (neg): unknown input 'xx', did you mean 'x'?");
}

TEST(TextProtoErrorTest, Attributes) {
  EXPECT_EQ(NodeError(R"(op: "add" input: "x" input: "y" axes: 1)"),
            "z (add): attribute 'axes' does not apply; it takes none");
  EXPECT_EQ(NodeError(R"(op: "sum" input: "x" equation: "ij->")"),
            "z (sum): attribute 'equation' does not apply; it takes axes, keep_dims");
  EXPECT_EQ(NodeError(R"(op: "softmax" input: "x" axes: 0 axes: 1)"),
            "z (softmax): takes one axis, not 2; write axes: 0");
  EXPECT_EQ(NodeError(R"(op: "cast" input: "x" dtype: "half")"),
            "z (cast): unknown dtype 'half', expected one of bool, i8, i16, i32, i64, u8, u16, "
            "u32, u64, f16, bf16, f32, f64");
  EXPECT_EQ(NodeError(R"(op: "reshape" input: "x" dims: "n *")"),
            "z (reshape): dims 'n *': index expression, column 4: expected a number, a name or "
            "'(', found the end");
  EXPECT_EQ(NodeError(R"(op: "pad" input: "x" mode: "wrap")"),
            "z (pad): mode 'wrap'; expected constant, reflect or edge");
  EXPECT_EQ(
      NodeError(R"(op: "slice" input: "x" starts: "0")"),
      "z (slice): has 1 starts, 0 ends, 0 steps and 1 axes; give equally many (steps and axes "
      "may be left out)");
  EXPECT_EQ(NodeError(R"(op: "slice" input: "x" starts: "0" ends: "1" steps: "0")"),
            "z (slice): step 0; it must be a number other than 0");
  EXPECT_EQ(NodeError(R"(op: "slice" input: "x" axes: 2 starts: "0" ends: "1")"),
            "z (slice): axis 2 of a tensor of rank 2");
}

TEST(TextProtoErrorTest, BuilderErrorsNameTheNode) {
  EXPECT_EQ(NodeError(R"(op: "matmul" input: "x" input: "y")"),
            "z (matmul): matmul: operands f32[2, 3] and f32[2, 3]: the inner sizes 3 and 2 differ");
}

TEST(TextProtoErrorTest, Cycles) {
  EXPECT_EQ(NodeError(R"(op: "neg" input: "z")"), "z (neg): needs its own result: z from z");
  EXPECT_EQ(ErrorOf(R"(node { op: "neg" input: "c" output: "d" }
                       node { op: "neg" input: "b" output: "a" }
                       node { op: "neg" input: "c" output: "b" }
                       node { op: "neg" input: "a" output: "c" })"),
            "c (neg): needs its own result: c from a from b from c");
}

TEST(TextProtoErrorTest, Names) {
  EXPECT_EQ(ErrorOf(R"(input { name: "x" dtype: "f32" } constant { name: "x" dtype: "f32" })"),
            "constant 'x': the name is used twice, here and by the input; names must be unique");
  EXPECT_EQ(ErrorOf(R"(node { op: "neg" output: "x" } node { op: "neg" output: "x" })"),
            "node 'x': the name is used twice, here and by another node; names must be unique");
  EXPECT_EQ(ErrorOf(R"(node { op: "neg" })"), "the node has no output name");
  EXPECT_EQ(ErrorOf(R"(input { dtype: "f32" })"), "the input has no name");
  EXPECT_EQ(ErrorOf(R"(input { name: "x" dtype: "f32" } output: "q")"),
            "output 'q': no tensor has this name, known are x");
  EXPECT_EQ(ErrorOf(R"(output: "q")"), "output 'q': no tensor has this name, there are none");
}

TEST(TextProtoErrorTest, InputsConstantsAndSymbols) {
  EXPECT_EQ(ErrorOf(R"(input { name: "x" dtype: "f32" dims: "n" })"),
            "input 'x': input: f32[n]: 'n' is not a declared symbol (declared: none)");
  EXPECT_EQ(ErrorOf(R"(input { name: "x" dims: "2" })"),
            "input 'x': unknown dtype '', expected one of bool, i8, i16, i32, i64, u8, u16, u32, "
            "u64, f16, bf16, f32, f64");
  EXPECT_EQ(ErrorOf(R"(constant { name: "c" dtype: "i32" values: 1 })"),
            "constant 'c': i32 elements are given as ints: 1");
  EXPECT_EQ(ErrorOf(R"(constant { name: "c" dtype: "f32" ints: 1 })"),
            "constant 'c': f32 elements are given as values: 0.5");
  EXPECT_EQ(ErrorOf(R"(constant { name: "c" dtype: "i8" ints: 128 })"),
            "constant 'c': 128 does not fit in i8");
  EXPECT_EQ(ErrorOf(R"(constant { name: "c" dtype: "f32" dims: 3 values: 1 values: 2 })"),
            "constant 'c': constant: 8 bytes of data (2 elements) for f32[3], which takes 12");
  EXPECT_EQ(ErrorOf(R"(constant { name: "c" dtype: "f32" dims: -3 values: 1 })"),
            "constant 'c': expand: f32[-3]: size -3 is negative");
  EXPECT_EQ(ErrorOf(R"(symbol { name: "n" lower: 8 upper: 4 })"),
            "symbol 'n': lower <= hint <= upper does not hold for 8, 64, 4");
}

}  // namespace
}  // namespace stax
