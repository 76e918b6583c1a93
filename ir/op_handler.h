// OpHandler<T>: one way to give the ops of a LoopNest a meaning. T is what a value is in that
// meaning: text, an interval, a double, an LLVM value per register ...
//
//   class CountFlops : public OpHandler<int64_t> { ... };
//   CountFlops count;
//   HandleBody(nest, count);
#ifndef STAX_IR_OP_HANDLER_H_
#define STAX_IR_OP_HANDLER_H_

#include <optional>
#include <vector>

#include "ir/loop_nest.h"

namespace stax {

template <typename T>
class OpHandler {
 public:
  virtual ~OpHandler() = default;
  virtual T Const(const LoopOp& op) = 0;
  virtual T Index(const LoopOp& op) = 0;
  virtual T Load(const LoopOp& op, const T* mask) = 0;  // mask may be null
  virtual void Store(const LoopOp& op, const T& value) = 0;
  virtual T Cast(const LoopOp& op, DType from, const T& value) = 0;
  virtual T Select(const LoopOp& op, const T& c, const T& a, const T& b) = 0;
  // The handler makes `value` available as variable IndirectVar(id).
  virtual T Indirect(const LoopOp& op, ValueId id, const T& value) = 0;
  virtual T Reduce(const LoopOp& op, const T& value) = 0;
  // The scalar ops of STAX_SCALAR_OPS; `operand_type` is the dtype of the operands.
  virtual T Scalar(const LoopOp& op, DType operand_type, const std::vector<T>& operands) = 0;
};

// Calls the method for body op `id`; `values` holds the results so far (index = ValueId).
template <typename T>
void HandleOp(const LoopNest& nest, ValueId id, OpHandler<T>& handler, std::vector<T>& values) {
  const LoopOp& op = nest.body[id];
  auto operand = [&](int k) -> const T& { return values[op.operands[k]]; };
  switch (op.code) {
    case OpCode::kConst:
      values[id] = handler.Const(op);
      return;
    case OpCode::kIndex:
      values[id] = handler.Index(op);
      return;
    case OpCode::kLoad:
      values[id] = handler.Load(op, op.operands.empty() ? nullptr : &operand(0));
      return;
    case OpCode::kStore:
      handler.Store(op, operand(0));
      return;
    case OpCode::kCast:
      values[id] = handler.Cast(op, nest.body[op.operands[0]].dtype, operand(0));
      return;
    case OpCode::kSelect:
      values[id] = handler.Select(op, operand(0), operand(1), operand(2));
      return;
    case OpCode::kIndirect:
      values[id] = handler.Indirect(op, id, operand(0));
      return;
    case OpCode::kReduce:
      values[id] = handler.Reduce(op, operand(0));
      return;
    default: {
      std::vector<T> operands;
      operands.reserve(op.operands.size());
      for (ValueId v : op.operands) operands.push_back(values[v]);
      values[id] = handler.Scalar(op, nest.body[op.operands[0]].dtype, operands);
      return;
    }
  }
}

// All ops in order. T must be default-constructible.
template <typename T>
std::vector<T> HandleBody(const LoopNest& nest, OpHandler<T>& handler) {
  std::vector<T> values(nest.body.size());
  for (ValueId id = 0; id < static_cast<int>(nest.body.size()); ++id)
    HandleOp(nest, id, handler, values);
  return values;
}

}  // namespace stax

#endif  // STAX_IR_OP_HANDLER_H_
