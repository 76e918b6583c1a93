#include "compiler/codegen/scalar_emitter.h"

#include "compiler/codegen/math/math.h"
#include "compiler/codegen/math/relaxed.h"
#include "ir/check.h"
#include "ir/reducer.h"

namespace stax {

using llvm::Value;
using llvm::Intrinsic::ID;

llvm::Type* TypeLike(Value* like, llvm::Type* element) {
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(like->getType());
  if (vector == nullptr) return element;
  return llvm::FixedVectorType::get(element, vector->getNumElements());
}

llvm::Type* ScalarEmitter::RegType(DType t) const {
  if (t == DType::kBool) return b_.getInt1Ty();
  if (t == DType::kF64) return b_.getDoubleTy();
  if (IsFloat(t)) return b_.getFloatTy();
  return b_.getIntNTy(8 * DTypeBytes(t));
}

llvm::Constant* ScalarEmitter::Const(const Scalar& value) const {
  llvm::Type* type = RegType(value.dtype);
  if (IsFloat(value.dtype)) return llvm::ConstantFP::get(type, value.f);
  return llvm::ConstantInt::getSigned(type, value.i, /*ImplicitTrunc=*/true);
}

Value* ScalarEmitter::Op(OpCode code, DType type, llvm::ArrayRef<Value*> args, double tolerance) {
  if (ClassOf(code) == OpClass::kCompare) return Compare(code, type, args[0], args[1]);
  if (type == DType::kBool) return BoolOp(code, args);
  if (!IsFloat(type)) return IntegerOp(code, type, args);
  if (nvptx_ && type != DType::kF64) {
    if (Value* relaxed = EmitRelaxed(b_, code, args, tolerance)) return relaxed;
  }
  if (IsMathOp(code)) {
    MathOptions options;
    options.nvptx = nvptx_;
    return EmitMath(b_, code, args, options);
  }
  return FloatOp(code, type, args);
}

Value* ScalarEmitter::FloatOp(OpCode code, DType type, llvm::ArrayRef<Value*> args) {
  Value* a = args[0];
  auto unary = [&](ID id) { return b_.CreateUnaryIntrinsic(id, a); };
  auto constant = [&](double v) { return llvm::ConstantFP::get(a->getType(), v); };
  switch (code) {
    case OpCode::kAbs:
      return unary(llvm::Intrinsic::fabs);
    case OpCode::kNeg:
      return b_.CreateFNeg(a);
    case OpCode::kSign: {  // zeros and NaN stay as they are
      Value* negative = b_.CreateSelect(b_.CreateFCmpOLT(a, constant(0)), constant(-1), a);
      return b_.CreateSelect(b_.CreateFCmpOGT(a, constant(0)), constant(1), negative);
    }
    case OpCode::kCeil:
      return unary(llvm::Intrinsic::ceil);
    case OpCode::kFloor:
      return unary(llvm::Intrinsic::floor);
    case OpCode::kRound:
      return unary(llvm::Intrinsic::roundeven);
    case OpCode::kTrunc:
      return unary(llvm::Intrinsic::trunc);
    case OpCode::kSqrt:
      return unary(llvm::Intrinsic::sqrt);
    case OpCode::kAdd:
      return b_.CreateFAdd(a, args[1]);
    case OpCode::kSub:
      return b_.CreateFSub(a, args[1]);
    case OpCode::kMul:
      return b_.CreateFMul(a, args[1]);
    case OpCode::kDiv:
      return b_.CreateFDiv(a, args[1]);
    case OpCode::kMax:
      return Combine(ReduceKind::kMax, type, a, args[1]);
    case OpCode::kMin:
      return Combine(ReduceKind::kMin, type, a, args[1]);
    default:
      STAX_CHECK(false, "no such float op: " + std::string(OpName(code)));
  }
}

Value* ScalarEmitter::BoolOp(OpCode code, llvm::ArrayRef<Value*> args) {
  switch (code) {
    case OpCode::kNot:
      return b_.CreateNot(args[0]);
    case OpCode::kAnd:
      return b_.CreateAnd(args[0], args[1]);
    case OpCode::kOr:
      return b_.CreateOr(args[0], args[1]);
    case OpCode::kXor:
      return b_.CreateXor(args[0], args[1]);
    default:
      STAX_CHECK(false, "no such bool op: " + std::string(OpName(code)));
  }
}

Value* ScalarEmitter::IntegerOp(OpCode code, DType type, llvm::ArrayRef<Value*> args) {
  const bool is_signed = IsSigned(type);
  Value* a = args[0];
  Value* zero = llvm::Constant::getNullValue(a->getType());
  switch (code) {
    case OpCode::kAbs:
      return is_signed ? b_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, a, b_.getFalse()) : a;
    case OpCode::kNeg:
      return b_.CreateNeg(a);
    case OpCode::kSign: {
      Value* positive = is_signed ? b_.CreateICmpSGT(a, zero) : b_.CreateICmpNE(a, zero);
      positive = b_.CreateZExt(positive, a->getType());
      if (!is_signed) return positive;
      return b_.CreateOr(positive, b_.CreateSExt(b_.CreateICmpSLT(a, zero), a->getType()));
    }
    case OpCode::kNot:
      return b_.CreateNot(a);
    case OpCode::kAdd:
      return b_.CreateAdd(a, args[1]);
    case OpCode::kSub:
      return b_.CreateSub(a, args[1]);
    case OpCode::kMul:
      return b_.CreateMul(a, args[1]);
    case OpCode::kDiv:
    case OpCode::kMod:
    case OpCode::kFmod:
      return DivMod(code, is_signed, a, args[1]);
    case OpCode::kPow:
      return Pow(is_signed, a, args[1]);
    case OpCode::kMax:
      return Combine(ReduceKind::kMax, type, a, args[1]);
    case OpCode::kMin:
      return Combine(ReduceKind::kMin, type, a, args[1]);
    case OpCode::kAnd:
      return b_.CreateAnd(a, args[1]);
    case OpCode::kOr:
      return b_.CreateOr(a, args[1]);
    case OpCode::kXor:
      return b_.CreateXor(a, args[1]);
    case OpCode::kShl:
    case OpCode::kShr:
      return Shift(code, is_signed, a, args[1]);
    default:
      STAX_CHECK(false, "no such integer op: " + std::string(OpName(code)));
  }
}

