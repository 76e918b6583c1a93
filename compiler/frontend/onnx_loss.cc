// NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss.
#include <numeric>
#include <utility>

#include "compiler/frontend/onnx_ops.h"
#include "compiler/frontend/onnx_status.h"
#include "ir/graph_rules.h"

namespace stax {
namespace {

absl::Status CheckLoss(OnnxNode& n) {
  if (n.rank(0) < 2) return OnnxError("input 0 has rank ", n.rank(0), "; it must be at least 2");
  if (!IsInteger(n.dtype(1)))
    return OnnxError("input 1 (labels) is ", DTypeName(n.dtype(1)), "; it must be an integer");
  Dims want = n.dims(0);
  want.erase(want.begin() + 1);
  if (n.rank(1) != n.rank(0) - 1 || FirstDifference(n.dims(1), want, n.ranges()) >= 0)
    return OnnxError("input 1 (labels) has shape ", ShapeText(n.dims(1)), "; for input 0 of shape ",
                     ShapeText(n.dims(0)), " it must be ", ShapeText(want));
  if (n.Has(2) && (n.rank(2) != 1 || !n.ranges().ProveEq(n.dims(2)[0], n.dims(0)[1])))
    return OnnxError("input 2 (weights) has shape ", ShapeText(n.dims(2)), "; it must be [",
                     n.dims(0)[1].ToString(), "], one per class");
  return absl::OkStatus();
}

// Loss of `log_prob` [N, C, d...] with labels [N, d...], in log_prob's type. Ignored labels need
// not be classes: they are looked up as class 0 and then weigh nothing.
absl::StatusOr<OnnxTensor> Loss(OnnxNode& n, OnnxTensor log_prob) {
  GraphBuilder& b = n.b();
  const std::string reduction = n.Str("reduction", "mean");
  if (reduction != "mean" && reduction != "sum" && reduction != "none")
    return OnnxError("attribute reduction is '", reduction, "'; it must be mean, sum or none");
  const OnnxTensor labels = n.In(1), zero = n.Like(log_prob, 0);
  OnnxTensor safe = labels, is_ignored;
  const bool ignores = n.HasAttr("ignore_index");
  if (ignores) {
    const OnnxTensor ignored = n.Like(labels, static_cast<double>(n.Int("ignore_index", 0)));
    is_ignored = b.Binary(OpCode::kEq, labels, ignored);
    safe = b.Where(is_ignored, n.Like(labels, 0), labels);
  }
  const OnnxTensor picked = b.Squeeze(b.GatherElements(log_prob, b.Unsqueeze(safe, {1}), 1), {1});
  OnnxTensor loss = b.Unary(OpCode::kNeg, picked);
  std::optional<OnnxTensor> weights;
  if (n.Has(2)) weights = b.Cast(b.Gather(n.In(2), safe, 0), b.dtype(log_prob));
  if (weights.has_value()) loss = b.Mul(loss, *weights);
  if (ignores) {
    loss = b.Where(is_ignored, zero, loss);
    weights = b.Where(is_ignored, zero, weights.value_or(n.Like(log_prob, 1)));
  }
  if (reduction == "none") return loss;
  const OnnxTensor sum = b.Sum(loss, b.AllAxes(loss));
  if (reduction == "sum") return sum;
  if (!weights.has_value()) return b.Mean(loss, b.AllAxes(loss));
  return b.Div(sum, b.Sum(*weights, b.AllAxes(*weights)));
}

OnnxTensor WideInput(OnnxNode& n) {
  return IsHalf(n.dtype(0)) ? n.b().Cast(n.In(0), DType::kF32) : n.In(0);
}

absl::Status NegativeLogLikelihoodLoss(OnnxNode& n) {
  ONNX_RETURN_IF_ERROR(CheckLoss(n));
  ONNX_ASSIGN_OR_RETURN(const OnnxTensor loss, Loss(n, WideInput(n)));
  n.Set(0, n.b().Cast(loss, n.dtype(0)));
  return absl::OkStatus();
}

absl::Status SoftmaxCrossEntropyLoss(OnnxNode& n) {
  ONNX_RETURN_IF_ERROR(CheckLoss(n));
  const OnnxTensor log_prob = n.b().LogSoftmax(WideInput(n), 1);
  ONNX_ASSIGN_OR_RETURN(const OnnxTensor loss, Loss(n, log_prob));
  n.Set(0, n.b().Cast(loss, n.dtype(0)));
  n.Set(1, n.b().Cast(log_prob, n.dtype(0)));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const OnnxOp> OnnxLossOps() {
  static constexpr OnnxOp kOps[] = {
      {"NegativeLogLikelihoodLoss", 12, 2, 3, NegativeLogLikelihoodLoss},
      {"SoftmaxCrossEntropyLoss", 12, 2, 3, SoftmaxCrossEntropyLoss},
  };
  return kOps;
}

}  // namespace stax
