// ldmatrix, stmatrix and movmatrix: how 8x8 tiles of 16-bit elements are spread over the lanes.
// Memory is accessed elsewhere; here are rows of 16 bytes, one for each address.
//
// Lane i gives the address of row i % 8 of tile i / 8, so that .x1 uses the addresses of lanes 0 to
// 7, .x2 those of lanes 0 to 15, .x4 all. Register r of lane i holds elements 2 * (i % 4) and the
// next one of row i / 4 of tile r; with .trans, of column i / 4.
#ifndef STAX_RUNTIME_EMULATOR_ISA_MATRIX_TILES_H_
#define STAX_RUNTIME_EMULATOR_ISA_MATRIX_TILES_H_

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"

namespace stax::isa {

enum class TileMove { kLoad, kStore, kTranspose };

struct TileOperation {
  TileMove move = TileMove::kLoad;
  int tiles = 1;  // 1, 2 or 4: the registers
  bool transposed = false;
};

// "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16" (or .shared::cta), "stmatrix...",
// "movmatrix.sync.aligned.m8n8.trans.b16". nullopt: not one of these; .b8x16 is not supported.
std::optional<TileOperation> FindTileOperation(absl::string_view text);

// rows: [8 * tiles, 8] elements, as read from the addresses of lanes 0 to 8 * tiles - 1.
// d: one pointer a register, to its 32 elements.
void LoadTiles(const TileOperation& operation, const uint16_t* rows, uint32_t* const* d);
// The reverse: the rows to write to the addresses.
void StoreTiles(const TileOperation& operation, const uint32_t* const* a, uint16_t* rows);
// movmatrix: one tile transposed. `d` may be `a`.
void TransposeTile(const uint32_t* a, uint32_t* d);

}  // namespace stax::isa

#endif  // STAX_RUNTIME_EMULATOR_ISA_MATRIX_TILES_H_
