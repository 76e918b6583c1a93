// Operators that rename elements: reshapes, transposes, repeats.
#include <algorithm>
#include <numeric>
#include <utility>

#include "compiler/frontend/onnx_ops.h"
#include "compiler/frontend/onnx_status.h"
#include "ir/graph_rules.h"

namespace stax {
namespace {

absl::Status Reshape(OnnxNode& n) {
  ONNX_ASSIGN_OR_RETURN(Dims dims, ReshapeDims(n));
  n.Set(0, n.b().Reshape(n.In(0), std::move(dims)));
  return absl::OkStatus();
}

absl::Status Flatten(OnnxNode& n) {
  const int rank = n.rank(0);
  int axis = rank;
  if (n.Int("axis", 1) != rank) {
    ONNX_ASSIGN_OR_RETURN(axis, n.Axis(n.Int("axis", 1), rank));
  }
  const Dims dims = n.dims(0);
  n.Set(0, n.b().Reshape(n.In(0), {Product({dims.begin(), dims.begin() + axis}),
                                   Product({dims.begin() + axis, dims.end()})}));
  return absl::OkStatus();
}

absl::Status Squeeze(OnnxNode& n) {
  ONNX_ASSIGN_OR_RETURN(Dims dims, SqueezeDims(n));
  n.Set(0, n.b().Reshape(n.In(0), std::move(dims)));
  return absl::OkStatus();
}

absl::Status Unsqueeze(OnnxNode& n) {
  ONNX_ASSIGN_OR_RETURN(Dims dims, UnsqueezeDims(n));
  n.Set(0, n.b().Reshape(n.In(0), std::move(dims)));
  return absl::OkStatus();
}

absl::Status Transpose(OnnxNode& n) {
  std::vector<int> perm;
  for (int64_t p : n.Ints("perm")) {
    ONNX_ASSIGN_OR_RETURN(const int axis, n.Axis(p, n.rank(0)));
    perm.push_back(axis);
  }
  if (!n.HasAttr("perm")) {
    perm.resize(n.rank(0));
    std::iota(perm.rbegin(), perm.rend(), 0);
  }
  n.Set(0, n.b().Transpose(n.In(0), std::move(perm)));
  return absl::OkStatus();
}

absl::Status Expand(OnnxNode& n) {
  ONNX_ASSIGN_OR_RETURN(Dims dims, ExpandDims(n));
  n.Set(0, n.b().Expand(n.In(0), std::move(dims)));
  return absl::OkStatus();
}

// [d] repeated r times is [1, d] expanded to [r, d], read as [r d].
absl::Status Tile(OnnxNode& n) {
  if (n.opset() < 6) return absl::UnimplementedError("the form before operator set 6");
  ONNX_ASSIGN_OR_RETURN(const std::vector<IndexExpr> repeats, n.IndexInput(1, "repeats"));
  const Dims dims = n.dims(0);
  if (repeats.size() != dims.size())
    return OnnxError("input 1 (repeats) has ", repeats.size(), " elements; input 0 of shape ",
                     ShapeText(dims), " needs ", dims.size());
  Dims split, expanded, result;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (!n.ranges().ProveLe(0, repeats[d]) || Magnitude(repeats[d]) >= kMaxOnnxElements)
      return OnnxError("input 1 (repeats) has the element ", repeats[d].ToString(),
                       "; it must be from 0 to 2^40");
    const bool repeated = repeats[d] != IndexExpr(1);
    if (repeated) {
      split.emplace_back(1);
      expanded.push_back(repeats[d]);
    }
    split.push_back(dims[d]);
    expanded.push_back(dims[d]);
    ONNX_ASSIGN_OR_RETURN(const IndexExpr size, SafeProduct(dims[d], repeats[d]));
    result.push_back(size);
  }
  GraphBuilder& b = n.b();
  n.Set(0, b.Reshape(b.Expand(b.Reshape(n.In(0), split), expanded), result));
  return absl::OkStatus();
}

// [N, C, H, W] and block size s.
absl::StatusOr<int64_t> BlockSize(OnnxNode& n) {
  const int64_t s = n.Int("blocksize", 0);
  if (s < 1 || s > 4096)
    return OnnxError("attribute blocksize is ", s, "; it must be from 1 to 4096");
  if (n.rank(0) != 4)
    return OnnxError("input 0 has shape ", ShapeText(n.dims(0)), "; it must be [N, C, H, W]");
  return s;
}

absl::Status DepthToSpace(OnnxNode& n) {
  ONNX_ASSIGN_OR_RETURN(const int64_t s, BlockSize(n));
  const std::string mode = n.Str("mode", "DCR");
  if (mode != "DCR" && mode != "CRD")
    return OnnxError("attribute mode is '", mode, "'; it must be DCR or CRD");
  const Dims d = n.dims(0);
  ONNX_ASSIGN_OR_RETURN(const IndexExpr c, DivideExactly({d[1]}, {s * s}, n.ranges()));
  ONNX_ASSIGN_OR_RETURN(const IndexExpr h, SafeProduct(d[2], s));
  ONNX_ASSIGN_OR_RETURN(const IndexExpr w, SafeProduct(d[3], s));
  GraphBuilder& b = n.b();
  OnnxTensor x = n.In(0);
  if (mode == "DCR") {  // channels hold [s, s, c]
    x = b.Transpose(b.Reshape(x, {d[0], s, s, c, d[2], d[3]}), {0, 3, 4, 1, 5, 2});
  } else {  // channels hold [c, s, s]
    x = b.Transpose(b.Reshape(x, {d[0], c, s, s, d[2], d[3]}), {0, 1, 4, 2, 5, 3});
  }
  n.Set(0, b.Reshape(x, {d[0], c, h, w}));
  return absl::OkStatus();
}

absl::Status SpaceToDepth(OnnxNode& n) {
  ONNX_ASSIGN_OR_RETURN(const int64_t s, BlockSize(n));
  const Dims d = n.dims(0);
  ONNX_ASSIGN_OR_RETURN(const IndexExpr h, DivideExactly({d[2]}, {s}, n.ranges()));
  ONNX_ASSIGN_OR_RETURN(const IndexExpr w, DivideExactly({d[3]}, {s}, n.ranges()));
  ONNX_ASSIGN_OR_RETURN(const IndexExpr c, SafeProduct(d[1], s * s));
  GraphBuilder& b = n.b();
  const OnnxTensor blocks = b.Reshape(n.In(0), {d[0], d[1], h, s, w, s});
  n.Set(0, b.Reshape(b.Transpose(blocks, {0, 3, 5, 1, 2, 4}), {d[0], c, h, w}));
  return absl::OkStatus();
}

absl::Status Dropout(OnnxNode& n) {
  GraphBuilder& b = n.b();
  if (n.opset() >= 12 && n.Has(2)) {
    ONNX_ASSIGN_OR_RETURN(const int64_t training, n.IntScalarInput(2, "training_mode"));
    if (training != 0) {
      double ratio = 0.5;
      if (n.Has(1)) {
        ONNX_ASSIGN_OR_RETURN(const std::vector<double> given, n.DoubleInput(1, "ratio"));
        if (given.size() != 1) return OnnxError("input 1 (ratio) must have one element");
        ratio = given[0];
      }
      if (ratio != 0) return absl::UnimplementedError("training_mode (random numbers)");
    }
  }
  n.Set(0, n.Operand(0));
  if (n.Wants(1)) {
    // Everything is kept. Before operator set 10 the mask had the type of the data.
    const DType mask = n.opset() < 10 ? n.dtype(0) : DType::kBool;
    n.Set(1, b.Expand(b.Scalar(mask, 1), n.dims(0)));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Dims> ReshapeDims(OnnxNode& n) {
  std::vector<IndexExpr> shape;
  if (n.opset() < 5) {
    for (int64_t d : n.Ints("shape")) shape.push_back(ClampedIndex(d));
  } else {
    if (!n.Has(1)) return OnnxError("input 1 (shape) is missing");
    ONNX_ASSIGN_OR_RETURN(shape, n.IndexInput(1, "shape"));
  }
  const bool allow_zero = n.Int("allowzero", 0) != 0;
  const Dims& from = n.dims(0);
  Dims dims;
  int inferred = -1;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == IndexExpr(-1)) {
      if (inferred >= 0) return OnnxError("input 1 (shape) has more than one -1");
      inferred = static_cast<int>(d);
    } else if (shape[d] == IndexExpr(0) && !allow_zero) {
      if (d >= from.size())
        return OnnxError("input 1 (shape) has a 0 at ", d, ", but input 0 of shape ",
                         ShapeText(from), " has no such dim to copy");
      shape[d] = from[d];
    } else if (!n.ranges().ProveLe(0, shape[d])) {
      return OnnxError("input 1 (shape) has the element ", shape[d].ToString(), " at ", d,
                       "; it must be -1 or not negative");
    }
    dims.push_back(shape[d]);
  }
  if (inferred < 0) return dims;
  std::vector<IndexExpr> others = dims;
  others.erase(others.begin() + inferred);
  const auto is_zero = [](const IndexExpr& e) { return e == IndexExpr(0); };
  if (std::any_of(others.begin(), others.end(), is_zero))
    return OnnxError("input 1 (shape) has a 0 beside the -1, which then could be anything");
  if (std::any_of(from.begin(), from.end(), is_zero)) {
    dims[inferred] = 0;
    return dims;
  }
  absl::StatusOr<IndexExpr> rest = DivideExactly(from, others, n.ranges());
  if (!rest.ok()) {
    others.insert(others.begin() + inferred, -1);
    return OnnxError("shape ", ShapeText(from), " does not become ", ShapeText(others), ": ",
                     rest.status().message());
  }
  dims[inferred] = *std::move(rest);
  return dims;
}

absl::StatusOr<Dims> ExpandDims(OnnxNode& n) {
  ONNX_ASSIGN_OR_RETURN(const std::vector<IndexExpr> shape, n.IndexInput(1, "shape"));
  const Dims& from = n.dims(0);
  Dims dims(std::max(from.size(), shape.size()), 1);
  for (size_t k = 1; k <= dims.size(); ++k) {
    const IndexExpr have = k <= from.size() ? from[from.size() - k] : IndexExpr(1);
    const IndexExpr want = k <= shape.size() ? shape[shape.size() - k] : IndexExpr(1);
    if (!n.ranges().ProveLe(0, want))
      return OnnxError("input 1 (shape) has the element ", want.ToString(),
                       "; it must not be negative");
    dims[dims.size() - k] = want == IndexExpr(1) ? have : want;
  }
  return dims;
}

absl::StatusOr<Dims> SqueezeDims(OnnxNode& n) {
  ONNX_ASSIGN_OR_RETURN(const auto given, AxesArgument(n, 13));
  const Dims& from = n.dims(0);
  std::vector<int> axes;
  if (given.has_value()) {
    ONNX_ASSIGN_OR_RETURN(axes, n.Axes(*given, n.rank(0)));
  }
  Dims dims;
  for (int d = 0; d < n.rank(0); ++d) {
    const bool is_one = from[d] == IndexExpr(1);
    const bool listed = std::binary_search(axes.begin(), axes.end(), d);
    if (listed && !is_one)
      return OnnxError("axis ", d, " of input 0 of shape ", ShapeText(from), " has size ",
                       from[d].ToString(), "; only axes of size 1 can be squeezed");
    if (given.has_value() ? !listed : !is_one) dims.push_back(from[d]);
  }
  return dims;
}

absl::StatusOr<Dims> UnsqueezeDims(OnnxNode& n) {
  ONNX_ASSIGN_OR_RETURN(const auto given, AxesArgument(n, 13));
  if (!given.has_value()) return n.dims(0);
  if (given->size() > static_cast<size_t>(kMaxOnnxRank))
    return OnnxError("there are ", given->size(), " axes; at most ", kMaxOnnxRank,
                     " are supported");
  const int rank = n.rank(0) + static_cast<int>(given->size());
  ONNX_ASSIGN_OR_RETURN(const std::vector<int> axes, n.Axes(*given, rank));
  Dims dims = n.dims(0);
  for (int axis : axes) dims.insert(dims.begin() + axis, 1);
  return dims;
}

absl::Span<const OnnxOp> OnnxViewOps() {
  static constexpr OnnxOp kOps[] = {
      {"DepthToSpace", 1, 1, 1, DepthToSpace},
      {"Dropout", 1, 1, 3, Dropout},
      {"Expand", 8, 2, 2, Expand},
      {"Flatten", 1, 1, 1, Flatten},
      {"Reshape", 1, 1, 2, Reshape},
      {"SpaceToDepth", 1, 1, 1, SpaceToDepth},
      {"Squeeze", 1, 1, 2, Squeeze},
      {"Tile", 1, 2, 3, Tile},
      {"Transpose", 1, 1, 1, Transpose},
      {"Unsqueeze", 1, 1, 2, Unsqueeze},
  };
  return kOps;
}

}  // namespace stax
