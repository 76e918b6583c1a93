// The examples of the specification: how many kernels, their names, sizes and bytes.
#include "compiler/schedule/schedule.h"

#include "compiler/lowering/testing/run_program.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/graph_builder.h"

namespace stax {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using Tensor = GraphBuilder::Tensor;

const IndexExpr kN = IndexExpr::Var("n");

struct Scheduled {
  Graph graph;
  LoopProgram program;
  std::vector<KernelSpec> kernels;
};

Scheduled Compile(GraphBuilder& b, const char* target_name) {
  const TargetSpec target = ParseTarget(target_name).value();
  Scheduled result;
  absl::StatusOr<Graph> graph = b.Build();
  EXPECT_TRUE(graph.ok()) << graph.status();
  result.graph = *graph;
  absl::StatusOr<LoopProgram> program = LowerGraph(result.graph, target);
  EXPECT_TRUE(program.ok()) << program.status();
  result.program = *program;
  absl::StatusOr<std::vector<KernelSpec>> kernels = Schedule(result.program, target);
  EXPECT_TRUE(kernels.ok()) << kernels.status();
  result.kernels = *kernels;
  return result;
}

// What the kernels compute is what the graph says.
void ExpectRight(const Scheduled& s, const Sizes& sizes = {}) {
  std::vector<LoopNest> nests;
  for (const KernelSpec& kernel : s.kernels) nests.push_back(kernel.nest);
  const TensorBytes inputs = RandomInputs(s.graph, sizes, 1);
  absl::StatusOr<TensorBytes> got = RunNests(s.program, nests, sizes, inputs);
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(CompareWithGraph(s.graph, sizes, inputs, *got), "");
}

std::string Axis(const KernelSpec& kernel, const std::string& name) {
  for (const TileAxis& axis : kernel.tile) {
    if (axis.name != name) continue;
    std::string text;
    for (int d : axis.dims) text += kernel.nest.dims[d].extent.ToString() + " ";
    return text;
  }
  return "none";
}

int NumTemporaries(const LoopProgram& program) {
  int count = 0;
  for (const PlanBuffer& b : program.buffers) count += b.kind == PlanBuffer::Kind::kTemporary;
  return count;
}

class ScheduleTest : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Targets, ScheduleTest,
                         testing::Values("cuda", "cuda:sm_80", "cpu:x86-64-v3", "cpu:x86-64-v4"),
                         [](const auto& info) { return "Target" + std::to_string(info.index); });

void Example11(GraphBuilder& b, const IndexExpr& rows) {
  const Tensor x = b.Input("x", DType::kF32, {rows, 128}),
               w = b.Input("w", DType::kF32, {rows, 128});
  b.Output("y", b.Sum(b.Mul(b.Relu(b.Add(x, w)), b.Scalar(DType::kF32, 2)), {-1}));
}

TEST_P(ScheduleTest, Example11IsOnePersistentReduction) {
  GraphBuilder b("example_1_1");
  Example11(b, 64);
  const Scheduled s = Compile(b, GetParam());
  ASSERT_EQ(s.kernels.size(), 1);
  const KernelSpec& k = s.kernels[0];
  EXPECT_EQ(k.name, "per_fused_add_relu_mul_sum_0");
  EXPECT_EQ(k.form, KernelForm::kPersistent);
  EXPECT_EQ(Axis(k, "x"), "64 ");
  EXPECT_EQ(Axis(k, "r"), "128 ");
  EXPECT_EQ(Axis(k, "y"), "none");
  EXPECT_EQ(k.read_bytes, 2 * 64 * 128 * 4);  // each input once
  EXPECT_EQ(k.write_bytes, 64 * 4);
  EXPECT_EQ(k.flops, 4 * 64 * 128);
  EXPECT_EQ(NumTemporaries(s.program), 0);
  ExpectRight(s);
}

