// Runs the fuzz target on mutations of models with every operator: a fixed search that takes
// seconds, for every test run. Most mutations keep the model well-formed, so that they reach the
// operators.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "compiler/frontend/onnx.h"
#include "compiler/frontend/onnx_text_model.h"
#include "gtest/gtest.h"
#include "ir/check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace stax {
namespace {

int Mutations() {
  const char* given = std::getenv("STAX_FUZZ_MUTATIONS");
  int mutations = 20000;
  if (given != nullptr) STAX_CHECK(absl::SimpleAtoi(given, &mutations), given);
  return mutations;
}

// One line a node; each becomes a model of its own with the operands below.
const char* const kOperands = R"(
x = input f32[2, 4, 6, 6]
w = const f32[3, 4, 2, 2] {0,1,2,3,0,1,2,3,0,1,2,3,0,1,2,3,0,1,2,3,0,1,2,3,0,1,2,3,0,1,2,3,0,1,2,3,0,1,2,3,0,1,2,3,0,1,2,3}
a = input f32[n, 4]
b = input f32[4, 5]
h = input f16[n, m]
v = const f32[4] {1, -2, 0.5, nan}
i = const i64[2] {1, 0}
ij = const i64[2, 2] {1, 0, 0, 1}
four = const i64[4] {1, 2, 3, 4}
eight = const i64[8] {0, 0, 1, 1, 0, 0, 1, -1}
s = const i64[] {3}
q = const u8[2, 2] {1, 2, 3, 4}
t = input i32[n]
p = const bool[2] {1, 0}
r = const f32[4] {1, 1, 2, 2}
u = input u32[3]
one = const f32[] {1}
last = const i64[1] {-1}
e = const f32[2, 1] {1, 2}
part = const i64[2] {1, 3}
step = const i64[2] {2, -1}
far = const i64[2] {9, -9223372036854775807}
copy = const i64[3] {0, -1, 6}
wt = const f32[4, 1, 2, 2] {0,1,2,3,0,1,2,3,0,1,2,3,0,1,2,3}
)";
const char* const kNodes[] = {
    "y = Add(a, v)",
    "y = Where(p, i, i)",
    "y = Pow(a, s)",
    "y = Mod(t, t) fmod=1",
    "y = BitShift(u, u) direction=\"LEFT\"",
    "y = Clip(a, one,)",
    "y = Cast(a) to=7",
    "y = Max(a, v, v)",
    "y = PRelu(a, v)",
    "y = Selu(h)",
    "y = Softplus(h)",
    "y = Shrink(t) lambd=0.5",
    "y = ReduceLogSumExp(a) axes=[0] keepdims=0",
    "y = ReduceSum(a, i) noop_with_empty_axes=1",
    "y = ArgMax(h) axis=1 select_last_index=1",
    "y = CumSum(a, last) reverse=1",
    "y = Softmax(a) axis=-1",
    "y, m1, d1 = LayerNormalization(a, v, v) axis=-1",
    "y = BatchNormalization(x, v, v, v, v)",
    "y = InstanceNormalization(x, v, v)",
    "y = LRN(x) size=3",
    "y = LpNormalization(a) p=1",
    "y = Hardmax(a)",
    "y = MeanVarianceNormalization(x) axes=[0, 2]",
    "y = NegativeLogLikelihoodLoss(a, t, v) ignore_index=2",
    "y, z = SoftmaxCrossEntropyLoss(a, t) reduction=\"none\"",
    "y = Reshape(x, copy)",
    "y = Transpose(x) perm=[3, 0, 1, 2]",
    "y = Expand(v, four)",
    "y = Tile(q, i)",
    "y = Squeeze(e, last)",
    "y = Unsqueeze(a, i)",
    "y = Flatten(x) axis=2",
    "y = DepthToSpace(x) blocksize=2",
    "y = SpaceToDepth(x) blocksize=3",
    "y = Dropout(a)",
    "y = Slice(x, i, far, i, step)",
    "y, z = Split(x) axis=2",
    "y, z = Split(v, part)",
    "y = Concat(a, a) axis=0",
    "y = Pad(x, eight) mode=\"reflect\"",
    "y = Pad(x, eight, one) mode=\"constant\"",
    "y = Gather(a, ij) axis=1",
    "y = GatherElements(q, ij) axis=1",
    "y = GatherND(x, ij) batch_dims=0",
    "y = ReverseSequence(b, four) time_axis=1 batch_axis=0",
    "y = ConstantOfShape(four)",
    "y = Range(s, s, s)",
    "y = EyeLike(a) k=1 dtype=10",
    "y = Trilu(a, s) upper=0",
    "y = OneHot(t, s, i) axis=0",
    "y = HannWindow(s)",
    "y = Shape(h) start=-1",
    "y = Size(h)",
    "y = MatMul(a, b)",
    "y = Gemm(a, b) alpha=2.0 transA=0",
    "y = Einsum(a, b) equation=\"...k,kj->...j\"",
    "y = MatMulInteger(q, q)",
    "y = QuantizeLinear(b, v) axis=0",
    "y = DynamicQuantizeLinear(a)",
    "y = Conv(x, w) pads=[1, 1, 0, 0] strides=[2, 1] dilations=[1, 2]",
    "y = ConvTranspose(x, wt) strides=[2, 2] output_padding=[1, 0]",
    "y, z = MaxPool(x) kernel_shape=[3, 2] strides=[2, 2] ceil_mode=1 pads=[1, 0, 1, 0]",
    "y = AveragePool(x) kernel_shape=[3, 2] auto_pad=\"SAME_UPPER\"",
    "y = LpPool(x) kernel_shape=[2, 2]",
    "y = GlobalAveragePool(x)",
    "y = Resize(x,, r) mode=\"linear\"",
    "y = Resize(x,,, four) mode=\"cubic\"",
    "y = ScatterElements(ij, ij, ij) axis=1",
    "y = ScatterND(ij, ij, i) reduction=\"add\"",
    "y, z = TopK(a, s) axis=1",
    "y = Compress(a, p) axis=0",
    "y = Identity(x)"};

