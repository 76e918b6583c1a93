// A PTX module in an emulated device: its variables have memory, its kernels become native code
// when they are first asked for.
//
//   ASSIGN_OR_RETURN(auto module, EmulatorModule::Load(ptx, &memory));
//   ASSIGN_OR_RETURN(const CompiledKernel* kernel, module->Kernel("softmax"));
#ifndef STAX_RUNTIME_EMULATOR_LAUNCH_EMULATOR_MODULE_H_
#define STAX_RUNTIME_EMULATOR_LAUNCH_EMULATOR_MODULE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/cpu/object_loader.h"
#include "runtime/emulator/memory/global_memory.h"
#include "runtime/emulator/ptx/module.h"
#include "runtime/emulator/translate/translate.h"

namespace stax::emulator {

struct CompiledKernel {
  TranslatedKernel translated;
  const ptx::Function* entry = nullptr;
  RunFunction run = nullptr;
  std::unique_ptr<LoadedObject> code;
};

class EmulatorModule {
 public:
  // `memory` must outlive the module. InvalidArgument for variables of other files,
  // ResourceExhausted when there is no memory for the module's own.
  static absl::StatusOr<std::unique_ptr<EmulatorModule>> Load(ptx::Module module,
                                                              GlobalMemory* memory);
  ~EmulatorModule();

  // NotFound lists the kernels that there are; InvalidArgument names the line and the instruction
  // that is not supported. Valid as long as the module. One thread at a time.
  absl::StatusOr<const CompiledKernel*> Kernel(const std::string& name);

  const ptx::Module& module() const { return module_; }
  const std::vector<uint64_t>& constants() const { return constants_; }
  uint64_t constant_bytes() const { return constant_bytes_; }

 private:
  EmulatorModule(ptx::Module module, GlobalMemory* memory)
      : module_(std::move(module)), memory_(memory) {}
  absl::Status PlaceVariables();
  absl::Status Initialize(const ptx::Variable& variable, uint8_t* data);

  ptx::Module module_;
  GlobalMemory* memory_;
  Places places_;
  std::vector<void*> globals_;
  std::vector<uint64_t> constants_;
  uint64_t constant_bytes_ = 0;
  std::unique_ptr<ObjectLoader> loader_;
  std::map<std::string, std::unique_ptr<CompiledKernel>> kernels_;
};

}  // namespace stax::emulator

#endif  // STAX_RUNTIME_EMULATOR_LAUNCH_EMULATOR_MODULE_H_
