// Line information of CUDA kernels: which op of the loop nest an instruction computes.
//
// The "source" of the kernel `entry` is the text of its nest (ToText) under the name
// "<entry>.nest", which is in every artifact. PTX then has, besides its instructions,
//
//   .loc 1 7 0            line 7 of file 1: the load, its address and its mask
//   ld.global.nc.v4.b32 {%r7, %r8, %r9, %r10}, [%rd6];
//   ...
//   .file 1 "per_fused_add_0.nest"
//
// and no debug section, label or `.target ..., debug`: those would make ptxas stop optimizing. What
// serves no single op, as finding the tile, has the line of the header, 1; the loop over a row that
// of the first reduction dim.
#ifndef STAX_COMPILER_CODEGEN_LINE_INFO_H_
#define STAX_COMPILER_CODEGEN_LINE_INFO_H_

#include <string>

#include "compiler/codegen/emit_context.h"
#include "llvm/IR/DebugLoc.h"
#include "llvm/IR/Function.h"

namespace stax {

// Gives `function` a place to attribute instructions to.
void AddLineInfo(llvm::Function& function);

// While one lives, new instructions belong to a line of the nest's text; then to what it was
// before. Does nothing in functions without line information.
class LineScope {
 public:
  LineScope(const EmitContext& context, int line);
  ~LineScope() { builder_.SetCurrentDebugLocation(before_); }
  LineScope(const LineScope&) = delete;
  LineScope& operator=(const LineScope&) = delete;

  static LineScope Op(const EmitContext& c, ValueId id) { return {c, OpLine(c.nest, id)}; }
  static LineScope Header(const EmitContext& c) { return {c, 1}; }
  static LineScope Reduction(const EmitContext& c) { return {c, ReductionLine(c.nest)}; }

 private:
  llvm::IRBuilder<>& builder_;
  const llvm::DebugLoc before_;
};

// Optimization takes the line of instructions that it moves or makes of several. They get that of
// the first instruction that uses them, or else of one that they use.
void CompleteLines(llvm::Function& function);

// LLVM's PTX without what else its line information brings.
std::string KeepLinesOnly(const std::string& ptx);

// PTX without .loc and .file. ptxas makes the same instructions of both, but puts the lines, and
// the PTX itself, in the cubin, which then is 2.4 times as large.
std::string WithoutLines(const std::string& ptx);

}  // namespace stax

#endif  // STAX_COMPILER_CODEGEN_LINE_INFO_H_
