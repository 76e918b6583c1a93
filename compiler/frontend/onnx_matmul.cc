// Products of matrices.
#include <cmath>
#include <utility>

#include "compiler/frontend/onnx_ops.h"
#include "compiler/frontend/onnx_status.h"
#include "ir/graph_rules.h"

namespace stax {
namespace {

absl::Status MatMul(OnnxNode& n) {
  n.Set(0, n.b().MatMul(n.In(0), n.In(1)));
  return absl::OkStatus();
}

// alpha A B + beta C. Transposes are in the equation, so no operand moves.
absl::Status Gemm(OnnxNode& n) {
  GraphBuilder& b = n.b();
  for (int i = 0; i < 2; ++i)
    if (n.rank(i) != 2)
      return OnnxError("input ", i, " has shape ", ShapeText(n.dims(i)), "; it must be of rank 2");
  const double alpha = n.Float("alpha", 1), beta = n.Float("beta", 1);
  const DType dtype = n.dtype(0);
  if (!IsFloat(dtype) && (alpha != std::floor(alpha) || beta != std::floor(beta)))
    return absl::UnimplementedError("integers with a fractional alpha or beta");
  const std::string left = n.Int("transA", 0) != 0 ? "km" : "mk";
  const std::string right = n.Int("transB", 0) != 0 ? "nk" : "kn";
  // Einsum would broadcast an inner size of 1.
  const IndexExpr& k_left = n.dims(0)[left.find('k')];
  const IndexExpr& k_right = n.dims(1)[right.find('k')];
  if (!n.ranges().ProveEq(k_left, k_right))
    return OnnxError("inputs 0 and 1 of shapes ", ShapeText(n.dims(0)), " and ",
                     ShapeText(n.dims(1)), " have the inner sizes ", k_left.ToString(), " and ",
                     k_right.ToString(), "; they must be equal");
  OnnxTensor y = b.Einsum(OnnxText(left, ",", right, "->mn"), {n.WideIn(0), n.WideIn(1)});
  const Dims dims = b.dims(y);
  if (alpha != 1) y = b.Mul(y, n.Like(y, alpha));
  if (n.Has(2) && beta != 0) {
    OnnxTensor c = n.WideIn(2);
    if (beta != 1) c = b.Mul(c, n.Like(c, beta));
    y = b.Add(y, b.Expand(c, dims));
  }
  n.Set(0, b.Cast(y, dtype));
  return absl::OkStatus();
}

absl::Status Einsum(OnnxNode& n) {
  std::vector<OnnxTensor> operands;
  for (int i = 0; i < n.num_inputs(); ++i) {
    if (!n.Has(i)) return OnnxError("input ", i, " is left out, but it is required");
    operands.push_back(n.In(i));
  }
  n.Set(0, n.b().Einsum(n.Str("equation", ""), std::move(operands)));
  return absl::OkStatus();
}

// A u8 or i8 matrix less its zero point, as i32. The zero point is one number, or one per row of a
// left operand, per column of a right one.
absl::StatusOr<OnnxTensor> LessZeroPoint(OnnxNode& n, int i, int zero_point, bool per_row) {
  GraphBuilder& b = n.b();
  const OnnxTensor x = b.Cast(n.In(i), DType::kI32);
  if (!n.Has(zero_point)) return x;
  OnnxTensor z = b.Cast(n.In(zero_point), DType::kI32);
  if (NumElements(n.dims(zero_point)) == IndexExpr(1)) {
    z = b.Reshape(z, {});
  } else if (per_row && n.rank(zero_point) == 1) {
    z = b.Unsqueeze(z, {1});
  }
  return b.Sub(x, z);
}

absl::Status MatMulInteger(OnnxNode& n) {
  ONNX_ASSIGN_OR_RETURN(const OnnxTensor a, LessZeroPoint(n, 0, 2, true));
  ONNX_ASSIGN_OR_RETURN(const OnnxTensor b, LessZeroPoint(n, 1, 3, false));
  n.Set(0, n.b().MatMul(a, b));
  return absl::OkStatus();
}

// Inputs: a, scale, zero point; b, scale, zero point; scale and zero point of the result.
absl::Status QLinearMatMul(OnnxNode& n) {
  GraphBuilder& b = n.b();
  for (int i : {1, 2, 4, 5, 6, 7})
    if (NumElements(n.dims(i)) != IndexExpr(1))
      return absl::UnimplementedError("scales or zero points per row or column");
  ONNX_ASSIGN_OR_RETURN(const OnnxTensor left, LessZeroPoint(n, 0, 2, true));
  ONNX_ASSIGN_OR_RETURN(const OnnxTensor right, LessZeroPoint(n, 3, 5, false));
  const auto scale = [&](int i) { return b.Cast(b.Reshape(n.In(i), {}), DType::kF32); };
  const OnnxTensor factor = b.Div(b.Mul(scale(1), scale(4)), scale(6));
  const OnnxTensor sum = b.Cast(b.MatMul(left, right), DType::kF32);
  const OnnxTensor rounded = b.Unary(OpCode::kRound, b.Mul(sum, factor));
  // The cast saturates.
  n.Set(0, b.Cast(b.Add(rounded, scale(7)), n.dtype(7)));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const OnnxOp> OnnxMatMulOps() {
  static constexpr OnnxOp kOps[] = {
      {"Einsum", 12, 1, kVariadic, Einsum},
      {"Gemm", 1, 2, 3, Gemm},
      {"MatMul", 1, 2, 2, MatMul},
      {"MatMulInteger", 10, 2, 4, MatMulInteger},
      {"QLinearMatMul", 10, 8, 8, QLinearMatMul},
  };
  return kOps;
}

}  // namespace stax
