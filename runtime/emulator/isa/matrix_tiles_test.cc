#include "runtime/emulator/isa/matrix_tiles.h"

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "runtime/emulator/isa/warp_operation.h"

namespace stax::isa {
namespace {

// Element (row, column) of tile t is t * 100 + row * 10 + column.
uint16_t ElementOf(int tile, int row, int column) {
  return static_cast<uint16_t>(tile * 100 + row * 10 + column);
}

TEST(MatrixTilesTest, Loads) {
  for (const bool transposed : {false, true}) {
    const TileOperation operation = {TileMove::kLoad, 4, transposed};
    std::vector<uint16_t> rows;  // lane i gives the address of row i % 8 of tile i / 8
    for (int lane = 0; lane < kWarpLanes; ++lane) {
      for (int column = 0; column < 8; ++column) {
        rows.push_back(ElementOf(lane / 8, lane % 8, column));
      }
    }
    uint32_t d[4][kWarpLanes];
    uint32_t* const pointers[4] = {d[0], d[1], d[2], d[3]};
    LoadTiles(operation, rows.data(), pointers);
    for (int tile = 0; tile < 4; ++tile) {
      for (int lane = 0; lane < kWarpLanes; ++lane) {
        const int major = lane / 4, minor = 2 * (lane % 4);
        const uint32_t low =
            transposed ? ElementOf(tile, minor, major) : ElementOf(tile, major, minor);
        const uint32_t high =
            transposed ? ElementOf(tile, minor + 1, major) : ElementOf(tile, major, minor + 1);
        ASSERT_EQ(d[tile][lane], high << 16 | low) << tile << " " << lane;
      }
    }
    // Storing is the reverse.
    const uint32_t* const sources[4] = {d[0], d[1], d[2], d[3]};
    std::vector<uint16_t> stored(rows.size());
    StoreTiles(operation, sources, stored.data());
    EXPECT_EQ(stored, rows);
  }
}

TEST(MatrixTilesTest, FewerTilesAreTheFirstOnes) {
  std::vector<uint16_t> rows(64);
  for (int i = 0; i < 64; ++i) rows[i] = static_cast<uint16_t>(i);
  uint32_t d[kWarpLanes];
  uint32_t* const pointer[1] = {d};
  LoadTiles({TileMove::kLoad, 1, false}, rows.data(), pointer);
  for (uint32_t lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(d[lane], (2 * lane + 1) << 16 | 2 * lane);  // row-major, two a lane
  }
}

TEST(MatrixTilesTest, Transposes) {
  uint32_t a[kWarpLanes];
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    const int row = lane / 4, column = 2 * (lane % 4);
    a[lane] =
        static_cast<uint32_t>(ElementOf(0, row, column + 1)) << 16 | ElementOf(0, row, column);
  }
  TransposeTile(a, a);
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    const int major = lane / 4, minor = 2 * (lane % 4);
    EXPECT_EQ(a[lane], static_cast<uint32_t>(ElementOf(0, minor + 1, major)) << 16 |
                           ElementOf(0, minor, major));
  }
}

TEST(MatrixTilesTest, Names) {
  const std::optional<TileOperation> load =
      FindTileOperation("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16");
  ASSERT_TRUE(load.has_value());
  EXPECT_EQ(load->move, TileMove::kLoad);
  EXPECT_EQ(load->tiles, 4);
  EXPECT_TRUE(load->transposed);
  EXPECT_EQ(FindTileOperation("stmatrix.sync.aligned.m8n8.x2.shared::cta.b16")->tiles, 2);
  EXPECT_FALSE(FindTileOperation("ldmatrix.sync.aligned.m8n8.x1.b16")->transposed);
  EXPECT_EQ(FindTileOperation("movmatrix.sync.aligned.m8n8.trans.b16")->move, TileMove::kTranspose);
  for (const absl::string_view name :
       {"movmatrix.sync.aligned.m8n8.b16", "ldmatrix.sync.aligned.m8n8.x3.shared.b16",
        "ldmatrix.sync.aligned.m8n16.x1.shared.b8", "ldmatrix.sync.aligned.m8n8.x1.global.b16",
        "ldmatrix.aligned.m8n8.x1.shared.b16"}) {
    EXPECT_FALSE(FindTileOperation(name).has_value()) << name;
  }
}

}  // namespace
}  // namespace stax::isa
