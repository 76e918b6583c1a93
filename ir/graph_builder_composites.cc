// GraphBuilder's reductions, and the operators made of several primitives.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ir/graph_builder.h"
#include "ir/graph_rules.h"
#include "ir/scalar.h"

namespace stax {

template <typename F>
GraphBuilder::Tensor GraphBuilder::InFloat(std::string_view op, Tensor x, F compute) {
  if (!Usable(op, {x})) return {};
  const DType type = dtype(x);
  if (!IsFloat(type)) return Fail(op, absl::StrCat("operand ", Type(x), ": takes floats"));
  if (!IsHalf(type)) return compute(x);
  return Cast(compute(Cast(x, DType::kF32)), type);
}

GraphBuilder::Tensor GraphBuilder::Relu(Tensor x) {
  if (!Usable("relu", {x})) return {};
  return Binary(OpCode::kMax, x, Scalar(dtype(x), 0));
}

GraphBuilder::Tensor GraphBuilder::Gelu(Tensor x) {
  return InFloat("gelu", x, [this](Tensor v) {
    const auto number = [&](double value) { return Scalar(dtype(v), value); };
    const Tensor erf = Unary(OpCode::kErf, Mul(v, number(std::sqrt(0.5))));
    const Tensor half = Mul(v, number(0.5));
    return Mul(half, Add(erf, number(1)));
  });
}

GraphBuilder::Tensor GraphBuilder::Silu(Tensor x) {
  return InFloat("silu", x, [this](Tensor v) { return Mul(v, Unary(OpCode::kSigmoid, v)); });
}

GraphBuilder::Tensor GraphBuilder::Reduce(ReduceKind kind, Tensor x, const std::vector<int>& axes,
                                          bool keep_dims) {
  if (!Usable(ReduceName(kind), {x})) return {};
  const auto sorted = Axes(ReduceName(kind), axes, rank(x));
  if (!sorted.has_value()) return {};
  const DType type = dtype(x);
  const bool accumulates = kind == ReduceKind::kSum || kind == ReduceKind::kProd;
  Tensor result;
  if (sorted->empty()) {
    // Every element is the reduction of itself; its position among itself is 0.
    result = IsArgReduce(kind) ? Expand(Scalar(DType::kI64, 0), dims(x)) : x;
  } else if (accumulates && IsHalf(type)) {
    result = Cast(ReduceNumbers(kind, Cast(x, DType::kF32), *sorted), type);
  } else if ((kind == ReduceKind::kMax || kind == ReduceKind::kMin) && type == DType::kBool) {
    result = Cast(ReduceNumbers(kind, Cast(x, DType::kU8), *sorted), type);
  } else {
    result = ReduceNumbers(kind, x, *sorted);
  }
  return keep_dims ? KeepDims(result, dims(x), *sorted) : result;
}

GraphBuilder::Tensor GraphBuilder::ReduceNumbers(ReduceKind kind, Tensor x,
                                                 const std::vector<int>& axes) {
  if (!status_.ok()) return {};
  if (absl::Status s = CheckReduceDType(kind, dtype(x)); !s.ok()) {
    return Fail(ReduceName(kind), absl::StrCat("operand ", Type(x), ": ", s.message()));
  }
  Dims result;
  for (int d = 0; d < rank(x); ++d) {
    if (!std::binary_search(axes.begin(), axes.end(), d)) {
      result.push_back(dims(x)[d]);
    } else if (IsArgReduce(kind) && dims(x)[d] == 0) {
      return Fail(ReduceName(kind),
                  absl::StrCat("axis ", d, " of ", Type(x), " is empty: it has no extreme"));
    }
  }
  GraphOp op;
  op.kind = GraphOpKind::kReduce;
  op.operands = {x.id};
  op.reduce = kind;
  op.axes = axes;
  return AddOp(std::move(op), IsArgReduce(kind) ? DType::kI64 : dtype(x), std::move(result));
}

GraphBuilder::Tensor GraphBuilder::KeepDims(Tensor reduced, const Dims& original,
                                            const std::vector<int>& axes) {
  Dims kept = original;
  for (int axis : axes) kept[axis] = 1;
  return Reshape(reduced, std::move(kept));
}

GraphBuilder::Tensor GraphBuilder::Sum(Tensor x, const std::vector<int>& axes, bool keep_dims) {
  return Reduce(ReduceKind::kSum, x, axes, keep_dims);
}

GraphBuilder::Tensor GraphBuilder::Max(Tensor x, const std::vector<int>& axes, bool keep_dims) {
  return Reduce(ReduceKind::kMax, x, axes, keep_dims);
}

GraphBuilder::Tensor GraphBuilder::Mean(Tensor x, const std::vector<int>& axes, bool keep_dims) {
  if (!Usable("mean", {x})) return {};
  const auto sorted = Axes("mean", axes, rank(x));
  if (!sorted.has_value()) return {};
  IndexExpr count = 1;
  for (int axis : *sorted) count = count * dims(x)[axis];
  const auto mean = [&](Tensor v) {
    const Tensor sum = Sum(v, *sorted, keep_dims);
    return Div(sum, SizeValue(count, dtype(v)));
  };
  if (IsHalf(dtype(x))) return InFloat("mean", x, mean);
  // A sum, or the count itself, may not fit into a narrow type though the mean does.
  const bool narrow = IsInteger(dtype(x)) && DTypeBytes(dtype(x)) < DTypeBytes(DType::kI64);
  return narrow ? Cast(mean(Cast(x, DType::kI64)), dtype(x)) : mean(x);
}

GraphBuilder::Tensor GraphBuilder::SizeValue(const IndexExpr& size, DType dtype) {
  if (!size.IsConst()) return Cast(ShapeValue({size}, {}), dtype);
  std::vector<std::byte> data(DTypeBytes(dtype));
  const int64_t value = size.ConstOrDie();
  StoreScalar(IsFloat(dtype) ? stax::Scalar::Float(dtype, static_cast<double>(value))
                             : stax::Scalar::Int(dtype, value),
              data.data());
  return Constant(dtype, {}, std::move(data));
}

GraphBuilder::Tensor GraphBuilder::Cumulative(ReduceKind kind, Tensor x, int axis, bool exclusive,
                                              bool reverse) {
  const std::string name = absl::StrCat("cumulative ", std::string(ReduceName(kind)));
  if (!Usable(name, {x})) return {};
  const std::optional<int> along = Axis(name, axis, rank(x));
  if (!along.has_value()) return {};
  if (IsArgReduce(kind)) return Fail(name, "only sum, prod, max and min run along an axis");
  const bool in_float = IsHalf(dtype(x)) && (kind == ReduceKind::kSum || kind == ReduceKind::kProd);
  const Tensor operand = in_float ? Cast(x, DType::kF32) : x;
  if (absl::Status s = CheckReduceDType(kind, dtype(operand)); !s.ok()) {
    return Fail(name, absl::StrCat("operand ", Type(x), ": ", s.message()));
  }
  GraphOp op;
  op.kind = GraphOpKind::kCumulative;
  op.operands = {operand.id};
  op.reduce = kind;
  op.axis = *along;
  op.exclusive = exclusive;
  op.reverse = reverse;
  return Cast(AddOp(std::move(op), dtype(operand), dims(x)), dtype(x));
}

std::vector<int> GraphBuilder::AllAxes(Tensor x) const { return AxesFrom(x, 0); }

std::vector<int> GraphBuilder::AxesFrom(Tensor x, int axis) const {
  std::vector<int> axes(rank(x) - axis);
  std::iota(axes.begin(), axes.end(), axis);
  return axes;
}

GraphBuilder::Tensor GraphBuilder::Softmax(Tensor x, int axis) {
  return InFloat("softmax", x, [&](Tensor v) {
    const Tensor e = Unary(OpCode::kExp, Sub(v, Max(v, {axis}, true)));
    return Div(e, Sum(e, {axis}, true));
  });
}

GraphBuilder::Tensor GraphBuilder::LogSoftmax(Tensor x, int axis) {
  return InFloat("log_softmax", x, [&](Tensor v) {
    // log(softmax) directly would give -inf where the softmax underflows.
    const Tensor shifted = Sub(v, Max(v, {axis}, true));
    const Tensor sum = Sum(Unary(OpCode::kExp, shifted), {axis}, true);
    return Sub(shifted, Unary(OpCode::kLog, sum));
  });
}

GraphBuilder::Tensor GraphBuilder::LogSumExp(Tensor x, const std::vector<int>& axes,
                                             bool keep_dims) {
  return InFloat("log_sum_exp", x, [&](Tensor v) {
    const Tensor max = Max(v, axes, true);
    // An infinite maximum must not be subtracted (inf - inf is NaN): exp(-inf) = 0 and
    // exp(inf) = inf are right as they are. A NaN stays.
    const Tensor infinity = Scalar(dtype(v), std::numeric_limits<double>::infinity());
    const Tensor is_infinite = Binary(OpCode::kEq, Unary(OpCode::kAbs, max), infinity);
    const Tensor shift = Where(is_infinite, Scalar(dtype(v), 0), max);
    const Tensor sum = Sum(Unary(OpCode::kExp, Sub(v, shift)), axes, true);
    const Tensor result = Add(Unary(OpCode::kLog, sum), shift);
    return keep_dims ? result : Squeeze(result, axes);
  });
}

GraphBuilder::Tensor GraphBuilder::LayerNorm(Tensor x, int axis, std::optional<Tensor> scale,
                                             std::optional<Tensor> bias, double epsilon) {
  constexpr std::string_view kName = "layer_norm";
  for (const auto& operand : {scale, bias}) {
    if (!operand.has_value()) continue;
    if (!Usable(kName, {x, *operand})) return {};
    if (dtype(*operand) != dtype(x)) {
      return Fail(kName, absl::StrCat("operands ", Type(x), " and ", Type(*operand),
                                      ": all must have one dtype, cast one of them"));
    }
  }
  return InFloat(kName, x, [&](Tensor v) -> Tensor {
    const std::optional<int> first = Axis(kName, axis, rank(v));
    if (!first.has_value()) return {};
    const std::vector<int> axes = AxesFrom(v, *first);
    const Tensor deviation = Sub(v, Mean(v, axes, true));
    const Tensor variance = Mean(Mul(deviation, deviation), axes, true);
    const Tensor rstd = Unary(OpCode::kRsqrt, Add(variance, Scalar(dtype(v), epsilon)));
    Tensor result = Mul(deviation, rstd);
    if (scale.has_value()) result = Mul(result, Expand(Cast(*scale, dtype(v)), dims(v)));
    if (bias.has_value()) result = Add(result, Expand(Cast(*bias, dtype(v)), dims(v)));
    return result;
  });
}

}  // namespace stax
