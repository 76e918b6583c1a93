// The part of ReduceEmitter for online sums: pairs (m, d) with d the sum of exp(v - s(m)), where
// s(m) is m, or 0 if m is infinite, so that no inf - inf arises on the way.
#include <limits>

#include "compiler/codegen/combine_tree.h"
#include "compiler/codegen/reduce_emitter.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace stax {

using llvm::Value;

namespace {
constexpr AxisSet kR = AxisBitOf(kAxisR);
}  // namespace

Value* ReduceEmitter::IsInfinite(Value* value) {
  Value* magnitude = b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, value);
  return b_.CreateFCmpOEQ(magnitude, llvm::ConstantFP::getInfinity(value->getType()));
}

Value* ReduceEmitter::FiniteShift(Value* max) {
  return b_.CreateSelect(IsInfinite(max), llvm::Constant::getNullValue(max->getType()), max);
}

// exp(a - b), a term of the sum or the factor of an older one. On CUDA, whatever the output's type,
// ex2.approx takes the product with log2(e) as it is rounded: off by up to |a - b| 2^-23, and by
// 2^-22 of its own. All that a term goes through adds up to the difference D between its exponent
// and the maximum, so the first part is D 2^-23 of exp(-D), little in a sum that has the term 1: at
// worst 2^-19, for 2^20 terms. The second counts once for each time that a thread's maximum grew:
// 2^-17 where it does in each of 32 steps, as the accurate exp would have it, too (2 ulp). That one
// has 10 instructions, which would take longer than reading the row.
Value* ReduceEmitter::ExpOfDifference(DType t, Value* a, Value* b) {
  Value* difference = b_.CreateFSub(a, b);
  if (!c_.nvptx() || t != DType::kF32) return scalars_.Op(OpCode::kExp, t, {difference});
  constexpr double kLog2e = 0x1.71547652b82fep+0;
  Value* power = b_.CreateFMul(difference, llvm::ConstantFP::get(difference->getType(), kLog2e));
  return b_.CreateIntrinsic(llvm::Intrinsic::nvvm_ex2_approx_ftz, {power->getType()}, {power});
}

Partial ReduceEmitter::OnlineIdentity(ValueId max, AxisSet operand_axes) {
  Partial partial = Identity(max, operand_axes);
  partial.online = true;
  Value* value = partial.values.slots[0];
  for (TileValue* v : {&partial.values, &partial.companions}) {
    v->regs &= ~c_.RegBits(kR);
    v->slots.assign(size_t{1} << CountBits(v->regs), value);
  }
  for (Value*& sum : partial.companions.slots) sum = llvm::Constant::getNullValue(value->getType());
  return partial;
}

// A part without elements has m = -inf and d = 0: its factor is exp(-inf) = 0, never inf * 0.
ReduceEmitter::Pair ReduceEmitter::CombineOnline(DType t, const Pair& a, const Pair& b) {
  Value* max = scalars_.Combine(ReduceKind::kMax, t, a.value, b.value);
  Value* shift = FiniteShift(max);
  Value* of_a = b_.CreateFMul(a.companion, ExpOfDifference(t, a.value, shift));
  Value* of_b = b_.CreateFMul(b.companion, ExpOfDifference(t, b.value, shift));
  return {max, b_.CreateFAdd(of_a, of_b)};
}

// One maximum for all r slots of a thread, then one exp a slot and one to rescale the old sum.
Partial ReduceEmitter::AccumulateOnline(ValueId max, const Partial& partial,
                                        const TileValue& operand) {
  const DType t = OperandType(max);
  const TileValue mask = index_.Mask(kR);
  Partial next = OnlineIdentity(max, operand.axes);
  const BitSet r_bits = c_.RegBits(kR);
  const bool lane_vector = LaneVector(next.values.axes);
  for (size_t packed = 0; packed < next.values.slots.size(); ++packed) {
    const uint32_t loop_slot = SpreadBits(packed, next.values.regs);
    Value* none = next.values.slots[packed];
    std::vector<Value*> terms;
    for (uint32_t r = 0; r < 1u << CountBits(r_bits); ++r) {
      const uint32_t slot = loop_slot | SpreadBits(r, r_bits);
      Value* term = operand.At(slot);
      if (lane_vector) term = c_.Splat(term);
      if (!mask.empty()) term = b_.CreateSelect(mask.At(slot), term, none);
      terms.push_back(term);
    }
    Value* top = CombineTree(
        terms, [&](Value* a, Value* b) { return scalars_.Combine(ReduceKind::kMax, t, a, b); });
    const bool first = partial.values.empty();
    if (!first) top = scalars_.Combine(ReduceKind::kMax, t, partial.values.slots[packed], top);
    Value* shift = FiniteShift(top);
    for (Value*& term : terms) term = ExpOfDifference(t, term, shift);
    Value* sum = CombineTree(terms, [&](Value* a, Value* b) { return b_.CreateFAdd(a, b); });
    if (!first) {
      Value* factor = ExpOfDifference(t, partial.values.slots[packed], shift);
      sum = b_.CreateFAdd(b_.CreateFMul(partial.companions.slots[packed], factor), sum);
    }
    next.values.slots[packed] = top;
    next.companions.slots[packed] = sum;
  }
  return next;
}

TileValue ReduceEmitter::OnlineResult(const OnlineSum& pair, const Partial& finished) {
  TileValue sum = finished.companions;
  if (pair.guarded) return sum;
  // exp(v - max) is NaN somewhere in a row whose maximum is infinite, if the row has elements.
  const IndexExpr& length = c_.tile.axes[kAxisR].numel;
  const bool never_empty = c_.tile.ranges.ProveLe(1, length);
  for (size_t i = 0; i < sum.slots.size(); ++i) {
    Value* bad = IsInfinite(finished.values.slots[i]);
    if (!never_empty) {
      Value* any = b_.CreateICmpSGT(index_.EmitSize(length), c_.Index(0));
      bad = c_.AndMasks(bad, any);
    }
    Value* nan = llvm::ConstantFP::getNaN(sum.slots[i]->getType());
    sum.slots[i] = b_.CreateSelect(bad, nan, sum.slots[i]);
  }
  return sum;
}

}  // namespace stax