TEST_P(ScheduleTest, Example11Symbolic) {
  GraphBuilder b("example_1_1");
  b.Symbol({"n", 2, 4096, 64});
  Example11(b, kN);
  const Scheduled s = Compile(b, GetParam());
  ASSERT_EQ(s.kernels.size(), 1);
  EXPECT_EQ(s.kernels[0].form, KernelForm::kPersistent);
  EXPECT_EQ(s.kernels[0].read_bytes, 1024 * kN);
  EXPECT_EQ(s.kernels[0].write_bytes, 4 * kN);
  for (int64_t n : {2, 3, 64, 65}) ExpectRight(s, {{"n", n}});
}

TEST_P(ScheduleTest, Example61IsTiledInTwoDims) {
  GraphBuilder b("example_6_1");
  const Tensor x = b.Input("x", DType::kF32, {512, 256}), y = b.Input("y", DType::kF32, {256, 512});
  b.Output("z", b.Add(b.Transpose(x, {1, 0}), y));
  const Scheduled s = Compile(b, GetParam());
  ASSERT_EQ(s.kernels.size(), 1);
  const KernelSpec& k = s.kernels[0];
  EXPECT_EQ(k.name, "poi_fused_add_0");
  EXPECT_EQ(Axis(k, "y"), "256 ");
  EXPECT_EQ(Axis(k, "x"), "512 ");
  EXPECT_EQ(k.read_bytes, 2 * 256 * 512 * 4);
  EXPECT_EQ(k.write_bytes, 256 * 512 * 4);
  EXPECT_THAT(k.explanation, HasSubstr("tile y(i0<256) x x(i1<512), 100% of the bytes coalesced"));
  ExpectRight(s);
}

TEST_P(ScheduleTest, Example61Symbolic) {
  GraphBuilder b("example_6_1");
  b.Symbol({"n", 2, 4096, 512});
  const Tensor x = b.Input("x", DType::kF32, {kN, 256}), y = b.Input("y", DType::kF32, {256, kN});
  b.Output("z", b.Add(b.Transpose(x, {1, 0}), y));
  const Scheduled s = Compile(b, GetParam());
  ASSERT_EQ(s.kernels.size(), 1);
  EXPECT_EQ(Axis(s.kernels[0], "y"), "256 ");
  EXPECT_EQ(Axis(s.kernels[0], "x"), "n ");
  ExpectRight(s, {{"n", 7}});
}

// Example 5.1: GELU'(h) = Phi(h) + h phi(h), times a gradient of one element.
Tensor GeluBackward(GraphBuilder& b, Tensor gradient, Tensor h) {
  const auto c = [&](double value) { return b.Scalar(DType::kF32, value); };
  const Tensor erf = b.Unary(OpCode::kErf, b.Mul(h, c(0.7071067811865476)));
  const Tensor cdf = b.Mul(c(0.5), b.Add(c(1), erf));
  const Tensor pdf =
      b.Mul(c(0.3989422804014327), b.Unary(OpCode::kExp, b.Mul(c(-0.5), b.Mul(h, h))));
  return b.Mul(gradient, b.Add(cdf, b.Mul(h, pdf)));
}

TEST_P(ScheduleTest, Example51IsOnePointwiseKernel) {
  GraphBuilder b("example_5_1");
  const Tensor g = b.Input("g", DType::kF32, {1}), h = b.Input("h", DType::kF32, {2048});
  b.Output("dh", GeluBackward(b, g, h));
  const Scheduled s = Compile(b, GetParam());
  ASSERT_EQ(s.kernels.size(), 1);
  const KernelSpec& k = s.kernels[0];
  EXPECT_THAT(k.name, StartsWith("poi_fused_"));
  EXPECT_EQ(Axis(k, "x"), "2048 ");
  EXPECT_EQ(k.read_bytes, 4 + 2048 * 4);  // the gradient once
  EXPECT_EQ(k.write_bytes, 2048 * 4);
  int loads = 0;
  for (const LoopOp& op : k.nest.body) {
    if (op.code != OpCode::kLoad) continue;
    ++loads;
    if (k.nest.buffers[op.buffer].name == "g") {
      EXPECT_EQ(op.index, 0);
    }
  }
  EXPECT_EQ(loads, 2);
  ExpectRight(s);
}

