// Accumulates the operand of a kReduce op over the points of the reduction dims, in their row-major
// order. See ir/loop_op.h for what the kinds mean; over no points the result is the identity: 0 for
// a sum, 1 for a product, the lowest (highest) value of the type for max (min), position 0.
#ifndef STAX_IR_REDUCER_H_
#define STAX_IR_REDUCER_H_

#include <cstdint>

#include "ir/dtype.h"
#include "ir/loop_op.h"
#include "ir/op_semantics.h"
#include "ir/scalar.h"

namespace stax {

// The neutral element: 0, 1, or what every value beats (ties of arg-reductions go by position).
Scalar ReduceIdentity(ReduceKind kind, DType type);

class Reducer {
 public:
  // `type` is the operand's.
  Reducer(ReduceKind kind, DType type, Precision precision);
  void Add(Number value);
  Number Result() const;

 private:
  bool Replaces(Number value) const;  // argmax and argmin: `value` is the new extreme

  ReduceKind kind_;
  DType type_;
  Precision precision_;
  Number best_;           // the sum, product or extreme so far
  int64_t position_ = 0;  // of the next value
  int64_t best_position_ = 0;
};

}  // namespace stax

#endif  // STAX_IR_REDUCER_H_
