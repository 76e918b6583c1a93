#include "compiler/codegen/math/control_flow.h"

#include "llvm/IR/CFG.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"

namespace stax::math {
namespace {

// Moves what stands behind the builder's insertion point to a new block and returns it.
llvm::BasicBlock* SplitHere(llvm::IRBuilderBase& b) {
  llvm::BasicBlock* head = b.GetInsertBlock();
  auto* tail =
      llvm::BasicBlock::Create(b.getContext(), "math.done", head->getParent(), head->getNextNode());
  tail->splice(tail->end(), head, b.GetInsertPoint(), head->end());
  tail->replaceSuccessorsPhiUsesWith(head, tail);
  b.SetInsertPoint(head);
  return tail;
}

}  // namespace

Values RareBranch(const Mask& condition, const Values& usual, const std::function<Values()>& rare) {
  llvm::IRBuilderBase& b = condition.builder();
  llvm::BasicBlock* tail = SplitHere(b);
  llvm::BasicBlock* head = b.GetInsertBlock();
  auto* rare_block = llvm::BasicBlock::Create(b.getContext(), "math.rare", head->getParent(), tail);
  llvm::Value* any =
      condition.type()->isVectorTy() ? b.CreateOrReduce(condition.value()) : condition.value();
  b.CreateCondBr(any, rare_block, tail,
                 llvm::MDBuilder(b.getContext()).createUnlikelyBranchWeights());
  b.SetInsertPoint(rare_block);
  Values rare_values = rare();
  if (condition.type()->isVectorTy()) {
    for (size_t i = 0; i < usual.size(); ++i) {
      rare_values[i] = b.CreateSelect(condition.value(), rare_values[i], usual[i]);
    }
  }
  llvm::BasicBlock* rare_end = b.GetInsertBlock();
  b.CreateBr(tail);
  const auto resume = tail->begin();
  b.SetInsertPoint(tail, resume);
  Values merged;
  for (size_t i = 0; i < usual.size(); ++i) {
    llvm::PHINode* phi = b.CreatePHI(usual[i]->getType(), 2);
    phi->addIncoming(usual[i], head);
    phi->addIncoming(rare_values[i], rare_end);
    merged.push_back(phi);
  }
  return merged;
}

Values CallForEachLane(llvm::Function* function, llvm::ArrayRef<Real> args) {
  const Real& first = args.front();
  llvm::IRBuilderBase& b = first.builder();
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(first.type());
  const unsigned lanes = vector != nullptr ? vector->getNumElements() : 1;
  auto* record = llvm::dyn_cast<llvm::StructType>(function->getReturnType());
  const unsigned members = record != nullptr ? record->getNumElements() : 1;
  Values results(members, nullptr);
  for (unsigned lane = 0; lane < lanes; ++lane) {
    llvm::SmallVector<llvm::Value*, 2> operands;
    for (const Real& arg : args) {
      llvm::Value* scalar =
          vector != nullptr ? b.CreateExtractElement(arg.value(), lane) : arg.value();
      operands.push_back(b.CreateFPExt(scalar, b.getDoubleTy()));
    }
    llvm::Value* call = b.CreateCall(function, operands);
    for (unsigned m = 0; m < members; ++m) {
      llvm::Value* r = record != nullptr ? b.CreateExtractValue(call, m) : call;
      if (!first.f64()) {
        r = r->getType()->isDoubleTy() ? b.CreateFPTrunc(r, b.getFloatTy())
                                       : b.CreateTrunc(r, b.getInt32Ty());
      }
      if (vector != nullptr) {
        if (results[m] == nullptr) {
          results[m] = llvm::PoisonValue::get(llvm::FixedVectorType::get(r->getType(), lanes));
        }
        r = b.CreateInsertElement(results[m], r, lane);
      }
      results[m] = r;
    }
  }
  return results;
}

llvm::Function* HelperFunction(
    llvm::IRBuilderBase& builder, std::string_view name, llvm::FunctionType* type,
    const std::function<void(llvm::IRBuilderBase&, llvm::Function*)>& emit) {
  llvm::Function* caller = builder.GetInsertBlock()->getParent();
  llvm::Module* module = caller->getParent();
  if (llvm::Function* existing = module->getFunction(name)) return existing;
  auto* function = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, name, module);
  for (const char* attribute : {"target-cpu", "target-features", "tune-cpu"}) {
    if (caller->hasFnAttribute(attribute)) {
      function->addFnAttr(caller->getFnAttribute(attribute));
    }
  }
  function->addFnAttr(llvm::Attribute::NoUnwind);
  function->addFnAttr(llvm::Attribute::WillReturn);
  function->setOnlyReadsMemory();
  llvm::IRBuilder<> body(llvm::BasicBlock::Create(builder.getContext(), "entry", function));
  emit(body, function);
  return function;
}

}  // namespace stax::math