TEST_P(ScheduleTest, Example51Symbolic) {
  GraphBuilder b("example_5_1");
  b.Symbol({"n", 2, 100000, 2048});
  const Tensor g = b.Input("g", DType::kF32, {1}), h = b.Input("h", DType::kF32, {kN, 3});
  b.Output("dh", GeluBackward(b, g, h));
  const Scheduled s = Compile(b, GetParam());
  ASSERT_EQ(s.kernels.size(), 1);
  EXPECT_EQ(Axis(s.kernels[0], "x"), "3*n ");
  EXPECT_EQ(s.kernels[0].read_bytes, 12 * kN + 4);
  ExpectRight(s, {{"n", 5}});
}

TEST_P(ScheduleTest, Example62IsSplitInTwo) {
  GraphBuilder b("example_6_2");
  const Tensor x = b.Input("x", DType::kF32, {64, 16384});
  b.Output("y", b.Sum(b.Mul(x, x), {-1}));
  const Scheduled s = Compile(b, GetParam());
  ASSERT_EQ(s.kernels.size(), 2);
  const KernelSpec &first = s.kernels[0], &second = s.kernels[1];
  EXPECT_EQ(first.name, "red_fused_mul_sum_0");
  EXPECT_EQ(Axis(first, "x"), "128 ");  // 64 and 2 merged
  EXPECT_EQ(Axis(first, "r"), "8192 ");
  EXPECT_EQ(second.name, "per_fused_sum_1");
  EXPECT_EQ(Axis(second, "x"), "64 ");
  EXPECT_EQ(Axis(second, "r"), "2 ");
  EXPECT_EQ(first.read_bytes, 64 * 16384 * 4);
  EXPECT_EQ(first.write_bytes, 512);
  EXPECT_EQ(second.read_bytes, 512);
  EXPECT_EQ(second.write_bytes, 256);
  EXPECT_EQ(ToText(first.nest),
            R"(nest red_fused_mul_sum_0 {
  buffer x: f32[1048576] in
  buffer buf0: f32[128] out
  loop i0: 128
  reduce r0: 8192
  %0 = load x[8192*i0 + r0] : f32
  %1 = mul %0, %0 : f32
  %2 = reduce.sum %1 : f32
  store buf0[i0], %2
}
)");
  ASSERT_EQ(NumTemporaries(s.program), 1);
  EXPECT_EQ(s.program.buffers.back().name, "buf0");
  EXPECT_EQ(s.program.buffers.back().dims, Dims({64, 2}));
  ExpectRight(s);
}

TEST_P(ScheduleTest, Example62SymbolicIsSplitAtItsHint) {
  GraphBuilder b("example_6_2");
  b.Symbol({"n", 2, 1 << 20, 16384});
  const Tensor x = b.Input("x", DType::kF32, {64, kN});
  b.Output("y", b.Sum(b.Mul(x, x), {-1}));
  const Scheduled s = Compile(b, GetParam());
  ASSERT_EQ(s.kernels.size(), 2);
  EXPECT_THAT(s.kernels[0].name, StartsWith("red_"));
  EXPECT_EQ(s.kernels[0].nest.LoopNumel(), 128);
  EXPECT_THAT(s.kernels[1].name, StartsWith("per_"));
  EXPECT_EQ(s.program.buffers.back().dims, Dims({64, 2}));
  for (int64_t n : {2, 63, 64, 65, 129, 1000}) ExpectRight(s, {{"n", n}});
}

