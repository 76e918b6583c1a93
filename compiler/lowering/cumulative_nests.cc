#include "compiler/lowering/cumulative_nests.h"

#include <cstdint>
#include <utility>

#include "compiler/lowering/access_pattern.h"
#include "ir/reducer.h"

namespace stax {
namespace {

// Positions at the hint up to which the quadratic form is as good: below, its one kernel takes
// less than the launches of three.
constexpr int64_t kShortAxis = 512;

OpCode CombineOp(ReduceKind kind) {
  switch (kind) {
    case ReduceKind::kProd:
      return OpCode::kMul;
    case ReduceKind::kMax:
      return OpCode::kMax;
    case ReduceKind::kMin:
      return OpCode::kMin;
    default:
      return OpCode::kAdd;
  }
}

int64_t SquareRoot(int64_t n) {
  int64_t root = 1;
  while (root * root < n) root *= 2;
  return root;
}

// A length that is divided by, even where there is no element.
IndexExpr AtLeastOne(const IndexExpr& e, const RangeContext& ranges) {
  return ranges.ProveLe(1, e) ? e : Max(e, 1);
}

class Blocked {
 public:
  Blocked(const GraphOp& op, const StoredTensor& result, const NestContext& context, int64_t blocks)
      : op_(op),
        context_(context),
        dims_(context.graph.tensors[op.result].dims),
        length_(dims_[op.axis]),
        blocks_(blocks),
        block_(AtLeastOne(CeilDiv(length_, blocks), context.graph.Ranges())),
        block_dims_(dims_) {
    type_ = context.graph.tensors[op.result].dtype;
    block_dims_[op.axis] = blocks_;
    sums_ = context.new_temporary(type_, block_dims_);
    offsets_ = context.new_temporary(type_, block_dims_);
    result_ = result;
  }

  std::vector<LoopNest> Run() const {
    std::vector<LoopNest> nests;
    for (const Reduction& reduction : {BlockSums(), Offsets(), WithinBlocks()})
      for (LoopNest& nest : ReductionNests(reduction, context_)) nests.push_back(std::move(nest));
    return nests;
  }

 private:
  // A reduction over a dim of `extent` after the axis of `dims`.
  Reduction Over(Dims dims, const IndexExpr& extent, const StoredTensor& result) const {
    Reduction reduction;
    reduction.kind = op_.reduce;
    reduction.accumulator = reduction.result_type = type_;
    reduction.result = result;
    dims.insert(dims.begin() + op_.axis + 1, extent);
    reduction.reduced.assign(dims.size(), false);
    reduction.reduced[op_.axis + 1] = true;
    reduction.dims = std::move(dims);
    return reduction;
  }

  ValueId Identity(Emitter& emitter) const {
    return emitter.body().Const(ReduceIdentity(op_.reduce, type_));
  }

  // The operand at `position` of the axis; the other dims as in `index`.
  ValueId Operand(Emitter& emitter, Index index, const IndexExpr& position) const {
    index.erase(index.begin() + op_.axis + 1);
    index[op_.axis] = position;
    return emitter.Emit(op_.operands[0], index);
  }

  // `before` comes before `at` in the direction of the operator, or is it when `inclusive`.
  ValueId ComesBefore(BodyBuilder& body, const IndexExpr& before, const IndexExpr& at,
                      bool inclusive) const {
    const OpCode forward = inclusive ? OpCode::kLe : OpCode::kLt;
    const OpCode backward = inclusive ? OpCode::kGe : OpCode::kGt;
    return body.Op(op_.reverse ? backward : forward,
                   {body.Index(before, DType::kI64), body.Index(at, DType::kI64)});
  }

  Reduction BlockSums() const {
    Reduction reduction = Over(block_dims_, block_, sums_);
    reduction.element = [this](Emitter& emitter, const Index& index) {
      const IndexExpr position = block_ * index[op_.axis] + index[op_.axis + 1];
      const ValueId mask = emitter.body().InBounds(position, 0, length_);
      return emitter.Masked(
          mask, [&] { return Operand(emitter, index, position); }, Identity(emitter));
    };
    return reduction;
  }

  // What comes before each block.
  Reduction Offsets() const {
    Reduction reduction = Over(block_dims_, blocks_, offsets_);
    reduction.element = [this](Emitter& emitter, Index index) {
      const ValueId mask =
          ComesBefore(emitter.body(), index[op_.axis + 1], index[op_.axis], /*inclusive=*/false);
      index.erase(index.begin() + op_.axis);
      return emitter.Masked(
          mask, [&] { return emitter.Load(sums_, type_, block_dims_, index); }, Identity(emitter));
    };
    return reduction;
  }

  Reduction WithinBlocks() const {
    Reduction reduction = Over(dims_, block_, result_);
    reduction.element = [this](Emitter& emitter, const Index& index) {
      BodyBuilder& body = emitter.body();
      const IndexExpr& at = index[op_.axis];
      const IndexExpr position = block_ * FloorDiv(at, block_) + index[op_.axis + 1];
      const ValueId inside = body.InBounds(position, 0, length_);
      const ValueId mask =
          body.Op(OpCode::kAnd, {inside, ComesBefore(body, position, at, !op_.exclusive)});
      return emitter.Masked(
          mask, [&] { return Operand(emitter, index, position); }, Identity(emitter));
    };
    reduction.finish = [this](Emitter& emitter, Index index, ValueId value) {
      index[op_.axis] = FloorDiv(index[op_.axis], block_);
      const ValueId offset = emitter.Load(offsets_, type_, block_dims_, index);
      return emitter.body().Op(CombineOp(op_.reduce), {offset, value});
    };
    return reduction;
  }

  const GraphOp& op_;
  const NestContext& context_;
  const Dims dims_;
  // Of the axis: positions; blocks, whose number is fixed at the hint; positions of a block.
  const IndexExpr length_;
  const int64_t blocks_;
  const IndexExpr block_;
  Dims block_dims_;
  DType type_;
  StoredTensor sums_, offsets_, result_;
};

}  // namespace

std::vector<LoopNest> CumulativeNests(const GraphOp& op, const StoredTensor& result,
                                      const NestContext& context) {
  const IndexExpr& length = context.graph.tensors[op.result].dims[op.axis];
  const int64_t n = AtHint(length, context.graph.symbols);
  if (n <= kShortAxis) return ReductionNests(DescribeReduction(context.graph, op, result), context);
  return Blocked(op, result, context, SquareRoot(n)).Run();
}

}  // namespace stax
