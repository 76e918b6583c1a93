#include "compiler/codegen/kernel_emitter.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <set>
#include <vector>

#include "compiler/codegen/body_emitter.h"
#include "compiler/codegen/emit_context.h"
#include "compiler/codegen/entry_point.h"
#include "compiler/codegen/index_emitter.h"
#include "compiler/codegen/line_info.h"
#include "compiler/codegen/memory_emitter.h"
#include "compiler/codegen/precision.h"
#include "compiler/codegen/reduce_emitter.h"
#include "compiler/codegen/scalar_emitter.h"
#include "compiler/lowering/pass_plan.h"

namespace stax {
namespace {

using llvm::Value;

constexpr int kRegisterFile = 65536;  // 32-bit registers of a multiprocessor, sm_80 to sm_90
constexpr int kMaxThreads = 2048;     // threads of a multiprocessor
// Registers for addresses, accumulators and one vector being worked on.
constexpr int kWorkRegisters = 32;
// Register slots of a thread up to which inner values are kept between passes (four 16-byte vectors
// of halves); beyond, half rows are kept packed.
constexpr int kMaxKeptSlots = 32;

// Highest coordinate bit that can be part of a vector: 16 elements of one byte.
constexpr int kMaxVectorBit = 3;

// Emits what one program instance does. The emitters it drives are made where the thread number
// is known, at the start of the function.
class InstanceEmitter {
 public:
  InstanceEmitter(EmitContext& context, const PassPlan& plan, bool recompute)
      : c_(context),
        b_(context.builder),
        plan_(plan),
        recompute_(recompute),
        axes_(ValueAxes(context.tile, context.nest)),
        index_(context),
        scalars_(context.builder, context.nvptx()),
        memory_(context.nvptx() ? MakeCudaMemoryEmitter(context) : MakeCpuMemoryEmitter(context)),
        body_(context, index_, scalars_, *memory_),
        reduce_(context, scalars_, index_) {}

