#include "runtime/emulator/translate/translate.h"

#include <utility>

#include "compiler/codegen/backend.h"
#include "compiler/target.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "runtime/emulator/translate/control_flow.h"
#include "runtime/emulator/translate/warp_emitter.h"

namespace stax::emulator {

absl::StatusOr<TranslatedKernel> Translate(FlatKernel kernel, const RuntimeFunctions& runtime) {
  absl::StatusOr<TargetSpec> target = ParseTarget("cpu");
  if (!target.ok()) return target.status();
  TranslatedKernel translated;
  translated.flat = std::move(kernel);
  translated.entry = "run_" + translated.flat.name;
  translated.flow = FindControlFlow(translated.flat);
  translated.counter_of.assign(translated.flat.instructions.size(), -1);
  llvm::LLVMContext context;
  llvm::Module module(translated.flat.name, context);
  absl::Status status = PrepareModule(*target, module);
  if (!status.ok()) return status;
  status = WarpEmitter(runtime, translated.flow, translated, module).Emit();
  if (!status.ok()) return status;
  status = OptimizeModule(*target, module);
  if (!status.ok()) return status;
  absl::StatusOr<std::string> object = EmitCode(*target, module);
  if (!object.ok()) return object.status();
  translated.object = *std::move(object);
  return translated;
}

}  // namespace stax::emulator
