#include "compiler/codegen/kernel_emitter.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include "compiler/codegen/body_emitter.h"
#include "compiler/codegen/emit_context.h"
#include "compiler/codegen/entry_point.h"
#include "compiler/codegen/index_emitter.h"
#include "compiler/codegen/memory_emitter.h"
#include "compiler/codegen/pass_plan.h"
#include "compiler/codegen/reduce_emitter.h"
#include "compiler/codegen/scalar_emitter.h"

namespace stax {
namespace {

using llvm::Value;

// Emits what one program instance does. The emitters it drives are made where the thread number
// is known, at the start of the function.
class InstanceEmitter {
 public:
  InstanceEmitter(EmitContext& context, const PassPlan& plan)
      : c_(context),
        b_(context.builder),
        plan_(plan),
        axes_(ValueAxes(context.tile, context.nest)),
        index_(context),
        scalars_(context.builder, context.nvptx()),
        memory_(context.nvptx() ? MakeCudaMemoryEmitter(context) : MakeCpuMemoryEmitter(context)),
        body_(context, index_, scalars_, *memory_),
        reduce_(context, scalars_, index_) {}

  // `id` of index_type. On the CPU an instance that lies inside the iteration space, as most do,
  // has code of its own without masks; on CUDA masks are predicates that cost next to nothing.
  void Emit(Value* id) {
    Locate(id);
    Value* inside = c_.tile.simd ? IsInside() : nullptr;
    if (inside == nullptr) return EmitPasses();
    Branch(
        inside,
        [&] {
          index_.SetInside(kAxisX, true);
          index_.SetInside(kAxisY, true);
          EmitPasses();
          index_.SetInside(kAxisX, false);
          index_.SetInside(kAxisY, false);
        },
        [&] { EmitPasses(); });
  }

  int64_t FinishSharedMemory() { return reduce_.FinishSharedMemory(); }
  double bytes_in_flight() const { return bytes_in_flight_; }

 private:
  const AxisRange& axis(int a) const { return c_.tile.axes[a]; }

  // id -> (y block, x block), x fastest.
  void Locate(Value* id) {
    auto start = [&](int a, Value* block) {
      // The only tile starts at zero, which decides most masks at compile time.
      const bool only = c_.tile.ranges.ProveLe(axis(a).numel, axis(a).block());
      index_.SetTileStart(a, only ? c_.Index(0) : b_.CreateMul(block, c_.Index(axis(a).block())));
    };
    if (c_.tile.ranges.ProveLe(axis(kAxisY).numel, axis(kAxisY).block())) {
      start(kAxisY, id);
      start(kAxisX, id);
      return;
    }
    Value* x_blocks = index_.EmitSize(CeilDiv(axis(kAxisX).numel, axis(kAxisX).block()));
    if (!llvm::isa<llvm::Constant>(x_blocks))
      x_blocks = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umax, x_blocks, c_.Index(1));
    Value* y_block = b_.CreateUDiv(id, x_blocks);
    start(kAxisY, y_block);
    start(kAxisX, b_.CreateSub(id, b_.CreateMul(y_block, x_blocks)));
  }

  // Whether the tile lies inside the ranges of x and y; null when that is not worth a branch
  // because it always or never does.
  Value* IsInside() {
    Value* inside = nullptr;
    for (int a : {kAxisX, kAxisY}) {
      if (!axis(a).needs_mask) continue;
      if (c_.tile.ranges.ProveLt(axis(a).numel, axis(a).block())) return nullptr;
      Value* last = b_.CreateAdd(index_.TileStart(a), c_.Index(axis(a).block()));
      Value* fits = b_.CreateICmpSLE(last, index_.EmitSize(axis(a).numel));
      inside = inside == nullptr ? fits : b_.CreateAnd(inside, fits);
    }
    return inside;
  }

  // if (condition) a(); else b();
  void Branch(Value* condition, const std::function<void()>& a, const std::function<void()>& b) {
    llvm::BasicBlock* then_block = NewBlock("then");
    llvm::BasicBlock* else_block = NewBlock("else");
    llvm::BasicBlock* end = NewBlock("end");
    b_.CreateCondBr(condition, then_block, else_block);
    for (int i = 0; i < 2; ++i) {
      b_.SetInsertPoint(i == 0 ? then_block : else_block);
      IndexEmitter::Scope scope(index_);
      (i == 0 ? a : b)();
      b_.CreateBr(end);
    }
    b_.SetInsertPoint(end);
  }

