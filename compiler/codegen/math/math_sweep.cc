#include "compiler/codegen/math/math_sweep.h"

#include "compiler/codegen/math/math.h"
#include "compiler/codegen/math/relaxed.h"
#include "compiler/codegen/math/relaxed_forms.h"
#include "ir/check.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

namespace stax::math {
namespace {

struct Parameters {
  llvm::Function* function;
  llvm::Value *a, *b, *out, *n;
};

Parameters CreateFunction(llvm::Module& module, const std::string& name) {
  llvm::LLVMContext& c = module.getContext();
  llvm::Type* ptr = llvm::PointerType::get(c, 0);
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(c),
                                       {ptr, ptr, ptr, llvm::Type::getInt64Ty(c)}, false);
  auto* f = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, name, module);
  f->addFnAttr(llvm::Attribute::NoUnwind);
  for (int i = 0; i < 3; ++i) f->addParamAttr(i, llvm::Attribute::NoAlias);
  return {f, f->getArg(0), f->getArg(1), f->getArg(2), f->getArg(3)};
}

llvm::Value* EmitValue(llvm::IRBuilderBase& builder, OpCode code, const SweepType& type,
                       llvm::MutableArrayRef<llvm::Value*> args, bool nvptx) {
  if (type.half == DType::kF32) return EmitMath(builder, code, args, {nvptx});
  if (type.shared_divisor) {
    EmitRelaxedQuotients(builder, args.take_front(1), args[1]);
    return args[0];
  }
  llvm::Value* result = EmitRelaxed(builder, code, args, HalfTolerance(type.half));
  STAX_CHECK(result != nullptr, "no relaxed form of " + std::string(OpName(code)));
  return result;
}

// out[i..] = code(a[i..], b[i..]).
void EmitElement(llvm::IRBuilderBase& builder, const Parameters& p, llvm::Value* i, OpCode code,
                 const SweepType& type, bool nvptx) {
  llvm::Type* scalar = type.f64 ? builder.getDoubleTy() : builder.getFloatTy();
  llvm::Type* value = type.lanes == 1 ? scalar : llvm::FixedVectorType::get(scalar, type.lanes);
  const llvm::Align align(type.f64 ? 8 : 4);
  const auto load = [&](llvm::Value* base) -> llvm::Value* {
    return builder.CreateAlignedLoad(value, builder.CreateGEP(scalar, base, i), align);
  };
  llvm::SmallVector<llvm::Value*, 2> args = {load(p.a)};
  if (IsBinary(code)) args.push_back(load(p.b));
  llvm::Value* result = EmitValue(builder, code, type, args, nvptx);
  builder.CreateAlignedStore(result, builder.CreateGEP(scalar, p.out, i), align);
}

}  // namespace

std::vector<OpCode> MathOps() {
  std::vector<OpCode> ops;
#define STAX_MATH_OP(name, text, arity, cls) \
  if (IsMathOp(OpCode::name)) ops.push_back(OpCode::name);
  STAX_SCALAR_OPS(STAX_MATH_OP)
#undef STAX_MATH_OP
  return ops;
}

std::vector<OpCode> RelaxedOps() {
  std::vector<OpCode> ops;
#define STAX_RELAXED_OP(name, text, arity, cls) \
  if (HasRelaxedForm(OpCode::name)) ops.push_back(OpCode::name);
  STAX_SCALAR_OPS(STAX_RELAXED_OP)
#undef STAX_RELAXED_OP
  return ops;
}

bool IsBinary(OpCode code) { return OpArity(code) == 2; }

std::vector<SweepType> RelaxedTypes(OpCode code) {
  std::vector<SweepType> types;
  for (DType half : {DType::kF16, DType::kBF16}) {
    types.push_back({false, 1, half});
    if (code == OpCode::kDiv) types.push_back({false, 1, half, /*shared_divisor=*/true});
  }
  return types;
}

std::string SweepName(OpCode code, const SweepType& type) {
  std::string name(OpName(code));
  name += type.f64 ? "_f64" : "_" + std::string(DTypeName(type.half));
  if (type.shared_divisor) name += "_shared";
  if (type.lanes > 1) name += "x" + std::to_string(type.lanes);
  return name;
}

void EmitSweepFunction(llvm::Module& module, OpCode code, const SweepType& type) {
  const Parameters p = CreateFunction(module, SweepName(code, type));
  llvm::LLVMContext& c = module.getContext();
  auto* entry = llvm::BasicBlock::Create(c, "entry", p.function);
  auto* loop = llvm::BasicBlock::Create(c, "loop", p.function);
  auto* done = llvm::BasicBlock::Create(c, "done", p.function);
  llvm::IRBuilder<> b(entry);
  b.CreateCondBr(b.CreateICmpSGT(p.n, b.getInt64(0)), loop, done);
  b.SetInsertPoint(loop);
  llvm::PHINode* i = b.CreatePHI(b.getInt64Ty(), 2);
  i->addIncoming(b.getInt64(0), entry);
  EmitElement(b, p, i, code, type, /*nvptx=*/false);
  llvm::Value* next = b.CreateAdd(i, b.getInt64(type.lanes));
  i->addIncoming(next, b.GetInsertBlock());
  b.CreateCondBr(b.CreateICmpSLT(next, p.n), loop, done);
  b.SetInsertPoint(done);
  b.CreateRetVoid();
}

void EmitMathSweepKernel(llvm::Module& module, OpCode code, const SweepType& type) {
  STAX_CHECK(type.lanes == 1, "a thread has one element");
  const Parameters p = CreateFunction(module, SweepName(code, type));
  p.function->setCallingConv(llvm::CallingConv::PTX_Kernel);
  llvm::LLVMContext& c = module.getContext();
  auto* entry = llvm::BasicBlock::Create(c, "entry", p.function);
  auto* body = llvm::BasicBlock::Create(c, "body", p.function);
  auto* done = llvm::BasicBlock::Create(c, "done", p.function);
  llvm::IRBuilder<> b(entry);
  const auto sreg = [&b](llvm::Intrinsic::ID id) {
    return b.CreateZExt(b.CreateIntrinsic(id, {}), b.getInt64Ty());
  };
  llvm::Value* block = sreg(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x);
  llvm::Value* size = sreg(llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_x);
  llvm::Value* thread = sreg(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x);
  llvm::Value* i = b.CreateAdd(b.CreateMul(block, size), thread);
  b.CreateCondBr(b.CreateICmpSLT(i, p.n), body, done);
  b.SetInsertPoint(body);
  EmitElement(b, p, i, code, type, /*nvptx=*/true);
  b.CreateBr(done);
  b.SetInsertPoint(done);
  b.CreateRetVoid();
}

void Simplify(llvm::Module& module, llvm::TargetMachine* machine) {
  llvm::LoopAnalysisManager lam;
  llvm::FunctionAnalysisManager fam;
  llvm::CGSCCAnalysisManager cgam;
  llvm::ModuleAnalysisManager mam;
  llvm::PassBuilder builder(machine);
  builder.registerModuleAnalyses(mam);
  builder.registerCGSCCAnalyses(cgam);
  builder.registerFunctionAnalyses(fam);
  builder.registerLoopAnalyses(lam);
  builder.crossRegisterProxies(lam, fam, cgam, mam);
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::EarlyCSEPass());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  for (llvm::Function& f : module) {
    if (!f.isDeclaration()) passes.run(f, fam);
  }
}

}  // namespace stax::math