// Divisors 0 and -1 (INT_MIN / -1 overflows) would trap on x86 and are undefined in LLVM: the
// division gets 1 instead and the result is selected.
Value* ScalarEmitter::DivMod(OpCode code, bool is_signed, Value* a, Value* b) {
  Value* zero = ConstLike(a, 0);
  Value* is_zero = b_.CreateICmpEQ(b, zero);
  if (!is_signed) {
    Value* safe = b_.CreateSelect(is_zero, ConstLike(a, 1), b);
    Value* result = code == OpCode::kDiv ? b_.CreateUDiv(a, safe) : b_.CreateURem(a, safe);
    return b_.CreateSelect(is_zero, zero, result);
  }
  Value* is_minus_one = b_.CreateICmpEQ(b, ConstLike(a, -1));
  Value* safe = b_.CreateSelect(b_.CreateOr(is_zero, is_minus_one), ConstLike(a, 1), b);
  if (code == OpCode::kDiv) {
    Value* quotient = b_.CreateSelect(is_minus_one, b_.CreateNeg(a), b_.CreateSDiv(a, safe));
    return b_.CreateSelect(is_zero, zero, quotient);
  }
  Value* remainder = b_.CreateSRem(a, safe);  // by 0 and -1: 0, as a % 1 is
  if (code == OpCode::kFmod) return remainder;
  Value* signs_differ = b_.CreateICmpSLT(b_.CreateXor(remainder, b), zero);
  Value* adjust = b_.CreateAnd(signs_differ, b_.CreateICmpNE(remainder, zero));
  return b_.CreateSelect(adjust, b_.CreateAdd(remainder, b), remainder);
}

Value* ScalarEmitter::Shift(OpCode code, bool is_signed, Value* a, Value* b) {
  Value* width = ConstLike(a, a->getType()->getScalarSizeInBits());
  // LLVM 22 for NVPTX folds what follows into one shift instruction that clamps its count, but cuts
  // the count to 32 bits first: 2^63 would become 0.
  if (nvptx_) b = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, b, width);
  Value* in_range = b_.CreateICmpULT(b, width);
  Value* count = b_.CreateSelect(in_range, b, ConstLike(a, 0));
  Value* shifted = code == OpCode::kShl ? b_.CreateShl(a, count)
                   : is_signed          ? b_.CreateAShr(a, count)
                                        : b_.CreateLShr(a, count);
  return b_.CreateSelect(in_range, shifted, ConstLike(a, 0));
}

