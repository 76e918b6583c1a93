#include "compiler/codegen/precision.h"

#include <algorithm>
#include <limits>

#include "compiler/codegen/math/relaxed_forms.h"

namespace stax {
namespace {

bool NonNegativeReduce(ReduceKind kind, bool operand) {
  switch (kind) {
    case ReduceKind::kSum:
    case ReduceKind::kProd:
    case ReduceKind::kMin:
      return operand;
    case ReduceKind::kMax:  // of nothing it is -inf
      return false;
    default:
      return true;  // positions
  }
}

// Whether `op` gives no negative value, from what is known of the values before it.
bool IsNonNegative(const LoopNest& nest, const LoopOp& op, const std::vector<bool>& known) {
  auto operand = [&](int k) -> bool { return known[op.operands[k]]; };
  switch (op.code) {
    case OpCode::kConst:
      return IsFloat(op.dtype) ? op.literal.f >= 0 : op.literal.i >= 0;
    case OpCode::kLoad:
      return op.dtype == DType::kBool || IsUnsigned(op.dtype);
    case OpCode::kAbs:
    case OpCode::kExp:
    case OpCode::kExp2:
    case OpCode::kSigmoid:
    case OpCode::kSqrt:
    case OpCode::kCosh:
      return IsFloat(op.dtype);  // integers wrap
    case OpCode::kCast:
      return IsFloat(op.dtype) && operand(0);
    case OpCode::kSelect:
      return operand(1) && operand(2);
    case OpCode::kReduce:
      return IsFloat(nest.body[op.operands[0]].dtype) && NonNegativeReduce(op.reduce, operand(0));
    case OpCode::kMul:
      return IsFloat(op.dtype) && (op.operands[0] == op.operands[1] || (operand(0) && operand(1)));
    // Not of rsqrt and quotients: those of -0.0 are -inf, and a maximum with it may be negative.
    case OpCode::kAdd:
      return IsFloat(op.dtype) && operand(0) && operand(1);
    case OpCode::kMax:
      return operand(0) || operand(1);
    case OpCode::kMin:
      return operand(0) && operand(1);
    default:
      return op.dtype == DType::kBool || IsUnsigned(op.dtype);
  }
}

class ToleranceAnalysis {
 public:
  explicit ToleranceAnalysis(const LoopNest& nest)
      : nest_(nest),
        non_negative_(NonNegativeValues(nest)),
        inexact_(nest.body.size(), false),
        allowed_(nest.body.size(), std::numeric_limits<double>::infinity()) {}

  std::vector<double> Run() {
    for (ValueId id = 0; id < size(); ++id) inexact_[id] = IsInexact(nest_.body[id]);
    std::vector<double> own(nest_.body.size(), 0);
    for (ValueId id = size() - 1; id >= 0; --id) {
      const LoopOp& op = nest_.body[id];
      const double allowed = Allowed(id);
      if (HasRelaxedForm(op.code)) own[id] = OwnShare(op, allowed);
      for (ValueId v : op.operands) allowed_[v] = std::min(allowed_[v], Passed(op, v, allowed));
    }
    return own;
  }

 private:
  int size() const { return static_cast<int>(nest_.body.size()); }

  // Whether relaxing anything may change the value; half values are where the errors end.
  bool IsInexact(const LoopOp& op) const {
    if (op.dtype != DType::kF32) return false;
    return HasRelaxedForm(op.code) || CountInexact(op) > 0;
  }
  int CountInexact(const LoopOp& op) const {
    return static_cast<int>(std::count_if(op.operands.begin(), op.operands.end(),
                                          [&](ValueId v) { return inexact_[v]; }));
  }

  double Allowed(ValueId id) const {
    const LoopOp& op = nest_.body[id];
    if (IsHalf(op.dtype)) return HalfTolerance(op.dtype);  // rounded at once
    if (op.dtype != DType::kF32 || op.code == OpCode::kStore) return 0;
    return allowed_[id] == std::numeric_limits<double>::infinity() ? 0 : allowed_[id];  // unused
  }

  // What an op with a relaxed form may add to the errors of its operands.
  double OwnShare(const LoopOp& op, double allowed) const {
    switch (op.code) {
      case OpCode::kDiv:
      case OpCode::kSqrt:
        // Of bf16 values quotients and roots are 2^-18 or more from where the rounding changes:
        // relaxed they give the same. Those of f16 values are not, and are correctly rounded.
        if (op.dtype == DType::kF16) return 0;
        return CountInexact(op) > 0 ? allowed / 2 : allowed;
      case OpCode::kLog:
      case OpCode::kLog2:
        return allowed * DistanceFromOne(op.operands[0]);
      default:
        return allowed;
    }
  }

  // How close to 1 the value can be without being 1: the logarithm is at least that large.
  double DistanceFromOne(ValueId id) const {
    const LoopOp& op = nest_.body[id];
    const DType grid = op.code == OpCode::kCast ? nest_.body[op.operands[0]].dtype : op.dtype;
    return grid == DType::kBF16 ? 0x1p-8 : grid == DType::kF16 ? 0x1p-11 : 0;
  }

  // The error that operand `v` of `op` may have when the result may have `allowed`.
  double Passed(const LoopOp& op, ValueId v, double allowed) const {
    if (op.code == OpCode::kCast) return IsHalf(op.dtype) ? allowed : 0;
    switch (op.code) {
      case OpCode::kNeg:
      case OpCode::kAbs:
      case OpCode::kMax:
      case OpCode::kMin:
      case OpCode::kSelect:
        return allowed;
      case OpCode::kAdd: {
        const bool one_sign = non_negative_[op.operands[0]] && non_negative_[op.operands[1]];
        return one_sign ? allowed : 0;
      }
      case OpCode::kReduce:
        if (op.reduce == ReduceKind::kMax || op.reduce == ReduceKind::kMin) return allowed;
        return op.reduce == ReduceKind::kSum && non_negative_[v] ? allowed : 0;
      case OpCode::kMul:
        return allowed / std::max(1, CountInexact(op));
      case OpCode::kDiv:
        return allowed / 2 / std::max(1, CountInexact(op));
      case OpCode::kSqrt:  // halves the error, and has half of the allowance for itself
        return allowed;
      case OpCode::kRsqrt:
        return 2 * allowed;
      default:
        return 0;
    }
  }

  const LoopNest& nest_;
  const std::vector<bool> non_negative_;
  std::vector<bool> inexact_;    // f32 values that depend on an op with a relaxed form
  std::vector<double> allowed_;  // by the uses seen so far
};

}  // namespace

std::vector<bool> NonNegativeValues(const LoopNest& nest) {
  std::vector<bool> known(nest.body.size(), false);
  for (size_t id = 0; id < nest.body.size(); ++id)
    known[id] = IsNonNegative(nest, nest.body[id], known);
  return known;
}

std::vector<double> OpTolerances(const LoopNest& nest) { return ToleranceAnalysis(nest).Run(); }

}  // namespace stax
