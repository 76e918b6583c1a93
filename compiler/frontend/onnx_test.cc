#include "compiler/frontend/onnx.h"

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/frontend/onnx_text_model.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/graph_rules.h"

namespace stax {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

absl::StatusOr<Graph> Translate(const std::string& text, const OnnxOptions& options = {},
                                int opset = 17) {
  return GraphFromOnnx(OnnxBytesFromText(text, opset), options);
}

// Shape and type of the first output: "f32[n, 3]"; the error when there is one.
std::string OutputType(const std::string& text, const OnnxOptions& options = {}, int opset = 17) {
  const absl::StatusOr<Graph> graph = Translate(text, options, opset);
  if (!graph.ok()) return graph.status().ToString();
  const GraphTensor& t = graph->tensors[graph->outputs[0]];
  return TypeText(t.dtype, t.dims);
}

absl::Status Error(const std::string& text, const OnnxOptions& options = {}, int opset = 17) {
  return Translate(text, options, opset).status();
}

OnnxValue I64(std::vector<int64_t> dims, const std::vector<int64_t>& values) {
  OnnxValue v;
  v.dtype = DType::kI64;
  v.dims = std::move(dims);
  v.bytes.resize(8 * values.size());
  std::memcpy(v.bytes.data(), values.data(), v.bytes.size());
  return v;
}

bool HasOp(const Graph& graph, GraphOpKind kind) {
  for (const GraphOp& op : graph.ops)
    if (op.kind == kind) return true;
  return false;
}

TEST(OnnxTest, Example) {
  const auto graph = Translate(R"(
x = input f32[n, 4]
w = const f32[4] {1, 2, 3, 4}
a = Add(x, w)
y = Relu(a)
output y)");
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(ToText(*graph), R"(graph test {
  symbol n: 2 to 1048576, hint 64
  x = input : f32[n, 4]  # input 'x'
  %1 = constant {1.0, 2.0, 3.0, 4.0} : f32[4]  # node making 'a' (Add)
  %2 = reshape %1 : f32[1, 4]  # node making 'a' (Add)
  %3 = expand %2 : f32[n, 4]  # node making 'a' (Add)
  %4 = add x, %3 : f32[n, 4]  # node making 'a' (Add)
  %5 = constant {0.0} : f32[]  # node making 'y' (Relu)
  %6 = reshape %5 : f32[1, 1]  # node making 'y' (Relu)
  %7 = expand %6 : f32[n, 4]  # node making 'y' (Relu)
  y = max %4, %7 : f32[n, 4]  # node making 'y' (Relu)
  output y = y
}
)");
}

// The shape arithmetic of exported models: no op of it reaches the graph.
TEST(OnnxTest, SymbolicSizesFlowIntoReshape) {
  const auto graph = Translate(R"(
x = input f32[batch, seq, 768]
one = const i64[] {1}
zero = const i64[] {0}
tail = const i64[2] {12, 64}
axis = const i64[1] {0}
s = Shape(x)
b = Gather(s, zero)
t = Gather(s, one)
b1 = Unsqueeze(b, axis)
t1 = Unsqueeze(t, axis)
shape = Concat(b1, t1, tail) axis=0
y = Reshape(x, shape)
output y)");
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(ShapeText(graph->tensors[graph->outputs[0]].dims), "[batch, seq, 12, 64]");
  EXPECT_EQ(graph->ops.size(), 2u) << ToText(*graph);
}

TEST(OnnxTest, ReshapeInfersSymbolicSizes) {
  EXPECT_EQ(OutputType(R"(
x = input f32[b, s, 12, 64]
shape = const i64[3] {0, 0, -1}
y = Reshape(x, shape)
output y)"),
            "f32[b, s, 768]");
  EXPECT_EQ(OutputType(R"(
x = input f32[b, s, 768]
shape = const i64[2] {-1, 768}
y = Reshape(x, shape)
output y)"),
            "f32[b*s, 768]");
  EXPECT_EQ(OutputType(R"(
x = input f32[b, s, 768]
shape = const i64[4] {0, -1, 12, 64}
y = Reshape(x, shape)
output y)"),
            "f32[b, s, 12, 64]");
}

