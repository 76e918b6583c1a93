// Loads and stores of tiles.
#ifndef STAX_COMPILER_CODEGEN_MEMORY_EMITTER_H_
#define STAX_COMPILER_CODEGEN_MEMORY_EMITTER_H_

#include <memory>
#include <vector>

#include "compiler/codegen/emit_context.h"
#include "compiler/codegen/index_emitter.h"
#include "compiler/codegen/tile_value.h"

namespace stax {

class MemoryEmitter {
 public:
  virtual ~MemoryEmitter() = default;

  // buffers[op.buffer] at `index`, in register form (ScalarEmitter). `mask` (i1 slots; empty: all
  // true) says which elements are there; the others touch no memory and give 0.
  virtual TileValue Load(const LoopOp& op, const IndexTile& index, const TileValue& mask) = 0;

  // Loads for Reload, which gives the value (of the part being emitted: EmitContext::BeginPart)
  // from the registers as loaded, in packed form. `opaque`: what follows shall not share results
  // with what was computed from earlier copies, so that only the packed registers stay in use in
  // between. Empty if `op` was not loaded.
  virtual void LoadPacked(const LoopOp&, const IndexTile&, const TileValue&) {}
  virtual TileValue Reload(const LoopOp&, bool /*opaque*/) { return {}; }
  virtual void ForgetPacked() {}
  // Registers that all loads for Reload hold, in a thread.
  virtual int packed_registers() const { return 0; }

  // Stores `value`, whose half slots are rounded. Every element is written by one lane only:
  // of lanes that hold the same elements of an index that depends on `axes`, the first.
  virtual void Store(const LoopOp& op, const IndexTile& index, const TileValue& value,
                     const TileValue& mask) = 0;

  // Bytes that one thread has loaded (or asked for) since the last call: the loads that can be in
  // flight together.
  virtual double TakeLoadedBytes() { return 0; }
};

std::unique_ptr<MemoryEmitter> MakeCudaMemoryEmitter(EmitContext& context);
std::unique_ptr<MemoryEmitter> MakeCpuMemoryEmitter(EmitContext& context);

}  // namespace stax

#endif  // STAX_COMPILER_CODEGEN_MEMORY_EMITTER_H_
