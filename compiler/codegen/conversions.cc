// The part of ScalarEmitter that converts and rounds.
#include "compiler/codegen/scalar_emitter.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace stax {

using llvm::Value;

Value* ScalarEmitter::Cast(DType from, DType to, Value* value) {
  if (from == to) return value;
  llvm::Type* type = TypeLike(value, RegType(to));
  if (IsFloat(from)) {
    if (to == DType::kF64) return b_.CreateFPExt(value, type);
    if (IsHalf(to)) return from == DType::kF64 ? NarrowToOdd(value) : value;
    if (to == DType::kF32) return from == DType::kF64 ? b_.CreateFPTrunc(value, type) : value;
    if (to == DType::kBool)
      return b_.CreateFCmpUNE(value, llvm::Constant::getNullValue(value->getType()));
    const auto id = IsSigned(to) ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
    return b_.CreateIntrinsic(id, {type, value->getType()}, {value});
  }
  if (to == DType::kBool)
    return b_.CreateICmpNE(value, llvm::Constant::getNullValue(value->getType()));
  if (IsFloat(to))
    return IsSigned(from) ? b_.CreateSIToFP(value, type) : b_.CreateUIToFP(value, type);
  return IsSigned(from) ? b_.CreateSExtOrTrunc(value, type) : b_.CreateZExtOrTrunc(value, type);
}

// f64 -> f32 such that a later rounding to a half type rounds only once: an inexact result takes
// the neighbour whose last bit is one, which no half value and no tie between two has.
Value* ScalarEmitter::NarrowToOdd(Value* wide) {
  Value* nearest = b_.CreateFPTrunc(wide, TypeLike(wide, b_.getFloatTy()));
  Value* back = b_.CreateFPExt(nearest, wide->getType());
  llvm::Type* int_type = TypeLike(wide, b_.getInt32Ty());
  Value* bits = b_.CreateBitCast(nearest, int_type);
  auto magnitude = [&](Value* v) { return b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, v); };
  // Ordered comparisons: NaN stays. An infinite `nearest` of a finite value steps back to the
  // largest finite number, which rounds to infinity again.
  Value* too_far = b_.CreateFCmpOGT(magnitude(back), magnitude(wide));
  Value* too_near = b_.CreateFCmpOLT(magnitude(back), magnitude(wide));
  Value* even = b_.CreateNot(b_.CreateTrunc(bits, TypeLike(wide, b_.getInt1Ty())));
  Value* down = b_.CreateSExt(b_.CreateAnd(too_far, even), int_type);
  Value* up = b_.CreateZExt(b_.CreateAnd(too_near, even), int_type);
  return b_.CreateBitCast(b_.CreateAdd(bits, b_.CreateOr(down, up)), nearest->getType());
}

// To nearest even by integer arithmetic: x86 has no conversion below AVX512-BF16, and LLVM would
// call a library function.
Value* ScalarEmitter::RoundBF16Bits(Value* value) {
  llvm::Type* int_type = TypeLike(value, b_.getInt32Ty());
  Value* bits = b_.CreateBitCast(value, int_type);
  auto constant = [&](uint32_t v) { return llvm::ConstantInt::get(int_type, v); };
  Value* last_kept = b_.CreateAnd(b_.CreateLShr(bits, constant(16)), constant(1));
  Value* rounded = b_.CreateAdd(b_.CreateAdd(bits, constant(0x7fff)), last_kept);
  // The carry would turn a NaN into another number.
  Value* is_nan = b_.CreateFCmpUNO(value, value);
  rounded = b_.CreateSelect(is_nan, b_.CreateOr(bits, constant(0x00400000)), rounded);
  return b_.CreateBitCast(b_.CreateAnd(rounded, constant(0xffff0000)), value->getType());
}

// CUDA: one instruction converts two values into one register, which also is what a store wants.
void ScalarEmitter::RoundPair(DType t, Value*& low, Value*& high) {
  llvm::Type* float_type = b_.getFloatTy();
  if (t == DType::kF16) {
    Value* pair = b_.CreateIntrinsic(llvm::Intrinsic::nvvm_ff2f16x2_rn, {high, low});
    low = b_.CreateFPExt(b_.CreateExtractElement(pair, uint64_t{0}), float_type);
    high = b_.CreateFPExt(b_.CreateExtractElement(pair, uint64_t{1}), float_type);
    return;
  }
  Value* pair = b_.CreateIntrinsic(llvm::Intrinsic::nvvm_ff2bf16x2_rn, {high, low});
  Value* bits = b_.CreateBitCast(pair, b_.getInt32Ty());
  low = b_.CreateBitCast(b_.CreateShl(bits, 16), float_type);
  high = b_.CreateBitCast(b_.CreateAnd(bits, 0xffff0000u), float_type);
}

void ScalarEmitter::RoundToHalf(DType t, llvm::MutableArrayRef<Value*> values) {
  size_t i = 0;
  if (nvptx_) {
    for (; i + 1 < values.size(); i += 2) RoundPair(t, values[i], values[i + 1]);
  }
  for (; i < values.size(); ++i) {
    if (t == DType::kF16) {
      Value* half = b_.CreateFPTrunc(values[i], TypeLike(values[i], b_.getHalfTy()));
      values[i] = b_.CreateFPExt(half, values[i]->getType());
    } else if (nvptx_) {
      Value* half = b_.CreateFPTrunc(values[i], b_.getBFloatTy());
      Value* bits = b_.CreateZExt(b_.CreateBitCast(half, b_.getInt16Ty()), b_.getInt32Ty());
      values[i] = b_.CreateBitCast(b_.CreateShl(bits, 16), b_.getFloatTy());
    } else {
      values[i] = RoundBF16Bits(values[i]);
    }
  }
}

}  // namespace stax
