#include "compiler/codegen/tile.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ir/check.h"

namespace stax {
namespace {

constexpr const char* kBlockParameters[kNumAxes] = {"YBLOCK", "XBLOCK", "RBLOCK"};
// 2^20 elements along an axis and 2^9 register slots are beyond what can be worth it; the limits
// keep a bad configuration from asking for gigabytes of code.
constexpr int kMaxBlockBits = 20;
constexpr int kMaxSlotBits = 9;
constexpr int kMaxClusterBits = 3;  // 8 blocks, the portable limit
constexpr int kMaxWarpBits = 5;     // 1024 threads, the hardware's limit
constexpr int kMaxMinBlocks = 32;   // the hardware's limit

absl::StatusOr<int> Log2Parameter(const std::string& name, const Config& config, int max_bits) {
  const auto it = config.find(name);
  if (it == config.end())
    return absl::InvalidArgumentError(absl::StrCat("configuration lacks parameter ", name));
  const int64_t value = it->second;
  int bits = 0;
  while (bits < max_bits && (int64_t{1} << bits) < value) ++bits;
  if (value != int64_t{1} << bits) {
    return absl::InvalidArgumentError(absl::StrCat(
        name, "=", value, ": expected a power of two from 1 to ", int64_t{1} << max_bits));
  }
  return bits;
}

// Whether every value that `e` takes on the way to its result fits into 31 bits. Sums and products
// may wrap on the way; only the operands of divisions, mod, min and max must be exact.
bool FitsNarrow(const IndexExpr& e, const RangeContext& ranges) {
  constexpr int64_t kLimit = (int64_t{1} << 31) - 1;
  const Interval bounds = ranges.Bounds(e);
  if (bounds.lo < -kLimit || bounds.hi > kLimit) return false;
  for (const IndexExpr::Term& term : e.terms()) {
    for (const auto& atom : term.atoms) {
      if (atom->kind == IndexExpr::AtomKind::kVar) continue;
      if (!FitsNarrow(atom->a, ranges) || !FitsNarrow(atom->b, ranges)) return false;
    }
  }
  return true;
}

bool NeedsWideIndex(const Tile& tile, const LoopNest& nest) {
  for (const AxisRange& axis : tile.axes) {
    // Coordinates run up to the end of the last tile.
    if (!FitsNarrow(axis.numel + axis.block(), tile.ranges)) return true;
  }
  for (const LoopOp& op : nest.body) {
    if ((HasIndex(op.code) || op.code == OpCode::kIndirect) && !FitsNarrow(op.index, tile.ranges))
      return true;
  }
  return false;
}

int AxisNumber(const std::string& name) {
  for (int axis = 0; axis < kNumAxes; ++axis)
    if (name == kAxisNames[axis]) return axis;
  return -1;
}

int DivisibleBits(const IndexExpr& e, const RangeContext& ranges, int max_bits) {
  int bits = 0;
  while (bits < max_bits && ranges.ProveDivisible(e, int64_t{2} << bits)) ++bits;
  return bits;
}

absl::Status OptionalParameters(const Config& config, const TargetSpec& target, Tile& tile) {
  if (!target.is_cuda()) return absl::OkStatus();
  if (config.count("MIN_BLOCKS") > 0) {
    const int64_t blocks = config.at("MIN_BLOCKS");
    if (blocks < 0 || blocks > kMaxMinBlocks)
      return absl::InvalidArgumentError(
          absl::StrCat("MIN_BLOCKS=", blocks,
                       ": expected a number from 0 (the emitter's choice) to ", kMaxMinBlocks));
    tile.min_blocks = static_cast<int>(blocks);
  }
  if (config.count("CLUSTER") > 0) {
    absl::StatusOr<int> bits = Log2Parameter("CLUSTER", config, kMaxClusterBits);
    if (!bits.ok()) return bits.status();
    if (*bits > 0 && !target.has_clusters()) {
      return absl::InvalidArgumentError(
          absl::StrCat("CLUSTER=", 1 << *bits, ": ", target.arch, " has no clusters"));
    }
    tile.cluster_bits = *bits;
  }
  return absl::OkStatus();
}

absl::Status FinishAxis(Tile& tile, int axis, const Config& config) {
  AxisRange& range = tile.axes[axis];
  absl::StatusOr<int> bits = Log2Parameter(range.block_parameter, config, kMaxBlockBits);
  if (!bits.ok()) return bits.status();
  range.block_bits = *bits;
  range.divisible_bits = DivisibleBits(range.numel, tile.ranges, range.block_bits);
  range.needs_mask = range.divisible_bits < range.block_bits;
  if (axis == kAxisR && tile.form == KernelForm::kPersistent) {
    if (!tile.ranges.ProveLe(range.numel, range.block())) {
      return absl::InvalidArgumentError(absl::StrCat(
          "RBLOCK=", range.block(), ": a persistent reduction needs at least its length, ",
          range.numel.ToString()));
    }
    range.needs_mask = !tile.ranges.ProveEq(range.numel, range.block());
  }
  return absl::OkStatus();
}

}  // namespace

int Tile::AxisOf(const std::string& var) const {
  for (int axis = 0; axis < kNumAxes; ++axis)
    for (const std::string& v : axes[axis].vars)
      if (v == var) return axis;
  return -1;
}

IndexExpr Tile::GridSize() const {
  return Simplify(CeilDiv(axes[kAxisY].numel, axes[kAxisY].block()) *
                      CeilDiv(axes[kAxisX].numel, axes[kAxisX].block()) *
                      (int64_t{1} << cluster_bits),
                  ranges);
}

absl::StatusOr<Tile> MakeTile(const KernelSpec& kernel, const Config& config,
                              const TargetSpec& target) {
  Tile tile;
  tile.form = kernel.form;
  tile.simd = !target.is_cuda();
  tile.ranges = kernel.nest.Ranges();
  tile.lane_bits = 5;
  if (tile.simd) tile.lane_bits = target.arch == "x86-64-v4" ? 4 : 3;
  if (target.is_cuda()) {
    absl::StatusOr<int> warps = Log2Parameter("WARPS", config, kMaxWarpBits);
    if (!warps.ok()) return warps.status();
    tile.warp_bits = *warps;
  }
  if (absl::Status s = OptionalParameters(config, target, tile); !s.ok()) return s;
  tile.programmatic_launch = target.is_cuda() && target.has_programmatic_launch();
  for (int axis = 0; axis < kNumAxes; ++axis)
    tile.axes[axis].block_parameter = kBlockParameters[axis];
  int total_bits = 0;
  for (const TileAxis& from : kernel.tile) {
    const int axis = AxisNumber(from.name);
    STAX_CHECK(axis >= 0, "tile axes are y, x and r");
    AxisRange& range = tile.axes[axis];
    for (int dim : from.dims) {
      range.vars.push_back(kernel.nest.dims[dim].name);
      range.extents.push_back(kernel.nest.dims[dim].extent);
    }
    range.numel = Product(range.extents);
    if (absl::Status s = FinishAxis(tile, axis, config); !s.ok()) return s;
    total_bits += range.block_bits;
  }
  if (total_bits - tile.lane_bits - tile.warp_bits - tile.cluster_bits > kMaxSlotBits) {
    return absl::ResourceExhaustedError(
        absl::StrCat("a tile of 2^", total_bits, " elements needs more than ", 1 << kMaxSlotBits,
                     " register slots a thread"));
  }
  tile.wide_index = NeedsWideIndex(tile, kernel.nest);
  tile.row_shift = FindRowShift(tile, kernel.nest);
  if (tile.row_shift.has_value()) {
    tile.axes[kAxisR].divisible_bits = 0;
    tile.axes[kAxisR].needs_mask = true;
  }
  return tile;
}

std::vector<AxisSet> ValueAxes(const Tile& tile, const LoopNest& nest) {
  std::vector<AxisSet> axes(nest.body.size(), 0);
  for (ValueId id = 0; id < static_cast<int>(nest.body.size()); ++id) {
    const LoopOp& op = nest.body[id];
    for (ValueId v : op.operands) axes[id] |= axes[v];
    if (op.code == OpCode::kReduce) axes[id] &= ~AxisBitOf(kAxisR);
    if (!HasIndex(op.code)) continue;
    const AccessPattern pattern = AnalyzeAccess(tile, op.index);
    axes[id] |= pattern.axes();
    for (ValueId t : pattern.indirects) axes[id] |= axes[t];
  }
  return axes;
}

}  // namespace stax