TEST(OnnxTest, SlicesOfSymbolicSizes) {
  const char* const kModel = R"(
x = input f32[n, 10]
start = const i64[1] {%s}
end = const i64[1] {%s}
axes = const i64[1] {0}
steps = const i64[1] {%s}
y = Slice(x, start, end, axes, steps)
output y)";
  const auto slice = [&](const char* start, const char* end, const char* step) {
    char text[512];
    std::snprintf(text, sizeof text, kModel, start, end, step);
    return OutputType(text);
  };
  EXPECT_EQ(slice("0", "9223372036854775807", "1"), "f32[n, 10]");
  EXPECT_EQ(slice("1", "9223372036854775807", "1"), "f32[n - 1, 10]");
  EXPECT_EQ(slice("0", "-1", "1"), "f32[n - 1, 10]");
  EXPECT_EQ(slice("-1", "9223372036854775807", "1"), "f32[1, 10]");
  EXPECT_EQ(slice("-1", "-9223372036854775808", "-1"), "f32[n, 10]");
  EXPECT_EQ(slice("0", "5", "1"), "f32[min(5, n), 10]");
  EXPECT_EQ(slice("0", "9223372036854775807", "2"), "f32[floordiv(n + 1, 2), 10]");
}

TEST(OnnxTest, ExpandByWhereAndEqual) {
  // What PyTorch's expand(-1, 5) becomes.
  EXPECT_EQ(OutputType(R"(
x = input f32[n, 1]
shape = const i64[2] {-1, 5}
two = const i64[1] {2}
one = const i64[] {1}
zeros = ConstantOfShape(two)
z = Cast(zeros) to=7
ones = Add(z, one)
minus = const i64[] {-1}
m = Mul(ones, minus)
is = Equal(shape, m)
d = Where(is, ones, shape)
y = Expand(x, d)
output y)"),
            "f32[n, 5]");
}

TEST(OnnxTest, SizesAsFloats) {
  // Half of a size by way of floats, as exporters do.
  EXPECT_EQ(OutputType(R"(
x = input f32[8, 10]
i = const i64[1] {1}
s = Shape(x)
n = Gather(s, i)
f = Cast(n) to=1
two = const f32[1] {2}
h = Div(f, two)
g = Floor(h)
k = Cast(g) to=7
r = const i64[1] {-1}
shape = Concat(r, k) axis=0
y = Reshape(x, shape)
output y)"),
            "f32[16, 5]");
}

TEST(OnnxTest, ShapesUsedAsDataEnterTheGraph) {
  const auto graph = Translate(R"(
x = input f32[n]
s = Shape(x)
f = Cast(s) to=1
y = Div(x, f)
output y)");
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_TRUE(HasOp(*graph, GraphOpKind::kShapeValue)) << ToText(*graph);
}

TEST(OnnxTest, OpenDimsBecomeSymbols) {
  const auto graph = Translate(R"(
input.1 = input f32[?, batch.size, i0, ?]
y = Relu(input.1)
output y)");
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(ShapeText(graph->tensors[graph->inputs[0]].dims),
            "[input_1_0, batch_size, i0_, input_1_3]");
  EXPECT_EQ(graph->symbols[0].upper, kDefaultDimUpper[3]);
}

TEST(OnnxTest, DimNamesThatBecomeEqualStayApart) {
  const auto graph = Translate(R"(
x = input f32[a.b, a_b]
y = Relu(x)
output y)");
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(ShapeText(graph->tensors[graph->inputs[0]].dims), "[a_b, a_b_2]");
}

TEST(OnnxTest, HintsAndRanges) {
  const std::string text = "x = input f32[n]\ny = Relu(x)\noutput y";
  OnnxOptions options;
  options.dim_hints["n"] = 100;
  options.dim_ranges["n"] = {33, 4096};
  const auto graph = Translate(text, options);
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(graph->symbols[0].lower, 33);
  EXPECT_EQ(graph->symbols[0].upper, 4096);
  EXPECT_EQ(graph->symbols[0].hint, 100);
  options.dim_hints["n"] = 5000;
  EXPECT_EQ(Error(text, options).message(),
            "the hint 5000 for 'n' is outside of its range [33, 4096]");
  options = {};
  options.dim_hints["m"] = 5;
  EXPECT_EQ(Error(text, options).message(),
            "dim_hints has 'm', but the model's open sizes are 'n'");
}

