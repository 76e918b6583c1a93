// Code generation: (KernelSpec, Config, Target) -> Variant, through LLVM IR.
//
// One emitter serves both targets. A tile value is held as a number of register slots; on CUDA a
// slot is a scalar per thread, on the CPU a vector whose elements are the lanes. Layouts
// (codegen/layout.h) say which tile element is where.
//
// Calling convention of the code:
//   cuda: void entry(ptr buffer_0, ..., i64 size_0, ...)   one buffer pointer per nest buffer, then
//         every symbol of the nest, in the nest's orders; grid (grid_x, 1, 1),
//         block (32 * WARPS, 1, 1).
//   cpu:  void entry(void* const* buffers, const int64_t* sizes, int64_t begin, int64_t end)
//         runs the program instances begin <= id < end. No external references.
// Buffers are aligned to 16 bytes (cuda) or 64 bytes (cpu: to the element size only) and do not
// overlap.
#ifndef STAX_COMPILER_CODEGEN_CODEGEN_H_
#define STAX_COMPILER_CODEGEN_CODEGEN_H_

#include <string>

#include "absl/status/statusor.h"
#include "compiler/kernel_spec.h"
#include "compiler/target.h"
#include "ir/artifact/program.pb.h"

namespace stax {

struct CodegenOptions {
  bool keep_llvm_ir = false;  // fill Variant.llvm_ir
  bool run_ptxas = true;      // registers, spills and cubin when ptxas is found
  // CUDA: math functions, div and sqrt only as exact as results need that are rounded to f16 or
  // bf16 (precision.h): within 1 ulp of that type. Tests turn it off where they compare bits. (Not
  // meant: terms of online sums, reduce_online.cc.)
  bool relaxed_math = true;
};

// InvalidArgument when the config lacks a parameter or breaks a limit (names it);
// ResourceExhausted when the kernel does not fit the target (shared memory, registers).
absl::StatusOr<Variant> CompileVariant(const KernelSpec& kernel, const Config& config,
                                       const TargetSpec& target, const CodegenOptions& options);

}  // namespace stax

#endif  // STAX_COMPILER_CODEGEN_CODEGEN_H_
