// KernelEmitter: a whole kernel as one LLVM function.
#ifndef STAX_COMPILER_CODEGEN_KERNEL_EMITTER_H_
#define STAX_COMPILER_CODEGEN_KERNEL_EMITTER_H_

#include <cstdint>
#include <string>

#include "compiler/codegen/layout.h"
#include "compiler/codegen/tile.h"
#include "ir/loop_nest.h"

namespace llvm {
class Module;
}  // namespace llvm

namespace stax {

struct EmittedKernel {
  int64_t shared_bytes = 0;               // static shared memory a block
  double bytes_in_flight_per_thread = 0;  // independent loads before the first use x width
};

// Adds the function `entry` to `module` (calling convention: codegen.h). `relaxed_math`: CUDA, see
// CodegenOptions.
EmittedKernel EmitKernel(const LoopNest& nest, const Tile& tile, const Layout& layout,
                         const std::string& entry, bool relaxed_math, llvm::Module& module);

}  // namespace stax

#endif  // STAX_COMPILER_CODEGEN_KERNEL_EMITTER_H_