TEST(OnnxTest, InputDimsFixSizesOfAllInputsWithTheName) {
  OnnxOptions options;
  options.input_dims["x"] = {1, 7};
  EXPECT_EQ(
      OutputType("x = input f32[n, m]\nw = input f32[n, m]\ny = Add(x, w)\noutput y", options),
      "f32[1, 7]");
  options.input_dims["x"] = {1, 7, 2};
  EXPECT_EQ(Error("x = input f32[n, m]\ny = Relu(x)\noutput y", options).message(),
            "input_dims gives input 'x' the dims [1, 7, 2], but the model says [1, 7]");
}

TEST(OnnxTest, SpecialisesOnlyInputsThatShapesDependOn) {
  const std::string text = R"(
x = input f32[6]
shape = input i64[2]
other = input i64[2]
r = Reshape(x, shape)
y = Identity(r)
z = Add(other, other)
output y, z)";
  OnnxOptions options;
  options.known_inputs["shape"] = I64({2}, {2, 3});
  options.known_inputs["other"] = I64({2}, {5, 6});
  const auto graph = Translate(text, options);
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(ShapeText(graph->tensors[graph->outputs[0]].dims), "[2, 3]");
  ASSERT_EQ(graph->specialised.size(), 1u);
  EXPECT_EQ(graph->tensors[graph->specialised[0].tensor].name, "shape");
  EXPECT_EQ(*graph->specialised[0].data, options.known_inputs["shape"].bytes);
  // `other` is data: its sum is computed when the program runs.
  EXPECT_EQ(graph->tensors[graph->outputs[1]].name, "z");
  EXPECT_TRUE(HasOp(*graph, GraphOpKind::kElementwise));
}

TEST(OnnxTest, SpecialisationFollowsArithmetic) {
  const std::string text = R"(
x = input f32[6]
half = input i64[1]
two = const i64[1] {2}
n = Mul(half, two)
y = Reshape(x, n)
output y)";
  OnnxOptions options;
  options.known_inputs["half"] = I64({1}, {3});
  const auto graph = Translate(text, options);
  ASSERT_TRUE(graph.ok()) << graph.status();
  ASSERT_EQ(graph->specialised.size(), 1u);
  const absl::Status error = Error(text);
  EXPECT_EQ(error.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(error.message(),
            "node making 'y' (Reshape): input 1 (shape) 'n' must be known while compiling, but is "
            "computed from the model's input 'half'; if it holds sizes, give its value: "
            "make it an initializer, or set OnnxOptions::known_inputs");
}

TEST(OnnxTest, InitialisersListedAsInputsAreConstants) {
  onnx::ModelProto model = OnnxModelFromText(R"(
x = input f32[2]
w = const f32[2] {1, 2}
y = Add(x, w)
output y)");
  model.set_ir_version(3);
  onnx::ValueInfoProto* w = model.mutable_graph()->add_input();
  w->set_name("w");
  const std::string bytes = model.SerializeAsString();
  const auto graph = GraphFromOnnx(bytes);
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(graph->inputs.size(), 1u);
  EXPECT_THAT(*OnnxInputNames(bytes), ElementsAre("x"));
}

TEST(OnnxTest, OutputsMayRepeatAndBeInputsOrConstants) {
  const auto graph = Translate(R"(
x = input f32[2]
w = const f32[2] {1, 2}
y = Relu(x)
y2 = Identity(y)
w2 = Identity(w)
output x, y, y2, w2)");
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_THAT(graph->output_names, ElementsAre("x", "y", "y2", "w2"));
  EXPECT_EQ(graph->outputs[0], graph->inputs[0]);
  EXPECT_EQ(graph->outputs[1], graph->outputs[2]);
  EXPECT_THAT(graph->specialised, IsEmpty());
}

onnx::ModelProto WithFunction() {
  onnx::ModelProto model = OnnxModelFromText(R"(
x = input f32[2]
y = my.Scaled(x) factor=3.0
z = my.Scaled(x)
output y, z)");
  model.add_opset_import()->set_domain("my");
  model.mutable_opset_import(1)->set_version(1);
  onnx::FunctionProto* f = model.add_functions();
  f->set_domain("my");
  f->set_name("Scaled");
  f->add_input("a");
  f->add_output("b");
  f->add_attribute("factor");
  f->add_opset_import()->set_version(17);
  onnx::NodeProto* elu = f->add_node();
  elu->set_op_type("Elu");
  elu->add_input("a");
  elu->add_output("b");
  onnx::AttributeProto* alpha = elu->add_attribute();
  alpha->set_name("alpha");
  alpha->set_type(onnx::AttributeProto::FLOAT);
  alpha->set_ref_attr_name("factor");
  return model;
}

