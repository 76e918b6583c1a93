#include "compiler/codegen/reduce_emitter.h"

#include "compiler/codegen/combine_tree.h"
#include "compiler/codegen/line_info.h"
#include "ir/check.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace stax {

using llvm::Value;

namespace {

constexpr AxisSet kR = AxisBitOf(kAxisR);

bool IsLast(ReduceKind kind) {
  return kind == ReduceKind::kArgMaxLast || kind == ReduceKind::kArgMinLast;
}
bool IsMax(ReduceKind kind) {
  return kind == ReduceKind::kArgMax || kind == ReduceKind::kArgMaxLast;
}

}  // namespace

DType ReduceEmitter::OperandType(ValueId reduce) const {
  return c_.nest.body[c_.nest.body[reduce].operands[0]].dtype;
}

ReduceEmitter::Pair ReduceEmitter::At(const Partial& partial, uint32_t slot) {
  return {partial.values.At(slot),
          partial.companions.empty() ? nullptr : partial.companions.At(slot)};
}

// Position of "no element": loses every tie.
llvm::Constant* ReduceEmitter::Sentinel(ReduceKind kind) const {
  if (IsLast(kind)) return c_.Index(-1);
  return b_.getInt(llvm::APInt::getSignedMaxValue(c_.index_type->getIntegerBitWidth()));
}

bool ReduceEmitter::LaneVector(AxisSet axes) const {
  return c_.tile.simd && c_.layout.LaneBits(axes) != 0;
}

Partial ReduceEmitter::Shell(AxisSet operand_axes) const {
  Partial partial;
  partial.values.axes = operand_axes | kR;
  partial.values.regs = c_.RegBits(partial.values.axes);
  partial.companions.axes = partial.values.axes;
  partial.companions.regs = partial.values.regs;
  return partial;
}

Partial ReduceEmitter::Identity(ValueId reduce, AxisSet operand_axes) {
  const ReduceKind kind = c_.nest.body[reduce].reduce;
  Partial partial = Shell(operand_axes);
  Value* value = scalars_.Identity(kind, OperandType(reduce));
  Value* position = Sentinel(kind);
  if (LaneVector(partial.values.axes)) {
    value = c_.Splat(value);
    position = c_.Splat(position);
  }
  const size_t slots = size_t{1} << CountBits(partial.values.regs);
  partial.values.slots.assign(slots, value);
  if (IsArgReduce(kind)) partial.companions.slots.assign(slots, position);
  return partial;
}

// Whether `a` is taken rather than `b`. NaN is the extreme; equal values go by position.
Value* ReduceEmitter::FirstWins(ReduceKind kind, DType t, const Pair& a, const Pair& b) {
  Value* wins = scalars_.Op(IsMax(kind) ? OpCode::kGt : OpCode::kLt, t, {a.value, b.value});
  Value* tie = scalars_.Op(OpCode::kEq, t, {a.value, b.value});
  if (IsFloat(t)) {
    Value* a_nan = b_.CreateFCmpUNO(a.value, a.value);
    Value* b_nan = b_.CreateFCmpUNO(b.value, b.value);
    wins = b_.CreateOr(wins, b_.CreateAnd(a_nan, b_.CreateNot(b_nan)));
    tie = b_.CreateOr(tie, b_.CreateAnd(a_nan, b_nan));
  }
  Value* order = IsLast(kind) ? b_.CreateICmpSGT(a.companion, b.companion)
                              : b_.CreateICmpSLT(a.companion, b.companion);
  return b_.CreateOr(wins, b_.CreateAnd(tie, order));
}

ReduceEmitter::Pair ReduceEmitter::Combine(ValueId reduce, bool online, const Pair& a,
                                           const Pair& b) {
  const ReduceKind kind = c_.nest.body[reduce].reduce;
  const DType t = OperandType(reduce);
  if (online) return CombineOnline(t, a, b);
  if (!IsArgReduce(kind)) return {scalars_.Combine(kind, t, a.value, b.value), nullptr};
  Value* first = FirstWins(kind, t, a, b);
  return {b_.CreateSelect(first, a.value, b.value),
          b_.CreateSelect(first, a.companion, b.companion)};
}

Partial ReduceEmitter::Accumulate(ValueId reduce, const Partial& partial,
                                  const TileValue& operand) {
  const ReduceKind kind = c_.nest.body[reduce].reduce;
  const TileValue mask = index_.Mask(kR);
  const Partial identity = Identity(reduce, operand.axes);
  const bool lane_vector = LaneVector(identity.values.axes);
  Partial sum = Shell(operand.axes);
  for (uint32_t packed = 0; packed < identity.values.slots.size(); ++packed) {
    const uint32_t slot = SpreadBits(packed, sum.values.regs);
    Pair term{operand.At(slot), nullptr};
    if (IsArgReduce(kind)) term.companion = index_.Coordinate(kAxisR, slot);
    if (lane_vector) {
      term.value = c_.Splat(term.value);
      if (term.companion != nullptr) term.companion = c_.Splat(term.companion);
    }
    if (!mask.empty()) {
      const Pair none = At(identity, slot);
      term.value = b_.CreateSelect(mask.At(slot), term.value, none.value);
      if (term.companion != nullptr)
        term.companion = b_.CreateSelect(mask.At(slot), term.companion, none.companion);
    }
    if (!partial.values.empty()) term = Combine(reduce, false, At(partial, slot), term);
    sum.values.slots.push_back(term.value);
    if (term.companion != nullptr) sum.companions.slots.push_back(term.companion);
  }
  return sum;
}

