// The frame of a kernel function: its parameters, and how it learns which program instance to run.
#ifndef STAX_COMPILER_CODEGEN_ENTRY_POINT_H_
#define STAX_COMPILER_CODEGEN_ENTRY_POINT_H_

#include <string>

#include "compiler/codegen/emit_context.h"

namespace stax {

// Begin*Entry creates the function, leaves the builder in its entry block and binds buffers,
// symbols and the thread number in the context. Values emitted then are made once per thread.
// After StartInstance the builder is where the code of one program instance belongs.
class EntryPoint {
 public:
  // Number of the program instance, of index_type. On the CPU this opens the loop over instances.
  llvm::Value* StartInstance(EmitContext& context);
  // Closes the loop and the function.
  void Finish(EmitContext& context);

 private:
  friend EntryPoint BeginCudaEntry(EmitContext& context, const std::string& name);
  friend EntryPoint BeginCpuEntry(EmitContext& context, const std::string& name);

  llvm::Value* begin_ = nullptr;  // cpu: i64
  llvm::Value* end_ = nullptr;
  llvm::PHINode* id_ = nullptr;
  llvm::BasicBlock* header_ = nullptr;
  llvm::BasicBlock* exit_ = nullptr;
};

EntryPoint BeginCudaEntry(EmitContext& context, const std::string& name);
EntryPoint BeginCpuEntry(EmitContext& context, const std::string& name);

}  // namespace stax

#endif  // STAX_COMPILER_CODEGEN_ENTRY_POINT_H_
