#include "compiler/lowering/reduction_nests.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/lowering/split_reduction.h"
#include "ir/reducer.h"

namespace stax {
namespace {

// Those of `all` whose dim is reduced, or is not.
template <typename T>
std::vector<T> Select(const std::vector<T>& all, const std::vector<bool>& reduced, bool wanted) {
  std::vector<T> chosen;
  for (size_t d = 0; d < all.size(); ++d)
    if (reduced[d] == wanted) chosen.push_back(all[d]);
  return chosen;
}

// A nest under construction, over all points of `dims`.
struct NestBuild {
  NestBuild(Dims nest_dims, std::vector<bool> nest_reduced, const NestContext& context)
      : dims(std::move(nest_dims)), reduced(std::move(nest_reduced)) {
    nest.symbols = context.graph.symbols;
    index = AddDims(dims, reduced, &nest);
    emitter.emplace(context.graph, context.defs, context.storage, &nest);
  }

  // Stores `value` at the loop dims' index.
  void Store(const StoredTensor& at, DType type, ValueId value) {
    emitter->Store(at, type, Select(dims, reduced, false), Select(index, reduced, false), value);
  }

  Dims dims;
  std::vector<bool> reduced;
  LoopNest nest;
  Index index;
  std::optional<Emitter> emitter;  // holds a pointer to `nest`, so this is neither copied nor moved
};

// Stores the reduced value as the reduction's result.
void Finish(const Reduction& reduction, ValueId value, NestBuild* build) {
  if (reduction.finish)
    value = reduction.finish(*build->emitter, Select(build->index, build->reduced, false), value);
  build->Store(reduction.result, reduction.result_type,
               build->emitter->body().Cast(value, reduction.result_type));
}

LoopNest WholeNest(const Reduction& reduction, const NestContext& context) {
  NestBuild build(reduction.dims, reduction.reduced, context);
  const ValueId element = reduction.element(*build.emitter, build.index);
  Finish(reduction, build.emitter->body().Reduce(reduction.kind, element), &build);
  return std::move(build.nest);
}

// A reduction in two: the first nest reduces within pieces, whose results `second` reduces. The
// plan's dims are positions in the reduction's dims here, -1 for no cut.
class SplitReduction {
 public:
  SplitReduction(const Reduction& reduction, const SplitPlan& plan, const NestContext& context)
      : reduction_(reduction), plan_(plan), context_(context) {
    std::vector<int> positions;  // of the nest's dims, which leave out the literal 1
    for (int d = 0; d < static_cast<int>(reduction.dims.size()); ++d)
      if (reduction.dims[d] != IndexExpr(1)) positions.push_back(d);
    for (int d : plan.whole) whole_.push_back(positions[d]);
    if (plan.cut.has_value()) cut_ = positions[*plan.cut];
    for (int d = 0; d < static_cast<int>(reduction.dims.size()); ++d) {
      if (reduction.reduced[d] && !IsWhole(d) && d != cut_) continue;
      partial_dims_.push_back(d == cut_ ? IndexExpr(plan.pieces) : reduction.dims[d]);
      partial_reduced_.push_back(reduction.reduced[d]);
    }
  }

  // Positions (arg-reductions) stay right if elements that a mask adds are never chosen: among
  // equals the first one is, and they come last.
  bool KeepsPositions() const {
    const bool last =
        reduction_.kind == ReduceKind::kArgMaxLast || reduction_.kind == ReduceKind::kArgMinLast;
    return !last || cut_ < 0 || plan_.pieces * plan_.chunk == reduction_.dims[cut_];
  }

  std::vector<LoopNest> Run() {
    partial_ = context_.new_temporary(reduction_.accumulator, partial_dims_);
    if (IsArgReduce(reduction_.kind)) {
      partial_positions_ = context_.new_temporary(DType::kI64, partial_dims_);
      std::vector<LoopNest> nests;
      nests.push_back(FirstNest());
      nests.push_back(ChoosePosition());
      return nests;
    }
    Reduction second = reduction_;
    second.dims = partial_dims_;
    second.reduced = partial_reduced_;
    second.contraction = false;
    second.element = [this](Emitter& e, const Index& index) { return LoadPartial(e, index); };
    std::vector<LoopNest> nests;
    nests.push_back(FirstNest());
    for (LoopNest& n : ReductionNests(second, context_)) nests.push_back(std::move(n));
    return nests;
  }

 private:
  bool IsWhole(int d) const { return std::find(whole_.begin(), whole_.end(), d) != whole_.end(); }

  ValueId LoadPartial(Emitter& emitter, const Index& index) const {
    return emitter.Load(partial_, reduction_.accumulator, partial_dims_, index);
  }