std::vector<Partial> ReduceEmitter::Finish(const std::vector<ValueId>& reduces,
                                           std::vector<Partial> partials) {
  for (size_t i = 0; i < reduces.size(); ++i) {
    const LineScope line = LineScope::Op(c_, reduces[i]);
    ReduceSlots(reduces[i], partials[i]);
  }
  for (size_t i = 0; i < reduces.size(); ++i) {
    const LineScope line = LineScope::Op(c_, reduces[i]);
    ReduceLanes(reduces[i], partials[i]);
  }
  if (c_.layout.WarpBits(kR) != 0 && !reduces.empty()) ReduceWarps(reduces, partials);
  return partials;
}

void ReduceEmitter::ReduceSlots(ValueId reduce, Partial& partial) {
  Partial reduced = Shell(partial.values.axes & ~kR);
  reduced.online = partial.online;
  const BitSet r_bits = c_.RegBits(kR) & partial.values.regs;
  for (TileValue* v : {&reduced.values, &reduced.companions}) {
    v->axes &= ~kR;
    v->regs &= ~c_.RegBits(kR);
  }
  for (uint32_t packed = 0; packed < 1u << CountBits(reduced.values.regs); ++packed) {
    const uint32_t slot = SpreadBits(packed, reduced.values.regs);
    std::vector<Pair> pairs;
    for (uint32_t r = 0; r < 1u << CountBits(r_bits); ++r)
      pairs.push_back(At(partial, slot | SpreadBits(r, r_bits)));
    const Pair pair = CombineTree(std::move(pairs), [&](const Pair& a, const Pair& b) {
      return Combine(reduce, partial.online, a, b);
    });
    reduced.values.slots.push_back(pair.value);
    if (pair.companion != nullptr) reduced.companions.slots.push_back(pair.companion);
  }
  partial = std::move(reduced);
}

Value* ReduceEmitter::ShuffleWord(Value* word, int lane_bit) {
  return b_.CreateIntrinsic(llvm::Intrinsic::nvvm_shfl_sync_bfly_i32,
                            {b_.getInt32(-1), word, b_.getInt32(1 << lane_bit), b_.getInt32(31)});
}

// `value` of the lane whose number differs in `lane_bit`.
Value* ReduceEmitter::ShuffleXor(Value* value, int lane_bit) {
  llvm::Type* type = value->getType();
  if (c_.tile.simd) {
    std::vector<int> from;
    for (int lane = 0; lane < c_.lanes(); ++lane) from.push_back(lane ^ (1 << lane_bit));
    return b_.CreateShuffleVector(value, from);
  }
  const int bits = type->getPrimitiveSizeInBits();
  Value* word = b_.CreateBitCast(value, b_.getIntNTy(bits));
  if (bits <= 32) {
    word = ShuffleWord(b_.CreateZExt(word, b_.getInt32Ty()), lane_bit);
    return b_.CreateBitCast(b_.CreateTrunc(word, b_.getIntNTy(bits)), type);
  }
  Value* low = ShuffleWord(b_.CreateTrunc(word, b_.getInt32Ty()), lane_bit);
  Value* high = ShuffleWord(b_.CreateTrunc(b_.CreateLShr(word, 32), b_.getInt32Ty()), lane_bit);
  word = b_.CreateOr(b_.CreateZExt(low, b_.getInt64Ty()),
                     b_.CreateShl(b_.CreateZExt(high, b_.getInt64Ty()), 32));
  return b_.CreateBitCast(word, type);
}

void ReduceEmitter::ReduceLanes(ValueId reduce, Partial& partial) {
  const BitSet r_lanes = c_.layout.LaneBits(kR);
  const bool all_lanes_equal = c_.tile.simd && !LaneVector(partial.values.axes);
  for (size_t i = 0; i < partial.values.slots.size(); ++i) {
    Pair pair{partial.values.slots[i],
              partial.companions.empty() ? nullptr : partial.companions.slots[i]};
    for (size_t bit = 0; bit < c_.layout.lanes.size(); ++bit) {
      if ((r_lanes >> bit & 1) == 0) continue;
      Pair other{ShuffleXor(pair.value, bit), nullptr};
      if (pair.companion != nullptr) other.companion = ShuffleXor(pair.companion, bit);
      pair = Combine(reduce, partial.online, pair, other);
    }
    if (all_lanes_equal && pair.value->getType()->isVectorTy()) {
      pair.value = b_.CreateExtractElement(pair.value, uint64_t{0});
      if (pair.companion != nullptr)
        pair.companion = b_.CreateExtractElement(pair.companion, uint64_t{0});
    }
    partial.values.slots[i] = pair.value;
    if (pair.companion != nullptr) partial.companions.slots[i] = pair.companion;
  }
}

TileValue ReduceEmitter::Result(ValueId reduce, const Partial& partial) {
  const LoopOp& op = c_.nest.body[reduce];
  if (!IsArgReduce(op.reduce)) {
    TileValue result = partial.values;
    if (IsHalf(op.dtype)) scalars_.RoundToHalf(op.dtype, result.slots);
    return result;
  }
  TileValue result = partial.companions;
  for (Value*& position : result.slots) {
    llvm::Type* type = position->getType();
    // An empty range has no position; 0 then.
    Value* none =
        b_.CreateICmpEQ(position, llvm::isa<llvm::VectorType>(type) ? c_.Splat(Sentinel(op.reduce))
                                                                    : Sentinel(op.reduce));
    position = b_.CreateSelect(none, llvm::Constant::getNullValue(type), position);
    position = b_.CreateSExtOrTrunc(position, TypeLike(position, scalars_.RegType(op.dtype)));
  }
  return result;
}

}  // namespace stax