// Square and multiply until no exponent has bits left.
Value* ScalarEmitter::PowLoop(Value* base, Value* exponent) {
  llvm::Type* type = base->getType();
  llvm::BasicBlock* before = b_.GetInsertBlock();
  llvm::Function* function = before->getParent();
  auto* body = llvm::BasicBlock::Create(b_.getContext(), "pow", function);
  auto* after = llvm::BasicBlock::Create(b_.getContext(), "pow.end", function);
  b_.CreateBr(body);
  b_.SetInsertPoint(body);
  llvm::PHINode* result = b_.CreatePHI(type, 2);
  llvm::PHINode* square = b_.CreatePHI(type, 2);
  llvm::PHINode* left = b_.CreatePHI(type, 2);
  Value* odd = b_.CreateTrunc(left, TypeLike(left, b_.getInt1Ty()));
  Value* next_result = b_.CreateSelect(odd, b_.CreateMul(result, square), result);
  Value* next_square = b_.CreateMul(square, square);
  Value* next_left = b_.CreateLShr(left, ConstLike(left, 1));
  Value* more = b_.CreateICmpNE(next_left, ConstLike(left, 0));
  if (type->isVectorTy()) more = b_.CreateOrReduce(more);
  b_.CreateCondBr(more, body, after);
  result->addIncoming(ConstLike(base, 1), before);
  square->addIncoming(base, before);
  left->addIncoming(exponent, before);
  result->addIncoming(next_result, body);
  square->addIncoming(next_square, body);
  left->addIncoming(next_left, body);
  b_.SetInsertPoint(after);
  return next_result;
}

Value* ScalarEmitter::Pow(bool is_signed, Value* a, Value* b) {
  Value* zero = ConstLike(a, 0);
  Value* one = ConstLike(a, 1);
  if (!is_signed) return PowLoop(a, b);
  Value* negative = b_.CreateICmpSLT(b, zero);
  Value* power = PowLoop(a, b_.CreateSelect(negative, zero, b));
  // To a negative power only 1 and -1 have integer results.
  Value* odd = b_.CreateTrunc(b, TypeLike(b, b_.getInt1Ty()));
  Value* of_minus_one = b_.CreateSelect(odd, a, one);
  Value* is_minus_one = b_.CreateICmpEQ(a, ConstLike(a, -1));
  Value* other = b_.CreateSelect(b_.CreateICmpEQ(a, one), one, zero);
  return b_.CreateSelect(negative, b_.CreateSelect(is_minus_one, of_minus_one, other), power);
}

Value* ScalarEmitter::Compare(OpCode code, DType type, Value* a, Value* b) {
  using P = llvm::CmpInst::Predicate;
  const int which = static_cast<int>(code) - static_cast<int>(OpCode::kEq);
  // eq ne lt le gt ge
  static constexpr P kFloatPredicates[] = {P::FCMP_OEQ, P::FCMP_UNE, P::FCMP_OLT,
                                           P::FCMP_OLE, P::FCMP_OGT, P::FCMP_OGE};
  static constexpr P kSigned[] = {P::ICMP_EQ,  P::ICMP_NE,  P::ICMP_SLT,
                                  P::ICMP_SLE, P::ICMP_SGT, P::ICMP_SGE};
  static constexpr P kUnsigned[] = {P::ICMP_EQ,  P::ICMP_NE,  P::ICMP_ULT,
                                    P::ICMP_ULE, P::ICMP_UGT, P::ICMP_UGE};
  if (IsFloat(type)) return b_.CreateFCmp(kFloatPredicates[which], a, b);
  return b_.CreateICmp(IsSigned(type) ? kSigned[which] : kUnsigned[which], a, b);
}

llvm::Constant* ScalarEmitter::Identity(ReduceKind kind, DType t) const {
  return Const(ReduceIdentity(kind, t));
}

Value* ScalarEmitter::Combine(ReduceKind kind, DType t, Value* a, Value* b) {
  const bool is_float = IsFloat(t);
  switch (kind) {
    case ReduceKind::kSum:
      if (t == DType::kBool) return b_.CreateOr(a, b);
      return is_float ? b_.CreateFAdd(a, b) : b_.CreateAdd(a, b);
    case ReduceKind::kProd:
      if (t == DType::kBool) return b_.CreateAnd(a, b);
      return is_float ? b_.CreateFMul(a, b) : b_.CreateMul(a, b);
    case ReduceKind::kMax:
      return b_.CreateBinaryIntrinsic(is_float      ? llvm::Intrinsic::maximum
                                      : IsSigned(t) ? llvm::Intrinsic::smax
                                                    : llvm::Intrinsic::umax,
                                      a, b);
    case ReduceKind::kMin:
      return b_.CreateBinaryIntrinsic(is_float      ? llvm::Intrinsic::minimum
                                      : IsSigned(t) ? llvm::Intrinsic::smin
                                                    : llvm::Intrinsic::umin,
                                      a, b);
    default:
      STAX_CHECK(false, "an arg reduction combines pairs");
  }
}

}  // namespace stax
