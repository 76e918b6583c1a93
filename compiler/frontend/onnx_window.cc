#include "compiler/frontend/onnx_window.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_join.h"
#include "compiler/frontend/onnx_ops.h"
#include "compiler/frontend/onnx_status.h"
#include "ir/graph_rules.h"

namespace stax {
namespace {

// Larger kernels, strides, dilations and pads are mistakes; smaller ones keep sums inside int64.
constexpr int64_t kMaxWindow = int64_t{1} << 20;

// An attribute of one number per spatial axis.
absl::StatusOr<std::vector<int64_t>> PerAxis(OnnxNode& n, std::string_view name, size_t count,
                                             int64_t otherwise, int64_t least) {
  std::vector<int64_t> values = n.Ints(name);
  if (values.empty()) values.assign(count, otherwise);
  bool fits = values.size() == count;
  for (int64_t v : values) fits = fits && v >= least && v <= kMaxWindow;
  if (fits) return values;
  return OnnxError("attribute ", name, " is [", absl::StrJoin(values, ", "), "]; input 0 of shape ",
                   ShapeText(n.dims(0)), " needs ", count, " numbers from ", least, " to 2^20");
}

// Output size and pads that give it, by auto_pad or the attribute pads.
absl::Status ResolvePads(OnnxNode& n, std::vector<OnnxWindow>& windows) {
  const std::string mode = n.Str("auto_pad", "NOTSET");
  const bool same = mode == "SAME_UPPER" || mode == "SAME_LOWER";
  if (!same && mode != "NOTSET" && mode != "VALID")
    return OnnxError("attribute auto_pad is '", mode,
                     "'; it must be NOTSET, VALID, SAME_UPPER or SAME_LOWER");
  const size_t count = windows.size();
  ONNX_ASSIGN_OR_RETURN(const std::vector<int64_t> pads,
                        PerAxis(n, "pads", 2 * count, 0, -kMaxWindow));
  const bool ceil_mode = n.Int("ceil_mode", 0) != 0;
  const RangeContext ranges = n.ranges();
  for (size_t k = 0; k < count; ++k) {
    OnnxWindow& w = windows[k];
    if (same) {
      w.out = Simplify(CeilDiv(w.in, w.stride), ranges);
      const IndexExpr total = Simplify(Max(0, (w.out - 1) * w.stride + w.span() - w.in), ranges);
      const IndexExpr half = Simplify(FloorDiv(total, 2), ranges);
      w.before = mode == "SAME_UPPER" ? half : total - half;
      w.after = total - w.before;
      continue;
    }
    if (mode == "NOTSET") {
      w.before = pads[k];
      w.after = pads[k + count];
    }
    const IndexExpr room = w.before + w.in + w.after - w.span();
    if (!ranges.ProveLe(0, room))
      return OnnxError("axis ", k + 2, " of input 0 of shape ", ShapeText(n.dims(0)),
                       " is not known to hold one window of ", w.span(), " with pads ",
                       w.before.ToString(), " and ", w.after.ToString());
    w.out = Simplify((ceil_mode ? CeilDiv(room, w.stride) : FloorDiv(room, w.stride)) + 1, ranges);
    // A window that starts behind the last element would hold none. PyTorch has none there, and
    // ONNX's later versions neither.
    if (ceil_mode && !ranges.ProveLt((w.out - 1) * w.stride, w.before + w.in))
      w.out = Simplify(Min(w.out, CeilDiv(w.before + w.in, w.stride)), ranges);
    if (ceil_mode) w.overhang = Simplify(Max(0, (w.out - 1) * w.stride - room), ranges);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<OnnxWindow>> OnnxKernelAttributes(
    OnnxNode& n, const std::vector<int64_t>& weight_kernel) {
  constexpr int kMaxSpatial = 8;
  const int count = n.rank(0) - 2;
  if (count < 1 || count > kMaxSpatial)
    return OnnxError("input 0 has shape ", ShapeText(n.dims(0)),
                     "; it must be [N, C, d...] with 1 to ", kMaxSpatial, " spatial axes");
  std::vector<int64_t> kernel = weight_kernel;
  if (n.HasAttr("kernel_shape") || kernel.empty()) {
    ONNX_ASSIGN_OR_RETURN(kernel, PerAxis(n, "kernel_shape", count, 0, 1));
  }
  if (!weight_kernel.empty() && kernel != weight_kernel)
    return OnnxError("attribute kernel_shape is [", absl::StrJoin(kernel, ", "),
                     "], but the weights are for [", absl::StrJoin(weight_kernel, ", "), "]");
  ONNX_ASSIGN_OR_RETURN(const std::vector<int64_t> strides, PerAxis(n, "strides", count, 1, 1));
  ONNX_ASSIGN_OR_RETURN(const std::vector<int64_t> dilations, PerAxis(n, "dilations", count, 1, 1));
  std::vector<OnnxWindow> windows(count);
  for (int k = 0; k < count; ++k) {
    windows[k].kernel = kernel[k];
    windows[k].stride = strides[k];
    windows[k].dilation = dilations[k];
    windows[k].in = n.dims(0)[k + 2];
    if (Magnitude(windows[k].in) >= kMaxOnnxElements)
      return OnnxError("axis ", k + 2, " of input 0 of shape ", ShapeText(n.dims(0)),
                       " is too large");
  }
  return windows;
}

absl::StatusOr<std::vector<OnnxWindow>> OnnxWindowAttributes(
    OnnxNode& n, const std::vector<int64_t>& weight_kernel) {
  ONNX_ASSIGN_OR_RETURN(std::vector<OnnxWindow> windows, OnnxKernelAttributes(n, weight_kernel));
  ONNX_RETURN_IF_ERROR(ResolvePads(n, windows));
  return windows;
}

OnnxTensor OnnxWindows(GraphBuilder& b, OnnxTensor x, int axis, const IndexExpr& out,
                       int64_t kernel, int64_t stride, int64_t dilation) {
  if (kernel == 1) {
    return b.Unsqueeze(b.Slice(x, axis, 0, stride, out), {axis + 1});
  }
  // Indices computed from positions rather than a table: they fold into the access itself.
  const Dims dims = {out, kernel};
  const auto scaled = [&](int along, int64_t factor) {
    const OnnxTensor i = b.Iota(DType::kI64, dims, along);
    return factor == 1 ? i : b.Mul(i, b.Scalar(DType::kI64, static_cast<double>(factor)));
  };
  const OnnxTensor starts = scaled(0, stride);
  return b.Gather(x, b.Add(starts, scaled(1, dilation)), axis);
}

OnnxTensor OnnxPatches(GraphBuilder& b, OnnxTensor x, const std::vector<OnnxWindow>& windows,
                       OnnxTensor value) {
  std::vector<IndexExpr> before(b.rank(x), 0), after(b.rank(x), 0);
  for (size_t k = 0; k < windows.size() && k + 2 < before.size(); ++k) {
    before[k + 2] = windows[k].before;
    after[k + 2] = windows[k].after + windows[k].overhang;
  }
  x = b.Pad(x, before, after, PadMode::kConstant, value);
  for (size_t k = 0; k < windows.size(); ++k) {
    const OnnxWindow& w = windows[k];
    x = OnnxWindows(b, x, static_cast<int>(2 + 2 * k), w.out, w.kernel, w.stride, w.dilation);
  }
  return x;
}

}  // namespace stax