TEST_P(ScheduleTest, SoftmaxIsOnePersistentKernel) {
  GraphBuilder b("softmax");
  b.Output("y", b.Softmax(b.Input("x", DType::kF32, {256, 1000}), -1));
  const Scheduled s = Compile(b, GetParam());
  ASSERT_EQ(s.kernels.size(), 1);
  const KernelSpec& k = s.kernels[0];
  EXPECT_EQ(k.name, "per_fused_max_sub_exp_sum_div_0");
  EXPECT_EQ(k.read_bytes, 256000 * 4);  // 2N elements in all
  EXPECT_EQ(k.write_bytes, 256000 * 4);
  EXPECT_EQ(k.candidates[0].at("RBLOCK"), 1024);
  EXPECT_EQ(NumTemporaries(s.program), 0);
  EXPECT_EQ(ToText(k.nest),
            R"(nest per_fused_max_sub_exp_sum_div_0 {
  buffer x: f32[256000] in
  buffer y: f32[256000] out
  loop i0: 256
  reduce r0: 1000
  %0 = load x[1000*i0 + r0] : f32
  %1 = reduce.max %0 : f32
  %2 = sub %0, %1 : f32
  %3 = exp %2 : f32
  %4 = reduce.sum %3 : f32
  %5 = div %3, %4 : f32
  store y[1000*i0 + r0], %5
}
)");
  ExpectRight(s);
}

TEST_P(ScheduleTest, SymbolicSoftmaxIsJudgedAtTheUpperBound) {
  for (const int64_t upper : {1024, 1025}) {
    GraphBuilder b("softmax");
    b.Symbol({"n", 2, upper, 64});
    b.Output("y", b.Softmax(b.Input("x", DType::kF32, {16, kN}), -1));
    const Scheduled s = Compile(b, GetParam());
    ASSERT_EQ(s.kernels.size(), 1);
    EXPECT_THAT(s.kernels[0].name, StartsWith(upper <= 1024 ? "per_" : "red_"));
    ExpectRight(s, {{"n", 33}});
  }
}

TEST_P(ScheduleTest, SoftmaxOverAMiddleAxis) {
  GraphBuilder b("softmax");
  b.Output("y", b.Softmax(b.Input("x", DType::kF32, {3, 50, 70}), 1));
  const Scheduled s = Compile(b, GetParam());
  ASSERT_EQ(s.kernels.size(), 1);
  EXPECT_THAT(s.kernels[0].name, StartsWith("per_"));  // 50 <= 64
  EXPECT_EQ(Axis(s.kernels[0], "x"), "3 70 ");
  ExpectRight(s);
}

TEST_P(ScheduleTest, LayerNormOfReshapedRows) {
  GraphBuilder b("layer_norm");
  const Tensor x = b.Input("x", DType::kBF16, {4, 6, 96});
  const Tensor rows = b.Reshape(b.Add(x, x), {24, 96});
  const Tensor scale = b.Input("scale", DType::kBF16, {96}),
               bias = b.Input("bias", DType::kBF16, {96});
  b.Output("y", b.Reshape(b.LayerNorm(rows, -1, scale, bias, 1e-5), {4, 6, 96}));
  const Scheduled s = Compile(b, GetParam());
  ASSERT_EQ(s.kernels.size(), 1);
  EXPECT_EQ(Axis(s.kernels[0], "x"), "24 ");
  EXPECT_EQ(s.kernels[0].read_bytes, 2 * (4 * 6 * 96 + 96 + 96));
  EXPECT_EQ(s.kernels[0].write_bytes, 2 * 4 * 6 * 96);
  ExpectRight(s);
}

TEST_P(ScheduleTest, FourOutputsShareOneReduction) {
  GraphBuilder b("shared");
  const Tensor x = b.Input("x", DType::kF32, {6, 500});
  const Tensor sum = b.Sum(x, {1}, true);
  b.Output("a", sum);
  b.Output("b", b.Sub(x, sum));
  b.Output("c", b.Mul(x, sum));
  b.Output("d", b.Unary(OpCode::kExp, sum));
  const Scheduled s = Compile(b, GetParam());
  EXPECT_EQ(s.kernels.size(), 1);
  EXPECT_EQ(s.kernels[0].read_bytes, 6 * 500 * 4);
  ExpectRight(s);
}

