#include "compiler/codegen/backend.h"

#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/MemoryBufferRef.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

namespace stax {
namespace {

struct MachineSpec {
  std::string triple, cpu, features;
};

absl::StatusOr<MachineSpec> SpecOf(const TargetSpec& target) {
  // PTX versions: the lowest that has what is emitted (max.NaN, bf16 conversions; 8.3 is the first
  // with all of sm_90a), so that older drivers take the code too.
  if (target.is_cuda() && target.arch == "sm_80")
    return MachineSpec{"nvptx64-nvidia-cuda", "sm_80", "+ptx71"};
  if (target.is_cuda() && target.arch == "sm_90a")
    return MachineSpec{"nvptx64-nvidia-cuda", "sm_90a", "+ptx83"};
  if (!target.is_cuda() && (target.arch == "x86-64-v3" || target.arch == "x86-64-v4"))
    return MachineSpec{"x86_64-unknown-linux-gnu", target.arch, ""};
  return absl::InvalidArgumentError(
      absl::StrCat("no code generation for target ", target.ToString()));
}

// TargetMachines are expensive to make (milliseconds) and not safe to share between threads: each
// compilation borrows one. One level's machine would keep options of it when used for another.
class MachinePool {
 public:
  using Kind = std::pair<std::string, llvm::CodeGenOptLevel>;  // target and level

  std::unique_ptr<llvm::TargetMachine> Take(const Kind& kind) {
    const std::scoped_lock lock(mutex_);
    auto& free = free_[kind];
    if (free.empty()) return nullptr;
    std::unique_ptr<llvm::TargetMachine> machine = std::move(free.back());
    free.pop_back();
    return machine;
  }
  void Return(const Kind& kind, std::unique_ptr<llvm::TargetMachine> machine) {
    const std::scoped_lock lock(mutex_);
    free_[kind].push_back(std::move(machine));
  }

  static MachinePool& Global() {
    static auto& pool = *new MachinePool;
    return pool;
  }

 private:
  std::mutex mutex_;
  std::map<Kind, std::vector<std::unique_ptr<llvm::TargetMachine>>> free_;
};

void InitializeTargets() {
  static const bool done = [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    return true;
  }();
  (void)done;
}

absl::StatusOr<std::unique_ptr<llvm::TargetMachine>> MakeMachine(const TargetSpec& target,
                                                                 llvm::CodeGenOptLevel level) {
  absl::StatusOr<MachineSpec> spec = SpecOf(target);
  if (!spec.ok()) return spec.status();
  InitializeTargets();
  std::string error;
  const llvm::Triple triple(spec->triple);
  const llvm::Target* llvm_target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (llvm_target == nullptr) return absl::InternalError(absl::StrCat("LLVM: ", error));
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;  // never contracted: ir/loop_op.h
  return std::unique_ptr<llvm::TargetMachine>(
      llvm_target->createTargetMachine(triple, spec->cpu, spec->features, options,
                                       llvm::Reloc::PIC_, llvm::CodeModel::Small, level));
}

// A borrowed TargetMachine.
class Machine {
 public:
  static absl::StatusOr<std::unique_ptr<Machine>> Borrow(
      const TargetSpec& target, llvm::CodeGenOptLevel level = llvm::CodeGenOptLevel::Less) {
    const MachinePool::Kind kind(target.ToString(), level);
    std::unique_ptr<llvm::TargetMachine> machine = MachinePool::Global().Take(kind);
    if (machine == nullptr) {
      absl::StatusOr<std::unique_ptr<llvm::TargetMachine>> made = MakeMachine(target, level);
      if (!made.ok()) return made.status();
      machine = *std::move(made);
    }
    return std::unique_ptr<Machine>(new Machine(kind, std::move(machine)));
  }
  ~Machine() { MachinePool::Global().Return(kind_, std::move(machine_)); }
  llvm::TargetMachine& operator*() { return *machine_; }
  llvm::TargetMachine* operator->() { return machine_.get(); }

