#include "compiler/codegen/emit_context.h"

#include "llvm/IR/InlineAsm.h"

namespace stax {
namespace {

using llvm::Value;

bool IsPartialConstant(Value* mask) {
  auto* constant = llvm::dyn_cast<llvm::Constant>(mask);
  return constant != nullptr && mask->getType()->isVectorTy() && !constant->isNullValue() &&
         !constant->isAllOnesValue();
}

// Empty inline assembly that gives its operand.
Value* Hide(llvm::IRBuilder<>& b, Value* value, const char* constraints) {
  auto* type = llvm::FunctionType::get(value->getType(), {value->getType()}, false);
  llvm::CallInst* hidden = b.CreateCall(
      type, llvm::InlineAsm::get(type, "", constraints, /*hasSideEffects=*/false), {value});
  hidden->setDoesNotAccessMemory();
  hidden->setDoesNotThrow();
  return hidden;
}

// A constant mask whose value LLVM does not see. LLVM 22 for x86 simplifies `and` with a constant
// mask to one with undefined lanes where both sides are false, and a masked load under such a mask
// to one that reads all lanes, beyond the end of the buffer.
Value* OpaqueMask(llvm::IRBuilder<>& b, Value* mask) {
  auto* vector = llvm::cast<llvm::FixedVectorType>(mask->getType());
  uint32_t bits = 0;
  std::vector<llvm::Constant*> lane_bits;
  for (unsigned lane = 0; lane < vector->getNumElements(); ++lane) {
    lane_bits.push_back(b.getInt32(1u << lane));
    if (llvm::cast<llvm::Constant>(mask)->getAggregateElement(lane)->isOneValue())
      bits |= 1u << lane;
  }
  Value* hidden = Hide(b, b.getInt32(bits), "=r,0");
  Value* lanes = b.CreateAnd(b.CreateVectorSplat(vector->getNumElements(), hidden),
                             llvm::ConstantVector::get(lane_bits));
  return b.CreateICmpNE(lanes, llvm::Constant::getNullValue(lanes->getType()));
}

}  // namespace

Value* EmitContext::Opaque(Value* value) const {
  switch (value->getType()->getIntegerBitWidth()) {
    case 64:
      return Hide(builder, value, "=l,0");
    case 32:
      return Hide(builder, value, "=r,0");
    default:
      return Hide(builder, value, "=h,0");
  }
}

Value* EmitContext::AndMasks(Value* a, Value* b) const {
  if (a->getType()->isVectorTy()) b = Splat(b);
  if (b->getType()->isVectorTy()) a = Splat(a);
  if (!llvm::isa<llvm::Constant>(b) && IsPartialConstant(a)) a = OpaqueMask(builder, a);
  if (!llvm::isa<llvm::Constant>(a) && IsPartialConstant(b)) b = OpaqueMask(builder, b);
  return builder.CreateAnd(a, b);
}

}  // namespace stax
