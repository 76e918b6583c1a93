#include "runtime/emulator/isa/matrix_tiles.h"

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "runtime/emulator/isa/instruction_name.h"
#include "runtime/emulator/isa/warp_operation.h"

namespace stax::isa {
namespace {

constexpr int kSide = 8;  // of a tile

// Which element of a tile's 64, row-major, is in the half of a lane's register.
int TileElement(int lane, int half, bool transposed) {
  const int row = lane / 4, column = 2 * (lane % 4) + half;
  return transposed ? column * kSide + row : row * kSide + column;
}

}  // namespace

std::optional<TileOperation> FindTileOperation(absl::string_view text) {
  if (text.empty() || text.back() == '.') return std::nullopt;
  InstructionName name(text);
  TileOperation result;
  if (name.opcode() == "ldmatrix") {
    result.move = TileMove::kLoad;
  } else if (name.opcode() == "stmatrix") {
    result.move = TileMove::kStore;
  } else if (name.opcode() == "movmatrix") {
    result.move = TileMove::kTranspose;
  } else {
    return std::nullopt;
  }
  if (!name.Take("sync") || !name.Take("aligned") || !name.Take("m8n8")) return std::nullopt;
  if (result.move != TileMove::kTranspose) {
    const int count = name.TakeOneOf({"x1", "x2", "x4"});
    if (count < 0) return std::nullopt;
    result.tiles = 1 << count;
  }
  result.transposed = name.Take("trans");
  if (result.move == TileMove::kTranspose) {
    if (!result.transposed) return std::nullopt;
  } else {
    name.TakeOneOf({"shared", "shared::cta"});  // may be left out: a generic address
  }
  if (!name.Take("b16") || !name.done()) return std::nullopt;
  return result;
}

void LoadTiles(const TileOperation& operation, const uint16_t* rows, uint32_t* const* d) {
  for (int tile = 0; tile < operation.tiles; ++tile) {
    const uint16_t* elements = rows + tile * kSide * kSide;
    for (int lane = 0; lane < kWarpLanes; ++lane) {
      const uint32_t low = elements[TileElement(lane, 0, operation.transposed)];
      const uint32_t high = elements[TileElement(lane, 1, operation.transposed)];
      d[tile][lane] = low | high << 16;
    }
  }
}

void StoreTiles(const TileOperation& operation, const uint32_t* const* a, uint16_t* rows) {
  for (int tile = 0; tile < operation.tiles; ++tile) {
    uint16_t* elements = rows + tile * kSide * kSide;
    for (int lane = 0; lane < kWarpLanes; ++lane) {
      const uint32_t both = a[tile][lane];
      elements[TileElement(lane, 0, operation.transposed)] = static_cast<uint16_t>(both);
      elements[TileElement(lane, 1, operation.transposed)] = static_cast<uint16_t>(both >> 16);
    }
  }
}

void TransposeTile(const uint32_t* a, uint32_t* d) {
  TileOperation operation;
  uint16_t tile[kSide * kSide];
  StoreTiles(operation, &a, tile);
  operation.transposed = true;
  LoadTiles(operation, tile, &d);
}

}  // namespace stax::isa
