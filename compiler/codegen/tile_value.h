// TileValue: the value of one op for all elements of a tile that a thread holds.
//
// A value depends on some bits of the register slot number only (regs); slots that differ in other
// bits would hold the same, so they are kept once. On CUDA a slot is a scalar. On the CPU it is a
// vector over the lanes, or a scalar when the value is the same in all lanes.
#ifndef STAX_COMPILER_CODEGEN_TILE_VALUE_H_
#define STAX_COMPILER_CODEGEN_TILE_VALUE_H_

#include <vector>

#include "compiler/codegen/layout.h"

namespace llvm {
class Value;
}  // namespace llvm

namespace stax {

struct TileValue {
  AxisSet axes = 0;                 // that it depends on
  BitSet regs = 0;                  // register bits that it depends on
  std::vector<llvm::Value*> slots;  // one per combination of these bits

  bool empty() const { return slots.empty(); }
  // For a full register slot number.
  llvm::Value* At(uint32_t slot) const { return slots[PackBits(slot, regs)]; }
};

}  // namespace stax

#endif  // STAX_COMPILER_CODEGEN_TILE_VALUE_H_
