#include "compiler/codegen/emit_context.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "llvm/IR/InlineAsm.h"

namespace stax {
namespace {

using llvm::Value;

bool IsPartialConstant(Value* mask) {
  auto* constant = llvm::dyn_cast<llvm::Constant>(mask);
  return constant != nullptr && mask->getType()->isVectorTy() && !constant->isNullValue() &&
         !constant->isAllOnesValue();
}

// Empty inline assembly that gives its operands, each in a register of kind `constraint`.
void Hide(llvm::IRBuilder<>& b, llvm::MutableArrayRef<Value*> values, char constraint) {
  std::vector<llvm::Type*> types;
  std::string outputs, inputs;
  for (size_t i = 0; i < values.size(); ++i) {
    types.push_back(values[i]->getType());
    absl::StrAppend(&outputs, i == 0 ? "=" : ",=", std::string(1, constraint));
    absl::StrAppend(&inputs, ",", i);
  }
  llvm::Type* result = types.size() == 1 ? types[0] : llvm::StructType::get(b.getContext(), types);
  auto* type = llvm::FunctionType::get(result, types, false);
  llvm::CallInst* hidden = b.CreateCall(
      type, llvm::InlineAsm::get(type, "", outputs + inputs, /*hasSideEffects=*/false), values);
  hidden->setDoesNotAccessMemory();
  hidden->setDoesNotThrow();
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = types.size() == 1 ? hidden : b.CreateExtractValue(hidden, i);
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
  Value* hidden = b.getInt32(bits);
  Hide(b, hidden, 'r');
  Value* lanes = b.CreateAnd(b.CreateVectorSplat(vector->getNumElements(), hidden),
                             llvm::ConstantVector::get(lane_bits));
  return b.CreateICmpNE(lanes, llvm::Constant::getNullValue(lanes->getType()));
}

}  // namespace

void EmitContext::MakeOpaque(llvm::MutableArrayRef<Value*> values) const {
  switch (values.front()->getType()->getIntegerBitWidth()) {
    case 64:
      return Hide(builder, values, 'l');
    case 32:
      return Hide(builder, values, 'r');
    default:
      return Hide(builder, values, 'h');
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
