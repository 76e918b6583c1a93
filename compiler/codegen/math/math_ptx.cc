#include "compiler/codegen/math/math_ptx.h"

#include <memory>
#include <optional>

#include "ir/check.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

namespace stax::math {
namespace {

std::unique_ptr<llvm::TargetMachine> Machine(const std::string& arch) {
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
  const llvm::Triple triple("nvptx64-nvidia-cuda");
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, error);
  STAX_CHECK(target != nullptr, error);
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(triple, arch, "+ptx83", llvm::TargetOptions(), std::nullopt,
                                  std::nullopt, llvm::CodeGenOptLevel::Default));
}

}  // namespace

std::string SweepPtx(const std::string& arch, const std::vector<OpCode>& ops,
                     const std::vector<OpCode>& relaxed) {
  const std::unique_ptr<llvm::TargetMachine> machine = Machine(arch);
  llvm::LLVMContext context;
  llvm::Module module("math_sweep", context);
  module.setTargetTriple(machine->getTargetTriple());
  module.setDataLayout(machine->createDataLayout());
  for (OpCode code : ops) {
    EmitMathSweepKernel(module, code, {/*f64=*/false});
    EmitMathSweepKernel(module, code, {/*f64=*/true});
  }
  for (OpCode code : relaxed) {
    for (const SweepType& type : RelaxedTypes(code)) EmitMathSweepKernel(module, code, type);
  }
  STAX_CHECK(!llvm::verifyModule(module, &llvm::errs()), "invalid IR");
  Simplify(module, machine.get());
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  STAX_CHECK(
      !machine->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile),
      "no PTX output");
  passes.run(module);
  return std::string(text);
}

}  // namespace stax::math
