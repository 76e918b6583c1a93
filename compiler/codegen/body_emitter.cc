#include "compiler/codegen/body_emitter.h"

#include "ir/check.h"

namespace stax {

using llvm::Value;

template <typename F>
TileValue BodyEmitter::Elementwise(const std::vector<const TileValue*>& operands, const F& f) {
  TileValue result;
  for (const TileValue* operand : operands) {
    result.axes |= operand->axes;
    result.regs |= operand->regs;
  }
  std::vector<Value*> args(operands.size());
  for (uint32_t packed = 0; packed < 1u << CountBits(result.regs); ++packed) {
    const uint32_t slot = SpreadBits(packed, result.regs);
    bool vector = false;
    for (size_t i = 0; i < operands.size(); ++i) {
      args[i] = operands[i]->At(slot);
      vector |= args[i]->getType()->isVectorTy();
    }
    if (vector)
      for (Value*& arg : args) arg = c_.Splat(arg);
    result.slots.push_back(f(args));
  }
  return result;
}

TileValue BodyEmitter::Rounded(DType t, TileValue value) {
  if (IsHalf(t)) scalars_.RoundToHalf(t, value.slots);
  return value;
}

TileValue BodyEmitter::Const(const LoopOp& op) {
  TileValue value;
  value.slots.push_back(scalars_.Const(op.literal));
  return value;
}

TileValue BodyEmitter::Index(const LoopOp& op) {
  const TileValue value = index_.Values(index_.Emit(op.index, indirects_));
  return Cast(op, index_dtype(), value);
}

TileValue BodyEmitter::Load(const LoopOp& op, const TileValue* mask) {
  const IndexTile index = index_.Emit(op.index, indirects_);
  TileValue inside = index_.Mask(index.axes);
  if (mask != nullptr) inside = index_.And(inside, *mask);
  return memory_.Load(op, index, inside);
}

void BodyEmitter::LoadPacked(const LoopOp& op) {
  const IndexTile index = index_.Emit(op.index, indirects_);
  memory_.LoadPacked(op, index, index_.Mask(index.axes));
}

void BodyEmitter::Store(const LoopOp& op, const TileValue& value) {
  const IndexTile index = index_.Emit(op.index, indirects_);
  memory_.Store(op, index, value, index_.Mask(index.axes));
}

TileValue BodyEmitter::Cast(const LoopOp& op, DType from, const TileValue& value) {
  TileValue result = Elementwise({&value}, [&](const std::vector<Value*>& args) {
    return scalars_.Cast(from, op.dtype, args[0]);
  });
  return from == op.dtype ? result : Rounded(op.dtype, std::move(result));
}

TileValue BodyEmitter::Select(const LoopOp&, const TileValue& c, const TileValue& a,
                              const TileValue& b) {
  return Elementwise({&c, &a, &b}, [&](const std::vector<Value*>& args) {
    return c_.builder.CreateSelect(args[0], args[1], args[2]);
  });
}

// Whether many quotients have one divisor: a division is worth some setting up then.
bool BodyEmitter::SharesDivisor(const LoopOp& op, DType type,
                                const std::vector<TileValue>& operands) const {
  if (op.code != OpCode::kDiv || !c_.nvptx() || !IsFloat(type) || type == DType::kF64) return false;
  if (llvm::isa<llvm::Constant>(operands[1].slots[0])) return false;
  const BitSet shared = operands[0].regs & ~operands[1].regs;
  return CountBits(shared) >= 2;
}

TileValue BodyEmitter::DivideByShared(const TileValue& dividend, const TileValue& divisor,
                                      double tolerance) {
  constexpr size_t kGroup = 8;  // quotients behind one branch: a 16-byte vector of halves
  TileValue result;
  result.axes = dividend.axes | divisor.axes;
  result.regs = dividend.regs | divisor.regs;
  result.slots.resize(size_t{1} << CountBits(result.regs));
  const BitSet shared = result.regs & ~divisor.regs;
  for (uint32_t d = 0; d < divisor.slots.size(); ++d) {
    const uint32_t divisor_slot = SpreadBits(d, divisor.regs);
    std::vector<Value*> group;
    std::vector<size_t> at;
    for (uint32_t s = 0; s < 1u << CountBits(shared); ++s) {
      const uint32_t slot = divisor_slot | SpreadBits(s, shared);
      group.push_back(dividend.At(slot));
      at.push_back(PackBits(slot, result.regs));
      if (group.size() < kGroup && s + 1 < 1u << CountBits(shared)) continue;
      scalars_.DivideAll(group, divisor.slots[d], tolerance);
      for (size_t i = 0; i < group.size(); ++i) result.slots[at[i]] = group[i];
      group.clear();
      at.clear();
    }
  }
  return result;
}

TileValue BodyEmitter::Scalar(const LoopOp& op, DType operand_type,
                              const std::vector<TileValue>& operands) {
  const double tolerance = c_.Tolerance(op);
  if (SharesDivisor(op, operand_type, operands))
    return Rounded(op.dtype, DivideByShared(operands[0], operands[1], tolerance));
  std::vector<const TileValue*> pointers;
  for (const TileValue& operand : operands) pointers.push_back(&operand);
  TileValue result = Elementwise(pointers, [&](const std::vector<Value*>& args) {
    return scalars_.Op(op.code, operand_type, args, tolerance);
  });
  return Rounded(op.dtype, std::move(result));
}

// See ClampIndirect in ir/op_semantics.h.
Value* BodyEmitter::ClampIndex(DType type, Value* value, const IndexExpr& extent) {
  llvm::IRBuilder<>& b = c_.builder;
  // An integer that holds both the value and the extent.
  const bool narrow = !c_.tile.wide_index && DTypeBytes(type) <= 4 && type != DType::kU32;
  llvm::Type* wide = narrow ? b.getInt32Ty() : b.getInt64Ty();
  Value* v = scalars_.Cast(type, narrow ? DType::kI32 : DType::kI64, value);
  Value* n = b.CreateSExt(index_.EmitSize(extent), wide);
  if (v->getType()->isVectorTy()) n = c_.Splat(n);
  llvm::Type* value_type = v->getType();
  Value* zero = llvm::Constant::getNullValue(value_type);
  Value* last = b.CreateSub(n, llvm::ConstantInt::get(value_type, 1));
  if (type == DType::kU64) {
    v = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, v, last);
  } else {
    if (IsSigned(type)) v = b.CreateSelect(b.CreateICmpSLT(v, zero), b.CreateAdd(v, n), v);
    v = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, v, last);
  }
  v = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, v, zero);  // last: also right for n = 0
  return scalars_.Cast(narrow ? DType::kI32 : DType::kI64, index_dtype(), v);
}

TileValue BodyEmitter::Indirect(const LoopOp& op, ValueId id, const TileValue& value) {
  const DType type = c_.nest.body[op.operands[0]].dtype;
  indirects_[id] = Elementwise({&value}, [&](const std::vector<Value*>& args) {
    return ClampIndex(type, args[0], op.index);
  });
  return value;
}

TileValue BodyEmitter::Reduce(const LoopOp&, const TileValue&) {
  STAX_CHECK(false, "reductions are emitted by KernelEmitter");
}

}  // namespace stax
