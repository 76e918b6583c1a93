// Convolutions, as contractions of patches [N, C, out, kernel, ...] with the weights [M, C,
// kernel...].
#include <algorithm>
#include <utility>

#include "compiler/frontend/onnx_ops.h"
#include "compiler/frontend/onnx_status.h"
#include "compiler/frontend/onnx_window.h"
#include "ir/graph_rules.h"

namespace stax {
namespace {

// Sizes of weights [a, b, kernel...] after the first two.
absl::StatusOr<std::vector<int64_t>> KernelOf(OnnxNode& n, int i) {
  std::vector<int64_t> kernel;
  for (int d = 2; d < n.rank(i); ++d) {
    const std::optional<int64_t> size = n.dims(i)[d].AsConst();
    // Bounded like the attribute kernel_shape.
    if (!size.has_value() || *size < 1 || *size > (1 << 20)) break;
    kernel.push_back(*size);
  }
  if (n.rank(i) != n.rank(0) || static_cast<int>(kernel.size()) != n.rank(0) - 2)
    return OnnxError("input ", i, " (weights) has shape ", ShapeText(n.dims(i)),
                     "; for input 0 of shape ", ShapeText(n.dims(0)), " it must be of rank ",
                     n.rank(0), " with fixed kernel sizes");
  return kernel;
}

// Labels of the patches, the weights and the result. A transposed convolution's weights have the
// input channel first.
struct Equation {
  std::string patches, weights, result;
  std::string Text() const { return OnnxText(patches, ",", weights, "->", result); }
};
Equation ConvEquation(size_t spatial, bool grouped, bool transposed) {
  const std::string g = grouped ? "G" : "";
  Equation e{"N" + g + "C", g + (transposed ? "CM" : "MC"), "N" + g + "M"};
  for (size_t k = 0; k < spatial; ++k) {
    const char out = static_cast<char>('a' + 2 * k), tap = static_cast<char>('b' + 2 * k);
    e.patches += {out, tap};
    e.weights += tap;
    e.result += out;
  }
  return e;
}

// [.., groups c, ..] -> [.., groups, c, ..] on one axis.
absl::StatusOr<OnnxTensor> SplitGroups(OnnxNode& n, OnnxTensor x, int axis, int64_t groups) {
  if (groups == 1) return x;
  Dims dims = n.b().dims(x);
  if (axis >= static_cast<int>(dims.size())) return x;  // after an error
  ONNX_ASSIGN_OR_RETURN(dims[axis], DivideExactly({dims[axis]}, {groups}, n.ranges()));
  dims.insert(dims.begin() + axis, groups);
  return n.b().Reshape(x, std::move(dims));
}

absl::StatusOr<int64_t> Groups(OnnxNode& n) {
  const int64_t groups = n.Int("group", 1);
  if (groups < 1 || groups > kMaxOnnxElements)
    return OnnxError("attribute group is ", groups, "; it must be at least 1");
  return groups;
}

absl::StatusOr<OnnxTensor> Contract(OnnxNode& n, OnnxTensor patches, OnnxTensor weights,
                                    size_t spatial, bool transposed) {
  GraphBuilder& b = n.b();
  ONNX_ASSIGN_OR_RETURN(const int64_t groups, Groups(n));
  ONNX_ASSIGN_OR_RETURN(patches, SplitGroups(n, patches, 1, groups));
  ONNX_ASSIGN_OR_RETURN(weights, SplitGroups(n, weights, 0, groups));
  const Equation e = ConvEquation(spatial, groups > 1, transposed);
  const IndexExpr have = n.Dim(patches, groups > 1 ? 2 : 1);
  const IndexExpr want = n.Dim(weights, static_cast<int>(e.weights.find('C')));
  if (b.status().ok() && !n.ranges().ProveEq(have, want))
    return OnnxError("the weights are for ", want.ToString(), " input channels, but there are ",
                     have.ToString(), groups > 1 ? " per group" : "");
  const OnnxTensor y = b.Einsum(e.Text(), {patches, weights});
  if (groups == 1) return y;
  Dims dims = b.dims(y);
  if (dims.size() < 3) return y;  // after an error
  dims[1] = dims[1] * dims[2];
  dims.erase(dims.begin() + 2);
  return b.Reshape(y, std::move(dims));
}

// [M] added to [N, M, d...].
OnnxTensor AddBias(OnnxNode& n, OnnxTensor y, OnnxTensor bias) {
  Dims dims = n.b().dims(bias);
  dims.resize(std::max(n.b().rank(y) - 1, 1), 1);
  return n.b().Add(y, n.b().Reshape(bias, std::move(dims)));
}

absl::Status Conv(OnnxNode& n) {
  ONNX_ASSIGN_OR_RETURN(const std::vector<int64_t> kernel, KernelOf(n, 1));
  ONNX_ASSIGN_OR_RETURN(const std::vector<OnnxWindow> windows, OnnxWindowAttributes(n, kernel));
  const OnnxTensor x = n.WideIn(0);
  const OnnxTensor patches = OnnxPatches(n.b(), x, windows, n.Like(x, 0));
  ONNX_ASSIGN_OR_RETURN(OnnxTensor y, Contract(n, patches, n.WideIn(1), windows.size(), false));
  if (n.Has(2)) y = AddBias(n, y, n.WideIn(2));
  n.Set(0, n.b().Cast(y, n.dtype(0)));
  return absl::OkStatus();
}

// Pads of the result of a transposed convolution, which they make smaller.
absl::Status TransposedPads(OnnxNode& n, const std::vector<int64_t>& extra,
                            std::vector<OnnxWindow>& windows) {
  const std::string mode = n.Str("auto_pad", "NOTSET");
  const std::vector<int64_t> pads = n.Ints("pads"), shape = n.Ints("output_shape");
  const size_t count = windows.size();
  if ((!pads.empty() && pads.size() != 2 * count) ||
      (!shape.empty() && shape.size() != count && shape.size() != count + 2))
    return OnnxError("attributes pads and output_shape must have ", 2 * count, " and ", count,
                     " numbers for input 0 of shape ", ShapeText(n.dims(0)));
  for (size_t k = 0; k < count; ++k) {
    OnnxWindow& w = windows[k];
    const IndexExpr full = (w.in - 1) * w.stride + w.span() + extra[k];
    const bool same = mode == "SAME_UPPER" || mode == "SAME_LOWER";
    if (shape.empty() && !same) {
      if (pads.empty() || mode == "VALID") continue;
      w.before = ClampedIndex(pads[k]);
      w.after = ClampedIndex(pads[k + count]);
    } else {
      const IndexExpr want =
          shape.empty() ? w.in * w.stride : ClampedIndex(shape[shape.size() - count + k]);
      if (Magnitude(want) >= kMaxOnnxElements) return OnnxError("output_shape is too large");
      const IndexExpr total = full - want, half = FloorDiv(total, 2);
      w.before = mode == "SAME_UPPER" ? half : total - half;
      w.after = total - w.before;
    }
    if (Magnitude(w.before) >= kMaxOnnxElements || Magnitude(w.after) >= kMaxOnnxElements)
      return OnnxError("attribute pads has a number of 2^40 or more");
  }
  return absl::OkStatus();
}

// Zeros between the elements of an axis: [n] -> [stride (n - 1) + 1].
OnnxTensor Spread(GraphBuilder& b, OnnxTensor x, int axis, int64_t stride) {
  if (stride == 1 || axis >= b.rank(x)) return x;
  Dims dims = b.dims(x);
  const IndexExpr size = dims[axis];
  std::vector<IndexExpr> before(dims.size() + 1, 0), after(dims.size() + 1, 0);
  after[axis + 1] = stride - 1;
  dims[axis] = size * stride;
  const OnnxTensor padded =
      b.Pad(b.Unsqueeze(x, {axis + 1}), before, after, PadMode::kConstant, std::nullopt);
  return b.Slice(b.Reshape(padded, dims), axis, 0, 1, size * stride - stride + 1);
}

// The gradient of a convolution: x with zeros between its elements, convolved with the kernel
// turned around.
absl::Status ConvTranspose(OnnxNode& n) {
  GraphBuilder& b = n.b();
  ONNX_ASSIGN_OR_RETURN(const std::vector<int64_t> kernel, KernelOf(n, 1));
  ONNX_ASSIGN_OR_RETURN(std::vector<OnnxWindow> windows, OnnxKernelAttributes(n, kernel));
  std::vector<int64_t> extra = n.Ints("output_padding");
  if (extra.empty()) extra.assign(windows.size(), 0);
  if (extra.size() != windows.size())
    return OnnxError("attribute output_padding must have ", windows.size(), " numbers");
  for (int64_t e : extra)
    if (e < 0 || e > (1 << 20))
      return OnnxError("attribute output_padding has ", e, "; it must be from 0 to 2^20");
  ONNX_RETURN_IF_ERROR(TransposedPads(n, extra, windows));
  OnnxTensor x = n.WideIn(0), weights = n.WideIn(1);
  for (size_t k = 0; k < windows.size(); ++k) {
    OnnxWindow& w = windows[k];
    const int axis = static_cast<int>(k + 2);
    if (!n.ranges().ProveLe(1, w.in))
      return OnnxError("axis ", axis, " of input 0 of shape ", ShapeText(n.dims(0)), " is empty");
    x = Spread(b, x, axis, w.stride);
    weights = b.Slice(weights, axis, w.kernel - 1, -1, w.kernel);
    const IndexExpr spread = (w.in - 1) * w.stride + 1;
    w.before = w.span() - 1 - w.before;
    w.after = w.span() - 1 - w.after + extra[k];
    w.out = Simplify(spread + w.before + w.after - w.span() + 1, n.ranges());
    w.stride = 1;
  }
  const OnnxTensor patches = OnnxPatches(b, x, windows, n.Like(x, 0));
  ONNX_ASSIGN_OR_RETURN(OnnxTensor y, Contract(n, patches, weights, windows.size(), true));
  if (n.Has(2)) y = AddBias(n, y, n.WideIn(2));
  n.Set(0, b.Cast(y, n.dtype(0)));
  return absl::OkStatus();
}

// A u8 or i8 tensor less its zero point (one number, or one per element of axis 0), as i32.
OnnxTensor Centred(OnnxNode& n, int i, int zero_point) {
  GraphBuilder& b = n.b();
  const OnnxTensor x = b.Cast(n.In(i), DType::kI32);
  if (!n.Has(zero_point)) return x;
  const OnnxTensor z = b.Cast(n.In(zero_point), DType::kI32);
  if (NumElements(n.dims(zero_point)) == IndexExpr(1)) return b.Sub(x, b.Reshape(z, {}));
  Dims dims = n.dims(zero_point);
  dims.resize(std::max(n.rank(i), 1), 1);
  return b.Sub(x, b.Reshape(z, std::move(dims)));
}

// Padding adds the zero point, which is 0 once it is taken off.
absl::StatusOr<OnnxTensor> IntegerConv(OnnxNode& n, int weights, OnnxTensor x, OnnxTensor w) {
  ONNX_ASSIGN_OR_RETURN(const std::vector<int64_t> kernel, KernelOf(n, weights));
  ONNX_ASSIGN_OR_RETURN(const std::vector<OnnxWindow> windows, OnnxWindowAttributes(n, kernel));
  const OnnxTensor patches = OnnxPatches(n.b(), x, windows, n.Like(x, 0));
  return Contract(n, patches, w, windows.size(), false);
}

absl::Status ConvInteger(OnnxNode& n) {
  ONNX_ASSIGN_OR_RETURN(const OnnxTensor y, IntegerConv(n, 1, Centred(n, 0, 2), Centred(n, 1, 3)));
  n.Set(0, y);
  return absl::OkStatus();
}

// Inputs: x, scale, zero point; weights, scale, zero point; scale and zero point of y; bias in i32.
absl::Status QLinearConv(OnnxNode& n) {
  GraphBuilder& b = n.b();
  ONNX_ASSIGN_OR_RETURN(OnnxTensor y, IntegerConv(n, 3, Centred(n, 0, 2), Centred(n, 3, 5)));
  if (n.Has(8)) y = AddBias(n, y, n.In(8));
  const auto scalar = [&](int i) { return b.Cast(b.Reshape(n.In(i), {}), DType::kF32); };
  OnnxTensor scale = b.Cast(n.In(4), DType::kF32);  // one number, or one per output channel
  Dims dims = n.dims(4);
  if (NumElements(dims) == IndexExpr(1)) {
    dims.clear();
  } else {
    dims.resize(n.rank(0) - 1, 1);
  }
  scale = b.Div(b.Mul(b.Reshape(scale, std::move(dims)), scalar(1)), scalar(6));
  const OnnxTensor rounded = b.Unary(OpCode::kRound, b.Mul(b.Cast(y, DType::kF32), scale));
  n.Set(0, b.Cast(b.Add(rounded, scalar(7)), n.dtype(7)));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const OnnxOp> OnnxConvOps() {
  static constexpr OnnxOp kOps[] = {
      {"Conv", 1, 2, 3, Conv},
      {"ConvInteger", 10, 2, 4, ConvInteger},
      {"ConvTranspose", 1, 2, 3, ConvTranspose},
      {"QLinearConv", 10, 8, 9, QLinearConv},
  };
  return kOps;
}

}  // namespace stax
