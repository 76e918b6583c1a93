// Slice, Split, Concat and Pad.
#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "compiler/frontend/onnx_ops.h"
#include "compiler/frontend/onnx_status.h"
#include "ir/graph_rules.h"

namespace stax {
namespace {

// A start or end as ONNX gives it, clamped to [low, high]. A negative one counts from the end, so
// its sign must be known.
absl::StatusOr<IndexExpr> ClampBound(const IndexExpr& bound, const IndexExpr& dim,
                                     const IndexExpr& low, const IndexExpr& high,
                                     const RangeContext& ranges) {
  if (ranges.ProveLe(0, bound)) {
    if (ranges.ProveLe(high, bound)) return high;  // e.g. 2^63 - 1, for "to the end"
    return Simplify(Max(low, Min(bound, high)), ranges);
  }
  if (!ranges.ProveLt(bound, 0))
    return absl::FailedPreconditionError(
        OnnxText("the sign of ", bound.ToString(),
                 " depends on the sizes, and a negative bound "
                 "counts from the end; give narrower ranges of the sizes (dim_ranges)"));
  if (ranges.ProveLe(bound, low - dim)) return low;  // e.g. -2^63
  return Simplify(Max(low, Min(bound + dim, high)), ranges);
}

absl::StatusOr<SliceRange> ResolveSlice(int axis, const IndexExpr& start, const IndexExpr& end,
                                        int64_t step, const IndexExpr& dim,
                                        const RangeContext& ranges) {
  // Elements are walked from start towards end, which is itself left out; -1 is before the first.
  const bool forward = step > 0;
  const IndexExpr last = forward ? dim : dim - 1;
  SliceRange r;
  r.axis = axis;
  ONNX_ASSIGN_OR_RETURN(r.start, ClampBound(start, dim, 0, last, ranges));
  ONNX_ASSIGN_OR_RETURN(const IndexExpr stop, ClampBound(end, dim, forward ? 0 : -1, last, ranges));
  const IndexExpr distance = forward ? stop - r.start : r.start - stop;
  // Steps beyond every size all take one element; this one leaves room for sums.
  const int64_t stride = std::min(std::abs(step), kMaxOnnxElements);
  r.step = forward ? stride : -stride;
  r.size = Simplify(Max(0, CeilDiv(distance, stride)), ranges);
  if (ranges.ProveEq(r.size, 0)) r.start = 0;
  return r;
}

// The attributes of Slice before operator set 10, or its inputs.
struct SliceBounds {
  std::vector<IndexExpr> starts, ends;
  std::vector<int64_t> axes, steps;
};
absl::StatusOr<SliceBounds> GetSliceBounds(OnnxNode& n) {
  SliceBounds s;
  if (n.opset() < 10) {
    for (int64_t v : n.Ints("starts")) s.starts.push_back(ClampedIndex(v));
    for (int64_t v : n.Ints("ends")) s.ends.push_back(ClampedIndex(v));
    s.axes = n.Ints("axes");
  } else {
    ONNX_ASSIGN_OR_RETURN(s.starts, n.IndexInput(1, "starts"));
    ONNX_ASSIGN_OR_RETURN(s.ends, n.IndexInput(2, "ends"));
    if (n.Has(3)) {
      ONNX_ASSIGN_OR_RETURN(s.axes, n.IntInput(3, "axes"));
    }
    if (n.Has(4)) {
      ONNX_ASSIGN_OR_RETURN(s.steps, n.IntInput(4, "steps"));
    }
  }
  const size_t count = s.starts.size();
  if (s.axes.empty()) {
    s.axes.resize(count);
    std::iota(s.axes.begin(), s.axes.end(), 0);
  }
  if (s.steps.empty()) s.steps.assign(count, 1);
  if (s.ends.size() != count || s.axes.size() != count || s.steps.size() != count)
    return OnnxError("there are ", count, " starts, ", s.ends.size(), " ends, ", s.axes.size(),
                     " axes and ", s.steps.size(), " steps; they must be as many");
  return s;
}

absl::Status Slice(OnnxNode& n) {
  ONNX_ASSIGN_OR_RETURN(const std::vector<SliceRange> ranges, SliceArguments(n));
  OnnxTensor x = n.In(0);
  for (const SliceRange& r : ranges) x = n.b().Slice(x, r.axis, r.start, r.step, r.size);
  n.Set(0, x);
  return absl::OkStatus();
}

absl::Status Split(OnnxNode& n) {
  ONNX_ASSIGN_OR_RETURN(const int axis, n.Axis(n.Int("axis", 0), n.rank(0)));
  ONNX_ASSIGN_OR_RETURN(const std::vector<IndexExpr> sizes, SplitSizes(n, axis));
  IndexExpr start = 0;
  for (int i = 0; i < n.num_outputs(); ++i) {
    n.Set(i, n.b().Slice(n.In(0), axis, start, 1, sizes[i]));
    start = start + sizes[i];
  }
  return absl::OkStatus();
}

absl::Status Concat(OnnxNode& n) {
  if (n.opset() >= 4 && !n.HasAttr("axis")) return OnnxError("attribute axis is required");
  std::vector<OnnxTensor> xs;
  for (int i = 0; i < n.num_inputs(); ++i) {
    if (!n.Has(i)) return OnnxError("input ", i, " is left out, but it is required");
    xs.push_back(n.In(i));
  }
  ONNX_ASSIGN_OR_RETURN(const int axis, n.Axis(n.Int("axis", 1), n.rank(0)));
  n.Set(0, n.b().Concat(std::move(xs), axis));
  return absl::OkStatus();
}

// Pads of all axes, all befores and then all afters.
absl::StatusOr<std::vector<IndexExpr>> GetPads(OnnxNode& n) {
  std::vector<IndexExpr> pads;
  if (n.opset() < 11) {
    const char* name = n.opset() < 2 ? "paddings" : "pads";
    for (int64_t v : n.Ints(name)) pads.push_back(ClampedIndex(v));
  } else {
    if (!n.Has(1)) return OnnxError("input 1 (pads) is missing");
    ONNX_ASSIGN_OR_RETURN(pads, n.IndexInput(1, "pads"));
  }
  std::vector<int64_t> axes(n.rank(0));
  std::iota(axes.begin(), axes.end(), 0);
  if (n.Has(3)) {
    ONNX_ASSIGN_OR_RETURN(axes, n.IntInput(3, "axes"));
  }
  if (pads.size() != 2 * axes.size())
    return OnnxError("there are ", pads.size(), " pads; input 0 of shape ", ShapeText(n.dims(0)),
                     " needs ", 2 * axes.size(), " (all before, then all after)");
  std::vector<IndexExpr> all(2 * n.rank(0), 0);
  for (size_t k = 0; k < axes.size(); ++k) {
    ONNX_ASSIGN_OR_RETURN(const int axis, n.Axis(axes[k], n.rank(0)));
    all[axis] = pads[k];
    all[axis + n.rank(0)] = pads[k + axes.size()];
  }
  return all;
}

absl::Status Pad(OnnxNode& n) {
  GraphBuilder& b = n.b();
  const std::string mode_name = n.Str("mode", "constant");
  PadMode mode = PadMode::kConstant;
  if (mode_name == "reflect") {
    mode = PadMode::kReflect;
  } else if (mode_name == "edge") {
    mode = PadMode::kEdge;
  } else if (mode_name == "wrap") {
    return absl::UnimplementedError("mode wrap");
  } else if (mode_name != "constant") {
    return OnnxError("attribute mode is '", mode_name, "'; it must be constant, reflect or edge");
  }
  ONNX_ASSIGN_OR_RETURN(const std::vector<IndexExpr> pads, GetPads(n));
  const OnnxTensor x = n.In(0);
  std::optional<OnnxTensor> value;
  if (n.opset() < 11) {
    if (n.HasAttr("value")) value = n.Like(x, n.Float("value", 0));
  } else if (n.Has(2)) {
    if (NumElements(n.dims(2)) != IndexExpr(1))
      return OnnxError("input 2 (constant_value) has shape ", ShapeText(n.dims(2)),
                       "; it must be one number");
    value = n.In(2);
  }
  const auto middle = pads.begin() + n.rank(0);
  // A Bool tensor's zero is false, which GraphBuilder's default is, too.
  n.Set(0, b.Pad(x, {pads.begin(), middle}, {middle, pads.end()}, mode, value));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<SliceRange>> SliceArguments(OnnxNode& n) {
  ONNX_ASSIGN_OR_RETURN(const SliceBounds s, GetSliceBounds(n));
  ONNX_RETURN_IF_ERROR(n.Axes(s.axes, n.rank(0)).status());
  std::vector<SliceRange> result;
  const RangeContext ranges = n.ranges();
  for (size_t k = 0; k < s.axes.size(); ++k) {
    if (s.steps[k] == 0) return OnnxError("input 4 (steps) has the element 0");
    ONNX_ASSIGN_OR_RETURN(const int axis, n.Axis(s.axes[k], n.rank(0)));
    const IndexExpr& dim = n.dims(0)[axis];
    ONNX_ASSIGN_OR_RETURN(SliceRange r,
                          ResolveSlice(axis, s.starts[k], s.ends[k], s.steps[k], dim, ranges));
    result.push_back(std::move(r));
  }
  return result;
}

// Lengths of the outputs: given, or equal parts. From operator set 18 on the last part may be
// shorter.
absl::StatusOr<std::vector<IndexExpr>> SplitSizes(OnnxNode& n, int axis) {
  const IndexExpr& dim = n.dims(0)[axis];
  const int outputs = n.num_outputs();
  std::vector<IndexExpr> sizes;
  if (n.opset() >= 13 ? n.Has(1) : n.HasAttr("split")) {
    if (n.opset() >= 13) {
      ONNX_ASSIGN_OR_RETURN(sizes, n.IndexInput(1, "split"));
    } else {
      for (int64_t v : n.Ints("split")) sizes.push_back(ClampedIndex(v));
    }
    IndexExpr total = 0;
    int64_t magnitude = 0;
    for (const IndexExpr& size : sizes) {
      magnitude += Magnitude(size);
      if (!n.ranges().ProveLe(0, size) || magnitude >= kMaxOnnxElements)
        return OnnxError("the split has the part ", size.ToString(), "; it must be from 0 to 2^40");
      total = total + size;
    }
    if (static_cast<int>(sizes.size()) != outputs)
      return OnnxError("the split has ", sizes.size(), " parts, but there are ", outputs,
                       " outputs");
    if (!n.ranges().ProveEq(total, dim))
      return OnnxError("the split's parts sum to ", total.ToString(), ", but axis ", axis,
                       " of input 0 has size ", dim.ToString());
    return sizes;
  }
  if (outputs == 0) return OnnxError("there are no outputs");
  if (!n.ranges().ProveDivisible(dim, outputs)) {
    if (n.opset() < 18 || !dim.IsConst())
      return OnnxError("axis ", axis, " of size ", dim.ToString(),
                       " is not known to be divisible "
                       "into ",
                       outputs, " equal parts; give the sizes of the parts");
    const int64_t size = dim.ConstOrDie(), part = (size + outputs - 1) / outputs;
    for (int i = 0; i < outputs; ++i)
      sizes.emplace_back(std::clamp<int64_t>(size - i * part, 0, part));
    return sizes;
  }
  sizes.assign(outputs, Simplify(FloorDiv(dim, outputs), n.ranges()));
  return sizes;
}

absl::Span<const OnnxOp> OnnxSliceOps() {
  static constexpr OnnxOp kOps[] = {
      {"Concat", 1, 1, kVariadic, Concat},
      {"Pad", 1, 1, 4, Pad},
      {"Slice", 1, 1, 5, Slice},
      {"Split", 1, 1, 2, Split},
  };
  return kOps;
}

}  // namespace stax