std::mt19937& Random() {
  static auto& random = *new std::mt19937(20240602);
  return random;
}
size_t Below(size_t n) { return n == 0 ? 0 : Random()() % n; }

const int64_t kNumbers[] = {0,
                            1,
                            2,
                            3,
                            -1,
                            -2,
                            5,
                            7,
                            64,
                            INT64_MAX,
                            INT64_MIN,
                            INT64_MIN + 1,
                            int64_t{1} << 20,
                            int64_t{1} << 31,
                            int64_t{1} << 32,
                            int64_t{1} << 40,
                            (int64_t{1} << 40) - 1,
                            int64_t{1} << 62};
int64_t SomeNumber() { return kNumbers[Below(std::size(kNumbers))]; }

std::string SomeName(const onnx::GraphProto& graph) {
  switch (Below(3)) {
    case 0:
      return graph.input_size() > 0 ? graph.input(Below(graph.input_size())).name() : "";
    case 1:
      return graph.initializer_size() > 0
                 ? graph.initializer(Below(graph.initializer_size())).name()
                 : "y";
    default:
      return Below(2) == 0 ? "y" : "";
  }
}

void MutateAttribute(onnx::AttributeProto& a) {
  switch (Below(5)) {
    case 0:
      a.set_i(SomeNumber());
      break;
    case 1:
      a.set_f(static_cast<float>(SomeNumber()));
      break;
    case 2:
      if (a.ints_size() > 0) a.set_ints(Below(a.ints_size()), SomeNumber());
      break;
    case 3:
      Below(2) == 0 ? a.add_ints(SomeNumber()) : a.clear_ints();
      break;
    default:
      a.set_type(static_cast<onnx::AttributeProto::AttributeType>(Below(14)));
      break;
  }
}

// An If on a constant whose branches hold the node.
void WrapInIf(onnx::NodeProto& node) {
  onnx::NodeProto wrapper;
  wrapper.set_op_type("If");
  wrapper.add_input(Below(2) == 0 ? "s" : "t");
  *wrapper.mutable_output() = node.output();
  for (const char* name : {"then_branch", "else_branch"}) {
    onnx::AttributeProto* branch = wrapper.add_attribute();
    branch->set_name(name);
    branch->set_type(onnx::AttributeProto::GRAPH);
    *branch->mutable_g()->add_node() = node;
    for (const std::string& output : node.output())
      branch->mutable_g()->add_output()->set_name(output);
  }
  node = wrapper;
}