  // `id` of index_type. On the CPU an instance that lies inside the iteration space, as most do,
  // has code of its own without masks. On CUDA masks are predicates that cost next to nothing,
  // unless they would cut vectors into elements.
  void Emit(Value* id) {
    Locate(id);
    if (c_.tile.row_shift.has_value()) index_.SetRowShift();
    Value* inside = c_.tile.simd || MaskCutsVectors() ? IsInside() : nullptr;
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

  // Blocks a multiprocessor should hold at once when the row is kept packed: as many as the packed
  // registers and some for the work on it leave room for. Left alone, ptxas takes more registers
  // and halves what is in flight (H200, 2026-11-29: 158 us against 134 for rows of 32768 bf16).
  int MinBlocks() const {
    if (c_.tile.min_blocks > 0) return c_.tile.min_blocks;
    if (!recompute_) return 0;
    const int threads = 32 << c_.tile.warp_bits;
    const int registers = (memory_->packed_registers() + kWorkRegisters + 7) / 8 * 8;
    return std::clamp(kRegisterFile / (threads * registers), 1, kMaxThreads / threads);
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

  // Whether the end of x or y may fall into the middle of neighbours in one thread.
  bool MaskCutsVectors() const {
    for (const AxisBit& bit : c_.layout.regs) {
      if (bit.axis == kAxisR || bit.bit > kMaxVectorBit) continue;
      const AxisRange& range = axis(bit.axis);
      if (range.needs_mask && bit.bit >= range.divisible_bits && range.divisible_bits < 4)
        return true;
    }
    return false;
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
    loaded_.clear();
    reduce_.BeginPasses();
    values_.assign(c_.nest.body.size(), TileValue());
    for (const PassPlan::Pass& pass : plan_.passes) {
      EmitOps(pass.before);
      const std::vector<Partial> partials =
          c_.tile.form == KernelForm::kLooped ? LoopedPass(pass) : SinglePass(pass);
      FinishReductions(pass, reduce_.Finish(pass.reduces, partials));
    }
    EmitOps(plan_.after);
    reduce_.EndPasses();
    NoteBytesInFlight();
  }

  static const OnlineSum* OnlineOf(const PassPlan::Pass& pass, ValueId reduce) {
    for (const OnlineSum& pair : pass.online)
      if (pair.max == reduce) return &pair;
    return nullptr;
  }

  void FinishReductions(const PassPlan::Pass& pass, const std::vector<Partial>& finished) {
    for (size_t i = 0; i < finished.size(); ++i) {
      const ValueId reduce = pass.reduces[i];
      const LineScope line = LineScope::Op(c_, reduce);
      values_[reduce] = reduce_.Result(reduce, finished[i]);
      if (const OnlineSum* pair = OnlineOf(pass, reduce))
        values_[pair->sum] = reduce_.OnlineResult(*pair, finished[i]);
    }
  }

  void EmitOps(const std::vector<ValueId>& ops) {
    for (ValueId id : ops) EmitOp(id);
  }
  void EmitOp(ValueId id) {
    const LineScope line = LineScope::Op(c_, id);
    HandleOp(c_.nest, id, body_, values_);
  }

  void NoteBytesInFlight() {
    bytes_in_flight_ = std::max(bytes_in_flight_, memory_->TakeLoadedBytes());
  }

  ValueId OperandOf(ValueId reduce) const { return c_.nest.body[reduce].operands[0]; }

  std::vector<Partial> Accumulate(const PassPlan::Pass& pass, const std::vector<Partial>& before) {
    std::vector<Partial> sums;
    for (size_t i = 0; i < pass.reduces.size(); ++i) {
      const ValueId reduce = pass.reduces[i];
      const LineScope line = LineScope::Op(c_, reduce);
      const Partial partial = before.empty() ? Partial() : before[i];
      const TileValue& operand = values_[OperandOf(reduce)];
      sums.push_back(OnlineOf(pass, reduce) != nullptr
                         ? reduce_.AccumulateOnline(reduce, partial, operand)
                         : reduce_.Accumulate(reduce, partial, operand));
    }
    return sums;
  }

  // The whole row is in the tile. Values of earlier passes are still there, or are computed again
  // from the row in packed form.
  std::vector<Partial> SinglePass(const PassPlan::Pass& pass) {
    if (recompute_) return InParts(pass, {});
    for (ValueId id : pass.inner)
      if (values_[id].empty()) EmitOp(id);
    NoteBytesInFlight();
    return Accumulate(pass, {});
  }

  // One iteration of a loop over the row, at `start`.
  std::vector<Partial> Iteration(const PassPlan::Pass& pass, Value* start, bool inside,
                                 const std::vector<Partial>& before) {
    IndexEmitter::Scope scope(index_);
    index_.SetTileStart(kAxisR, start);
    index_.SetInside(kAxisR, inside);
    std::vector<Partial> after;
    if (PartBits(pass) != 0) {
      after = InParts(pass, before);
      memory_->ForgetPacked();
    } else {
      EmitOps(pass.inner);
      NoteBytesInFlight();
      after = Accumulate(pass, before);
      for (ValueId id : pass.inner) values_[id] = TileValue();
    }
    index_.SetInside(kAxisR, false);
    return after;
  }

  // The register bits along r that are worth working on one after the other: those above a 16-byte
  // vector. Loads must not depend on values, since they all come first.
  BitSet PartBits(const PassPlan::Pass& pass) const {
    if (!c_.nvptx()) return 0;
    for (ValueId id : pass.inner) {
      const LoopOp& op = c_.nest.body[id];
      if (op.code == OpCode::kLoad && !op.operands.empty()) return 0;
      if (op.code == OpCode::kIndirect) return 0;
    }
    BitSet bits = c_.layout.RegBits(AxisBitOf(kAxisR));
    for (size_t i = 0; i < c_.layout.regs.size(); ++i)
      if (c_.layout.regs[i].bit < kMaxVectorBit) bits &= ~(BitSet{1} << i);
    return bits;
  }

  // All loads of the tile, packed, then the ops on one part of it after the other: of the many
  // values of a long row few are in registers at a time.
  std::vector<Partial> InParts(const PassPlan::Pass& pass, std::vector<Partial> partials) {
    const BitSet bits = PartBits(pass);
    index_.RefreshRowShift();
    std::set<ValueId> fresh;  // shared with no earlier pass
    for (ValueId id : pass.inner) {
      const LoopOp& op = c_.nest.body[id];
      const LineScope line = LineScope::Op(c_, id);
      if (op.code != OpCode::kLoad || !loaded_.insert(id).second) continue;
      body_.LoadPacked(op);
      fresh.insert(id);
    }
    NoteBytesInFlight();
    index_.RefreshRowShift();
    for (uint32_t part = 0; part < 1u << CountBits(bits); ++part) {
      c_.BeginPart(bits, SpreadBits(part, bits));
      for (ValueId id : pass.inner) {
        const LoopOp& op = c_.nest.body[id];
        const LineScope line = LineScope::Op(c_, id);
        if (op.code == OpCode::kLoad) {
          values_[id] = memory_->Reload(op, recompute_ && fresh.count(id) == 0);
        } else {
          HandleOp(c_.nest, id, body_, values_);
        }
      }
      partials = Accumulate(pass, partials);
      for (ValueId id : pass.inner) values_[id] = TileValue();
      c_.EndPart();
    }
    if (!recompute_) loaded_.clear();
    return partials;
  }

  std::vector<Partial> LoopedPass(const PassPlan::Pass& pass) {
    const LineScope line = LineScope::Reduction(c_);
    std::vector<Partial> partials;
    c_.BeginPart(PartBits(pass), 0);  // one set of accumulators for all parts
    for (ValueId reduce : pass.reduces) {
      const AxisSet axes = axes_[OperandOf(reduce)];
      partials.push_back(OnlineOf(pass, reduce) != nullptr ? reduce_.OnlineIdentity(reduce, axes)
                                                           : reduce_.Identity(reduce, axes));
    }
    c_.EndPart();
    const AxisRange& r = axis(kAxisR);
    if (c_.tile.row_shift.has_value()) return ShiftedIterations(pass, partials);
    const IndexExpr whole_end = FloorDiv(r.numel, r.block()) * r.block();
    const bool has_whole = !c_.tile.ranges.ProveLt(r.numel, r.block());
    if (has_whole) {
      partials = Loop(index_.EmitSize(whole_end), partials,
                      [&](Value* start, const std::vector<Partial>& before) {
                        return Iteration(pass, start, /*inside=*/true, before);
                      });
    }
    if (!r.needs_mask) return partials;
    Value* start = has_whole ? index_.EmitSize(whole_end) : c_.Index(0);
    if (r.numel.IsConst()) {
      return r.numel == whole_end ? partials : Iteration(pass, start, /*inside=*/false, partials);
    }
    return TailIfAny(pass, start, partials);
  }

  // A shifted row has its first and last iteration masked, those between are whole.
  std::vector<Partial> ShiftedIterations(const PassPlan::Pass& pass,
                                         const std::vector<Partial>& partials) {
    const AxisRange& r = axis(kAxisR);
    Value* length = index_.EmitSize(r.numel);
    Value* end = b_.CreateAdd(length, index_.row_shift());
    return Loop(end, partials, [&](Value* start, const std::vector<Partial>& before) {
      Value* not_first = b_.CreateICmpSGE(start, c_.Index(c_.tile.row_shift->vector()));
      Value* whole = b_.CreateICmpSLE(b_.CreateAdd(start, c_.Index(r.block())), length);
      return Merge(b_.CreateAnd(not_first, whole), before,
                   [&](bool inside) { return Iteration(pass, start, inside, before); });
    });
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
      add(phis[i].companions, partials[i].companions);
    }
  }
  template <typename F>
  static std::vector<Partial> MapPartials(std::vector<Partial> partials, const F& f) {
    for (Partial& partial : partials) {
      for (Value*& v : partial.values.slots) v = f(v);
      for (Value*& v : partial.companions.slots) v = f(v);
    }
    return partials;
  }

  // for (r = 0; r < end; r += RBLOCK) partials = body(r, partials)
  template <typename F>
  std::vector<Partial> Loop(Value* end, const std::vector<Partial>& start, const F& body) {
    llvm::BasicBlock* before = b_.GetInsertBlock();
    llvm::BasicBlock* header = NewBlock("loop");
    llvm::BasicBlock* body_block = NewBlock("body");
    llvm::BasicBlock* exit = NewBlock("exit");
    b_.CreateBr(header);
    b_.SetInsertPoint(header);
    llvm::PHINode* r = b_.CreatePHI(c_.index_type, 2);
    r->addIncoming(c_.Index(0), before);
    const std::vector<Partial> phis = MakePhis(start, before);
    b_.CreateCondBr(b_.CreateICmpSLT(r, end), body_block, exit);
    b_.SetInsertPoint(body_block);
    const std::vector<Partial> next = body(r, phis);
    AddIncoming(phis, next, b_.GetInsertBlock());
    r->addIncoming(b_.CreateAdd(r, c_.Index(axis(kAxisR).block())), b_.GetInsertBlock());
    b_.CreateBr(header);
    b_.SetInsertPoint(exit);
    return phis;
  }

  // if (condition) body(true); else body(false); and the partials of whichever ran.
  template <typename F>
  std::vector<Partial> Merge(Value* condition, const std::vector<Partial>& shape, const F& body) {
    std::vector<Partial> results[2];
    llvm::BasicBlock* ends[2];
    auto part = [&](bool taken) {
      results[taken] = body(taken);
      ends[taken] = b_.GetInsertBlock();
    };
    Branch(condition, [&] { part(true); }, [&] { part(false); });
    if (shape.empty()) return shape;
    const std::vector<Partial> phis = MakePhis(results[1], ends[1]);
    AddIncoming(phis, results[0], ends[0]);
    return phis;
  }

  // A last, masked iteration when the length is no multiple of RBLOCK, which only the launch tells.
  std::vector<Partial> TailIfAny(const PassPlan::Pass& pass, Value* start,
                                 const std::vector<Partial>& partials) {
    Value* any = b_.CreateICmpSLT(start, index_.EmitSize(axis(kAxisR).numel));
    return Merge(any, partials, [&](bool taken) {
      return taken ? Iteration(pass, start, /*inside=*/false, partials) : partials;
    });
  }

  EmitContext& c_;
  llvm::IRBuilder<>& b_;
  const PassPlan& plan_;
  const bool recompute_;
  std::vector<AxisSet> axes_;
  IndexEmitter index_;
  ScalarEmitter scalars_;
  std::unique_ptr<MemoryEmitter> memory_;
  BodyEmitter body_;
  ReduceEmitter reduce_;
  std::vector<TileValue> values_;  // by op position; of what has been computed
  std::set<ValueId> loaded_;       // in packed form
  double bytes_in_flight_ = 0;
};

}  // namespace

namespace {

// Whether a persistent kernel should compute inner values again in later passes, from loads that
// it keeps packed, rather than keep all of them in registers as f32.
bool ShouldRecompute(const LoopNest& nest, const Tile& tile, const Layout& layout) {
  if (tile.simd || tile.form != KernelForm::kPersistent || layout.num_slots() <= kMaxKeptSlots)
    return false;
  const std::vector<bool> inner = InnerValues(nest);
  bool packs = false;
  for (ValueId id = 0; id < static_cast<int>(nest.body.size()); ++id) {
    const LoopOp& op = nest.body[id];
    if (!inner[id]) continue;
    // What loads depend on would have to be kept too.
    if (op.code == OpCode::kIndirect || (op.code == OpCode::kLoad && !op.operands.empty()))
      return false;
    packs |= op.code == OpCode::kLoad && DTypeBytes(op.dtype) < 4;
  }
  return packs;
}

}  // namespace

EmittedKernel EmitKernel(const LoopNest& nest, const Tile& tile, const Layout& layout,
                         const std::string& entry, bool relaxed_math, llvm::Module& module) {
  llvm::IRBuilder<> builder(module.getContext());
  EmitContext context(nest, tile, layout, module, builder);
  if (relaxed_math && !tile.simd) context.tolerances = OpTolerances(nest);
  context.index_type = tile.wide_index ? builder.getInt64Ty() : builder.getInt32Ty();
  EntryPoint point = tile.simd ? BeginCpuEntry(context, entry) : BeginCudaEntry(context, entry);
  const LineScope line = LineScope::Header(context);
  const bool recompute = ShouldRecompute(nest, tile, layout);
  const PassPlan plan =
      MakePassPlan(nest, /*online=*/recompute || tile.form == KernelForm::kLooped);
  InstanceEmitter instance(context, plan, recompute);
  instance.Emit(point.StartInstance(context));
  point.Finish(context);
  if (instance.MinBlocks() > 0)
    builder.GetInsertBlock()->getParent()->addFnAttr("nvvm.minctasm",
                                                     std::to_string(instance.MinBlocks()));
  return {instance.FinishSharedMemory(), instance.bytes_in_flight()};
}

}  // namespace stax
