// Pooling: reductions over windows, or over all spatial axes.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "compiler/frontend/onnx_ops.h"
#include "compiler/frontend/onnx_status.h"
#include "compiler/frontend/onnx_window.h"
#include "ir/graph_rules.h"

namespace stax {
namespace {

// Axes of the kernels in patches [N, C, out, kernel, out, kernel, ...].
std::vector<int> KernelAxes(size_t spatial) {
  std::vector<int> axes;
  for (size_t k = 0; k < spatial; ++k) axes.push_back(static_cast<int>(3 + 2 * k));
  return axes;
}

double Lowest(DType dtype) {
  if (IsFloat(dtype)) return -std::numeric_limits<double>::infinity();
  return IsUnsigned(dtype) ? 0 : -std::ldexp(1.0, 8 * DTypeBytes(dtype) - 1);
}

// Position in the whole of x of each window's maximum, row-major (or with the spatial axes in
// column-major order, storage_order 1). `which` is the position in the window.
OnnxTensor MaxIndices(OnnxNode& n, OnnxTensor which, const std::vector<OnnxWindow>& windows) {
  GraphBuilder& b = n.b();
  const Dims out = b.dims(which);
  const bool column_major = n.Int("storage_order", 0) != 0;
  const auto number = [&](const IndexExpr& e) { return n.SizeTensor(e, DType::kI64); };
  OnnxTensor position =
      b.Add(b.Mul(b.Iota(DType::kI64, out, 0), number(n.dims(0)[1])), b.Iota(DType::kI64, out, 1));
  std::vector<OnnxTensor> at(windows.size());
  for (size_t k = windows.size(); k-- > 0;) {
    const OnnxWindow& w = windows[k];
    const OnnxTensor tap = b.Binary(OpCode::kMod, which, number(w.kernel));
    which = b.Div(which, number(w.kernel));
    const OnnxTensor start =
        b.Sub(b.Mul(b.Iota(DType::kI64, out, static_cast<int>(k + 2)), number(w.stride)),
              number(w.before));
    at[k] = b.Add(start, b.Mul(tap, number(w.dilation)));
  }
  for (size_t k = 0; k < windows.size(); ++k) {
    const size_t axis = column_major ? windows.size() - 1 - k : k;
    position = b.Add(b.Mul(position, number(windows[axis].in)), at[axis]);
  }
  return position;
}

bool IsPadded(const std::vector<OnnxWindow>& windows) {
  return std::any_of(windows.begin(), windows.end(), [](const OnnxWindow& w) {
    return w.before != IndexExpr(0) || w.after != IndexExpr(0) || w.overhang != IndexExpr(0);
  });
}

// Position in its window of each window's first maximum, which is no padding: `patches` has the
// lowest number there, but elements may be as low. NaN is a maximum.
OnnxTensor PositionOfMax(OnnxNode& n, OnnxTensor patches, const std::vector<OnnxWindow>& windows) {
  GraphBuilder& b = n.b();
  const std::vector<int> axes = KernelAxes(windows.size());
  if (!IsPadded(windows)) return b.Reduce(ReduceKind::kArgMax, patches, axes);
  OnnxTensor is_max = b.Binary(OpCode::kEq, patches, b.Max(patches, axes, true));
  is_max = b.Binary(OpCode::kOr, is_max, b.Binary(OpCode::kNe, patches, patches));
  const OnnxTensor all = b.Expand(b.Scalar(DType::kBool, 1), n.dims(0));
  const OnnxTensor inside = OnnxPatches(b, all, windows, b.Scalar(DType::kBool, 0));
  return b.Reduce(ReduceKind::kArgMax, b.Cast(b.Binary(OpCode::kAnd, is_max, inside), DType::kU8),
                  axes);
}

absl::Status MaxPool(OnnxNode& n) {
  GraphBuilder& b = n.b();
  ONNX_ASSIGN_OR_RETURN(const std::vector<OnnxWindow> windows, OnnxWindowAttributes(n, {}));
  const OnnxTensor x = n.In(0);
  const OnnxTensor patches = OnnxPatches(b, x, windows, n.Like(x, Lowest(n.dtype(0))));
  n.Set(0, b.Max(patches, KernelAxes(windows.size())));
  if (n.Wants(1)) n.Set(1, MaxIndices(n, PositionOfMax(n, patches, windows), windows));
  return absl::OkStatus();
}

// Elements of x that the windows of one axis hold: [out], in f32 or f64.
OnnxTensor CountInside(OnnxNode& n, const OnnxWindow& w, bool with_padding, DType dtype) {
  GraphBuilder& b = n.b();
  const auto number = [&](const IndexExpr& e) { return n.SizeTensor(e, DType::kI64); };
  const OnnxTensor start =
      b.Sub(b.Mul(b.Iota(DType::kI64, {w.out}, 0), number(w.stride)), number(w.before));
  const OnnxTensor end = b.Add(start, number(w.span()));
  const OnnxTensor low = number(with_padding ? -w.before : IndexExpr(0));
  const OnnxTensor high = number(with_padding ? w.in + w.after : w.in);
  const OnnxTensor inside =
      b.Sub(b.Binary(OpCode::kMin, end, high), b.Binary(OpCode::kMax, start, low));
  return b.Cast(inside, dtype);
}

absl::Status AveragePool(OnnxNode& n) {
  GraphBuilder& b = n.b();
  ONNX_ASSIGN_OR_RETURN(const std::vector<OnnxWindow> windows, OnnxWindowAttributes(n, {}));
  const bool with_padding = n.Int("count_include_pad", 0) != 0;
  n.Set(0, InF32(b, n.In(0), [&](OnnxTensor x) {
          const OnnxTensor patches = OnnxPatches(b, x, windows, n.Like(x, 0));
          OnnxTensor y = b.Sum(patches, KernelAxes(windows.size()));
          // Windows that lie inside have all their elements; others are counted per axis.
          double whole = 1;
          for (size_t k = 0; k < windows.size(); ++k) {
            const OnnxWindow& w = windows[k];
            const bool padded = w.before != IndexExpr(0) || w.after != IndexExpr(0);
            if ((padded && !with_padding) || w.overhang != IndexExpr(0)) {
              Dims aligned = {w.out};
              aligned.resize(windows.size() - k, 1);
              y = b.Div(y, b.Reshape(CountInside(n, w, with_padding, b.dtype(x)), aligned));
            } else {
              whole *= static_cast<double>(w.kernel);
            }
          }
          return whole == 1 ? y : b.Div(y, n.Like(y, whole));
        }));
  return absl::OkStatus();
}

// (sum |x|^p)^(1/p)
OnnxTensor PowerMean(OnnxNode& n, OnnxTensor x, const std::vector<int>& axes, double p, bool keep) {
  GraphBuilder& b = n.b();
  const auto power = [&](OnnxTensor v, double e) {
    return e == 1 ? v : b.Binary(OpCode::kPow, v, n.Like(v, e));
  };
  return power(b.Sum(power(b.Unary(OpCode::kAbs, x), p), axes, keep), 1 / p);
}

absl::Status LpPool(OnnxNode& n) {
  GraphBuilder& b = n.b();
  if (n.opset() < 2) return absl::UnimplementedError("the form before operator set 2");
  ONNX_ASSIGN_OR_RETURN(const std::vector<OnnxWindow> windows, OnnxWindowAttributes(n, {}));
  const double p = static_cast<double>(n.Int("p", 2));
  n.Set(0, InF32(b, n.In(0), [&](OnnxTensor x) {
          const OnnxTensor patches = OnnxPatches(b, x, windows, n.Like(x, 0));
          return PowerMean(n, patches, KernelAxes(windows.size()), p, false);
        }));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<int>> SpatialAxes(OnnxNode& n) {
  if (n.rank(0) < 2) return OnnxError("input 0 has rank ", n.rank(0), "; it must be at least 2");
  std::vector<int> axes(n.rank(0) - 2);
  std::iota(axes.begin(), axes.end(), 2);
  return axes;
}

absl::Status GlobalAveragePool(OnnxNode& n) {
  ONNX_ASSIGN_OR_RETURN(const std::vector<int> axes, SpatialAxes(n));
  n.Set(0, n.b().Mean(n.In(0), axes, true));
  return absl::OkStatus();
}

absl::Status GlobalMaxPool(OnnxNode& n) {
  ONNX_ASSIGN_OR_RETURN(const std::vector<int> axes, SpatialAxes(n));
  n.Set(0, n.b().Max(n.In(0), axes, true));
  return absl::OkStatus();
}

absl::Status GlobalLpPool(OnnxNode& n) {
  ONNX_ASSIGN_OR_RETURN(const std::vector<int> axes, SpatialAxes(n));
  const double p = n.opset() < 2 ? n.Float("p", 2) : static_cast<double>(n.Int("p", 2));
  n.Set(0, InF32(n.b(), n.In(0), [&](OnnxTensor x) { return PowerMean(n, x, axes, p, true); }));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const OnnxOp> OnnxPoolOps() {
  static constexpr OnnxOp kOps[] = {
      {"AveragePool", 1, 1, 1, AveragePool},
      {"GlobalAveragePool", 1, 1, 1, GlobalAveragePool},
      {"GlobalLpPool", 1, 1, 1, GlobalLpPool},
      {"GlobalMaxPool", 1, 1, 1, GlobalMaxPool},
      {"LpPool", 1, 1, 1, LpPool},
      {"MaxPool", 1, 1, 1, MaxPool},
  };
  return kOps;
}

}  // namespace stax
