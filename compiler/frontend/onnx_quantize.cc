// Numbers to 8 bits and back: q = saturate(round(x / scale) + zero point). The saturation is that
// of the cast to the small integer.
#include <utility>

#include "compiler/frontend/onnx_ops.h"
#include "compiler/frontend/onnx_status.h"
#include "ir/graph_rules.h"

namespace stax {
namespace {

// A scale or zero point in f32: one number, or one per element of `axis` of input 0.
absl::StatusOr<OnnxTensor> Parameter(OnnxNode& n, int i) {
  GraphBuilder& b = n.b();
  const OnnxTensor v = b.Cast(n.In(i), DType::kF32);
  if (NumElements(n.dims(i)) == IndexExpr(1)) return b.Reshape(v, {});
  ONNX_ASSIGN_OR_RETURN(const int axis, n.Axis(n.Int("axis", 1), n.rank(0)));
  if (n.rank(i) != 1)
    return OnnxError("input ", i, " has shape ", ShapeText(n.dims(i)),
                     "; it must be of rank 0 or 1");
  Dims dims = {n.dims(i)[0]};
  dims.resize(n.rank(0) - axis, 1);
  return b.Reshape(v, std::move(dims));
}

absl::Status QuantizeLinear(OnnxNode& n) {
  GraphBuilder& b = n.b();
  ONNX_ASSIGN_OR_RETURN(const OnnxTensor scale, Parameter(n, 1));
  OnnxTensor q = b.Unary(OpCode::kRound, b.Div(b.Cast(n.In(0), DType::kF32), scale));
  if (n.Has(2)) {
    ONNX_ASSIGN_OR_RETURN(const OnnxTensor zero_point, Parameter(n, 2));
    q = b.Add(q, zero_point);
  }
  n.Set(0, b.Cast(q, n.Has(2) ? n.dtype(2) : DType::kU8));
  return absl::OkStatus();
}

absl::Status DequantizeLinear(OnnxNode& n) {
  GraphBuilder& b = n.b();
  ONNX_ASSIGN_OR_RETURN(const OnnxTensor scale, Parameter(n, 1));
  // i32 has more digits than f32, so the zero point is taken off as an integer.
  OnnxTensor x = b.Cast(n.In(0), DType::kI32);
  if (n.Has(2)) {
    ONNX_ASSIGN_OR_RETURN(const OnnxTensor zero_point, Parameter(n, 2));
    x = b.Sub(x, b.Cast(zero_point, DType::kI32));
  }
  n.Set(0, b.Cast(b.Mul(b.Cast(x, DType::kF32), scale), n.dtype(1)));
  return absl::OkStatus();
}

absl::Status DynamicQuantizeLinear(OnnxNode& n) {
  GraphBuilder& b = n.b();
  const OnnxTensor x = n.In(0), zero = n.Like(x, 0), full = n.Like(x, 255);
  const std::vector<int> all = b.AllAxes(x);
  const OnnxTensor high = b.Binary(OpCode::kMax, b.Reduce(ReduceKind::kMax, x, all), zero);
  const OnnxTensor low = b.Binary(OpCode::kMin, b.Reduce(ReduceKind::kMin, x, all), zero);
  const OnnxTensor scale = b.Div(b.Sub(high, low), full);
  const OnnxTensor offset = b.Unary(OpCode::kRound, b.Div(b.Sub(zero, low), scale));
  const OnnxTensor point = b.Binary(OpCode::kMin, b.Binary(OpCode::kMax, offset, zero), full);
  const OnnxTensor q = b.Add(b.Unary(OpCode::kRound, b.Div(x, scale)), point);
  n.Set(0, b.Cast(q, DType::kU8));
  n.Set(1, scale);
  n.Set(2, b.Cast(point, DType::kU8));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const OnnxOp> OnnxQuantizeOps() {
  static constexpr OnnxOp kOps[] = {
      {"DequantizeLinear", 10, 2, 3, DequantizeLinear},
      {"DynamicQuantizeLinear", 11, 1, 1, DynamicQuantizeLinear},
      {"QuantizeLinear", 10, 2, 3, QuantizeLinear},
  };
  return kOps;
}

}  // namespace stax
