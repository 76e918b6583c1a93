// The part of tile.h about accesses: strides, alignment, and the layout that suits them.
#include <algorithm>
#include <map>

#include "compiler/codegen/tile.h"
#include "ir/loop_op.h"

namespace stax {
namespace {

// All bits: an axis coordinate has fewer.
constexpr int kAllBits = 62;
constexpr int kVectorBytes = 16;

std::string HighVar(int axis) { return std::string(kAxisNames[axis]) + ".high"; }
std::string LowVar(int axis) { return std::string(kAxisNames[axis]) + ".low"; }

std::optional<int64_t> ConstStride(const IndexExpr& e, const std::string& var) {
  const std::optional<IndexExpr> stride = e.StrideOf(var);
  return stride.has_value() ? stride->AsConst() : std::nullopt;
}

// Extends the linear part of the walk outwards while the next dim continues it: with i1 in
// [0, 128), 128*i0 + i1 is one coordinate.
void ExtendSuffix(const Tile& tile, const AxisRange& range, const IndexExpr& index,
                  AxisWalk& walk) {
  const int num_dims = static_cast<int>(range.vars.size());
  while (walk.suffix < num_dims) {
    const int dim = num_dims - 1 - walk.suffix;
    const std::optional<IndexExpr> stride = index.StrideOf(range.vars[dim]);
    if (!stride.has_value()) return;
    if (!tile.ranges.ProveEq(*stride, IndexExpr(walk.stride) * walk.suffix_numel)) return;
    walk.suffix_numel = walk.suffix_numel * range.extents[dim];
    ++walk.suffix;
  }
}

// For an index that is not linear in the flat coordinate, e.g. through floordiv(x, 64): the most
// low bits along which it is.
void FindLinearBits(const Tile& tile, int axis, const IndexExpr& index, AxisWalk& walk) {
  const IndexExpr high = IndexExpr::Var(HighVar(axis)), low = IndexExpr::Var(LowVar(axis));
  for (int bits = std::min(tile.axes[axis].block_bits, 8); bits > 0; --bits) {
    const int64_t part = int64_t{1} << bits;
    RangeContext ranges = tile.ranges;
    ranges.AddLoop(HighVar(axis), CeilDiv(walk.suffix_numel, part));
    ranges.AddLoop(LowVar(axis), part);
    const IndexExpr split =
        Simplify(index.Substitute({{FlatVar(axis), part * high + low}}), ranges);
    const std::optional<int64_t> stride = ConstStride(split, LowVar(axis));
    if (!stride.has_value()) continue;
    walk.linear_bits = bits;
    walk.stride = *stride;
    return;
  }
}

int TrailingBits(const RangeContext& ranges, const IndexExpr& e) {
  int bits = 0;
  while (bits < 12 && ranges.ProveDivisible(e, int64_t{2} << bits)) ++bits;
  return bits;
}

// Fills pattern.walks[axis] and renames the suffix in pattern.index.
void AnalyzeAxis(const Tile& tile, int axis, AccessPattern& pattern) {
  const AxisRange& range = tile.axes[axis];
  AxisWalk& walk = pattern.walks[axis];
  for (const std::string& var : range.vars) walk.depends |= pattern.index.Mentions(var);
  if (!walk.depends) {
    walk.linear_bits = kAllBits;
    return;
  }
  const std::string& innermost = range.vars.back();
  const std::optional<int64_t> stride = ConstStride(pattern.index, innermost);
  walk.suffix = 1;
  walk.suffix_numel = range.extents.back();
  std::map<std::string, IndexExpr> rename = {{innermost, IndexExpr::Var(FlatVar(axis))}};
  if (stride.has_value()) {
    walk.stride = *stride;
    ExtendSuffix(tile, range, pattern.index, walk);
    for (int i = 1; i < walk.suffix; ++i) rename[range.vars[range.vars.size() - 1 - i]] = 0;
  }
  pattern.index = pattern.index.Substitute(rename);
  const bool whole = walk.suffix == static_cast<int>(range.vars.size());
  // Bits below the power of two in the suffix's length never carry into the outer dims.
  const int closed_bits = whole ? kAllBits : TrailingBits(tile.ranges, walk.suffix_numel);
  walk.linear_bits = closed_bits;
  if (!stride.has_value()) {
    walk.linear_bits = 0;
    FindLinearBits(tile, axis, pattern.index, walk);
    walk.linear_bits = std::min(walk.linear_bits, closed_bits);
  }
}

// The index at the start of the row: r is 0.
IndexExpr AtRowStart(const Tile& tile, const IndexExpr& index) {
  std::map<std::string, IndexExpr> zero;
  for (const std::string& var : tile.axes[kAxisR].vars) zero[var] = 0;
  return index.Substitute(zero);
}

// One load or store as the layout sees it.
struct Traffic {
  AccessPattern pattern;
  AxisSet axes = 0;
  int element_bytes = 4;
  double bytes = 0;  // that it moves at the size hints
};

double HintPoints(const LoopNest& nest, const Tile& tile, AxisSet axes) {
  std::map<std::string, int64_t> hints;
  for (const SizeSymbol& s : nest.symbols) hints[s.name] = s.hint;
  double points = 1;
  for (int axis = 0; axis < kNumAxes; ++axis) {
    if ((axes & AxisBitOf(axis)) == 0) continue;
    const absl::StatusOr<int64_t> numel = tile.axes[axis].numel.Evaluate(hints);
    points *= numel.ok() ? static_cast<double>(*numel) : 1e6;
  }
  return points;
}

// log2 of the widest vector (up to 16 bytes) along `axis` that is provably aligned.
int VectorBits(const Tile& tile, const Traffic& t, int axis) {
  for (int bits = 4; bits > 0; --bits) {
    if ((t.element_bytes << bits) > kVectorBytes || bits > tile.axes[axis].block_bits) continue;
    const AxisRange& range = tile.axes[axis];
    if (t.pattern.walks[axis].linear_bits < bits) continue;
    // A mask along r that cuts through a vector makes it useless. Along x and y only the last tile
    // has one, and code of its own.
    const bool cut = axis == kAxisR && !tile.row_shift.has_value();
    if (cut && range.needs_mask && range.divisible_bits < bits) continue;
    std::array<int, kNumAxes> low_bits = {0, 0, 0};
    low_bits[axis] = bits;
    if (ProveAligned(tile, t.pattern, low_bits, int64_t{1} << bits)) return bits;
  }
  return 0;
}

bool IsContiguous(const Traffic& t, int axis) {
  const AxisWalk& walk = t.pattern.walks[axis];
  return walk.depends && walk.stride == 1 && walk.linear_bits > 0;
}

// The narrowest vector among the accesses that carry most of the bytes along `axis`.
int SideVectorBits(const Tile& tile, const std::vector<Traffic>& all, int axis) {
  double most = 0;
  for (const Traffic& t : all)
    if (IsContiguous(t, axis)) most = std::max(most, t.bytes);
  int bits = 4;
  for (const Traffic& t : all)
    if (IsContiguous(t, axis) && t.bytes * 4 >= most)
      bits = std::min(bits, VectorBits(tile, t, axis));
  return bits;
}

std::vector<Traffic> CollectTraffic(const Tile& tile, const LoopNest& nest) {
  const std::vector<AxisSet> axes = ValueAxes(tile, nest);
  std::vector<Traffic> all;
  for (ValueId id = 0; id < static_cast<int>(nest.body.size()); ++id) {
    const LoopOp& op = nest.body[id];
    if (op.code != OpCode::kLoad && op.code != OpCode::kStore) continue;
    Traffic t;
    t.pattern = AnalyzeAccess(tile, op.index);
    t.axes = t.pattern.axes();
    for (ValueId v : t.pattern.indirects) t.axes |= axes[v];
    t.element_bytes = DTypeBytes(op.dtype);
    t.bytes = HintPoints(nest, tile, t.axes) * t.element_bytes;
    all.push_back(std::move(t));
  }
  return all;
}

}  // namespace

std::string FlatVar(int axis) { return std::string(kAxisNames[axis]) + ".flat"; }

std::optional<int64_t> AccessPattern::BitStride(const AxisBit& bit) const {
  if (bit.idle()) return 0;
  const AxisWalk& walk = walks[bit.axis];
  if (!walk.depends) return 0;
  if (bit.bit >= walk.linear_bits) return std::nullopt;
  return walk.stride * (int64_t{1} << bit.bit);
}

AxisSet AccessPattern::axes() const {
  AxisSet set = 0;
  for (int axis = 0; axis < kNumAxes; ++axis)
    if (walks[axis].depends) set |= AxisBitOf(axis);
  return set;
}

AccessPattern AnalyzeAccess(const Tile& tile, const IndexExpr& index) {
  AccessPattern pattern;
  pattern.source = index;
  pattern.index = index;
  for (int axis = 0; axis < kNumAxes; ++axis) AnalyzeAxis(tile, axis, pattern);
  for (const std::string& var : index.Vars()) {
    // Indirect variables are the loop variables that are no dim; they are named t<op>.
    if (tile.AxisOf(var) < 0 && tile.ranges.Extent(var).has_value())
      pattern.indirects.push_back(std::stoi(var.substr(1)));
  }
  return pattern;
}

bool ProveAligned(const Tile& tile, const AccessPattern& pattern,
                  const std::array<int, kNumAxes>& low_bits, int64_t elements) {
  if (tile.row_shift.has_value() && pattern.walks[kAxisR].depends) {
    // The tile is one row and positions along it are multiples of 2^low_bits: coordinates are
    // congruent to -base.
    const int64_t part = int64_t{1} << low_bits[kAxisR];
    if (part > tile.row_shift->vector()) return false;
    const IndexExpr r = part * IndexExpr::Var(HighVar(kAxisR)) - tile.row_shift->base;
    const IndexExpr index = AtRowStart(tile, pattern.source) + pattern.walks[kAxisR].stride * r;
    return tile.ranges.ProveDivisible(index, elements);
  }
  std::map<std::string, IndexExpr> values;
  RangeContext ranges = tile.ranges;
  for (int axis = 0; axis < kNumAxes; ++axis) {
    const AxisWalk& walk = pattern.walks[axis];
    if (!walk.depends) continue;
    const int64_t part = int64_t{1} << low_bits[axis];
    ranges.AddLoop(FlatVar(axis), walk.suffix_numel);
    if (part == 1) continue;
    ranges.AddLoop(HighVar(axis), CeilDiv(walk.suffix_numel, part));
    values[FlatVar(axis)] = part * IndexExpr::Var(HighVar(axis));
  }
  return ranges.ProveDivisible(pattern.index.Substitute(values), elements);
}

std::optional<RowShift> FindRowShift(const Tile& tile, const LoopNest& nest) {
  const AxisRange& r = tile.axes[kAxisR];
  if (tile.simd || r.vars.empty() || tile.axes[kAxisX].block_bits > 0 ||
      tile.axes[kAxisY].block_bits > 0)
    return std::nullopt;
  // A shift moves the places where anything but a linear walk along r changes.
  for (const LoopOp& op : nest.body) {
    if (HasIndex(op.code) && AnalyzeAccess(tile, op.index).walks[kAxisR].linear_bits < kAllBits)
      return std::nullopt;
  }
  const std::vector<Traffic> all = CollectTraffic(tile, nest);
  double most = 0;
  for (const Traffic& t : all)
    if (IsContiguous(t, kAxisR)) most = std::max(most, t.bytes);
  std::optional<RowShift> shift;
  bool aligned = true;
  for (const Traffic& t : all) {
    if (!IsContiguous(t, kAxisR) || t.bytes * 4 < most) continue;
    if (!t.pattern.indirects.empty()) return std::nullopt;
    int bits = 0;
    while ((t.element_bytes << (bits + 1)) <= kVectorBytes) ++bits;
    const IndexExpr base = AtRowStart(tile, t.pattern.source);
    if (!shift.has_value()) shift = RowShift{base, bits};
    shift->vector_bits = std::min(shift->vector_bits, bits);
    aligned &= tile.ranges.ProveDivisible(base, int64_t{1} << bits);
    if (!tile.ranges.ProveDivisible(base - shift->base, int64_t{1} << bits)) return std::nullopt;
  }
  if (aligned || !shift.has_value() || shift->vector_bits == 0) return std::nullopt;
  if (tile.form == KernelForm::kPersistent &&
      !tile.ranges.ProveLe(r.numel + shift->vector() - 1, r.block()))
    return std::nullopt;
  return shift;
}

Layout ChooseTileLayout(const Tile& tile, const LoopNest& nest) {
  const std::vector<Traffic> all = CollectTraffic(tile, nest);
  double weight[kNumAxes] = {0, 0, 0};
  for (const Traffic& t : all)
    for (int axis = 0; axis < kNumAxes; ++axis)
      if (IsContiguous(t, axis)) weight[axis] += t.bytes;
  // Ties go to r, then x.
  std::vector<int> order = {kAxisR, kAxisX, kAxisY};
  std::sort(order.begin(), order.end(),
            [&](int a, int b) { return weight[a] != weight[b] ? weight[a] > weight[b] : a > b; });

  LayoutRequest request;
  for (int axis = 0; axis < kNumAxes; ++axis) request.axis_bits[axis] = tile.axes[axis].block_bits;
  request.lane_bits = tile.lane_bits;
  request.warp_bits = tile.warp_bits + tile.cluster_bits;
  request.simd = tile.simd;
  for (int axis : order) {
    if (weight[axis] == 0 || tile.axes[axis].block_bits == 0) continue;
    // A second side pays only when its accesses run over the first axis too (a transposition);
    // otherwise they are a row or column that is read once per tile.
    bool transposed = request.sides.empty();
    for (const Traffic& t : all) {
      transposed |= IsContiguous(t, axis) && !request.sides.empty() &&
                    (t.axes & AxisBitOf(request.sides[0].axis)) != 0;
    }
    if (transposed && request.sides.size() < 2)
      request.sides.push_back({axis, SideVectorBits(tile, all, axis)});
  }
  return ChooseLayout(request);
}

}  // namespace stax
