// What the emitters of one kernel share while they build its LLVM function.
#ifndef STAX_COMPILER_CODEGEN_EMIT_CONTEXT_H_
#define STAX_COMPILER_CODEGEN_EMIT_CONTEXT_H_

#include <map>
#include <string>
#include <vector>

#include "compiler/codegen/layout.h"
#include "compiler/codegen/tile.h"
#include "ir/loop_nest.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

namespace stax {

struct EmitContext {
  EmitContext(const LoopNest& nest, const Tile& tile, const Layout& layout, llvm::Module& module,
              llvm::IRBuilder<>& builder)
      : nest(nest), tile(tile), layout(layout), module(module), builder(builder) {}

  const LoopNest& nest;
  const Tile& tile;
  const Layout& layout;
  llvm::Module& module;
  llvm::IRBuilder<>& builder;

  llvm::Type* index_type = nullptr;             // i32, or i64 when tile.wide_index
  std::vector<llvm::Value*> buffers;            // pointers, in the nest's order
  std::map<std::string, llvm::Value*> symbols;  // of index_type
  llvm::Value* thread = nullptr;  // cuda: i32 number in the block: lane + 32 * warp; with
                                  // a cluster, in all of its blocks

  // OpTolerances (precision.h), or empty: all results are as exact as the contract says.
  std::vector<double> tolerances;

  // While a tile is emitted part by part (BeginPart): register bits that have one value in the
  // part, and the slot bits of that value. Tile values made then do not depend on these bits.
  BitSet part_bits = 0;
  uint32_t part_slot = 0;

  void BeginPart(BitSet bits, uint32_t slot) { part_bits = bits, part_slot = slot; }
  void EndPart() { part_bits = 0, part_slot = 0; }

  // Register bits along `axes`, and what they add to the coordinate, in the part being emitted.
  BitSet RegBits(AxisSet axes) const { return layout.RegBits(axes) & ~part_bits; }
  int64_t RegOffset(int axis, uint32_t slot) const {
    return layout.RegOffset(axis, slot | part_slot);
  }

  // How far off the result of `op` may be: one of the nest's body itself, no copy.
  double Tolerance(const LoopOp& op) const {
    return tolerances.empty() ? 0 : tolerances[&op - nest.body.data()];
  }

  bool nvptx() const { return !tile.simd; }
  // SIMD width on the CPU, 1 on CUDA (there the lanes are threads of their own).
  int lanes() const { return tile.simd ? 1 << tile.lane_bits : 1; }

  llvm::Constant* Index(int64_t value) const {
    return llvm::ConstantInt::get(index_type, value, /*IsSigned=*/true);
  }
  // `value` in all lanes, if it is not a vector yet.
  llvm::Value* Splat(llvm::Value* value) const {
    if (value->getType()->isVectorTy()) return value;
    return builder.CreateVectorSplat(lanes(), value);
  }

  // The same integers (of one width: 16, 32 or 64 bits; cuda), without LLVM knowing that they are
  // the same. At least one.
  void MakeOpaque(llvm::MutableArrayRef<llvm::Value*> values) const;

  // Conjunction of i1 values, scalar or per lane.
  llvm::Value* AndMasks(llvm::Value* a, llvm::Value* b) const;
};

}  // namespace stax

#endif  // STAX_COMPILER_CODEGEN_EMIT_CONTEXT_H_