TEST(OnnxTest, FunctionsAreTranslatedByTheirBodies) {
  const auto graph = GraphFromOnnx(WithFunction().SerializeAsString());
  ASSERT_TRUE(graph.ok()) << graph.status();
  // The attribute of the call is used, and its absence gives Elu's default.
  EXPECT_THAT(ToText(*graph), HasSubstr("constant {3.0} : f32[]  # node making 'y' (Scaled) / node "
                                        "making 'b' (Elu)"));
  EXPECT_THAT(ToText(*graph), HasSubstr("constant {1.0} : f32[]  # node making 'z' (Scaled) / node "
                                        "making 'b' (Elu)"));
}

TEST(OnnxTest, FunctionsThatCallThemselvesAreAnError) {
  onnx::ModelProto model = WithFunction();
  onnx::NodeProto* node = model.mutable_functions(0)->mutable_node(0);
  node->set_op_type("Scaled");
  node->set_domain("my");
  const absl::Status error = GraphFromOnnx(model.SerializeAsString()).status();
  EXPECT_EQ(error.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(
      std::string(error.message()),
      HasSubstr("functions and subgraphs nest deeper than 32; does the function call itself?"));
}

TEST(OnnxTest, IfWithAKnownConditionIsItsBranch) {
  onnx::ModelProto model = OnnxModelFromText(R"(
x = input f32[n]
s = Size(x)
two = const i64[] {2}
c = Less(s, two)
y = If(c)
output y)");
  onnx::NodeProto* node = model.mutable_graph()->mutable_node(2);
  for (const char* op : {"Relu", "Neg"}) {
    onnx::AttributeProto* branch = node->add_attribute();
    branch->set_name(op == std::string("Relu") ? "then_branch" : "else_branch");
    branch->set_type(onnx::AttributeProto::GRAPH);
    onnx::NodeProto* inner = branch->mutable_g()->add_node();
    inner->set_op_type(op);
    inner->add_input("x");  // of the graph around
    inner->add_output("r");
    branch->mutable_g()->add_output()->set_name("r");
  }
  const auto graph = GraphFromOnnx(model.SerializeAsString());
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_THAT(ToText(*graph), HasSubstr("y = neg x"));
}

TEST(OnnxTest, UnsupportedOperatorsAreNamed) {
  absl::Status error = Error("x = input f32[2]\ny = Frobnicate(x)\noutput y");
  EXPECT_EQ(error.code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(error.message(), "operator Frobnicate (ai.onnx 17)");
  error = Error("x = input f32[2]\ny = com.example.Foo(x)\noutput y");
  EXPECT_EQ(error.message(), "operator Foo (com.example)");
  error = Error("x = input f32[2]\ny = Cast(x) to=8\noutput y");
  EXPECT_EQ(error.message(), "operator Cast (ai.onnx 17): element type string");
}

TEST(OnnxTest, ErrorsNameNodeAndInput) {
  const std::pair<const char*, const char*> kCases[] = {
      {"x = input f32[2]\ny = Add(x)\noutput y",
       "node making 'y' (Add): there are 1 inputs; there must be 2"},
      {"x = input f32[2]\ny = Add(x,)\noutput y",
       "node making 'y' (Add): there are 1 inputs; there must be 2"},
      {"x = input f32[2]\ny = Add(x, z)\noutput y",
       "node making 'y' (Add): input 1 'z' is not an input of the graph, an initializer or an "
       "output "
       "of an earlier node (nodes must be sorted)"},
      {"x = input f32[2]\nx = Relu(x)\noutput x",
       "node making 'x' (Relu): the name 'x' is used for two tensors; each needs its own"},
      {"x = input f32[2]\nx = input f32[2]\ny = Relu(x)\noutput y",
       "two inputs of the graph are named 'x'"},
      {"x = input f32[2]\ny = Relu(x)\noutput z", "output 'z' of the graph is made by no node"},
      {"x = input f32[2]\ny = Softmax(x) axis=1\noutput y",
       "node making 'y' (Softmax): axis 1 is outside of [-1, 0] for a tensor of rank 1"},
      {"x = input f32[2]\ny = Softmax(x) axis=\"1\"\noutput y",
       "node making 'y' (Softmax): attribute 'axis' is of type STRING; it must be INT"},
      {"x = input f32[2]\nw = input f32[3]\ny = Add(x, w)\noutput y",
       "node making 'y' (Add): add: shapes [2] and [3] do not broadcast: 2 and 3 differ"},
      {"x = input f32[6]\ns = const i64[2] {4, -1}\ny = Reshape(x, s)\noutput y",
       "node making 'y' (Reshape): shape [6] does not become [4, -1]: (6) is not known to be "
       "divisible by (4)"},
      {"x = input f32[5]\na, b = Split(x)\noutput a",
       "node making 'a' (Split): axis 0 of size 5 is not known to be divisible into 2 equal parts; "
       "give the sizes of the parts"},
      {"x = input f32[-3]\ny = Relu(x)\noutput y",
       "input 'x': input: f32[-3]: size -3 is negative"},
  };
  for (const auto& [text, message] : kCases) {
    const absl::Status error = Error(text);
    EXPECT_EQ(error.code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_EQ(std::string(error.message()), message);
  }
}

TEST(OnnxTest, KnownInputsMustFitTheModel) {
  OnnxOptions options;
  options.known_inputs["s"] = I64({3}, {1, 2, 3});
  EXPECT_EQ(Error("s = input i64[2]\ny = Identity(s)\noutput y", options).message(),
            "known_inputs gives 's' as i64[3], but the model says i64[2]");
  EXPECT_EQ(Error("x = input i64[2]\ny = Identity(x)\noutput y", options).message(),
            "known_inputs has 's', but the model's inputs are 'x'");
}

TEST(OnnxTest, OperatorSets) {
  EXPECT_EQ(Error("x = input f32[2]\ny = Relu(x)\noutput y", {}, 99).message(),
            "operator set ai.onnx 99; sets up to 20 are supported");
  EXPECT_EQ(
      Error("x = input f32[2]\ny = HardSwish(x)\noutput y", {}, 13).message(),
      "node making 'y' (HardSwish): the operator exists from operator set 14 on, the model uses "
      "13");
  // Softmax of set 11 takes all axes from 1 on together.
  EXPECT_EQ(OutputType("x = input f32[2, n, 4]\ny = Softmax(x)\noutput y", {}, 11), "f32[2, n, 4]");
}

TEST(OnnxTest, OperatorsOfSets18To20) {
  const std::string x = "x = input f32[5, n]\n";
  EXPECT_EQ(OutputType(x + "y = Mish(x)\noutput y", {}, 18), "f32[5, n]");
  EXPECT_EQ(OutputType(x + "y = Gelu(x)\noutput y", {}, 20), "f32[5, n]");
  EXPECT_EQ(OutputType("u = input u8[2]\ny = BitwiseAnd(u, u)\noutput y", {}, 18), "u8[2]");
  EXPECT_EQ(OutputType(x + "i = const i64[1] {0}\ny = ReduceMax(x, i)\noutput y", {}, 18),
            "f32[1, n]");
  EXPECT_EQ(OutputType(x + "p, y = Split(x) num_outputs=2\noutput y", {}, 18), "f32[2, n]");
  EXPECT_EQ(OutputType(x + "p = const i64[2] {1, 2}\na = const i64[1] {0}\ny = Pad(x, p,, a)\n"
                           "output y",
                       {}, 18),
            "f32[8, n]");
  EXPECT_EQ(OutputType("x = input f32[2, 2]\ns = const f32[2] {2, 2}\n"
                       "y = Resize(x,, s) antialias=1 mode=\"linear\"\noutput y",
                       {}, 18),
            "UNIMPLEMENTED: operator Resize (ai.onnx 18): antialias");
}

TEST(OnnxTest, HugeTensorsAreErrorsBeforeAnyAllocation) {
  EXPECT_THAT(OutputType("x = input f32[1099511627776]\ny = Relu(x)\noutput y"),
              HasSubstr("elements; at most"));
  EXPECT_THAT(OutputType("s = const i64[2] {1048576, 1048576}\ny = ConstantOfShape(s)\noutput y"),
              HasSubstr("elements; at most"));
  EXPECT_THAT(OutputType("x = input f32[2]\nr = const i64[1] {9223372036854775807}\n"
                         "y = Tile(x, r)\noutput y"),
              HasSubstr("it must be from 0 to 2^40"));
}

TEST(OnnxTest, BytesThatAreNoModel) {
  EXPECT_EQ(GraphFromOnnx("\x08").status().message(), "not a serialized ONNX ModelProto");
  EXPECT_EQ(GraphFromOnnx("").status().message(), "the model has no graph");
}

}  // namespace
}  // namespace stax
