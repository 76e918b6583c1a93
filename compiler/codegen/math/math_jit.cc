#include "compiler/codegen/math/math_jit.h"

#include <utility>

#include "ir/check.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/ExecutionEngine/Orc/ThreadSafeModule.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

namespace stax::math {

MathJit::MathJit(const std::string& cpu, const std::vector<OpCode>& ops,
                 const std::vector<SweepType>& types) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  llvm::orc::JITTargetMachineBuilder target(llvm::Triple("x86_64-unknown-linux-gnu"));
  target.setCPU(cpu);
  auto machine = llvm::cantFail(target.createTargetMachine());
  auto context = std::make_unique<llvm::LLVMContext>();
  auto module = std::make_unique<llvm::Module>("math_sweep", *context);
  module->setTargetTriple(machine->getTargetTriple());
  module->setDataLayout(machine->createDataLayout());
  for (OpCode code : ops) {
    for (const SweepType& type : types) EmitSweepFunction(*module, code, type);
  }
  STAX_CHECK(!llvm::verifyModule(*module, &llvm::errs()), "invalid IR");
  Simplify(*module, machine.get());
  // No process symbols: a call to a library function fails to link.
  jit_ = llvm::cantFail(llvm::orc::LLJITBuilder()
                            .setJITTargetMachineBuilder(target)
                            .setPlatformSetUp(llvm::orc::setUpInactivePlatform)
                            .setLinkProcessSymbolsByDefault(false)
                            .create());
  llvm::cantFail(
      jit_->addIRModule(llvm::orc::ThreadSafeModule(std::move(module), std::move(context))));
}

MathJit::Function MathJit::Find(OpCode code, const SweepType& type) const {
  return llvm::cantFail(jit_->lookup(SweepName(code, type))).toPtr<Function>();
}

}  // namespace stax::math
