// Resize and Upsample. Axes are independent: each output element is a weighted sum of a few input
// elements ("taps") of its axis, whose positions and weights are known while translating.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/frontend/onnx_ops.h"
#include "compiler/frontend/onnx_status.h"
#include "ir/graph_rules.h"

namespace stax {
namespace {

// Tables of taps are made while translating, so they must be of sane size.
constexpr int64_t kMaxSize = int64_t{1} << 20;

struct Axis {
  int64_t in = 1, out = 1;
  double scale = 1;                   // out / in before rounding
  double roi_start = 0, roi_end = 1;  // tf_crop_and_resize
};

struct Method {
  std::string mode, coordinates, nearest;
  double cubic_a = -0.75, extrapolation = 0;
  bool exclude_outside = false;
};

// For each output element of an axis the inputs it reads and their weights: [out, taps].
struct Taps {
  int64_t count = 1;
  std::vector<int64_t> position;
  std::vector<double> weight;
  std::vector<bool> outside;  // [out]: takes the extrapolation value
};

// Where output element i lies in the input, in elements.
double Coordinate(const Method& m, const Axis& a, int64_t i) {
  const double x = static_cast<double>(i), in = static_cast<double>(a.in);
  // As in ONNX's reference, the size before it is rounded down.
  const double out = in * a.scale;
  if (m.coordinates == "asymmetric") return x / a.scale;
  if (m.coordinates == "align_corners") return out == 1 ? 0 : x * (in - 1) / (out - 1);
  if (m.coordinates == "tf_half_pixel_for_nn") return (x + 0.5) / a.scale;
  if (m.coordinates == "tf_crop_and_resize") {
    if (out == 1) return 0.5 * (a.roi_start + a.roi_end) * (in - 1);
    return a.roi_start * (in - 1) + x * (a.roi_end - a.roi_start) * (in - 1) / (out - 1);
  }
  if (m.coordinates == "pytorch_half_pixel" && a.out == 1) return 0;
  return (x + 0.5) / a.scale - 0.5;
}

double Nearest(const std::string& mode, double x) {
  if (mode == "floor") return std::floor(x);
  if (mode == "ceil") return std::ceil(x);
  return mode == "round_prefer_ceil" ? std::floor(x + 0.5) : std::ceil(x - 0.5);
}

// Weights of the elements first, first + 1 ... for a point `t` behind element first (nearest,
// linear) or first + 1 (cubic, Keys' kernel).
std::vector<double> Weights(const Method& m, double t) {
  if (m.mode == "nearest") return {1};
  if (m.mode == "linear") return {1 - t, t};
  const double a = m.cubic_a;
  const auto near = [a](double d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };
  const auto far = [a](double d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
  return {far(t + 1), near(t), near(1 - t), far(2 - t)};
}

Taps TapsOf(const Method& m, const Axis& a) {
  Taps taps;
  taps.count = m.mode == "nearest" ? 1 : m.mode == "linear" ? 2 : 4;
  for (int64_t i = 0; i < a.out; ++i) {
    const double x = Coordinate(m, a, i);
    taps.outside.push_back(m.coordinates == "tf_crop_and_resize" &&
                           !(x >= 0 && x <= static_cast<double>(a.in - 1)));
    double first = m.mode == "nearest" ? Nearest(m.nearest, x) : std::floor(x);
    std::vector<double> weights = Weights(m, x - first);
    if (m.mode == "cubic") first -= 1;
    double sum = 0;
    for (int64_t k = 0; k < taps.count; ++k) {
      const double at = first + static_cast<double>(k);
      const double last = static_cast<double>(a.in - 1);
      if (m.exclude_outside && !(at >= 0 && at <= last)) weights[k] = 0;
      sum += weights[k];
      taps.position.push_back(static_cast<int64_t>(std::clamp(at, 0.0, last)));
    }
    for (double w : weights) taps.weight.push_back(m.exclude_outside ? w / sum : w);
  }
  return taps;
}

template <typename T>
OnnxTensor Table(GraphBuilder& b, DType dtype, Dims dims, const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return b.Constant(dtype, std::move(dims), std::move(bytes));
}

// [out, taps] or [out], aligned with `axis` of a tensor of the rank that has these axes.
Dims Aligned(int64_t out, int64_t taps, int axis, int rank) {
  Dims dims = {out};
  if (taps > 1) dims.emplace_back(taps);
  dims.resize(rank - axis, 1);
  return dims;
}

// `x` resized along one axis, in x's type (a float type when there is more than one tap).
OnnxTensor ResizeAxis(GraphBuilder& b, OnnxTensor x, int axis, const Taps& taps, int64_t out) {
  const bool several = taps.count > 1;
  const OnnxTensor positions =
      Table(b, DType::kI64, several ? Dims{out, taps.count} : Dims{out}, taps.position);
  const OnnxTensor picked = b.Gather(x, positions, axis);
  if (!several || !b.status().ok()) return picked;
  const Dims aligned = Aligned(out, taps.count, axis, b.rank(picked));
  const OnnxTensor weights = b.Cast(Table(b, DType::kF64, aligned, taps.weight), b.dtype(x));
  return b.Sum(b.Mul(picked, weights), {axis + 1});
}

// Where any axis lies outside: the extrapolation value.
OnnxTensor Extrapolate(OnnxNode& n, OnnxTensor y, int axis, const Taps& taps, double value) {
  GraphBuilder& b = n.b();
  if (std::none_of(taps.outside.begin(), taps.outside.end(), [](bool o) { return o; })) return y;
  const std::vector<uint8_t> mask(taps.outside.begin(), taps.outside.end());
  const Dims dims = Aligned(static_cast<int64_t>(mask.size()), 1, axis, std::max(b.rank(y), 1));
  return b.Where(Table(b, DType::kBool, dims, mask), n.Like(y, value), y);
}

absl::Status ResizeBy(OnnxNode& n, const Method& m, const std::vector<Axis>& axes) {
  GraphBuilder& b = n.b();
  const DType dtype = n.dtype(0);
  OnnxTensor x = n.In(0);
  // Weighted sums of integers and halves are taken in f32.
  if (m.mode != "nearest" && (!IsFloat(dtype) || IsHalf(dtype))) x = b.Cast(x, DType::kF32);
  std::vector<std::pair<int, Taps>> done;
  for (size_t axis = 0; axis < axes.size(); ++axis) {
    const Axis& a = axes[axis];
    const bool whole = a.roi_start == 0 && a.roi_end == 1;
    if (a.in == a.out && a.scale == 1 && whole) continue;
    if (a.in == 0) return OnnxError("axis ", axis, " of input 0 is empty");
    done.emplace_back(static_cast<int>(axis), TapsOf(m, a));
    x = ResizeAxis(b, x, static_cast<int>(axis), done.back().second, a.out);
  }
  for (const auto& [axis, taps] : done) x = Extrapolate(n, x, axis, taps, m.extrapolation);
  n.Set(0, b.Cast(x, dtype));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Axis>> InputAxes(OnnxNode& n) {
  std::vector<Axis> axes(n.rank(0));
  for (int d = 0; d < n.rank(0); ++d) {
    const std::optional<int64_t> size = n.dims(0)[d].AsConst();
    if (!size.has_value())
      return absl::UnimplementedError(
          OnnxText("symbolic sizes: ", ShapeText(n.dims(0)), "; fix them (input_dims)"));
    axes[d].in = axes[d].out = *size;
  }
  return axes;
}

absl::Status SetScales(OnnxNode& n, const std::vector<double>& scales, std::vector<Axis>& axes) {
  if (scales.size() != axes.size())
    return OnnxError("there are ", scales.size(), " scales; input 0 of shape ",
                     ShapeText(n.dims(0)), " needs ", axes.size());
  for (size_t d = 0; d < axes.size(); ++d) {
    const double out = std::floor(static_cast<double>(axes[d].in) * scales[d]);
    if (!(scales[d] > 0) || !(out <= static_cast<double>(kMaxSize)))
      return OnnxError("scale ", scales[d], " of axis ", d,
                       "; it must be positive and give a size of at most 2^20");
    axes[d].scale = scales[d];
    axes[d].out = static_cast<int64_t>(out);
  }
  return absl::OkStatus();
}

absl::Status SetSizes(OnnxNode& n, const std::vector<int64_t>& sizes, std::vector<Axis>& axes) {
  if (sizes.size() != axes.size())
    return OnnxError("there are ", sizes.size(), " sizes; input 0 of shape ", ShapeText(n.dims(0)),
                     " needs ", axes.size());
  for (size_t d = 0; d < axes.size(); ++d) {
    if (sizes[d] < 1 || sizes[d] > kMaxSize)
      return OnnxError("size ", sizes[d], " of axis ", d, "; it must be from 1 to 2^20");
    axes[d].out = sizes[d];
    axes[d].scale = static_cast<double>(sizes[d]) / static_cast<double>(axes[d].in);
  }
  return absl::OkStatus();
}

bool IsOneOf(const std::string& value, std::initializer_list<const char*> names) {
  return std::any_of(names.begin(), names.end(), [&](const char* name) { return value == name; });
}

absl::StatusOr<Method> GetMethod(OnnxNode& n) {
  Method m;
  m.mode = n.Str("mode", "nearest");
  if (m.mode == "bilinear") m.mode = "linear";
  // Operator set 10 and Upsample knew one way only.
  const bool simple = n.opset() < 11;
  m.coordinates = simple ? "asymmetric" : n.Str("coordinate_transformation_mode", "half_pixel");
  m.nearest = simple ? "floor" : n.Str("nearest_mode", "round_prefer_floor");
  m.cubic_a = n.Float("cubic_coeff_a", -0.75);
  m.extrapolation = n.Float("extrapolation_value", 0);
  m.exclude_outside = m.mode == "cubic" && n.Int("exclude_outside", 0) != 0;
  if (!IsOneOf(m.mode, {"nearest", "linear", "cubic"}))
    return absl::UnimplementedError(OnnxText("mode ", m.mode));
  if (!IsOneOf(m.coordinates, {"half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric",
                               "tf_half_pixel_for_nn", "tf_crop_and_resize"}))
    return absl::UnimplementedError(OnnxText("coordinate_transformation_mode ", m.coordinates));
  if (!IsOneOf(m.nearest, {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}))
    return absl::UnimplementedError(OnnxText("nearest_mode ", m.nearest));
  return m;
}

// An optional input may be left out, or be there and empty.
bool IsGiven(OnnxNode& n, int i) { return n.Has(i) && NumElements(n.dims(i)) != IndexExpr(0); }

absl::Status Resize(OnnxNode& n) {
  if (n.Int("antialias", 0) != 0) return absl::UnimplementedError("antialias");
  if (n.HasAttr("axes")) return absl::UnimplementedError("attribute axes");
  if (n.Str("keep_aspect_ratio_policy", "stretch") != "stretch")
    return absl::UnimplementedError("keep_aspect_ratio_policy");
  ONNX_ASSIGN_OR_RETURN(const Method m, GetMethod(n));
  ONNX_ASSIGN_OR_RETURN(std::vector<Axis> axes, InputAxes(n));
  const int scales = n.opset() < 11 ? 1 : 2;
  if (IsGiven(n, scales)) {
    ONNX_ASSIGN_OR_RETURN(const std::vector<double> values, n.DoubleInput(scales, "scales"));
    ONNX_RETURN_IF_ERROR(SetScales(n, values, axes));
  } else if (n.opset() >= 11 && IsGiven(n, 3)) {
    ONNX_ASSIGN_OR_RETURN(const std::vector<int64_t> values, n.IntInput(3, "sizes"));
    ONNX_RETURN_IF_ERROR(SetSizes(n, values, axes));
  } else {
    return OnnxError("neither scales nor sizes are given");
  }
  if (m.coordinates == "tf_crop_and_resize") {
    ONNX_ASSIGN_OR_RETURN(const std::vector<double> roi, n.DoubleInput(1, "roi"));
    if (roi.size() != 2 * axes.size())
      return OnnxError("input 1 (roi) has ", roi.size(), " numbers; it must have ",
                       2 * axes.size());
    for (size_t d = 0; d < axes.size(); ++d) {
      axes[d].roi_start = roi[d];
      axes[d].roi_end = roi[d + axes.size()];
    }
  }
  return ResizeBy(n, m, axes);
}

absl::Status Upsample(OnnxNode& n) {
  ONNX_ASSIGN_OR_RETURN(const Method m, GetMethod(n));
  ONNX_ASSIGN_OR_RETURN(std::vector<Axis> axes, InputAxes(n));
  std::vector<double> scales = n.Floats("scales");
  if (n.opset() >= 9) {
    ONNX_ASSIGN_OR_RETURN(scales, n.DoubleInput(1, "scales"));
  }
  ONNX_RETURN_IF_ERROR(SetScales(n, scales, axes));
  return ResizeBy(n, m, axes);
}

}  // namespace

absl::Span<const OnnxOp> OnnxResizeOps() {
  static constexpr OnnxOp kOps[] = {
      {"Resize", 10, 1, 4, Resize},
      {"Upsample", 7, 1, 2, Upsample},
  };
  return kOps;
}

}  // namespace stax
