#include "compiler/lowering/describe_reduction.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "compiler/lowering/einsum.h"
#include "ir/reducer.h"

namespace stax {
namespace {

Reduction DescribeContraction(const Graph& graph, const GraphOp& op) {
  const auto einsum = std::make_shared<const Contraction>(DescribeEinsum(graph, op));
  Reduction reduction;
  reduction.contraction = true;
  reduction.accumulator = AccumulatorType(graph.tensors[op.result].dtype);
  reduction.dims = einsum->result_dims;
  reduction.dims.insert(reduction.dims.end(), einsum->summed_dims.begin(),
                        einsum->summed_dims.end());
  reduction.reduced.assign(reduction.dims.size(), true);
  std::fill_n(reduction.reduced.begin(), einsum->result_dims.size(), false);
  reduction.element = [&op, einsum](Emitter& emitter, const Index& index) {
    std::map<char, IndexExpr> at;
    const std::string labels = einsum->equation.result + einsum->summed;
    for (size_t d = 0; d < labels.size(); ++d) at[labels[d]] = index[d];
    return emitter.EmitProduct(op, *einsum, at);
  };
  return reduction;
}

// A running sum is a sum over all positions with those after the element masked out: right for any
// size, but quadratic in the length of the axis. Long axes are cut into blocks
// (cumulative_nests.h).
Reduction DescribeCumulative(const Graph& graph, const GraphOp& op) {
  Reduction reduction;
  reduction.kind = op.reduce;
  reduction.accumulator = graph.tensors[op.result].dtype;
  reduction.dims = graph.tensors[op.result].dims;
  reduction.reduced.assign(reduction.dims.size() + 1, false);
  reduction.reduced[op.axis + 1] = true;
  reduction.dims.insert(reduction.dims.begin() + op.axis + 1, reduction.dims[op.axis]);
  reduction.element = [&op, dtype = reduction.accumulator](Emitter& emitter, Index index) {
    BodyBuilder& body = emitter.body();
    const ValueId at = body.Index(index[op.axis], DType::kI64);
    const ValueId from = body.Index(index[op.axis + 1], DType::kI64);
    index.erase(index.begin() + op.axis);
    const OpCode before = op.exclusive ? OpCode::kLt : OpCode::kLe;
    const OpCode after = op.exclusive ? OpCode::kGt : OpCode::kGe;
    const ValueId mask = body.Op(op.reverse ? after : before, {from, at});
    return emitter.Masked(
        mask, [&] { return emitter.Emit(op.operands[0], index); },
        body.Const(ReduceIdentity(op.reduce, dtype)));
  };
  return reduction;
}

Reduction DescribePlain(const Graph& graph, const GraphOp& op) {
  const GraphTensor& x = graph.tensors[op.operands[0]];
  Reduction reduction;
  reduction.kind = op.reduce;
  const bool sums = op.reduce == ReduceKind::kSum || op.reduce == ReduceKind::kProd;
  const DType type = sums ? AccumulatorType(x.dtype) : x.dtype;
  reduction.accumulator = type;
  reduction.dims = x.dims;
  reduction.reduced.assign(x.dims.size(), false);
  for (int axis : op.axes) reduction.reduced[axis] = true;
  reduction.element = [&op, type](Emitter& emitter, const Index& index) {
    return emitter.body().Cast(emitter.Emit(op.operands[0], index), type);
  };
  return reduction;
}

}  // namespace

Reduction DescribeReduction(const Graph& graph, const GraphOp& op, const StoredTensor& result) {
  Reduction reduction = op.kind == GraphOpKind::kEinsum       ? DescribeContraction(graph, op)
                        : op.kind == GraphOpKind::kCumulative ? DescribeCumulative(graph, op)
                                                              : DescribePlain(graph, op);
  reduction.result = result;
  reduction.result_type = graph.tensors[op.result].dtype;
  return reduction;
}

}  // namespace stax
