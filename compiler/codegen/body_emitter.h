// BodyEmitter: the meaning of loop ops as LLVM values of a whole tile.
#ifndef STAX_COMPILER_CODEGEN_BODY_EMITTER_H_
#define STAX_COMPILER_CODEGEN_BODY_EMITTER_H_

#include <vector>

#include "compiler/codegen/emit_context.h"
#include "compiler/codegen/index_emitter.h"
#include "compiler/codegen/memory_emitter.h"
#include "compiler/codegen/scalar_emitter.h"
#include "compiler/codegen/tile_value.h"
#include "ir/op_handler.h"

namespace stax {

// Reductions are not handled here: they span several tiles (ReduceEmitter, KernelEmitter).
class BodyEmitter : public OpHandler<TileValue> {
 public:
  BodyEmitter(EmitContext& context, IndexEmitter& index, ScalarEmitter& scalars,
              MemoryEmitter& memory)
      : c_(context),
        index_(index),
        scalars_(scalars),
        memory_(memory),
        indirects_(context.nest.body.size()) {}

  TileValue Const(const LoopOp& op) override;
  TileValue Index(const LoopOp& op) override;
  TileValue Load(const LoopOp& op, const TileValue* mask) override;
  // A load without a mask operand in packed form, see MemoryEmitter.
  void LoadPacked(const LoopOp& op);
  void Store(const LoopOp& op, const TileValue& value) override;
  TileValue Cast(const LoopOp& op, DType from, const TileValue& value) override;
  TileValue Select(const LoopOp& op, const TileValue& c, const TileValue& a,
                   const TileValue& b) override;
  TileValue Indirect(const LoopOp& op, ValueId id, const TileValue& value) override;
  TileValue Reduce(const LoopOp& op, const TileValue& value) override;
  TileValue Scalar(const LoopOp& op, DType operand_type,
                   const std::vector<TileValue>& operands) override;

 private:
  // f(arguments of one slot) for every slot of the result; operands are brought to one shape.
  template <typename F>
  TileValue Elementwise(const std::vector<const TileValue*>& operands, const F& f);
  TileValue Rounded(DType t, TileValue value);
  bool SharesDivisor(const LoopOp& op, DType type, const std::vector<TileValue>& operands) const;
  TileValue DivideByShared(const TileValue& dividend, const TileValue& divisor, double tolerance);
  llvm::Value* ClampIndex(DType type, llvm::Value* value, const IndexExpr& extent);
  DType index_dtype() const { return c_.tile.wide_index ? DType::kI64 : DType::kI32; }

  EmitContext& c_;
  IndexEmitter& index_;
  ScalarEmitter& scalars_;
  MemoryEmitter& memory_;
  std::vector<TileValue> indirects_;  // by op position, of index_type
};

}  // namespace stax

#endif  // STAX_COMPILER_CODEGEN_BODY_EMITTER_H_
