// Fuzz target of the ONNX frontend: any bytes give a graph that can be executed, or an error of the
// kinds that onnx.h lists; never a crash or an Internal error.
//
// bazel test //compiler/frontend:onnx_fuzz_test runs it on mutations of small models;
// bazel run //compiler/frontend:onnx_fuzzer searches with libFuzzer for as long as you like.
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "compiler/frontend/onnx.h"
#include "ir/check.h"
#include "ir/graph_interpreter.h"

namespace stax {
namespace {

// Tensors of all ops together that are still executed, in elements.
constexpr int64_t kMaxWork = 10000;

// Runs the graph on zeros at the hints, if it is small.
void Execute(const Graph& graph) {
  std::map<std::string, int64_t> sizes;
  for (const SizeSymbol& s : graph.symbols) sizes[s.name] = s.hint;
  int64_t work = 0;
  std::map<std::string, Bytes> inputs;
  for (const GraphTensor& tensor : graph.tensors) {
    const absl::StatusOr<int64_t> elements = NumElements(tensor.dims).Evaluate(sizes);
    if (!elements.ok() || *elements > kMaxWork - work) return;
    work += *elements;
    inputs[tensor.name] = Bytes(*elements * DTypeBytes(tensor.dtype));
  }
  for (const GraphOp& op : graph.ops) {
    // Their work is more than their results.
    if (op.kind == GraphOpKind::kEinsum || op.kind == GraphOpKind::kReduce) return;
  }
  for (const SpecialisedInput& s : graph.specialised)
    inputs[graph.tensors[s.tensor].name] = *s.data;
  const auto outputs = InterpretGraph(graph, sizes, inputs);
  STAX_CHECK(outputs.ok(), outputs.status().ToString());
}

}  // namespace
}  // namespace stax

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto graph = stax::GraphFromOnnx(bytes);
  if (graph.ok()) {
    stax::Execute(*graph);
    return 0;
  }
  const absl::StatusCode code = graph.status().code();
  STAX_CHECK(code == absl::StatusCode::kInvalidArgument ||
                 code == absl::StatusCode::kUnimplemented ||
                 code == absl::StatusCode::kFailedPrecondition,
             graph.status().ToString());
  return 0;
}
