// wmma.load, wmma.store and wmma.mma. Memory is accessed elsewhere: FragmentPosition says which
// element of the matrix a lane's register holds, so that its address is
//
//   at = FragmentPosition(operation.fragment, operation.matrix, lane, reg, index)
//   p + (column_major ? at.column * stride + at.row : at.row * stride + at.column) elements
//
// The products are RunMma's, with operation.mma.
#ifndef STAX_RUNTIME_EMULATOR_ISA_WMMA_H_
#define STAX_RUNTIME_EMULATOR_ISA_WMMA_H_

#include <optional>

#include "absl/strings/string_view.h"
#include "runtime/emulator/isa/mma.h"

namespace stax::isa {

enum class WmmaMove { kLoad, kStore, kMma };

struct WmmaOperation {
  WmmaMove move = WmmaMove::kLoad;
  // Of loads and stores:
  MmaMatrix matrix = MmaMatrix::kA;
  bool column_major = false;
  MmaFragment fragment;
  // Without a stride in the instruction it is the length of a row or column.
  int default_stride = 0;
  // Of products. Which order the matrices had in memory does not matter to them.
  MmaOperation mma;
};

// "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16",
// "wmma.store.d.sync.aligned.col.m32n8k16.f32",
// "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", for f16, bf16, tf32, f64, s8, u8, s4, u4. Not
// supported: .b1, other roundings of f64 than .rn, f16 with .satfinite. nullopt: not one of these.
std::optional<WmmaOperation> FindWmma(absl::string_view text);

}  // namespace stax::isa

#endif  // STAX_RUNTIME_EMULATOR_ISA_WMMA_H_
