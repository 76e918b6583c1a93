#include "compiler/lowering/einsum.h"

#include <vector>

namespace stax {
namespace {

// Size of the dim of an operand that has the label.
IndexExpr ExtentOf(const Graph& graph, const GraphOp& op, const EinsumEquation& equation,
                   char label) {
  for (size_t k = 0; k < op.operands.size(); ++k) {
    const size_t d = equation.operands[k].find(label);
    if (d != std::string::npos) return graph.tensors[op.operands[k]].dims[d];
  }
  return 1;
}

}  // namespace

Contraction DescribeEinsum(const Graph& graph, const GraphOp& op) {
  std::vector<int> ranks;
  for (TensorId t : op.operands) ranks.push_back(static_cast<int>(graph.tensors[t].dims.size()));
  Contraction c;
  c.equation = ParseEinsum(op.equation, ranks).value();
  for (const std::string& labels : c.equation.operands)
    for (char label : labels)
      if (c.equation.result.find(label) == std::string::npos &&
          c.summed.find(label) == std::string::npos)
        c.summed += label;
  c.result_dims = graph.tensors[op.result].dims;
  for (char label : c.summed) c.summed_dims.push_back(ExtentOf(graph, op, c.equation, label));
  return c;
}

DType AccumulatorType(DType dtype) { return IsHalf(dtype) ? DType::kF32 : dtype; }

}  // namespace stax
