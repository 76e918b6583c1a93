// What each scalar op computes, on host numbers: the rules of ir/loop_op.h as code. The
// interpreter and constant folding share it, so a folded op means what the op itself means.
#ifndef STAX_IR_OP_SEMANTICS_H_
#define STAX_IR_OP_SEMANTICS_H_

#include <cstdint>

#include "ir/dtype.h"
#include "ir/loop_op.h"
#include "ir/scalar.h"

namespace stax {

// A value while it is computed: `f` for float types; `i` for integers (wrapped to their width, u64
// as its bits) and bool (0 or 1). The other member is 0.
struct Number {
  double f = 0.0;
  int64_t i = 0;
};

// How f32 results are kept. Half results are rounded to f32 and then to the half type either way.
enum class Precision {
  // In f64, with the range of f32 (overflow to infinity, underflow to zero): close to the exact
  // result. Ops that jump (comparisons, floor, mod, casts to integers and halves ...) look at their
  // operands rounded to f32, so that one rounding error less does not land on the other side.
  kDouble,
  // Rounded to f32 after every op: bit for bit what add, sub, mul, div and sqrt give on a device.
  kTyped,
};

// Whether operands of `code`, a scalar op, may be of type `type` (all types for comparisons).
bool OpAllowsType(OpCode code, DType type);

// `value` as a result of type `t`.
double RoundResult(DType t, double value, Precision precision);

// A scalar op on operands of type `type` (`b` is ignored by unary ops). The op allows the type.
Number EvalScalarOp(OpCode code, DType type, Number a, Number b, Precision precision);

// `value` of type `from` as type `to`. Integers reach the half types through f32, like all that is
// computed in them; floats are rounded once.
Number EvalCast(DType from, DType to, Number value, Precision precision);

// What kIndirect makes of a value of integer type `type`: a negative one counts from the end, then
// it is clamped to [0, extent). 0 for an empty extent.
int64_t ClampIndirect(DType type, int64_t value, int64_t extent);

// Whether every target computes exactly what EvalScalarOp with kTyped does: integer ops,
// comparisons and the correctly rounded float ops, not the math functions.
bool IsExactOp(OpCode code, DType type);

inline Number ToNumber(const Scalar& s) { return {s.f, s.i}; }
inline Scalar ToScalar(DType t, Number n) {
  return IsFloat(t) ? Scalar::Float(t, n.f) : Scalar::Int(t, n.i);
}

}  // namespace stax

#endif  // STAX_IR_OP_SEMANTICS_H_