TEST_P(ScheduleTest, SumAndSumOfSquaresReadOnce) {
  GraphBuilder b("moments");
  const Tensor x = b.Input("x", DType::kF16, {300, 700});
  b.Output("sum", b.Sum(x, {1}));
  b.Output("squares", b.Sum(b.Mul(x, x), {1}));
  const Scheduled s = Compile(b, GetParam());
  EXPECT_EQ(s.kernels.size(), 1);
  EXPECT_EQ(s.kernels[0].read_bytes, 2 * 300 * 700);
  ExpectRight(s);
}

TEST_P(ScheduleTest, EpilogueOfAMatmul) {
  GraphBuilder b("linear");
  const Tensor x = b.Input("x", DType::kF32, {37, 64}), w = b.Input("w", DType::kF32, {64, 100});
  const Tensor bias = b.Input("bias", DType::kF32, {100});
  b.Output("y", b.Relu(b.Add(b.MatMul(x, w), bias)));
  const Scheduled s = Compile(b, GetParam());
  ASSERT_EQ(s.kernels.size(), 1);
  EXPECT_EQ(Axis(s.kernels[0], "y"), "37 ");
  EXPECT_EQ(Axis(s.kernels[0], "x"), "100 ");
  EXPECT_EQ(Axis(s.kernels[0], "r"), "64 ");
  EXPECT_EQ(s.kernels[0].read_bytes, 4 * (37 * 64 + 64 * 100 + 100));
  ExpectRight(s);
}

TEST_P(ScheduleTest, TransposedConsumerIsFused) {
  GraphBuilder b("transpose");
  const Tensor x = b.Input("x", DType::kF32, {30, 40});
  const Tensor y = b.Unary(OpCode::kExp, x);
  b.Output("y", y);
  b.Output("t", b.Add(b.Transpose(y, {1, 0}), b.Scalar(DType::kF32, 1)));
  const Scheduled s = Compile(b, GetParam());
  EXPECT_EQ(s.kernels.size(), 1);
  EXPECT_EQ(s.kernels[0].read_bytes, 30 * 40 * 4);
  ExpectRight(s);
}

TEST_P(ScheduleTest, ReadersInAnotherPatternAreNot) {
  GraphBuilder b("patterns");
  const Tensor x = b.Input("x", DType::kF32, {32, 32});
  const Tensor y = b.Unary(OpCode::kExp, x);
  b.Output("y", b.Add(b.Sum(y, {0}), b.Sum(y, {1})));  // columns and rows of y
  const Scheduled s = Compile(b, GetParam());
  EXPECT_GT(s.kernels.size(), 1);
  ExpectRight(s);
}

// a -> b -> c with b of another shape: a and c, which share x, must not become one.
TEST_P(ScheduleTest, FusionMakesNoCycle) {
  GraphBuilder b("cycle");
  const Tensor x = b.Input("x", DType::kF32, {64, 48});
  const Tensor a = b.Unary(OpCode::kExp, x);
  b.Output("a", a);
  const Tensor columns = b.Softmax(b.Sum(a, {0}), -1);
  b.Output("c", b.Mul(b.Add(a, x), columns));
  const Scheduled s = Compile(b, GetParam());
  ExpectRight(s);
}

TEST_P(ScheduleTest, ColumnSumsGetEnoughInstances) {
  GraphBuilder b("columns");
  b.Output("y", b.Sum(b.Input("x", DType::kF32, {65536, 1024}), {0}));
  const Scheduled s = Compile(b, GetParam());
  ASSERT_EQ(s.kernels.size(), 2);
  const KernelSpec& first = s.kernels[0];
  const int64_t points = first.nest.LoopNumel().ConstOrDie();
  const TargetSpec target = ParseTarget(GetParam()).value();
  EXPECT_GE(points / first.candidates[0].at("XBLOCK"), target.multiprocessors);
  // Partial results are little against the input.
  EXPECT_LE(first.write_bytes.ConstOrDie(), first.read_bytes.ConstOrDie() / 100);
}

