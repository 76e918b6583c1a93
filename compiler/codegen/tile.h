// Tile: the part of the iteration space that one program instance computes, and what is known of
// it before any code is emitted: axis ranges, index width, how each access walks it, the layout.
// Pure analysis: no LLVM here, so all of it is tested without generating code.
#ifndef STAX_COMPILER_CODEGEN_TILE_H_
#define STAX_COMPILER_CODEGEN_TILE_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/codegen/layout.h"
#include "compiler/kernel_spec.h"
#include "compiler/target.h"
#include "ir/index_expr.h"

namespace stax {

// One axis of the tile. An axis that the kernel does not have counts as one of a single point.
struct AxisRange {
  std::vector<std::string> vars;  // of its dims, outermost first
  std::vector<IndexExpr> extents;
  IndexExpr numel = 1;          // product of the extents
  std::string block_parameter;  // "XBLOCK"
  int block_bits = 0;           // log2 of the elements of a tile along it
  // 2^divisible_bits provably divides numel (at most block_bits), so that neighbours that agree in
  // the bits above are all inside or all outside.
  int divisible_bits = 0;
  bool needs_mask = false;  // false: every coordinate of every tile is provably inside

  int64_t block() const { return int64_t{1} << block_bits; }
};

// Rows that start anywhere, e.g. of 50257 bf16 each: the tile begins a few elements before the row,
// where memory is aligned, so that all but the first and last vector of a row are whole. Position p
// along r stands for coordinate p - shift, where shift = base mod vector differs from row to row.
struct RowShift {
  IndexExpr base;       // index of an access at the row's start, over loop dims and symbols
  int vector_bits = 0;  // log2 of the elements that are aligned

  int64_t vector() const { return int64_t{1} << vector_bits; }
};

struct Tile {
  KernelForm form = KernelForm::kPointwise;
  bool simd = false;  // lanes are elements of SIMD registers (the CPU)
  int lane_bits = 0;
  int warp_bits = 0;     // of a block
  int cluster_bits = 0;  // log2 of the blocks that share a tile; they count as further warps
  std::array<AxisRange, kNumAxes> axes;
  RangeContext ranges;                // of the nest
  std::optional<RowShift> row_shift;  // cuda only; the tile is one row then
  int min_blocks = 0;  // blocks a multiprocessor must be able to hold; 0: chosen by the emitter
  bool programmatic_launch = false;  // starts before the kernels before it have ended
  // Whether some index may not fit into 31 bits, so that 64-bit arithmetic is needed.
  bool wide_index = false;

  // The axis whose dims contain `var`; -1 when it is no dim.
  int AxisOf(const std::string& var) const;
  // ceil(y / YBLOCK) * ceil(x / XBLOCK), times the blocks of a cluster
  IndexExpr GridSize() const;
};

// InvalidArgument naming the parameter that is missing, no power of two, or out of its limits.
// Parameters: those of kernel_spec.h, and two optional ones for cuda. CLUSTER (sm_90): blocks that
// share a tile and exchange partial results through distributed shared memory, so that a long row
// is spread over several multiprocessors. MIN_BLOCKS: limits registers so that a multiprocessor
// holds that many blocks; 0: as codegen finds right.
absl::StatusOr<Tile> MakeTile(const KernelSpec& kernel, const Config& config,
                              const TargetSpec& target);

// How an index expression moves along one axis.
struct AxisWalk {
  bool depends = false;
  // The innermost `suffix` dims of the axis are walked as one flat coordinate, named
  // FlatVar(axis) in AccessPattern::index; the others keep their names.
  int suffix = 0;
  IndexExpr suffix_numel = 1;
  // With bit b < linear_bits of the axis coordinate set instead of clear, the index is greater by
  // stride << b, whatever the other bits are.
  int linear_bits = 0;
  int64_t stride = 0;
};

struct AccessPattern {
  IndexExpr source;  // the expression as it was
  IndexExpr index;   // over FlatVar()s, outer dims, symbols and indirect variables
  std::array<AxisWalk, kNumAxes> walks;
  std::vector<ValueId> indirects;  // the kIndirect ops it mentions

  // What `bit` adds to the index; nullopt if that is not one constant. 0: does not depend on it.
  std::optional<int64_t> BitStride(const AxisBit& bit) const;
  AxisSet axes() const;  // those it depends on directly
};

std::string FlatVar(int axis);  // "x.flat"

AccessPattern AnalyzeAccess(const Tile& tile, const IndexExpr& index);

// Whether the index is a multiple of `elements` at all points whose lowest low_bits[axis] bits
// along each axis are zero. Sound, not complete.
bool ProveAligned(const Tile& tile, const AccessPattern& pattern,
                  const std::array<int, kNumAxes>& low_bits, int64_t elements);

// The shift that aligns the rows of `nest`, if its tile is one row, rows are not aligned anyhow,
// and all large accesses along r are aligned by the same one.
std::optional<RowShift> FindRowShift(const Tile& tile, const LoopNest& nest);

// Layout for all the accesses of `nest` (see ChooseLayout): decides which axes are contiguous and
// how wide their vectors may be.
Layout ChooseTileLayout(const Tile& tile, const LoopNest& nest);

// Axes that each value depends on, by op position.
std::vector<AxisSet> ValueAxes(const Tile& tile, const LoopNest& nest);

}  // namespace stax

#endif  // STAX_COMPILER_CODEGEN_TILE_H_
