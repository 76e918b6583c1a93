// Division of many f32 values by one, e.g. of a row by its sum.
//
// With y = 1/b correctly rounded and yl what is missing of it, q = a y + a yl (a product and an
// FMA) is less than an ulp off, r = a - b q is exact, and q + r y is a/b correctly rounded:
// Markstein, "Computation of elementary functions on the IBM RISC System/6000 processor", 1990.
// That holds as long as nothing overflows or becomes denormal on the way; other operands take the
// division instruction, in a branch that is hardly ever taken.
//
// Where a tolerance allows it, the product with the reciprocal is enough.
#include <vector>

#include "compiler/codegen/math/relaxed.h"
#include "compiler/codegen/math/relaxed_forms.h"
#include "compiler/codegen/scalar_emitter.h"

namespace stax {

using llvm::Value;

namespace {

// Bits of 2^-60 and 2^60 without the sign, shifted left by one. Quotients of such numbers lie in
// [2^-120, 2^120], and b q in steps of at least 2^-106: all far from denormal and infinite.
constexpr uint32_t kLow = (127u - 60) << 24;
constexpr uint32_t kHigh = (127u + 60) << 24;

}  // namespace

// 2^-60 <= |value| < 2^60.
Value* ScalarEmitter::IsModerate(Value* value) {
  Value* magnitude = b_.CreateShl(b_.CreateBitCast(value, b_.getInt32Ty()), 1);
  return b_.CreateICmpULT(b_.CreateSub(magnitude, b_.getInt32(kLow)), b_.getInt32(kHigh - kLow));
}

void ScalarEmitter::DivideAll(llvm::MutableArrayRef<Value*> dividends, Value* divisor,
                              double tolerance) {
  if (FindRelaxedForm(OpCode::kDiv, tolerance) != nullptr) {
    EmitRelaxedQuotients(b_, dividends, divisor);
  } else {
    DivideAllExactly(dividends, divisor);
  }
}

void ScalarEmitter::DivideAllExactly(llvm::MutableArrayRef<Value*> dividends, Value* divisor) {
  auto fma = [&](Value* x, Value* y, Value* z) {
    return b_.CreateIntrinsic(llvm::Intrinsic::fma, {x->getType()}, {x, y, z});
  };
  llvm::Constant* one = llvm::ConstantFP::get(divisor->getType(), 1);
  Value* y = b_.CreateFDiv(one, divisor);
  Value* negative = b_.CreateFNeg(divisor);
  Value* yl = b_.CreateFMul(fma(negative, y, one), y);
  Value* all_fast = IsModerate(divisor);
  std::vector<Value*> fast, slow;
  for (Value* a : dividends) {
    Value* q = fma(a, y, b_.CreateFMul(a, yl));
    fast.push_back(fma(fma(negative, q, a), y, q));
    Value* zero = b_.CreateFCmpOEQ(a, llvm::Constant::getNullValue(a->getType()));
    all_fast = b_.CreateAnd(all_fast, b_.CreateOr(IsModerate(a), zero));
  }
  llvm::BasicBlock* before = b_.GetInsertBlock();
  auto* exact = llvm::BasicBlock::Create(b_.getContext(), "divide", before->getParent());
  auto* after = llvm::BasicBlock::Create(b_.getContext(), "divided", before->getParent());
  b_.CreateCondBr(all_fast, after, exact);
  b_.SetInsertPoint(exact);
  for (Value* a : dividends) slow.push_back(b_.CreateFDiv(a, divisor));
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
  for (size_t i = 0; i < dividends.size(); ++i) {
    llvm::PHINode* phi = b_.CreatePHI(fast[i]->getType(), 2);
    phi->addIncoming(fast[i], before);
    phi->addIncoming(slow[i], exact);
    dividends[i] = phi;
  }
}

}  // namespace stax
