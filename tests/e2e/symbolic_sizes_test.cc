// One program, compiled once, is right at every size: 50 random ones of two symbols.
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/service/compiler.h"
#include "gtest/gtest.h"
#include "ir/graph.h"
#include "ir/graph_interpreter.h"
#include "ir/host_tensor.h"
#include "runtime/device.h"
#include "runtime/executor.h"
#include "tests/e2e/symbolic_graphs.h"
#include "tools/run/compare.h"
#include "tools/run/host_run.h"

namespace stax {
namespace {

using Sizes = std::map<std::string, int64_t>;

constexpr int kTrials = 50;
constexpr int64_t kSmallest = 2, kLargest = 300;

std::vector<int64_t> Evaluate(const Dims& dims, const Sizes& sizes) {
  std::vector<int64_t> values;
  for (const IndexExpr& dim : dims) values.push_back(dim.Evaluate(sizes).value());
  return values;
}

// Normally distributed f32.
HostTensor RandomTensor(std::vector<int64_t> dims, std::mt19937& random) {
  size_t count = 1;
  for (int64_t dim : dims) count *= dim;
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& value : values) value = normal(random);
  HostTensor tensor{DType::kF32, std::move(dims), std::vector<std::byte>(count * sizeof(float))};
  memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return tensor;
}

class SymbolicSizesTest : public testing::TestWithParam<SymbolicGraph> {
 protected:
  void SetUp() override {
    absl::StatusOr<Graph> graph = GraphFromModel(GetParam().text, "textproto");
    ASSERT_TRUE(graph.ok()) << graph.status();
    graph_ = *std::move(graph);
    absl::StatusOr<Program> program = CompileModel(GetParam().text, "textproto", "cpu");
    ASSERT_TRUE(program.ok()) << program.status();
    absl::StatusOr<std::unique_ptr<Device>> device = OpenDevice("cpu");
    ASSERT_TRUE(device.ok()) << device.status();
    device_ = *std::move(device);
    absl::StatusOr<std::unique_ptr<Executor>> executor =
        Executor::Create(*std::move(program), device_.get());
    ASSERT_TRUE(executor.ok()) << executor.status();
    executor_ = *std::move(executor);
  }

  void CheckAt(const Sizes& sizes, std::mt19937& random) {
    std::vector<HostTensor> inputs;
    std::map<std::string, Bytes> memory;
    for (TensorId id : graph_.inputs) {
      inputs.push_back(RandomTensor(Evaluate(graph_.tensors[id].dims, sizes), random));
      memory[graph_.tensors[id].name] = inputs.back().bytes;
    }
    absl::StatusOr<std::map<std::string, Bytes>> want = InterpretGraph(graph_, sizes, memory);
    ASSERT_TRUE(want.ok()) << want.status();
    absl::StatusOr<std::vector<HostTensor>> got = RunOnHost(*executor_, *device_, inputs);
    ASSERT_TRUE(got.ok()) << got.status();
    ASSERT_EQ(got->size(), graph_.outputs.size());
    for (size_t o = 0; o < got->size(); ++o) {
      const GraphTensor& tensor = graph_.tensors[graph_.outputs[o]];
      HostTensor expected{tensor.dtype, Evaluate(tensor.dims, sizes),
                          (*want)[graph_.output_names[o]]};
      // Sums of up to 90000 f32 against f64.
      absl::Status status = CompareTensors((*got)[o], expected, {/*rtol=*/1e-4, /*atol=*/1e-3});
      EXPECT_TRUE(status.ok()) << graph_.output_names[o] << ": " << status;
    }
  }

  Graph graph_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Executor> executor_;
};

TEST_P(SymbolicSizesTest, RightAtEverySize) {
  std::mt19937 random(7);
  std::uniform_int_distribution<int64_t> size(kSmallest, kLargest);
  for (int trial = 0; trial < kTrials + 2; ++trial) {
    Sizes sizes = {{"batch", size(random)}, {"seq", size(random)}};
    if (trial == kTrials) sizes = {{"batch", kSmallest}, {"seq", kLargest}};
    if (trial == kTrials + 1) sizes = {{"batch", kLargest}, {"seq", kSmallest}};
    SCOPED_TRACE(absl::StrCat("batch ", sizes["batch"], ", seq ", sizes["seq"]));
    CheckAt(sizes, random);
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(All, SymbolicSizesTest, testing::ValuesIn(kSymbolicGraphs),
                         [](const testing::TestParamInfo<SymbolicGraph>& info) {
                           return info.param.name;
                         });

}  // namespace
}  // namespace stax
