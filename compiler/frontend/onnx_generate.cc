// Operators that make tensors from shapes and attributes.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "absl/strings/str_join.h"
#include "compiler/frontend/onnx_ops.h"
#include "compiler/frontend/onnx_status.h"
#include "ir/graph_rules.h"

namespace stax {
namespace {

using onnx::AttributeProto;

template <typename T>
OnnxValue Packed(DType dtype, std::vector<int64_t> dims, const std::vector<T>& numbers) {
  OnnxValue value;
  value.dtype = dtype;
  value.dims = std::move(dims);
  value.bytes.resize(numbers.size() * sizeof(T));
  if (!numbers.empty()) std::memcpy(value.bytes.data(), numbers.data(), value.bytes.size());
  return value;
}

absl::Status Constant(OnnxNode& n) {
  if (const AttributeProto* a = n.Attr("value", AttributeProto::TENSOR)) {
    ONNX_ASSIGN_OR_RETURN(OnnxValue value, OnnxValueFromProto(a->t()));
    n.SetConstant(0, std::move(value));
  } else if (const AttributeProto* a = n.Attr("sparse_value", AttributeProto::SPARSE_TENSOR)) {
    ONNX_ASSIGN_OR_RETURN(OnnxValue value, OnnxValueFromSparse(a->sparse_tensor()));
    n.SetConstant(0, std::move(value));
  } else if (n.HasAttr("value_int")) {
    n.SetConstant(0, Packed<int64_t>(DType::kI64, {}, {n.Int("value_int", 0)}));
  } else if (n.HasAttr("value_float")) {
    n.SetConstant(0,
                  Packed<float>(DType::kF32, {}, {static_cast<float>(n.Float("value_float", 0))}));
  } else if (n.HasAttr("value_ints")) {
    const std::vector<int64_t> v = n.Ints("value_ints");
    n.SetConstant(0, Packed<int64_t>(DType::kI64, {static_cast<int64_t>(v.size())}, v));
  } else if (n.HasAttr("value_floats")) {
    const std::vector<double> v = n.Floats("value_floats");
    n.SetConstant(0, Packed<float>(DType::kF32, {static_cast<int64_t>(v.size())},
                                   std::vector<float>(v.begin(), v.end())));
  } else if (n.HasAttr("value_string") || n.HasAttr("value_strings")) {
    return absl::UnimplementedError("element type string");
  } else {
    ONNX_RETURN_IF_ERROR(n.attribute_status());
    return OnnxError("it has no attribute value, value_int, value_float ...");
  }
  return absl::OkStatus();
}

absl::Status ConstantOfShape(OnnxNode& n) {
  ONNX_ASSIGN_OR_RETURN(const std::vector<IndexExpr> shape, n.IndexInput(0, "shape"));
  OnnxValue value = Packed<float>(DType::kF32, {1}, {0.0f});
  if (const AttributeProto* a = n.Attr("value", AttributeProto::TENSOR)) {
    ONNX_ASSIGN_OR_RETURN(value, OnnxValueFromProto(a->t()));
    if (value.bytes.size() != static_cast<size_t>(DTypeBytes(value.dtype)))
      return OnnxError("attribute value has dims [", absl::StrJoin(value.dims, ", "),
                       "]; it must be one number");
  }
  value.dims = {};
  for (const IndexExpr& d : shape)
    if (!n.ranges().ProveLe(0, d))
      return OnnxError("input 0 (shape) has the element ", d.ToString(),
                       "; it must not be negative");
  const std::optional<IndexTensor> index = IndexTensorFromValue(value);
  if (const auto dims = SmallConstDims(shape); dims.has_value() && index.has_value()) {
    IndexTensor all;
    all.dims = *dims;
    int64_t count = 1;
    for (int64_t d : *dims) count *= d;
    all.values.assign(count, index->values[0]);
    n.SetIndex(0, value.dtype, std::move(all));
    return absl::OkStatus();
  }
  n.Set(0, n.b().Expand(n.b().Constant(value.dtype, {}, std::move(value.bytes)), shape));
  return absl::OkStatus();
}

// Dims from `start` to `end` of the input's shape.
absl::Status Shape(OnnxNode& n) {
  const int64_t rank = n.rank(0);
  const auto position = [&](std::string_view name, int64_t otherwise) {
    int64_t at = n.opset() < 15 ? otherwise : n.Int(name, otherwise);
    if (at < 0) at = at < -rank ? 0 : at + rank;
    return std::min(at, rank);
  };
  const int64_t start = position("start", 0), end = std::max(position("end", rank), start);
  IndexTensor shape;
  shape.dims = {end - start};
  shape.values.assign(n.dims(0).begin() + start, n.dims(0).begin() + end);
  n.SetIndex(0, DType::kI64, std::move(shape));
  return absl::OkStatus();
}

absl::Status Size(OnnxNode& n) {
  IndexTensor size;
  size.values = {NumElements(n.dims(0))};
  n.SetIndex(0, DType::kI64, std::move(size));
  return absl::OkStatus();
}

// start + delta * i for as many i as stay below (above) the limit.
absl::Status FloatRange(OnnxNode& n) {
  GraphBuilder& b = n.b();
  double v[3];
  for (int i = 0; i < 3; ++i) {
    ONNX_ASSIGN_OR_RETURN(const std::vector<double> number, n.DoubleInput(i, i == 0   ? "start"
                                                                             : i == 1 ? "limit"
                                                                                      : "delta"));
    if (number.size() != 1) return OnnxError("input ", i, " must be one number");
    v[i] = number[0];
  }
  const double count = std::max(std::ceil((v[1] - v[0]) / v[2]), 0.0);
  if (!(count < static_cast<double>(kMaxOnnxElements)))
    return OnnxError("start ", v[0], ", limit ", v[1], " and delta ", v[2],
                     " do not make a range of less than 2^40 elements");
  const DType dtype = n.dtype(0), wide = IsHalf(dtype) ? DType::kF32 : dtype;
  const OnnxTensor i = b.Iota(wide, {static_cast<int64_t>(count)}, 0);
  const OnnxTensor values = b.Add(b.Mul(i, n.Like(i, v[2])), n.Like(i, v[0]));
  n.Set(0, b.Cast(values, dtype));
  return absl::OkStatus();
}

absl::Status Range(OnnxNode& n) {
  for (int i = 1; i < 3; ++i)
    if (n.dtype(i) != n.dtype(0))
      return OnnxError("inputs 0 and ", i, " are ", DTypeName(n.dtype(0)), " and ",
                       DTypeName(n.dtype(i)), "; all must have one type");
  // Floats that are whole numbers may be sizes, and symbolic.
  const bool whole = n.Index(0) != nullptr && n.Index(1) != nullptr && n.Index(2) != nullptr;
  if (IsFloat(n.dtype(0)) && !whole) return FloatRange(n);
  GraphBuilder& b = n.b();
  IndexExpr v[3];
  for (int i = 0; i < 3; ++i) {
    const char* name = i == 0 ? "start" : i == 1 ? "limit" : "delta";
    ONNX_ASSIGN_OR_RETURN(const std::vector<IndexExpr> number,
                          n.IndexInput(i, name, /*floats_too=*/true));
    if (number.size() != 1) return OnnxError(InputText(i, name), " must be one number");
    v[i] = number[0];
  }
  if (!v[2].IsConst()) return OnnxError("input 2 (delta) is ", v[2].ToString(), ", not a number");
  const int64_t delta = v[2].ConstOrDie();
  const RangeContext ranges = n.ranges();
  for (const IndexExpr& e : v)
    if (Magnitude(e) >= kMaxOnnxElements)
      return OnnxError("start, limit or delta is ", e.ToString(), "; 2^40 and more is too large");
  if (delta == 0) return OnnxError("input 2 (delta) is 0");
  const IndexExpr distance = delta > 0 ? v[1] - v[0] : v[0] - v[1];
  const IndexExpr count = Simplify(Max(0, CeilDiv(distance, std::abs(delta))), ranges);
  const DType dtype = n.dtype(0);
  OnnxTensor values = b.Iota(dtype == DType::kI32 ? dtype : DType::kI64, {count}, 0);
  const DType made = b.dtype(values);
  if (delta != 1) values = b.Mul(values, n.Like(values, static_cast<double>(delta)));
  if (v[0] != IndexExpr(0)) values = b.Add(values, n.SizeTensor(v[0], made));
  n.Set(0, b.Cast(values, dtype));
  // Short ranges are lists of axes; long ones are data, better computed than stored.
  constexpr int64_t kAxes = 16;
  if (!count.IsConst() || count.ConstOrDie() > kAxes) return absl::OkStatus();
  IndexTensor index;
  index.dims = {count.ConstOrDie()};
  for (int64_t i = 0; i < count.ConstOrDie(); ++i) index.values.push_back(v[0] + delta * i);
  if (FitsDType(index, dtype, ranges)) n.AttachIndex(0, std::move(index));
  return absl::OkStatus();
}

absl::StatusOr<DType> DTypeAttribute(OnnxNode& n, std::string_view name, DType otherwise) {
  if (!n.HasAttr(name)) return otherwise;
  return DTypeFromOnnx(static_cast<int>(n.Int(name, 0)));
}

absl::Status EyeLike(OnnxNode& n) {
  GraphBuilder& b = n.b();
  if (n.rank(0) != 2)
    return OnnxError("input 0 has shape ", ShapeText(n.dims(0)), "; it must be of rank 2");
  ONNX_ASSIGN_OR_RETURN(const DType dtype, DTypeAttribute(n, "dtype", n.dtype(0)));
  const int64_t k = n.Int("k", 0);
  if (std::abs(static_cast<double>(k)) > static_cast<double>(kMaxOnnxElements))
    return OnnxError("attribute k is ", k, "; 2^40 and more is too large");
  const OnnxTensor row = b.Iota(DType::kI64, n.dims(0), 0);
  const OnnxTensor column = b.Iota(DType::kI64, n.dims(0), 1);
  const OnnxTensor diagonal = b.Add(row, n.Like(row, static_cast<double>(k)));
  n.Set(0, b.Cast(b.Binary(OpCode::kEq, diagonal, column), dtype));
  return absl::OkStatus();
}

// Keeps column - row >= k (upper) or <= k (lower).
absl::Status Trilu(OnnxNode& n) {
  GraphBuilder& b = n.b();
  const int rank = n.rank(0);
  if (rank < 2) return OnnxError("input 0 has rank ", rank, "; it must be at least 2");
  const Dims matrix = {n.dims(0)[rank - 2], n.dims(0)[rank - 1]};
  const OnnxTensor row = b.Iota(DType::kI64, matrix, 0), column = b.Iota(DType::kI64, matrix, 1);
  OnnxTensor bound = row;
  if (n.Has(1)) {
    if (n.dtype(1) != DType::kI64 || NumElements(n.dims(1)) != IndexExpr(1))
      return OnnxError("input 1 (k) is ", TypeText(n.dtype(1), n.dims(1)),
                       "; it must be one int64");
    bound = b.Add(row, b.Reshape(n.In(1), {}));
  }
  const bool upper = n.Int("upper", 1) != 0;
  const OnnxTensor keep = b.Binary(upper ? OpCode::kGe : OpCode::kLe, column, bound);
  const OnnxTensor x = n.In(0);
  n.Set(0, b.Where(keep, x, n.Like(x, 0)));
  return absl::OkStatus();
}

// A new axis of size depth: `on` where its position is the index, `off` elsewhere.
absl::Status OneHot(OnnxNode& n) {
  GraphBuilder& b = n.b();
  IndexExpr depth;
  if (IsFloat(n.dtype(1))) {
    ONNX_ASSIGN_OR_RETURN(const std::vector<double> v, n.DoubleInput(1, "depth"));
    const bool fits = v.size() == 1 && v[0] >= 0 && v[0] < static_cast<double>(kMaxOnnxElements);
    if (!fits) return OnnxError("input 1 (depth) must be one number from 0 to 2^40");
    depth = static_cast<int64_t>(v[0]);
  } else {
    ONNX_ASSIGN_OR_RETURN(const std::vector<IndexExpr> v, n.IndexInput(1, "depth"));
    if (v.size() != 1 || Magnitude(v[0]) >= kMaxOnnxElements)
      return OnnxError("input 1 (depth) must be one number from 0 to 2^40");
    depth = v[0];
  }
  if (n.rank(2) != 1 || n.dims(2)[0] != IndexExpr(2))
    return OnnxError("input 2 (values) has shape ", ShapeText(n.dims(2)), "; it must be [2]");
  ONNX_ASSIGN_OR_RETURN(const int axis, n.Axis(n.Int("axis", -1), n.rank(0) + 1));
  const OnnxTensor index = b.Unsqueeze(b.Cast(n.In(0), DType::kI64), {axis});
  const OnnxTensor is_negative = b.Binary(OpCode::kLt, index, n.Like(index, 0));
  const OnnxTensor from_end = b.Add(index, n.SizeTensor(depth, DType::kI64));
  Dims dims = b.dims(index);
  if (axis < static_cast<int>(dims.size())) dims[axis] = depth;
  const OnnxTensor is_on =
      b.Binary(OpCode::kEq, b.Where(is_negative, from_end, index), b.Iota(DType::kI64, dims, axis));
  const auto value = [&](int i) { return b.Squeeze(b.Slice(n.In(2), 0, i, 1, 1), {0}); };
  const OnnxTensor on = value(1);
  n.Set(0, b.Where(is_on, on, value(0)));
  return absl::OkStatus();
}

// a0 - a1 cos(2 pi i / N) + a2 cos(4 pi i / N); N one less unless periodic.
absl::Status CosineWindow(OnnxNode& n, double a0, double a1, double a2) {
  GraphBuilder& b = n.b();
  ONNX_ASSIGN_OR_RETURN(const int64_t size, n.IntScalarInput(0, "size"));
  if (size < 0 || size >= kMaxOnnxElements)
    return OnnxError("input 0 (size) is ", size, "; it must be from 0 to 2^40");
  ONNX_ASSIGN_OR_RETURN(const DType dtype, DTypeAttribute(n, "output_datatype", DType::kF32));
  const double period = static_cast<double>(n.Int("periodic", 1) != 0 ? size : size - 1);
  const OnnxTensor i = b.Iota(dtype == DType::kF64 ? dtype : DType::kF32, {size}, 0);
  const auto wave = [&](double factor, double amplitude) {
    const OnnxTensor angle = b.Mul(i, n.Like(i, factor * M_PI / period));
    return b.Mul(b.Unary(OpCode::kCos, angle), n.Like(i, amplitude));
  };
  OnnxTensor window = b.Sub(n.Like(i, a0), wave(2, a1));
  if (a2 != 0) window = b.Add(window, wave(4, a2));
  n.Set(0, b.Cast(window, dtype));
  return absl::OkStatus();
}

absl::Status HannWindow(OnnxNode& n) { return CosineWindow(n, 0.5, 0.5, 0); }
absl::Status HammingWindow(OnnxNode& n) { return CosineWindow(n, 25.0 / 46, 21.0 / 46, 0); }
absl::Status BlackmanWindow(OnnxNode& n) { return CosineWindow(n, 0.42, 0.5, 0.08); }

}  // namespace

absl::Span<const OnnxOp> OnnxGenerateOps() {
  static constexpr OnnxOp kOps[] = {
      {"BlackmanWindow", 17, 1, 1, BlackmanWindow},
      {"Constant", 1, 0, 0, Constant},
      {"ConstantOfShape", 9, 1, 1, ConstantOfShape},
      {"EyeLike", 9, 1, 1, EyeLike},
      {"HammingWindow", 17, 1, 1, HammingWindow},
      {"HannWindow", 17, 1, 1, HannWindow},
      {"OneHot", 9, 3, 3, OneHot},
      {"Range", 11, 3, 3, Range},
      {"Shape", 1, 1, 1, Shape},
      {"Size", 1, 1, 1, Size},
      {"Trilu", 14, 1, 2, Trilu},
  };
  return kOps;
}

}  // namespace stax
