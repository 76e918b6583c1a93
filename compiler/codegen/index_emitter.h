// Index arithmetic: coordinates, index expressions and masks of a tile as LLVM values.
//
// What differs between the slots of a thread is a constant wherever the access is linear, so the
// address of slot 0 is computed once and the others are constant offsets from it.
#ifndef STAX_COMPILER_CODEGEN_INDEX_EMITTER_H_
#define STAX_COMPILER_CODEGEN_INDEX_EMITTER_H_

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "compiler/codegen/emit_context.h"
#include "compiler/codegen/tile_value.h"

namespace stax {

// An index expression over the tile, see AccessPattern.
struct IndexTile {
  AccessPattern pattern;
  AxisSet axes = 0;                  // that it depends on, also through indirect values
  BitSet regs = 0;                   // register bits that it depends on
  BitSet nonlinear = 0;              // those among them that need a base of their own
  std::vector<llvm::Value*> bases;   // one per combination of the nonlinear bits, linear bits zero
  std::vector<int64_t> reg_strides;  // per register bit, for the linear ones
  uint32_t part_slot = 0;            // see EmitContext
  // SIMD: the bases are vectors over the lanes, or scalars to which lane bit b adds
  // lane_strides[b].
  bool lane_vector = false;
  std::vector<int64_t> lane_strides;

  llvm::Value* Base(uint32_t slot) const { return bases[PackBits(slot, nonlinear)]; }
  int64_t Offset(uint32_t slot) const;  // constant to be added to Base(slot)
  int64_t LaneOffset(uint32_t lane) const;
};

class IndexEmitter {
 public:
  explicit IndexEmitter(EmitContext& context);

  // Sets where the tile begins along `axis` (of index_type). To be called where it dominates all
  // uses, again for each iteration of a loop over r.
  void SetTileStart(int axis, llvm::Value* start);
  llvm::Value* TileStart(int axis) const { return start_[axis]; }
  // Rows that do not start aligned (Tile::row_shift): to be called where the row is known.
  void SetRowShift();
  llvm::Value* row_shift() const { return row_shift_; }
  // Makes later masks along r independent of earlier ones to LLVM's eyes: they are cheap to compute
  // again, but there are only seven predicate registers to keep them in.
  void RefreshRowShift();
  // While set, the tile is known to lie inside the range along `axis`: no masks.
  void SetInside(int axis, bool inside) { inside_[axis] = inside; }

  // While one lives, values are remembered for reuse in its code region only.
  class Scope {
   public:
    explicit Scope(IndexEmitter& emitter)
        : emitter_(emitter), row_shift_(emitter.row_shift_), saved_(emitter.coordinates_) {}
    ~Scope() {
      emitter_.row_shift_ = row_shift_;
      emitter_.coordinates_ = std::move(saved_);
    }

   private:
    IndexEmitter& emitter_;
    llvm::Value* row_shift_;
    std::map<std::tuple<int, int64_t, bool, std::string>, llvm::Value*> saved_;
  };

  // `indirects` holds the values (of index_type) of kIndirect ops by op position.
  IndexTile Emit(const IndexExpr& index, const std::vector<TileValue>& indirects);

  // An expression over symbols only.
  llvm::Value* EmitSize(const IndexExpr& size);

  // The index as a value of index_type per slot.
  TileValue Values(const IndexTile& index);

  // Whether each element is inside the range along all of `axes`, as i1; empty when all are.
  TileValue Mask(AxisSet axes);
  // and; an empty operand is "all true".
  TileValue And(const TileValue& a, const TileValue& b);

  // Flat coordinate along `axis` for a register slot; on the CPU a vector when it differs between
  // the lanes.
  llvm::Value* Coordinate(int axis, uint32_t slot);

 private:
  using Environment = std::map<std::string, llvm::Value*>;

  llvm::Value* ThreadOffset(int axis);
  int64_t NonlinearOffset(const IndexTile& tile, int axis, uint32_t slot) const;
  llvm::Value* CoordinateAt(int axis, int64_t offset, bool lane_vector);
  void BindAxis(int axis, const AxisWalk& walk, int64_t offset, bool lane_vector,
                Environment& environment);
  llvm::Value* Cached(int axis, int64_t offset, bool lane_vector, const std::string& what);
  llvm::Value* Remember(int axis, int64_t offset, bool lane_vector, const std::string& what,
                        llvm::Value* value);

  llvm::Value* EmitExpr(const IndexExpr& e, const Environment& environment,
                        const RangeContext& ranges);
  llvm::Value* EmitAtom(const IndexExpr::Atom& atom, const Environment& environment,
                        const RangeContext& ranges);
  llvm::Value* FloorDivOrMod(bool is_div, llvm::Value* a, llvm::Value* b, bool non_negative);
  void Match(llvm::Value*& a, llvm::Value*& b);

  TileValue AxisMask(int axis);
  llvm::Value* MaskAt(int axis, uint32_t slot, bool lane_vector);
  llvm::Value* DecidedMask(int axis, int64_t offset);

  EmitContext& c_;
  llvm::Value* start_[kNumAxes] = {nullptr, nullptr, nullptr};
  llvm::Value* thread_offset_[kNumAxes] = {nullptr, nullptr, nullptr};
  bool inside_[kNumAxes] = {false, false, false};
  llvm::Value* row_shift_ = nullptr;  // elements, below row_shift->vector()
  // (axis, offset, per lane, name) -> value: coordinates and the dims they split into.
  std::map<std::tuple<int, int64_t, bool, std::string>, llvm::Value*> coordinates_;
};

}  // namespace stax

#endif  // STAX_COMPILER_CODEGEN_INDEX_EMITTER_H_