  llvm::BasicBlock* NewBlock(const char* name) {
    return llvm::BasicBlock::Create(b_.getContext(), name, b_.GetInsertBlock()->getParent());
  }

  void EmitPasses() {
    values_.assign(c_.nest.body.size(), TileValue());
    for (const PassPlan::Pass& pass : plan_.passes) {
      EmitOps(pass.before);
      const std::vector<Partial> partials =
          c_.tile.form == KernelForm::kLooped ? LoopedPass(pass) : SinglePass(pass);
      const std::vector<TileValue> results = reduce_.Finish(pass.reduces, partials);
      for (size_t i = 0; i < results.size(); ++i) values_[pass.reduces[i]] = results[i];
    }
    EmitOps(plan_.after);
    NoteBytesInFlight();
  }

  void EmitOps(const std::vector<ValueId>& ops) {
    for (ValueId id : ops) HandleOp(c_.nest, id, body_, values_);
  }

  void NoteBytesInFlight() {
    bytes_in_flight_ = std::max(bytes_in_flight_, memory_->TakeLoadedBytes());
  }

  ValueId OperandOf(ValueId reduce) const { return c_.nest.body[reduce].operands[0]; }

  std::vector<Partial> Accumulate(const PassPlan::Pass& pass, const std::vector<Partial>& before) {
    std::vector<Partial> sums;
    for (size_t i = 0; i < pass.reduces.size(); ++i) {
      const ValueId reduce = pass.reduces[i];
      sums.push_back(reduce_.Accumulate(reduce, before.empty() ? Partial() : before[i],
                                        values_[OperandOf(reduce)]));
    }
    return sums;
  }

  // The whole row is in the tile: values of earlier passes are still there.
  std::vector<Partial> SinglePass(const PassPlan::Pass& pass) {
    for (ValueId id : pass.inner)
      if (values_[id].empty()) HandleOp(c_.nest, id, body_, values_);
    NoteBytesInFlight();
    return Accumulate(pass, {});
  }

  // One iteration of a loop over the row, at `start`.
  std::vector<Partial> Iteration(const PassPlan::Pass& pass, Value* start, bool inside,
                                 const std::vector<Partial>& before) {
    IndexEmitter::Scope scope(index_);
    index_.SetTileStart(kAxisR, start);
    index_.SetInside(kAxisR, inside);
    EmitOps(pass.inner);
    NoteBytesInFlight();
    std::vector<Partial> after = Accumulate(pass, before);
    for (ValueId id : pass.inner) values_[id] = TileValue();
    index_.SetInside(kAxisR, false);
    return after;
  }

  std::vector<Partial> LoopedPass(const PassPlan::Pass& pass) {
    std::vector<Partial> partials;
    for (ValueId reduce : pass.reduces)
      partials.push_back(reduce_.Identity(reduce, axes_[OperandOf(reduce)]));
    const AxisRange& r = axis(kAxisR);
    const IndexExpr whole_end = FloorDiv(r.numel, r.block()) * r.block();
    const bool has_whole = !c_.tile.ranges.ProveLt(r.numel, r.block());
    if (has_whole) partials = WholeIterations(pass, index_.EmitSize(whole_end), partials);
    if (!r.needs_mask) return partials;
    Value* start = has_whole ? index_.EmitSize(whole_end) : c_.Index(0);
    if (r.numel.IsConst()) {
      return r.numel == whole_end ? partials : Iteration(pass, start, /*inside=*/false, partials);
    }
    return TailIfAny(pass, start, partials);
  }

