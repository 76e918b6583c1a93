#include "compiler/frontend/execute_graph.h"

#include <cstdint>
#include <map>
#include <string>

#include "ir/check.h"
#include "ir/graph_interpreter.h"

namespace stax {
namespace {

// Tensors of all ops together that are still executed, in elements.
constexpr int64_t kMaxWork = 10000;

}  // namespace

void ExecuteIfSmall(const Graph& graph) {
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

}  // namespace stax
