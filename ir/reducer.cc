#include "ir/reducer.h"

#include <cmath>
#include <limits>

namespace stax {
namespace {

// The least (or greatest) value of a number type, which max (or min) gives for no values.
Scalar Extreme(DType type, bool greatest) {
  if (IsFloat(type)) return Scalar::Float(type, greatest ? HUGE_VAL : -HUGE_VAL);
  if (type == DType::kU64) return Scalar::Int(type, greatest ? -1 : 0);
  const int value_bits = 8 * DTypeBytes(type) - (IsSigned(type) ? 1 : 0);
  const int64_t top = std::numeric_limits<int64_t>::max() >> (63 - value_bits);
  if (greatest) return Scalar::Int(type, top);
  return Scalar::Int(type, IsSigned(type) ? -top - 1 : 0);
}

}  // namespace

Scalar ReduceIdentity(ReduceKind kind, DType type) {
  switch (kind) {
    case ReduceKind::kSum:
      return Scalar::FromDouble(type, 0);
    case ReduceKind::kProd:
      return Scalar::FromDouble(type, 1);
    case ReduceKind::kMin:
    case ReduceKind::kArgMin:
    case ReduceKind::kArgMinLast:
      return Extreme(type, true);
    default:
      return Extreme(type, false);
  }
}

Reducer::Reducer(ReduceKind kind, DType type, Precision precision)
    : kind_(kind),
      type_(type),
      precision_(precision),
      best_(ToNumber(ReduceIdentity(kind, type))) {}

void Reducer::Add(Number value) {
  switch (kind_) {
    case ReduceKind::kSum:
      if (IsFloat(type_)) {
        best_.f += value.f;  // in f64, also for narrower types
      } else {
        best_ = EvalScalarOp(OpCode::kAdd, type_, best_, value, precision_);
      }
      return;
    case ReduceKind::kProd:
      if (IsFloat(type_)) {
        best_.f *= value.f;
      } else {
        best_ = EvalScalarOp(OpCode::kMul, type_, best_, value, precision_);
      }
      return;
    case ReduceKind::kMax:
      best_ = EvalScalarOp(OpCode::kMax, type_, best_, value, precision_);
      return;
    case ReduceKind::kMin:
      best_ = EvalScalarOp(OpCode::kMin, type_, best_, value, precision_);
      return;
    default:
      if (type_ == DType::kF32) value.f = static_cast<float>(value.f);
      if (Replaces(value)) {
        best_ = value;
        best_position_ = position_;
      }
      ++position_;
      return;
  }
}

bool Reducer::Replaces(Number value) const {
  const bool last = kind_ == ReduceKind::kArgMaxLast || kind_ == ReduceKind::kArgMinLast;
  if (IsFloat(type_)) {
    // NaN beats every number; among NaNs the position decides.
    if (std::isnan(best_.f)) return last && std::isnan(value.f);
    if (std::isnan(value.f)) return true;
  }
  const bool max = kind_ == ReduceKind::kArgMax || kind_ == ReduceKind::kArgMaxLast;
  const OpCode code = max ? (last ? OpCode::kGe : OpCode::kGt) : (last ? OpCode::kLe : OpCode::kLt);
  return EvalScalarOp(code, type_, value, best_, precision_).i != 0;
}

Number Reducer::Result() const {
  if (IsArgReduce(kind_)) return {0.0, best_position_};
  if (IsFloat(type_)) return {RoundResult(type_, best_.f, precision_), 0};
  return best_;
}

}  // namespace stax
