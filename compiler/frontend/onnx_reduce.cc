// Reductions and running sums.
#include <numeric>
#include <utility>

#include "compiler/frontend/onnx_ops.h"
#include "compiler/frontend/onnx_status.h"

namespace stax {
namespace {

// Reduces x over `axes`.
using Reduction = OnnxTensor (*)(OnnxNode& n, OnnxTensor x, const std::vector<int>& axes,
                                 bool keep);

OnnxTensor Square(OnnxNode& n, OnnxTensor x) { return n.b().Mul(x, x); }

template <ReduceKind kKind>
OnnxTensor Primitive(OnnxNode& n, OnnxTensor x, const std::vector<int>& axes, bool keep) {
  return n.b().Reduce(kKind, x, axes, keep);
}

OnnxTensor MeanOf(OnnxNode& n, OnnxTensor x, const std::vector<int>& axes, bool keep) {
  return n.b().Mean(x, axes, keep);
}

OnnxTensor L1(OnnxNode& n, OnnxTensor x, const std::vector<int>& axes, bool keep) {
  return n.b().Sum(IsUnsigned(n.b().dtype(x)) ? x : n.b().Unary(OpCode::kAbs, x), axes, keep);
}

OnnxTensor SumSquare(OnnxNode& n, OnnxTensor x, const std::vector<int>& axes, bool keep) {
  return n.b().Sum(Square(n, x), axes, keep);
}

OnnxTensor L2(OnnxNode& n, OnnxTensor x, const std::vector<int>& axes, bool keep) {
  return n.b().Unary(OpCode::kSqrt, SumSquare(n, x, axes, keep));
}

OnnxTensor LogSum(OnnxNode& n, OnnxTensor x, const std::vector<int>& axes, bool keep) {
  return n.b().Unary(OpCode::kLog, n.b().Sum(x, axes, keep));
}

OnnxTensor LogSumExp(OnnxNode& n, OnnxTensor x, const std::vector<int>& axes, bool keep) {
  return n.b().LogSumExp(x, axes, keep);
}

// kInputSince: operator set from which axes are input 1. kRoot: the result of integers is computed
// in f64, as it has a square root or logarithm, and cut back.
template <Reduction kReduce, int kInputSince, bool kRoot = false>
absl::Status Reduce(OnnxNode& n) {
  ONNX_ASSIGN_OR_RETURN(const auto given, AxesArgument(n, kInputSince));
  if (!given.has_value() && n.Int("noop_with_empty_axes", 0) != 0) {
    n.Set(0, n.Operand(0));
    return absl::OkStatus();
  }
  std::vector<int64_t> all(n.rank(0));
  std::iota(all.begin(), all.end(), 0);
  ONNX_ASSIGN_OR_RETURN(const std::vector<int> axes, n.Axes(given.value_or(all), n.rank(0)));
  const bool keep = n.Int("keepdims", 1) != 0;
  const DType dtype = n.dtype(0);
  if (kRoot && IsInteger(dtype)) {
    n.Set(0, n.b().Cast(kReduce(n, n.b().Cast(n.In(0), DType::kF64), axes, keep), dtype));
  } else {
    n.Set(0, InF32(n.b(), n.In(0), [&](OnnxTensor x) { return kReduce(n, x, axes, keep); }));
  }
  return absl::OkStatus();
}

template <ReduceKind kFirst, ReduceKind kLast>
absl::Status Arg(OnnxNode& n) {
  ONNX_ASSIGN_OR_RETURN(const int axis, n.Axis(n.Int("axis", 0), n.rank(0)));
  const ReduceKind kind = n.Int("select_last_index", 0) != 0 ? kLast : kFirst;
  n.Set(0, n.b().Reduce(kind, n.In(0), {axis}, n.Int("keepdims", 1) != 0));
  return absl::OkStatus();
}

absl::Status CumSum(OnnxNode& n) {
  ONNX_ASSIGN_OR_RETURN(const int64_t given, n.IntScalarInput(1, "axis"));
  ONNX_ASSIGN_OR_RETURN(const int axis, n.Axis(given, n.rank(0)));
  n.Set(0, n.b().Cumulative(ReduceKind::kSum, n.In(0), axis, n.Int("exclusive", 0) != 0,
                            n.Int("reverse", 0) != 0));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::optional<std::vector<int64_t>>> AxesArgument(OnnxNode& n, int input_since) {
  std::vector<int64_t> axes;
  if (n.opset() < input_since) {
    axes = n.Ints("axes");
  } else if (n.Has(1)) {
    ONNX_ASSIGN_OR_RETURN(axes, n.IntInput(1, "axes"));
  }
  if (axes.empty()) return std::optional<std::vector<int64_t>>();
  return std::optional<std::vector<int64_t>>(std::move(axes));
}

absl::Span<const OnnxOp> OnnxReduceOps() {
  using Kind = ReduceKind;
  static constexpr OnnxOp kOps[] = {
      {"ArgMax", 1, 1, 1, Arg<Kind::kArgMax, Kind::kArgMaxLast>},
      {"ArgMin", 1, 1, 1, Arg<Kind::kArgMin, Kind::kArgMinLast>},
      {"CumSum", 11, 2, 2, CumSum},
      {"ReduceL1", 1, 1, 2, Reduce<L1, 18>},
      {"ReduceL2", 1, 1, 2, Reduce<L2, 18, true>},
      {"ReduceLogSum", 1, 1, 2, Reduce<LogSum, 18, true>},
      {"ReduceLogSumExp", 1, 1, 2, Reduce<LogSumExp, 18, true>},
      {"ReduceMax", 1, 1, 2, Reduce<Primitive<Kind::kMax>, 18>},
      {"ReduceMean", 1, 1, 2, Reduce<MeanOf, 18>},
      {"ReduceMin", 1, 1, 2, Reduce<Primitive<Kind::kMin>, 18>},
      {"ReduceProd", 1, 1, 2, Reduce<Primitive<Kind::kProd>, 18>},
      {"ReduceSum", 1, 1, 2, Reduce<Primitive<Kind::kSum>, 13>},
      {"ReduceSumSquare", 1, 1, 2, Reduce<SumSquare, 18>},
  };
  return kOps;
}

}  // namespace stax