 private:
  Machine(MachinePool::Kind kind, std::unique_ptr<llvm::TargetMachine> machine)
      : kind_(std::move(kind)), machine_(std::move(machine)) {}
  MachinePool::Kind kind_;
  std::unique_ptr<llvm::TargetMachine> machine_;
};

absl::Status CheckNoUndefinedSymbols(const std::string& object) {
  llvm::Expected<std::unique_ptr<llvm::object::ObjectFile>> file =
      llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(object, "kernel"));
  if (!file) return absl::InternalError(llvm::toString(file.takeError()));
  for (const llvm::object::SymbolRef& symbol : (*file)->symbols()) {
    llvm::Expected<uint32_t> flags = symbol.getFlags();
    llvm::Expected<llvm::StringRef> name = symbol.getName();
    if (!flags || !name) return absl::InternalError("malformed object");
    if ((*flags & llvm::object::SymbolRef::SF_Undefined) != 0 && !name->empty())
      return absl::InternalError(
          absl::StrCat("the generated code calls ", name->str(), ", which is not part of it"));
  }
  return absl::OkStatus();
}

bool HasLoops(const llvm::Module& module) {
  llvm::SmallVector<std::pair<const llvm::BasicBlock*, const llvm::BasicBlock*>, 4> edges;
  for (const llvm::Function& function : module)
    if (!function.isDeclaration()) llvm::FindFunctionBackedges(function, edges);
  return !edges.empty();
}

// How much LLVM does on the way from IR to code. ptxas optimizes PTX again, so kernels without
// loops are as fast at None, which saves a quarter to a third of the time to PTX. Not so loops: a
// column reduction took 1.23 times as long (17 graphs on an H200, 2026-12-01:
// docs/perf/compile.md).
llvm::CodeGenOptLevel LevelFor(const TargetSpec& target, const llvm::Module& module) {
  return target.is_cuda() && !HasLoops(module) ? llvm::CodeGenOptLevel::None
                                               : llvm::CodeGenOptLevel::Less;
}

// The lane for which a constant mask is true, if it is one; else -1.
int OnlyLane(const llvm::Value* mask) {
  const auto* constant = llvm::dyn_cast<llvm::Constant>(mask);
  const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(mask->getType());
  if (constant == nullptr || type == nullptr) return -1;
  int only = -1;
  for (unsigned lane = 0; lane < type->getNumElements(); ++lane) {
    const llvm::Constant* bit = constant->getAggregateElement(lane);
    if (bit == nullptr || !(bit->isOneValue() || bit->isNullValue())) return -1;
    if (bit->isNullValue()) continue;
    if (only >= 0) return -1;
    only = static_cast<int>(lane);
  }
  return only;
}

// Stores of one lane under a constant mask become scalar ones. LLVM 22 for AVX-512 makes of a
// truncation and such a store one store of that lane before the truncation, with twice the bytes or
// more.
void UnmaskLoneStores(llvm::Function& function) {
  for (llvm::Instruction& at : llvm::make_early_inc_range(llvm::instructions(function))) {
    auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&at);
    if (call == nullptr || call->getIntrinsicID() != llvm::Intrinsic::masked_store) continue;
    const int lane = OnlyLane(call->getArgOperand(2));
    if (lane < 0) continue;
    llvm::IRBuilder<> b(call);
    llvm::Value* element = b.CreateExtractElement(call->getArgOperand(0), lane);
    llvm::Value* address =
        b.CreateConstInBoundsGEP1_64(element->getType(), call->getArgOperand(1), lane);
    const llvm::Align vector = call->getParamAlign(1).valueOrOne();
    const uint64_t bytes = element->getType()->getScalarSizeInBits() / 8;
    b.CreateAlignedStore(element, address, llvm::commonAlignment(vector, lane * bytes));
    call->eraseFromParent();
  }
}

}  // namespace

absl::Status PrepareModule(const TargetSpec& target, llvm::Module& module) {
  absl::StatusOr<std::unique_ptr<Machine>> machine = Machine::Borrow(target);
  if (!machine.ok()) return machine.status();
  module.setTargetTriple((**machine)->getTargetTriple());
  module.setDataLayout((**machine)->createDataLayout());
  return absl::OkStatus();
}

absl::Status OptimizeModule(const TargetSpec& target, llvm::Module& module) {
  std::string error;
  llvm::raw_string_ostream stream(error);
  if (llvm::verifyModule(module, &stream))
    return absl::InternalError(absl::StrCat("malformed LLVM IR: ", error));
  absl::StatusOr<std::unique_ptr<Machine>> machine = Machine::Borrow(target);
  if (!machine.ok()) return machine.status();

  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager cgscc;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&***machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(cgscc);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, cgscc, modules);

  llvm::FunctionPassManager passes;
  passes.addPass(llvm::EarlyCSEPass());
  passes.addPass(llvm::InstCombinePass());
  const bool more = LevelFor(target, module) != llvm::CodeGenOptLevel::None;
  if (more)
    passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()),
                                                         /*UseMemorySSA=*/true));
  passes.addPass(llvm::SimplifyCFGPass());
  if (more) passes.addPass(llvm::EarlyCSEPass());
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    passes.run(function, functions);
    UnmaskLoneStores(function);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> EmitCode(const TargetSpec& target, llvm::Module& module) {
  absl::StatusOr<std::unique_ptr<Machine>> machine =
      Machine::Borrow(target, LevelFor(target, module));
  if (!machine.ok()) return machine.status();
  llvm::SmallVector<char, 0> code;
  llvm::raw_svector_ostream stream(code);
  llvm::legacy::PassManager passes;
  const llvm::CodeGenFileType type =
      target.is_cuda() ? llvm::CodeGenFileType::AssemblyFile : llvm::CodeGenFileType::ObjectFile;
  if ((**machine)->addPassesToEmitFile(passes, stream, nullptr, type, /*DisableVerify=*/true))
    return absl::InternalError("LLVM cannot emit this kind of file");
  passes.run(module);
  std::string text(code.begin(), code.end());
  if (!target.is_cuda()) {
    if (absl::Status s = CheckNoUndefinedSymbols(text); !s.ok()) return s;
  }
  return text;
}

}  // namespace stax