  // Phis for all accumulators, with the values they have when coming from `block`.
  std::vector<Partial> MakePhis(const std::vector<Partial>& partials, llvm::BasicBlock* from) {
    return MapPartials(partials, [&](Value* v) -> Value* {
      llvm::PHINode* phi = b_.CreatePHI(v->getType(), 2);
      phi->addIncoming(v, from);
      return phi;
    });
  }
  static void AddIncoming(const std::vector<Partial>& phis, std::vector<Partial> partials,
                          llvm::BasicBlock* from) {
    auto add = [&](const TileValue& phi, const TileValue& value) {
      for (size_t i = 0; i < phi.slots.size(); ++i)
        llvm::cast<llvm::PHINode>(phi.slots[i])->addIncoming(value.slots[i], from);
    };
    for (size_t i = 0; i < phis.size(); ++i) {
      add(phis[i].values, partials[i].values);
      add(phis[i].positions, partials[i].positions);
    }
  }
  template <typename F>
  static std::vector<Partial> MapPartials(std::vector<Partial> partials, const F& f) {
    for (Partial& partial : partials) {
      for (Value*& v : partial.values.slots) v = f(v);
      for (Value*& v : partial.positions.slots) v = f(v);
    }
    return partials;
  }

  // for (r = 0; r < end; r += RBLOCK)
  std::vector<Partial> WholeIterations(const PassPlan::Pass& pass, Value* end,
                                       const std::vector<Partial>& start) {
    llvm::BasicBlock* before = b_.GetInsertBlock();
    llvm::BasicBlock* header = NewBlock("loop");
    llvm::BasicBlock* body = NewBlock("body");
    llvm::BasicBlock* exit = NewBlock("exit");
    b_.CreateBr(header);
    b_.SetInsertPoint(header);
    llvm::PHINode* r = b_.CreatePHI(c_.index_type, 2);
    r->addIncoming(c_.Index(0), before);
    const std::vector<Partial> phis = MakePhis(start, before);
    b_.CreateCondBr(b_.CreateICmpSLT(r, end), body, exit);
    b_.SetInsertPoint(body);
    const std::vector<Partial> next = Iteration(pass, r, /*inside=*/true, phis);
    AddIncoming(phis, next, b_.GetInsertBlock());
    r->addIncoming(b_.CreateAdd(r, c_.Index(axis(kAxisR).block())), b_.GetInsertBlock());
    b_.CreateBr(header);
    b_.SetInsertPoint(exit);
    return phis;
  }

  // A last, masked iteration when the length is no multiple of RBLOCK, which only the launch tells.
  std::vector<Partial> TailIfAny(const PassPlan::Pass& pass, Value* start,
                                 const std::vector<Partial>& partials) {
    llvm::BasicBlock* before = b_.GetInsertBlock();
    llvm::BasicBlock* tail = NewBlock("tail");
    llvm::BasicBlock* end = NewBlock("end");
    b_.CreateCondBr(b_.CreateICmpSLT(start, index_.EmitSize(axis(kAxisR).numel)), tail, end);
    b_.SetInsertPoint(tail);
    const std::vector<Partial> after = Iteration(pass, start, /*inside=*/false, partials);
    llvm::BasicBlock* tail_end = b_.GetInsertBlock();
    b_.CreateBr(end);
    b_.SetInsertPoint(end);
    const std::vector<Partial> phis = MakePhis(partials, before);
    AddIncoming(phis, after, tail_end);
    return phis;
  }

  EmitContext& c_;
  llvm::IRBuilder<>& b_;
  const PassPlan& plan_;
  std::vector<AxisSet> axes_;
  IndexEmitter index_;
  ScalarEmitter scalars_;
  std::unique_ptr<MemoryEmitter> memory_;
  BodyEmitter body_;
  ReduceEmitter reduce_;
  std::vector<TileValue> values_;  // by op position; of what has been computed
  double bytes_in_flight_ = 0;
};

}  // namespace

EmittedKernel EmitKernel(const LoopNest& nest, const Tile& tile, const Layout& layout,
                         const std::string& entry, llvm::Module& module) {
  llvm::IRBuilder<> builder(module.getContext());
  EmitContext context(nest, tile, layout, module, builder);
  context.index_type = tile.wide_index ? builder.getInt64Ty() : builder.getInt32Ty();
  EntryPoint point = tile.simd ? BeginCpuEntry(context, entry) : BeginCudaEntry(context, entry);
  const PassPlan plan = MakePassPlan(nest);
  InstanceEmitter instance(context, plan);
  instance.Emit(point.StartInstance(context));
  point.Finish(context);
  return {instance.FinishSharedMemory(), instance.bytes_in_flight()};
}

}  // namespace stax
