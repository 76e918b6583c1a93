// Reductions over the r axis of a tile.
//
// The layout is the plan: r bits of the register slot are reduced in the thread, r bits of the lane
// by a butterfly of shuffles (after which all lanes have the result), r bits of the warp through
// shared memory. Before the last step there are only partial results, one a slot, which a loop
// over r accumulates.
#ifndef STAX_COMPILER_CODEGEN_REDUCE_EMITTER_H_
#define STAX_COMPILER_CODEGEN_REDUCE_EMITTER_H_

#include <cstdint>
#include <vector>

#include "compiler/codegen/emit_context.h"
#include "compiler/codegen/index_emitter.h"
#include "compiler/codegen/scalar_emitter.h"
#include "compiler/codegen/tile_value.h"
#include "compiler/lowering/pass_plan.h"

namespace stax {

// Accumulators of one reduction: the operand's loop axes and all r slots.
struct Partial {
  TileValue values;
  // What goes with the values: for an arg reduction their positions along r (of index_type), for a
  // maximum with an online sum (pass_plan.h) the sum relative to it, which has no r slots.
  TileValue companions;
  bool online = false;
};

class ReduceEmitter {
 public:
  ReduceEmitter(EmitContext& context, ScalarEmitter& scalars, IndexEmitter& index)
      : c_(context), b_(context.builder), scalars_(scalars), index_(index) {}

  // What an empty range reduces to. `operand_axes`: those the operand depends on.
  Partial Identity(ValueId reduce, AxisSet operand_axes);

  // Combines `operand` at the current place of the r axis into `partial` (empty: nothing yet).
  Partial Accumulate(ValueId reduce, const Partial& partial, const TileValue& operand);

  // The same for a maximum and its online sum.
  Partial OnlineIdentity(ValueId max, AxisSet operand_axes);
  Partial AccumulateOnline(ValueId max, const Partial& partial, const TileValue& operand);

  // To be called where a sequence of reductions starts and ends, for each alternative code path.
  void BeginPasses();
  void EndPasses();

  // Reduces the partial results of `reduces` until they no longer depend on r: one slot per loop
  // slot. All share one exchange between warps.
  std::vector<Partial> Finish(const std::vector<ValueId>& reduces, std::vector<Partial> partials);
  // The values of the reduction, and of the online sum that goes with it.
  TileValue Result(ValueId reduce, const Partial& partial);
  TileValue OnlineResult(const OnlineSum& pair, const Partial& finished);

  // Gives the shared memory used so far its final size; bytes.
  int64_t FinishSharedMemory();

 private:
  struct Pair {
    llvm::Value* value = nullptr;
    llvm::Value* companion = nullptr;
  };

  DType OperandType(ValueId reduce) const;
  Pair Combine(ValueId reduce, bool online, const Pair& a, const Pair& b);
  Pair CombineOnline(DType t, const Pair& a, const Pair& b);
  llvm::Value* FiniteShift(llvm::Value* max);
  llvm::Value* IsInfinite(llvm::Value* value);
  llvm::Value* ExpOfDifference(DType t, llvm::Value* a, llvm::Value* b);
  llvm::Value* FirstWins(ReduceKind kind, DType t, const Pair& a, const Pair& b);
  static Pair At(const Partial& partial, uint32_t slot);
  Partial Shell(AxisSet operand_axes) const;
  bool LaneVector(AxisSet axes) const;
  llvm::Constant* Sentinel(ReduceKind kind) const;

  void ReduceSlots(ValueId reduce, Partial& partial);
  void ReduceLanes(ValueId reduce, Partial& partial);
  llvm::Value* ShuffleXor(llvm::Value* value, int lane_bit);
  llvm::Value* ShuffleWord(llvm::Value* word, int lane_bit);
  void ReduceWarps(const std::vector<ValueId>& reduces, std::vector<Partial>& partials);

  // One array of partial results in shared memory, an element for every loop point of the tile and
  // every warp along r.
  struct Exchange {
    ValueId reduce = -1;
    TileValue* values = nullptr;  // one value per loop slot
    int64_t byte_offset = 0;
    int element_bytes = 0;
  };
  std::vector<Exchange> PlanExchange(const std::vector<ValueId>& reduces,
                                     std::vector<Partial>& partials, int64_t* bytes);
  llvm::Value* ElementAddress(llvm::Value* memory, const Exchange& exchange, uint32_t packed_slot,
                              llvm::Value* r_warp);
  bool WarpsContiguous(AxisSet axes) const;
  std::vector<llvm::Value*> LoadPartials(llvm::Value* memory, const Exchange& exchange,
                                         uint32_t packed_slot, llvm::Value* r_warp, int count);
  Pair ReadExchange(ValueId reduce, bool online, llvm::Value* memory, const Exchange& values,
                    const Exchange* companions, uint32_t packed_slot);
  llvm::Value* PackThread(BitSet lanes, BitSet warps);
  void WriteExchange(llvm::Value* memory, const Exchange& exchange);
  void Barrier();
  void WaitForCluster();

  EmitContext& c_;
  llvm::IRBuilder<>& b_;
  ScalarEmitter& scalars_;
  IndexEmitter& index_;
  // Two areas used in turn: whoever writes one again has passed the barrier that follows its
  // last reads by everybody. So one barrier an exchange is enough.
  llvm::GlobalVariable* areas_[2] = {nullptr, nullptr};
  int64_t area_bytes_[2] = {0, 0};
  int num_exchanges_ = 0;  // on this code path
};

}  // namespace stax

#endif  // STAX_COMPILER_CODEGEN_REDUCE_EMITTER_H_
