#include "compiler/lowering/reduction_nests.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/lowering/einsum.h"
#include "compiler/lowering/split_reduction.h"

namespace stax {
namespace {

// The dims that are not reduced, and the part of `index` that belongs to them.
Dims KeptDims(const Reduction& reduction) {
  Dims kept;
  for (size_t d = 0; d < reduction.dims.size(); ++d)
    if (!reduction.reduced[d]) kept.push_back(reduction.dims[d]);
  return kept;
}

Index KeptIndex(const Reduction& reduction, const Index& index) {
  Index kept;
  for (size_t d = 0; d < index.size(); ++d)
    if (!reduction.reduced[d]) kept.push_back(index[d]);
  return kept;
}

LoopNest WholeNest(const Reduction& reduction, const NestContext& context) {
  LoopNest nest;
  nest.symbols = context.graph.symbols;
  const Index index = AddDims(reduction.dims, reduction.reduced, &nest);
  Emitter emitter(context.graph, context.defs, context.storage, &nest);
  const ValueId element = reduction.element(emitter, index);
  ValueId value = emitter.body().Reduce(reduction.kind, element);
  value = emitter.body().Cast(value, reduction.result_type);
  emitter.Store(reduction.result, reduction.result_type, KeptDims(reduction),
                KeptIndex(reduction, index), value);
  return nest;
}

// The reduction over the pieces' results. `whole` and `cut` are positions in reduction.dims.
Reduction SecondStage(const Reduction& reduction, const std::vector<int>& whole, int cut,
                      int64_t pieces) {
  Reduction second = reduction;
  second.dims.clear();
  second.reduced.clear();
  second.contraction = false;
  for (int d = 0; d < static_cast<int>(reduction.dims.size()); ++d) {
    const bool is_whole = std::find(whole.begin(), whole.end(), d) != whole.end();
    if (reduction.reduced[d] && !is_whole && d != cut) continue;
    second.dims.push_back(d == cut ? IndexExpr(pieces) : reduction.dims[d]);
    second.reduced.push_back(reduction.reduced[d]);
  }
  return second;
}

// Dims of the first nest: `whole` ones are loops, `cut` is a loop over pieces and a reduction
// within the piece.
LoopNest FirstStage(const Reduction& reduction, const SplitPlan& plan,
                    const std::vector<int>& whole, int cut, const StoredTensor& partial,
                    const NestContext& context) {
  Dims dims;
  std::vector<bool> reduced;
  for (int d = 0; d < static_cast<int>(reduction.dims.size()); ++d) {
    const bool is_whole = std::find(whole.begin(), whole.end(), d) != whole.end();
    if (d == cut) {
      dims.push_back(plan.pieces);
      reduced.push_back(false);
    }
    dims.push_back(d == cut ? plan.chunk : reduction.dims[d]);
    reduced.push_back(reduction.reduced[d] && !is_whole);
  }
  LoopNest nest;
  nest.symbols = context.graph.symbols;
  const Index at = AddDims(dims, reduced, &nest);
  Emitter emitter(context.graph, context.defs, context.storage, &nest);
  BodyBuilder& body = emitter.body();
  Index index = at, stored_at;
  Dims stored_dims;
  ValueId mask = body.Const(Scalar::Int(DType::kBool, 1));
  if (cut >= 0) {
    const IndexExpr position = at[cut] * plan.chunk + at[cut + 1];
    mask = body.InBounds(position, 0, reduction.dims[cut]);
    index.erase(index.begin() + cut);
    index[cut] = position;
  }
  for (size_t d = 0; d < dims.size(); ++d) {
    if (reduced[d]) continue;
    stored_at.push_back(at[d]);
    stored_dims.push_back(dims[d]);
  }
  const ValueId identity = body.Const(ReduceIdentity(reduction.kind, reduction.accumulator));
  const ValueId element =
      emitter.Masked(mask, [&] { return reduction.element(emitter, index); }, identity);
  emitter.Store(partial, reduction.accumulator, stored_dims, stored_at,
                body.Reduce(reduction.kind, element));
  return nest;
}

// Positions in reduction.dims of the nest's dims, which leave out those of the literal 1.
std::vector<int> PositionsInReduction(const Reduction& reduction) {
  std::vector<int> positions;
  for (int d = 0; d < static_cast<int>(reduction.dims.size()); ++d)
    if (reduction.dims[d] != IndexExpr(1)) positions.push_back(d);
  return positions;
}

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
// size, but quadratic in the length of the axis.
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
    return emitter.Masked(mask, [&] { return emitter.Emit(op.operands[0], index); },
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

Index AddDims(const Dims& dims, const std::vector<bool>& reduced, LoopNest* nest) {
  int loops = static_cast<int>(nest->LoopDims().size());
  int reductions = static_cast<int>(nest->ReduceDims().size());
  Index index;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] == IndexExpr(1)) {
      index.push_back(0);
      continue;
    }
    const std::string name =
        reduced[d] ? absl::StrCat("r", reductions++) : absl::StrCat("i", loops++);
    nest->dims.push_back({name, dims[d], reduced[d]});
    index.push_back(IndexExpr::Var(name));
  }
  return index;
}

std::vector<LoopNest> ReductionNests(const Reduction& reduction, const NestContext& context) {
  LoopNest nest = WholeNest(reduction, context);
  // Positions of arg-reductions are those of the whole row.
  if (IsArgReduce(reduction.kind)) return {std::move(nest)};
  const std::optional<SplitPlan> plan = ChooseSplit(nest, reduction.contraction, context.target);
  if (!plan.has_value()) return {std::move(nest)};

  const std::vector<int> positions = PositionsInReduction(reduction);
  std::vector<int> whole;
  for (int d : plan->whole) whole.push_back(positions[d]);
  const int cut = plan->cut.has_value() ? positions[*plan->cut] : -1;
  Reduction second = SecondStage(reduction, whole, cut, plan->pieces);
  const StoredTensor partial = context.new_temporary(reduction.accumulator, second.dims);
  const DType type = reduction.accumulator;
  second.element = [partial, type, dims = second.dims](Emitter& emitter, const Index& index) {
    return emitter.Load(partial, type, dims, index);
  };
  std::vector<LoopNest> nests = {FirstStage(reduction, *plan, whole, cut, partial, context)};
  for (LoopNest& n : ReductionNests(second, context)) nests.push_back(std::move(n));
  return nests;
}

}  // namespace stax