void MutateNode(onnx::GraphProto& graph, onnx::NodeProto& node) {
  switch (Below(7)) {
    case 0:
      if (node.input_size() > 0) node.set_input(Below(node.input_size()), SomeName(graph));
      break;
    case 1:
      node.add_input(SomeName(graph));
      break;
    case 2:
      if (node.input_size() > 0) node.mutable_input()->RemoveLast();
      break;
    case 3: {
      const std::string other = kNodes[Below(std::size(kNodes))];
      const size_t start = other.find('=') + 2;
      node.set_op_type(other.substr(start, other.find('(') - start));
      break;
    }
    case 4:
      node.add_output("z9");
      break;
    case 5:
      WrapInIf(node);
      break;
    default:
      if (node.attribute_size() > 0)
        MutateAttribute(*node.mutable_attribute(Below(node.attribute_size())));
      break;
  }
}

void MutateInput(onnx::ValueInfoProto& input) {
  onnx::TypeProto::Tensor* type = input.mutable_type()->mutable_tensor_type();
  if (Below(4) == 0) type->set_elem_type(static_cast<int>(Below(18)));
  if (type->shape().dim_size() == 0 || Below(4) == 0) type->mutable_shape()->add_dim();
  auto* dim = type->mutable_shape()->mutable_dim(Below(type->shape().dim_size()));
  Below(3) == 0 ? dim->set_dim_param("n") : dim->set_dim_value(SomeNumber());
}

// Keeps the bytes in step with the dims most of the time.
void MutateConstant(onnx::TensorProto& t) {
  std::string& raw = *t.mutable_raw_data();
  switch (Below(4)) {
    case 0:
      if (t.dims_size() > 0) t.set_dims(Below(t.dims_size()), SomeNumber());
      break;
    case 1:
      t.set_data_type(static_cast<int>(Below(18)));
      break;
    case 2:
      if (raw.size() >= 8) {
        const int64_t value = SomeNumber();
        raw.replace(Below(raw.size() / 8) * 8, 8, reinterpret_cast<const char*>(&value), 8);
      }
      break;
    default:
      t.clear_dims();
      t.add_dims(static_cast<int64_t>(raw.size()) / 8);
      raw.resize(raw.size() / 8 * 8);
      t.set_data_type(onnx::TensorProto::INT64);
      break;
  }
}

onnx::ModelProto Mutate(onnx::ModelProto model) {
  onnx::GraphProto& graph = *model.mutable_graph();
  for (size_t edits = 1 + Below(3); edits > 0; --edits) {
    switch (Below(5)) {
      case 0:
        MutateInput(*graph.mutable_input(Below(graph.input_size())));
        break;
      case 1:
        MutateConstant(*graph.mutable_initializer(Below(graph.initializer_size())));
        break;
      case 2:
        model.mutable_opset_import(0)->set_version(1 + static_cast<int64_t>(Below(21)));
        break;
      default:
        MutateNode(graph, *graph.mutable_node(Below(graph.node_size())));
        break;
    }
  }
  return model;
}

void Feed(const std::string& bytes) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
}

onnx::ModelProto Seed(size_t k) {
  return OnnxModelFromText(std::string(kOperands) + kNodes[k] + "\noutput y\n");
}

TEST(OnnxFuzzTest, SeedsAreModels) {
  for (size_t k = 0; k < std::size(kNodes); ++k) {
    const std::string bytes = Seed(k).SerializeAsString();
    Feed(bytes);
    const absl::Status status = GraphFromOnnx(bytes).status();
    EXPECT_TRUE(status.ok()) << kNodes[k] << ": " << status;
  }
}

TEST(OnnxFuzzTest, MutatedModels) {
  for (int k = 0; k < Mutations(); ++k) {
    const size_t seed = Below(std::size(kNodes));
    SCOPED_TRACE(kNodes[seed]);
    Feed(Mutate(Seed(seed)).SerializeAsString());
  }
}

TEST(OnnxFuzzTest, MutatedBytes) {
  for (int k = 0; k < Mutations() / 4; ++k) {
    std::string bytes = Seed(Below(std::size(kNodes))).SerializeAsString();
    for (size_t edits = 1 + Below(4); edits > 0; --edits)
      bytes[Below(bytes.size())] = static_cast<char>(Below(256));
    if (Below(4) == 0) bytes.resize(Below(bytes.size()));
    Feed(bytes);
  }
}

}  // namespace
}  // namespace stax
