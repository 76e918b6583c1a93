// Scatter, TopK and Compress by comparing positions.
//
// Kernels write each element once, at its own place, so an output element asks which update is for
// it: work is the product of both sizes, which suits the short axes such operators have in models
// (gates of experts, caches).
#include <algorithm>
#include <utility>

#include "compiler/frontend/onnx_ops.h"
#include "compiler/frontend/onnx_status.h"
#include "ir/graph_rules.h"

namespace stax {
namespace {

enum class Combine { kReplace, kAdd, kMul, kMax, kMin };

absl::StatusOr<Combine> GetReduction(OnnxNode& n) {
  const std::string name = n.Str("reduction", "none");
  constexpr std::pair<const char*, Combine> kNames[] = {{"none", Combine::kReplace},
                                                        {"add", Combine::kAdd},
                                                        {"mul", Combine::kMul},
                                                        {"max", Combine::kMax},
                                                        {"min", Combine::kMin}};
  for (const auto& [text, combine] : kNames)
    if (name == text) return combine;
  return OnnxError("attribute reduction is '", name, "'; it must be none, add, mul, max or min");
}

// data [.., n, ..] with updates [.., m, ..] along `axis`: hit [.., n, m, ..] says which update (on
// the axis after `axis`) is for which element. All other dims are equal.
OnnxTensor Merge(OnnxNode& n, OnnxTensor data, OnnxTensor updates, OnnxTensor hit, int axis,
                 Combine combine) {
  GraphBuilder& b = n.b();
  const OnnxTensor any = b.Cast(b.Max(b.Cast(hit, DType::kI32), {axis + 1}), DType::kBool);
  if (combine == Combine::kReplace) {
    const OnnxTensor last = b.Reduce(ReduceKind::kArgMaxLast, b.Cast(hit, DType::kI32), {axis + 1});
    return b.Where(any, b.GatherElements(updates, b.Expand(last, b.dims(data)), axis), data);
  }
  const OnnxTensor wide = b.Unsqueeze(updates, {axis});
  const auto reduce = [&](ReduceKind kind, OpCode code, OnnxTensor neutral) {
    const OnnxTensor sum = b.Reduce(kind, b.Where(hit, wide, neutral), {axis + 1});
    return b.Where(any, b.Binary(code, data, sum), data);
  };
  // For max and min an element's own value is neutral.
  const OnnxTensor own = b.Unsqueeze(data, {axis + 1});
  switch (combine) {
    case Combine::kAdd:
      return reduce(ReduceKind::kSum, OpCode::kAdd, n.Like(data, 0));
    case Combine::kMul:
      return reduce(ReduceKind::kProd, OpCode::kMul, n.Like(data, 1));
    case Combine::kMax:
      return reduce(ReduceKind::kMax, OpCode::kMax, own);
    default:
      return reduce(ReduceKind::kMin, OpCode::kMin, own);
  }
}

// Positions [n, 1, 1 ...] that broadcast along `axis` of [.., n, m, ..] of the given rank.
OnnxTensor PositionsAlong(GraphBuilder& b, const IndexExpr& size, int axis, int rank) {
  Dims dims = {size};
  dims.resize(rank - axis, 1);
  return b.Iota(DType::kI64, std::move(dims), 0);
}

OnnxTensor FromFront(OnnxNode& n, OnnxTensor index, const IndexExpr& extent) {
  GraphBuilder& b = n.b();
  index = b.Cast(index, DType::kI64);
  const OnnxTensor is_negative = b.Binary(OpCode::kLt, index, n.Like(index, 0));
  return b.Where(is_negative, b.Add(index, n.SizeTensor(extent, DType::kI64)), index);
}

absl::Status ScatterElements(OnnxNode& n) {
  GraphBuilder& b = n.b();
  ONNX_ASSIGN_OR_RETURN(const int axis, n.Axis(n.Int("axis", 0), n.rank(0)));
  ONNX_ASSIGN_OR_RETURN(const Combine combine, GetReduction(n));
  const Dims indices = n.dims(1);
  if (!IsInteger(n.dtype(1)) || n.rank(1) != n.rank(0) || n.rank(2) != n.rank(1) ||
      FirstDifference(indices, n.dims(2), n.ranges()) >= 0)
    return OnnxError("inputs are ", ShapeText(n.dims(0)), ", ", ShapeText(indices), " and ",
                     ShapeText(n.dims(2)),
                     "; indices must be integers of the rank of data and the "
                     "shape of updates");
  if (n.ranges().ProveEq(indices[axis], 0)) {
    n.Set(0, n.Operand(0));
    return absl::OkStatus();
  }
  // Indices may cover a corner of data only: what lies beyond it on other axes stays.
  OnnxTensor data = n.In(0);
  std::vector<std::pair<int, OnnxTensor>> beyond;
  for (int d = 0; d < n.rank(0); ++d) {
    if (d == axis || n.ranges().ProveEq(n.dims(0)[d], indices[d])) continue;
    beyond.emplace_back(d, b.Slice(data, d, indices[d], 1, n.dims(0)[d] - indices[d]));
    data = b.Slice(data, d, 0, 1, indices[d]);
  }
  const IndexExpr& extent = n.dims(0)[axis];
  const OnnxTensor wanted = b.Unsqueeze(FromFront(n, n.In(1), extent), {axis});
  const OnnxTensor here = PositionsAlong(b, extent, axis, n.rank(0) + 1);
  const OnnxTensor hit = b.Binary(OpCode::kEq, wanted, here);
  OnnxTensor y = Merge(n, data, n.In(2), hit, axis, combine);
  for (size_t k = beyond.size(); k-- > 0;) y = b.Concat({y, beyond[k].second}, beyond[k].first);
  n.Set(0, y);
  return absl::OkStatus();
}

// data [i.., rest..] as [P, rest..]; indices [q.., k] as positions [Q]; updates [q.., rest..] as
// [Q, rest..].
absl::Status ScatterND(OnnxNode& n) {
  GraphBuilder& b = n.b();
  ONNX_ASSIGN_OR_RETURN(const Combine combine, GetReduction(n));
  const Dims data = n.dims(0), indices = n.dims(1);
  const std::optional<int64_t> k = indices.empty() ? std::nullopt : indices.back().AsConst();
  if (!k.has_value() || *k < 1 || *k > n.rank(0))
    return OnnxError("input 1 (indices) has shape ", ShapeText(indices),
                     "; its last size must be from 1 to ", n.rank(0));
  const int leading = static_cast<int>(*k);
  const Dims queries(indices.begin(), indices.end() - 1);
  Dims want = queries;
  want.insert(want.end(), data.begin() + leading, data.end());
  if (want.size() != n.dims(2).size() || FirstDifference(want, n.dims(2), n.ranges()) >= 0)
    return OnnxError("input 2 (updates) has shape ", ShapeText(n.dims(2)), "; it must be ",
                     ShapeText(want));
  const IndexExpr count = NumElements(queries);
  if (n.ranges().ProveEq(count, 0)) {
    n.Set(0, n.Operand(0));
    return absl::OkStatus();
  }
  OnnxTensor position = b.Scalar(DType::kI64, 0);
  IndexExpr rows = 1;
  for (int d = 0; d < leading; ++d) {
    const OnnxTensor index = b.Reshape(b.Slice(n.In(1), -1, d, 1, 1), queries);
    const OnnxTensor row = b.Mul(position, n.SizeTensor(data[d], DType::kI64));
    position = b.Add(row, FromFront(n, index, data[d]));
    rows = rows * data[d];
  }
  Dims flat_data = {rows}, flat_updates = {count};
  flat_data.insert(flat_data.end(), data.begin() + leading, data.end());
  flat_updates.insert(flat_updates.end(), data.begin() + leading, data.end());
  // hit [P, Q, 1 ...], for all of the rest alike.
  const int rank = static_cast<int>(flat_data.size()) + 1;
  Dims wanted = {1, count};
  wanted.resize(rank, 1);
  OnnxTensor hit =
      b.Binary(OpCode::kEq, b.Reshape(position, wanted), PositionsAlong(b, rows, 0, rank));
  const OnnxTensor y =
      Merge(n, b.Reshape(n.In(0), flat_data), b.Reshape(n.In(2), flat_updates), hit, 0, combine);
  n.Set(0, b.Reshape(y, data));
  return absl::OkStatus();
}

absl::StatusOr<int64_t> GetK(OnnxNode& n) {
  if (n.opset() < 10) return n.Int("k", 0);
  return n.IntScalarInput(1, "k");
}

// Whether `other` comes before `self` in the order, and whether neither does. NaN is above all
// numbers, as where NumPy and PyTorch sort.
struct Order {
  OnnxTensor before, equal;
};
Order OrderOf(GraphBuilder& b, OnnxTensor other, OnnxTensor self, bool largest) {
  const OnnxTensor better = b.Binary(largest ? OpCode::kGt : OpCode::kLt, other, self);
  const OnnxTensor same = b.Binary(OpCode::kEq, other, self);
  if (!IsFloat(b.dtype(self))) return {better, same};
  const OnnxTensor other_nan = b.Binary(OpCode::kNe, other, other);
  const OnnxTensor self_nan = b.Binary(OpCode::kNe, self, self);
  const OnnxTensor first = largest ? other_nan : self_nan, second = largest ? self_nan : other_nan;
  const OnnxTensor only_one = b.Binary(OpCode::kAnd, first, b.Unary(OpCode::kNot, second));
  return {b.Binary(OpCode::kOr, better, only_one),
          b.Binary(OpCode::kOr, same, b.Binary(OpCode::kAnd, first, second))};
}

// An element's rank is the number of elements before it in the order; the k-th output is the one
// whose rank is k. Equal elements keep their order.
absl::Status TopK(OnnxNode& n) {
  GraphBuilder& b = n.b();
  ONNX_ASSIGN_OR_RETURN(const int axis, n.Axis(n.Int("axis", -1), n.rank(0)));
  ONNX_ASSIGN_OR_RETURN(const int64_t k, GetK(n));
  const IndexExpr size = n.dims(0)[axis];
  if (k < 0 || !n.ranges().ProveLe(k, size))
    return OnnxError("k is ", k, "; it must be from 0 to the size ", size.ToString(), " of axis ",
                     axis);
  const OnnxTensor x = n.In(0);
  const int rank = n.rank(0) + 1;
  const OnnxTensor self = b.Unsqueeze(x, {axis + 1}), other = b.Unsqueeze(x, {axis});
  const OnnxTensor i = PositionsAlong(b, size, axis, rank);
  const OnnxTensor j = PositionsAlong(b, size, axis + 1, rank);
  const Order order_of = OrderOf(b, other, self, n.Int("largest", 1) != 0);
  const OnnxTensor earlier = b.Binary(OpCode::kAnd, order_of.equal, b.Binary(OpCode::kLt, j, i));
  const OnnxTensor before = b.Binary(OpCode::kOr, order_of.before, earlier);
  const OnnxTensor order = b.Sum(b.Cast(before, DType::kI64), {axis + 1});
  const OnnxTensor is_kth =
      b.Binary(OpCode::kEq, b.Unsqueeze(order, {axis}), PositionsAlong(b, k, axis, rank));
  const OnnxTensor which = b.Reduce(ReduceKind::kArgMax, b.Cast(is_kth, DType::kI32), {axis + 1});
  n.Set(0, b.GatherElements(x, which, axis));
  n.Set(1, which);
  return absl::OkStatus();
}

// The condition sets the result's shape, so it must be known.
absl::Status Compress(OnnxNode& n) {
  GraphBuilder& b = n.b();
  ONNX_ASSIGN_OR_RETURN(const std::vector<int64_t> keep, n.IntInput(1, "condition"));
  OnnxTensor x = n.In(0);
  int axis = 0;
  if (n.HasAttr("axis")) {
    ONNX_ASSIGN_OR_RETURN(axis, n.Axis(n.Int("axis", 0), n.rank(0)));
  } else {
    x = b.Reshape(x, {NumElements(n.dims(0))});
  }
  IndexTensor kept;
  for (size_t i = 0; i < keep.size(); ++i)
    if (keep[i] != 0) kept.values.emplace_back(static_cast<int64_t>(i));
  kept.dims = {static_cast<int64_t>(kept.values.size())};
  if (!kept.values.empty() && !n.ranges().ProveLt(kept.values.back(), n.Dim(x, axis)))
    return OnnxError("input 1 (condition) keeps element ", kept.values.back().ToString(),
                     " of an axis of size ", n.Dim(x, axis).ToString());
  const OnnxTensor indices = b.Constant(DType::kI64, {kept.dims[0]}, BytesOf(kept, DType::kI64));
  n.Set(0, b.Gather(x, indices, axis));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const OnnxOp> OnnxScatterOps() {
  static constexpr OnnxOp kOps[] = {
      {"Compress", 9, 2, 2, Compress},
      {"Scatter", 9, 3, 3, ScatterElements},
      {"ScatterElements", 11, 3, 3, ScatterElements},
      {"ScatterND", 11, 3, 3, ScatterND},
      {"TopK", 1, 1, 2, TopK},
  };
  return kOps;
}

}  // namespace stax