TEST_P(ScheduleTest, SecondStagesOfSiblingsAreOneLaunch) {
  GraphBuilder b("column_sums");
  const Tensor x = b.Input("x", DType::kBF16, {16384, 4096});
  const Tensor dy = b.Input("dy", DType::kBF16, {16384, 4096});
  b.Output("dw", b.Sum(b.Mul(x, dy), {0}));
  b.Output("db", b.Sum(dy, {0}));
  const Scheduled s = Compile(b, GetParam());
  if (!ParseTarget(GetParam())->is_cuda()) return;  // enough columns for a CPU's cores
  ASSERT_EQ(s.kernels.size(), 2);
  EXPECT_EQ(s.kernels[0].read_bytes, 2 * 2 * 16384 * 4096);
}

TEST(CudaScheduleTest, LongRowsAreSplitToAbout2048Pieces) {
  GraphBuilder b("rows");
  const Tensor x = b.Input("x", DType::kF32, {8, 1 << 24});
  b.Output("y", b.Sum(b.Mul(x, x), {-1}));
  const Scheduled s = Compile(b, "cuda");
  ASSERT_EQ(s.kernels.size(), 2);
  EXPECT_EQ(s.kernels[0].nest.LoopNumel(), 8 * 2048);
}

TEST_P(ScheduleTest, SumOfEverything) {
  GraphBuilder b("all");
  b.Output("y", b.Mean(b.Input("x", DType::kBF16, {8192, 8192}), {0, 1}));
  const Scheduled s = Compile(b, GetParam());
  ASSERT_EQ(s.kernels.size(), 2);
  EXPECT_EQ(s.program.buffers.back().dtype, DType::kF32);
}

TEST_P(ScheduleTest, TwoHundredOpsStayOneKernel) {
  GraphBuilder b("chain");
  Tensor x = b.Input("x", DType::kF32, {100});
  for (int k = 0; k < 200; ++k)
    x = k % 2 == 0 ? b.Unary(OpCode::kTanh, x) : b.Mul(x, b.Scalar(DType::kF32, 1.5));
  b.Output("y", x);
  const Scheduled s = Compile(b, GetParam());
  EXPECT_EQ(s.kernels.size(), 1);
  ExpectRight(s);
}

// Two hundred outputs in a chain: as few kernels as the limits on one body allow.
TEST_P(ScheduleTest, FusedBodiesAreLimited) {
  GraphBuilder b("outputs");
  Tensor x = b.Input("x", DType::kF32, {100});
  for (int k = 0; k < 200; ++k) {
    x = b.Unary(k % 2 == 0 ? OpCode::kTanh : OpCode::kNeg, x);
    b.Output("y" + std::to_string(k), x);
  }
  const Scheduled s = Compile(b, GetParam());
  EXPECT_LE(s.kernels.size(), 8);
  for (const KernelSpec& k : s.kernels) {
    EXPECT_LE(k.nest.body.size(), 512);
    EXPECT_LE(k.nest.buffers.size(), 49);
  }
  ExpectRight(s);
}

TEST_P(ScheduleTest, EqualGraphsGiveEqualKernels) {
  std::string texts[2];
  for (std::string& text : texts) {
    GraphBuilder b("norm");
    const Tensor x = b.Input("x", DType::kF32, {64, 100});
    b.Output("y", b.Softmax(b.LayerNorm(x, -1, std::nullopt, std::nullopt, 1e-5), 0));
    for (const KernelSpec& k : Compile(b, GetParam()).kernels)
      text += ToText(k.nest) + k.explanation;
  }
  EXPECT_EQ(texts[0], texts[1]);
}

}  // namespace
}  // namespace stax
