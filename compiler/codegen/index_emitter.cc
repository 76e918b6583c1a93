#include "compiler/codegen/index_emitter.h"

#include "ir/check.h"

namespace stax {
namespace {

constexpr const char* kFlat = "";  // name of the whole coordinate in the cache

bool IsConst(llvm::Value* value, int64_t n) {
  auto* constant = llvm::dyn_cast<llvm::ConstantInt>(value);
  return constant != nullptr && constant->getSExtValue() == n;
}

}  // namespace

int64_t IndexTile::Offset(uint32_t slot) const {
  int64_t offset = 0;
  for (size_t b = 0; b < reg_strides.size(); ++b)
    if ((slot | part_slot) >> b & 1) offset += reg_strides[b];
  return offset;
}

int64_t IndexTile::LaneOffset(uint32_t lane) const {
  int64_t offset = 0;
  for (size_t b = 0; b < lane_strides.size(); ++b)
    if (lane >> b & 1) offset += lane_strides[b];
  return offset;
}

IndexEmitter::IndexEmitter(EmitContext& context) : c_(context) {
  for (int axis = 0; axis < kNumAxes; ++axis) {
    start_[axis] = c_.Index(0);
    thread_offset_[axis] = c_.nvptx() ? ThreadOffset(axis) : c_.Index(0);
  }
}

void IndexEmitter::SetTileStart(int axis, llvm::Value* start) {
  start_[axis] = start;
  for (auto it = coordinates_.begin(); it != coordinates_.end();)
    it = std::get<0>(it->first) == axis ? coordinates_.erase(it) : std::next(it);
}

void IndexEmitter::SetRowShift() {
  const RowShift& shift = *c_.tile.row_shift;
  // Over the loop dims: the r dims do not occur in it.
  const IndexTile base = Emit(shift.base, {});
  row_shift_ = c_.builder.CreateAnd(base.bases[0], c_.Index(shift.vector() - 1));
}

void IndexEmitter::RefreshRowShift() {
  if (row_shift_ == nullptr) return;
  c_.MakeOpaque(row_shift_);
  SetTileStart(kAxisR, start_[kAxisR]);
}

// The coordinate bits that come from the thread number. Runs of neighbouring bits that stay
// neighbours move together: one shift and one mask each.
llvm::Value* IndexEmitter::ThreadOffset(int axis) {
  llvm::IRBuilder<>& b = c_.builder;
  std::vector<AxisBit> bits = c_.layout.lanes;
  bits.insert(bits.end(), c_.layout.warps.begin(), c_.layout.warps.end());
  llvm::Value* sum = nullptr;
  for (size_t i = 0; i < bits.size();) {
    size_t end = i + 1;
    if (bits[i].axis != axis) {
      i = end;
      continue;
    }
    while (end < bits.size() && bits[end] == AxisBit{axis, bits[i].bit + static_cast<int>(end - i)})
      ++end;
    llvm::Value* part = b.CreateLShr(c_.thread, i);
    // The highest bits need no mask: the thread number ends with them.
    if (end < bits.size()) part = b.CreateAnd(part, (uint64_t{1} << (end - i)) - 1);
    part = b.CreateShl(part, bits[i].bit);
    sum = sum == nullptr ? part : b.CreateOr(sum, part);
    i = end;
  }
  return sum == nullptr ? c_.Index(0) : b.CreateZExt(sum, c_.index_type);
}

llvm::Value* IndexEmitter::Cached(int axis, int64_t offset, bool lane_vector,
                                  const std::string& what) {
  const auto it = coordinates_.find({axis, offset, lane_vector, what});
  return it == coordinates_.end() ? nullptr : it->second;
}

llvm::Value* IndexEmitter::Remember(int axis, int64_t offset, bool lane_vector,
                                    const std::string& what, llvm::Value* value) {
  coordinates_[{axis, offset, lane_vector, what}] = value;
  return value;
}

llvm::Value* IndexEmitter::CoordinateAt(int axis, int64_t offset, bool lane_vector) {
  if (llvm::Value* known = Cached(axis, offset, lane_vector, kFlat)) return known;
  llvm::IRBuilder<>& b = c_.builder;
  llvm::Value* value;
  if (lane_vector) {
    std::vector<llvm::Constant*> lane_offsets;
    for (int lane = 0; lane < c_.lanes(); ++lane)
      lane_offsets.push_back(c_.Index(c_.layout.LaneOffset(axis, lane)));
    value = b.CreateAdd(c_.Splat(CoordinateAt(axis, offset, false)),
                        llvm::ConstantVector::get(lane_offsets));
  } else if (offset != 0) {
    value = b.CreateAdd(CoordinateAt(axis, 0, false), c_.Index(offset));
  } else {
    value = b.CreateAdd(start_[axis], thread_offset_[axis]);
    if (axis == kAxisR && row_shift_ != nullptr) value = b.CreateSub(value, row_shift_);
  }
  return Remember(axis, offset, lane_vector, kFlat, value);
}

llvm::Value* IndexEmitter::Coordinate(int axis, uint32_t slot) {
  const bool lane_vector = c_.tile.simd && c_.layout.LaneBits(AxisBitOf(axis)) != 0;
  return CoordinateAt(axis, c_.RegOffset(axis, slot), lane_vector);
}

void IndexEmitter::Match(llvm::Value*& a, llvm::Value*& b) {
  if (a->getType()->isVectorTy()) b = c_.Splat(b);
  if (b->getType()->isVectorTy()) a = c_.Splat(a);
}

// Binds the variables of one axis for the coordinate at `offset`.
void IndexEmitter::BindAxis(int axis, const AxisWalk& walk, int64_t offset, bool lane_vector,
                            Environment& environment) {
  const AxisRange& range = c_.tile.axes[axis];
  llvm::Value* flat = CoordinateAt(axis, offset, lane_vector);
  const int num_outer = static_cast<int>(range.vars.size()) - walk.suffix;
  if (num_outer == 0) {
    environment[FlatVar(axis)] = flat;
    return;
  }
  // Split from the inside out; the cache holds the parts under the name of their extents.
  auto part = [&](bool is_div, llvm::Value* of, const IndexExpr& extent, const std::string& name) {
    if (llvm::Value* known = Cached(axis, offset, lane_vector, name)) return known;
    llvm::Value* divisor = EmitSize(extent);
    Match(of, divisor);
    return Remember(axis, offset, lane_vector, name, FloorDivOrMod(is_div, of, divisor, true));
  };
  std::string path = walk.suffix_numel.ToString();
  environment[FlatVar(axis)] = part(false, flat, walk.suffix_numel, "mod " + path);
  llvm::Value* rest = part(true, flat, walk.suffix_numel, "div " + path);
  for (int dim = num_outer - 1; dim > 0; --dim) {
    path += " " + range.extents[dim].ToString();
    environment[range.vars[dim]] = part(false, rest, range.extents[dim], "mod " + path);
    rest = part(true, rest, range.extents[dim], "div " + path);
  }
  environment[range.vars[0]] = rest;
}

IndexTile IndexEmitter::Emit(const IndexExpr& index, const std::vector<TileValue>& indirects) {
  IndexTile tile;
  tile.part_slot = c_.part_slot;
  tile.pattern = AnalyzeAccess(c_.tile, index);
  tile.axes = tile.pattern.axes();
  BitSet indirect_regs = 0;
  for (ValueId t : tile.pattern.indirects) {
    tile.axes |= indirects[t].axes;
    indirect_regs |= indirects[t].regs;
    tile.lane_vector |= indirects[t].slots[0]->getType()->isVectorTy();
  }
  for (size_t i = 0; i < c_.layout.regs.size(); ++i) {
    const BitSet bit = BitSet{1} << i;
    const std::optional<int64_t> stride = tile.pattern.BitStride(c_.layout.regs[i]);
    const bool nonlinear = !stride.has_value() || (indirect_regs & bit) != 0;
    tile.reg_strides.push_back(nonlinear ? 0 : *stride);
    if (c_.part_bits & bit) continue;
    if (nonlinear) tile.nonlinear |= bit;
    if (nonlinear || *stride != 0) tile.regs |= bit;
  }
  if (c_.tile.simd) {
    for (const AxisBit& bit : c_.layout.lanes) {
      const std::optional<int64_t> stride = tile.pattern.BitStride(bit);
      tile.lane_vector |= !stride.has_value();
      tile.lane_strides.push_back(stride.value_or(0));
    }
    if (tile.lane_vector) tile.lane_strides.clear();
  }

  RangeContext ranges = c_.tile.ranges;
  for (int axis = 0; axis < kNumAxes; ++axis)
    if (tile.pattern.walks[axis].depends)
      ranges.AddLoop(FlatVar(axis), tile.pattern.walks[axis].suffix_numel);
  for (uint32_t packed = 0; packed < 1u << CountBits(tile.nonlinear); ++packed) {
    const uint32_t slot = SpreadBits(packed, tile.nonlinear);
    Environment environment(c_.symbols.begin(), c_.symbols.end());
    for (int axis = 0; axis < kNumAxes; ++axis) {
      if (!tile.pattern.walks[axis].depends) continue;
      const bool per_lane = tile.lane_vector && c_.layout.LaneBits(AxisBitOf(axis)) != 0;
      BindAxis(axis, tile.pattern.walks[axis], NonlinearOffset(tile, axis, slot), per_lane,
               environment);
    }
    for (ValueId t : tile.pattern.indirects) environment[IndirectVar(t)] = indirects[t].At(slot);
    llvm::Value* base = EmitExpr(tile.pattern.index, environment, ranges);
    tile.bases.push_back(tile.lane_vector ? c_.Splat(base) : base);
  }
  return tile;
}

// The coordinate offset for a base: without the register bits whose strides are added later.
int64_t IndexEmitter::NonlinearOffset(const IndexTile& tile, int axis, uint32_t slot) const {
  uint32_t part = c_.part_slot;
  for (size_t i = 0; i < tile.reg_strides.size(); ++i)
    if (tile.pattern.BitStride(c_.layout.regs[i]).has_value()) part &= ~(uint32_t{1} << i);
  return c_.layout.RegOffset(axis, slot | part);
}

llvm::Value* IndexEmitter::EmitSize(const IndexExpr& size) {
  return EmitExpr(size, Environment(c_.symbols.begin(), c_.symbols.end()), c_.tile.ranges);
}

llvm::Value* IndexEmitter::EmitExpr(const IndexExpr& e, const Environment& environment,
                                    const RangeContext& ranges) {
  llvm::IRBuilder<>& b = c_.builder;
  llvm::Value* sum = nullptr;
  for (const IndexExpr::Term& term : e.terms()) {
    llvm::Value* product = nullptr;
    for (const auto& atom : term.atoms) {
      llvm::Value* factor = EmitAtom(*atom, environment, ranges);
      if (product != nullptr) {
        Match(product, factor);
        factor = b.CreateMul(product, factor);
      }
      product = factor;
    }
    if (term.coeff != 1) {
      llvm::Value* coeff = c_.Index(term.coeff);
      Match(product, coeff);
      product = b.CreateMul(product, coeff);
    }
    if (sum != nullptr) {
      Match(sum, product);
      product = b.CreateAdd(sum, product);
    }
    sum = product;
  }
  llvm::Value* constant = c_.Index(e.constant());
  if (sum == nullptr) return constant;
  if (e.constant() == 0) return sum;
  Match(sum, constant);
  return b.CreateAdd(sum, constant);
}

llvm::Value* IndexEmitter::EmitAtom(const IndexExpr::Atom& atom, const Environment& environment,
                                    const RangeContext& ranges) {
  if (atom.kind == IndexExpr::AtomKind::kVar) {
    const auto it = environment.find(atom.name);
    STAX_CHECK(it != environment.end(), "unbound variable " + atom.name);
    return it->second;
  }
  llvm::Value* a = EmitExpr(atom.a, environment, ranges);
  llvm::Value* b = EmitExpr(atom.b, environment, ranges);
  Match(a, b);
  switch (atom.kind) {
    case IndexExpr::AtomKind::kMin:
      return c_.builder.CreateBinaryIntrinsic(llvm::Intrinsic::smin, a, b);
    case IndexExpr::AtomKind::kMax:
      return c_.builder.CreateBinaryIntrinsic(llvm::Intrinsic::smax, a, b);
    default:
      return FloorDivOrMod(atom.kind == IndexExpr::AtomKind::kFloorDiv, a, b,
                           ranges.Bounds(atom.a).lo >= 0);
  }
}

// Divisors are sizes. One that is zero at run time belongs to an empty range, whose values nobody
// uses, but the division must not trap.
llvm::Value* IndexEmitter::FloorDivOrMod(bool is_div, llvm::Value* a, llvm::Value* b,
                                         bool non_negative) {
  llvm::IRBuilder<>& builder = c_.builder;
  llvm::Type* type = b->getType();
  if (!llvm::isa<llvm::Constant>(b))
    b = builder.CreateBinaryIntrinsic(llvm::Intrinsic::umax, b, llvm::ConstantInt::get(type, 1));
  if (non_negative) return is_div ? builder.CreateUDiv(a, b) : builder.CreateURem(a, b);
  // Truncating division, then one step down where the remainder is negative.
  llvm::Value* zero = llvm::Constant::getNullValue(type);
  llvm::Value* remainder = builder.CreateSRem(a, b);
  llvm::Value* below = builder.CreateICmpSLT(remainder, zero);
  if (is_div) return builder.CreateAdd(builder.CreateSDiv(a, b), builder.CreateSExt(below, type));
  return builder.CreateAdd(remainder, builder.CreateSelect(below, b, zero));
}

TileValue IndexEmitter::Values(const IndexTile& index) {
  TileValue value;
  value.axes = index.axes;
  value.regs = index.regs;
  bool varies = false;
  std::vector<llvm::Constant*> lane_offsets;
  for (int lane = 0; lane < c_.lanes(); ++lane) {
    lane_offsets.push_back(c_.Index(index.LaneOffset(lane)));
    varies |= index.LaneOffset(lane) != 0;
  }
  for (uint32_t packed = 0; packed < 1u << CountBits(value.regs); ++packed) {
    const uint32_t slot = SpreadBits(packed, value.regs);
    llvm::Value* v = index.Base(slot);
    if (varies) v = c_.builder.CreateAdd(c_.Splat(v), llvm::ConstantVector::get(lane_offsets));
    llvm::Value* offset = c_.Index(index.Offset(slot));
    Match(v, offset);
    value.slots.push_back(c_.builder.CreateAdd(v, offset));
  }
  return value;
}

TileValue IndexEmitter::And(const TileValue& a, const TileValue& b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  TileValue both;
  both.axes = a.axes | b.axes;
  both.regs = a.regs | b.regs;
  for (uint32_t packed = 0; packed < 1u << CountBits(both.regs); ++packed) {
    const uint32_t slot = SpreadBits(packed, both.regs);
    llvm::Value* x = a.At(slot);
    llvm::Value* y = b.At(slot);
    both.slots.push_back(c_.AndMasks(x, y));
  }
  return both;
}

TileValue IndexEmitter::Mask(AxisSet axes) {
  TileValue mask;
  for (int axis = 0; axis < kNumAxes; ++axis)
    if (axes & AxisBitOf(axis)) mask = And(mask, AxisMask(axis));
  return mask;
}

// True or false if that is known for the slot at `offset` in all threads, else null. A tile that
// starts at 0 holds constants and small thread numbers: most slots are decided now.
llvm::Value* IndexEmitter::DecidedMask(int axis, int64_t offset) {
  const std::optional<int64_t> numel = c_.tile.axes[axis].numel.AsConst();
  if (!numel.has_value() || !IsConst(start_[axis], 0)) return nullptr;
  const int64_t threads = c_.nvptx() ? c_.layout.MaxThreadOffset(axis) : 0;
  const int64_t lanes = c_.nvptx() ? 0 : c_.layout.LaneOffset(axis, ~0u);
  const int64_t shift =
      axis == kAxisR && row_shift_ != nullptr ? c_.tile.row_shift->vector() - 1 : 0;
  if (offset >= shift && offset + threads + lanes < *numel) return c_.builder.getTrue();
  if (offset - shift >= *numel) return c_.builder.getFalse();
  return nullptr;
}

llvm::Value* IndexEmitter::MaskAt(int axis, uint32_t slot, bool lane_vector) {
  llvm::IRBuilder<>& b = c_.builder;
  const int64_t offset = c_.RegOffset(axis, slot);
  if (llvm::Value* decided = DecidedMask(axis, offset)) return decided;
  llvm::Value* coordinate = CoordinateAt(axis, offset, lane_vector);
  llvm::Value* end = EmitSize(c_.tile.axes[axis].numel);
  Match(coordinate, end);
  // With a shift, coordinates before the row are negative: above the end as unsigned numbers.
  if (axis == kAxisR && row_shift_ != nullptr) return b.CreateICmpULT(coordinate, end);
  return b.CreateICmpSLT(coordinate, end);
}

TileValue IndexEmitter::AxisMask(int axis) {
  const AxisRange& range = c_.tile.axes[axis];
  if (inside_[axis] || !range.needs_mask) return {};
  TileValue mask;
  mask.axes = AxisBitOf(axis);
  auto decides = [&](const AxisBit& bit) {
    return bit.axis == axis && bit.bit >= range.divisible_bits;
  };
  for (size_t i = 0; i < c_.layout.regs.size(); ++i)
    if (decides(c_.layout.regs[i])) mask.regs |= BitSet{1} << i & ~c_.part_bits;
  bool lane_vector = false;
  if (c_.tile.simd)
    for (const AxisBit& bit : c_.layout.lanes) lane_vector |= decides(bit);
  bool all_true = true;
  for (uint32_t packed = 0; packed < 1u << CountBits(mask.regs); ++packed) {
    mask.slots.push_back(MaskAt(axis, SpreadBits(packed, mask.regs), lane_vector));
    all_true &= mask.slots.back() == c_.builder.getTrue();
  }
  return all_true ? TileValue() : mask;
}

}  // namespace stax