  // Whole dims are loops; the cut one is a loop over pieces and a reduction within the piece.
  LoopNest FirstNest() const {
    Dims dims;
    std::vector<bool> reduced;
    for (int d = 0; d < static_cast<int>(reduction_.dims.size()); ++d) {
      if (d == cut_) {
        dims.emplace_back(plan_.pieces);
        reduced.push_back(false);
      }
      dims.push_back(d == cut_ ? plan_.chunk : reduction_.dims[d]);
      reduced.push_back(reduction_.reduced[d] && !IsWhole(d));
    }
    NestBuild build(dims, reduced, context_);
    BodyBuilder& body = build.emitter->body();
    Index index = build.index;  // into the reduction's dims
    ValueId mask = body.Const(Scalar::Int(DType::kBool, 1));
    if (cut_ >= 0) {
      const IndexExpr at = index[cut_] * plan_.chunk + index[cut_ + 1];
      mask = body.InBounds(at, 0, reduction_.dims[cut_]);
      index.erase(index.begin() + cut_);
      index[cut_] = at;
    }
    const ValueId identity = body.Const(ReduceIdentity(reduction_.kind, reduction_.accumulator));
    const ValueId element = build.emitter->Masked(
        mask, [&] { return reduction_.element(*build.emitter, index); }, identity);
    StorePartial(element, index, &build);
    return std::move(build.nest);
  }

  void StorePartial(ValueId element, Index index, NestBuild* build) const {
    BodyBuilder& body = build->emitter->body();
    if (!IsArgReduce(reduction_.kind)) {
      build->Store(partial_, reduction_.accumulator, body.Reduce(reduction_.kind, element));
      return;
    }
    const bool max =
        reduction_.kind == ReduceKind::kArgMax || reduction_.kind == ReduceKind::kArgMaxLast;
    build->Store(partial_, reduction_.accumulator,
                 body.Reduce(max ? ReduceKind::kMax : ReduceKind::kMin, element));
    // Position of the piece's first element, plus the position in the piece.
    std::map<std::string, IndexExpr> first;
    for (const LoopDim& d : build->nest.dims)
      if (d.reduce) first[d.name] = 0;
    for (IndexExpr& e : index) e = e.Substitute(first);
    const IndexExpr start = FlatIndex(Select(index, reduction_.reduced, true),
                                      Select(reduction_.dims, reduction_.reduced, true));
    const ValueId position =
        body.Op(OpCode::kAdd, {body.Index(build->emitter->Simple(start), DType::kI64),
                               body.Reduce(reduction_.kind, element)});
    build->Store(partial_positions_, DType::kI64, position);
  }

  // The piece with the extreme value, and the position that was found there.
  LoopNest ChoosePosition() const {
    NestBuild build(partial_dims_, partial_reduced_, context_);
    BodyBuilder& body = build.emitter->body();
    const ValueId piece = body.Reduce(reduction_.kind, LoadPartial(*build.emitter, build.index));
    const Dims pieces = Select(partial_dims_, partial_reduced_, true);
    const IndexExpr at = body.Indirect(piece, Product(pieces));
    const Index in_pieces = ReshapeIndex(pieces, {Product(pieces)}, {at}, build.nest.Ranges());
    Index index = build.index;
    for (size_t d = 0, k = 0; d < index.size(); ++d)
      if (partial_reduced_[d]) index[d] = in_pieces[k++];
    Finish(reduction_, build.emitter->Load(partial_positions_, DType::kI64, partial_dims_, index),
           &build);
    return std::move(build.nest);
  }

  const Reduction& reduction_;
  const SplitPlan& plan_;
  const NestContext& context_;
  std::vector<int> whole_;
  int cut_ = -1;
  Dims partial_dims_;
  std::vector<bool> partial_reduced_;
  StoredTensor partial_, partial_positions_;
};

}  // namespace

Index AddDims(const Dims& dims, const std::vector<bool>& reduced, LoopNest* nest) {
  int loops = static_cast<int>(nest->LoopDims().size());
  int reductions = static_cast<int>(nest->ReduceDims().size());
  Index index;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] == IndexExpr(1)) {
      index.emplace_back(0);
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
  std::vector<LoopNest> nests;
  nests.push_back(WholeNest(reduction, context));
  const std::optional<SplitPlan> plan =
      ChooseSplit(nests[0], reduction.contraction, context.target);
  if (!plan.has_value()) return nests;
  SplitReduction split(reduction, *plan, context);
  return split.KeepsPositions() ? split.Run() : nests;
}

}  // namespace stax
