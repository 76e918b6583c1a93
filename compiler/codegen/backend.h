// From an LLVM module to PTX or an x86-64 object.
#ifndef STAX_COMPILER_CODEGEN_BACKEND_H_
#define STAX_COMPILER_CODEGEN_BACKEND_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/target.h"

namespace llvm {
class Module;
}  // namespace llvm

namespace stax {

// Sets the module's triple and data layout, needed before code is emitted into it.
absl::Status PrepareModule(const TargetSpec& target, llvm::Module& module);

// A few cheap passes: the emitters leave common subexpressions and loop invariants behind, nothing
// that needs a full pipeline. Internal if the module is malformed.
absl::Status OptimizeModule(const TargetSpec& target, llvm::Module& module);

// PTX text (cuda) or an ELF object (cpu). An object has no undefined symbols: Internal naming one
// otherwise.
absl::StatusOr<std::string> EmitCode(const TargetSpec& target, llvm::Module& module);

}  // namespace stax

#endif  // STAX_COMPILER_CODEGEN_BACKEND_H_
