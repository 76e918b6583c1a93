// Shape arithmetic: what nodes compute on integers that are known while translating.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "compiler/frontend/onnx_ops.h"
#include "compiler/frontend/onnx_status.h"
#include "ir/scalar.h"

namespace stax {
namespace {

using Folded = std::optional<std::vector<FoldedOutput>>;
using FoldFunction = std::function<Folded(OnnxNode&)>;

Folded One(DType dtype, std::optional<IndexTensor> value) {
  if (!value.has_value()) return std::nullopt;
  return std::vector<FoldedOutput>{{dtype, *std::move(value)}};
}

// All inputs, or nullopt if the contents of one are not known.
std::optional<std::vector<const IndexTensor*>> AllInputs(OnnxNode& n) {
  std::vector<const IndexTensor*> inputs;
  for (int i = 0; i < n.num_inputs(); ++i) {
    if (n.Index(i) == nullptr) return std::nullopt;
    inputs.push_back(n.Index(i));
  }
  return inputs;
}

// Whether the integer rule gives what floats give: quotients are whole, and no zero is negative.
bool HoldsForFloats(IndexOp op, const IndexExpr& a, const IndexExpr& b,
                    const RangeContext& ranges) {
  if (op == IndexOp::kMod || op == IndexOp::kFmod) return false;
  if (op != IndexOp::kMul && op != IndexOp::kDiv) return true;
  if (!ranges.ProveLe(0, a) || !ranges.ProveLe(0, b)) return false;
  return op == IndexOp::kMul || (b.IsConst() && ranges.ProveDivisible(a, b.ConstOrDie()));
}

// Two operands, or the variadic Max, Min and Sum from the left.
FoldFunction Binary(IndexOp op, bool is_bool = false, bool swapped = false) {
  return [=](OnnxNode& n) -> Folded {
    const auto inputs = AllInputs(n);
    if (!inputs.has_value() || n.HasAttr("broadcast")) return std::nullopt;
    for (int i = 1; i < n.num_inputs(); ++i)
      if (n.dtype(i) != n.dtype(0)) return std::nullopt;
    const RangeContext ranges = n.ranges();
    const bool is_float = IsFloat(n.dtype(0));
    const auto apply = [&](const std::vector<const IndexExpr*>& v) -> std::optional<IndexExpr> {
      if (swapped) return Apply(op, *v[1], *v[0], ranges);
      std::optional<IndexExpr> result = *v[0];
      for (size_t i = 1; i < v.size() && result.has_value(); ++i) {
        if (is_float && !HoldsForFloats(op, *result, *v[i], ranges)) return std::nullopt;
        result = Apply(op, *result, *v[i], ranges);
      }
      return result;
    };
    return One(is_bool ? DType::kBool : n.dtype(0), Elementwise(*inputs, apply));
  };
}

Folded FoldMod(OnnxNode& n) { return Binary(n.Int("fmod", 0) ? IndexOp::kFmod : IndexOp::kMod)(n); }

FoldFunction Unary(
    std::function<std::optional<IndexExpr>(const IndexExpr&, const RangeContext&)> f) {
  return [f](OnnxNode& n) -> Folded {
    if (n.Index(0) == nullptr) return std::nullopt;
    const RangeContext ranges = n.ranges();
    const bool is_float = IsFloat(n.dtype(0));
    return One(n.dtype(0),
               Elementwise({n.Index(0)},
                           [&](const std::vector<const IndexExpr*>& v) -> std::optional<IndexExpr> {
                             // Nor may the operand be zero: -0.0 differs from 0.0.
                             if (is_float && !ranges.ProveLt(0, *v[0]) && !ranges.ProveLt(*v[0], 0))
                               return std::nullopt;
                             return f(*v[0], ranges);
                           }));
  };
}

// Floor, Ceil and Round of a whole number.
Folded FoldRounding(OnnxNode& n) {
  if (n.Index(0) == nullptr) return std::nullopt;
  return One(n.dtype(0), *n.Index(0));
}

std::optional<IndexExpr> Negate(const IndexExpr& e, const RangeContext& ranges) {
  return Apply(IndexOp::kSub, 0, e, ranges);
}

std::optional<IndexExpr> Absolute(const IndexExpr& e, const RangeContext& ranges) {
  if (ranges.ProveLe(0, e)) return e;
  if (ranges.ProveLe(e, 0)) return Negate(e, ranges);
  return std::nullopt;
}

std::optional<IndexExpr> LogicalNot(const IndexExpr& e, const RangeContext& ranges) {
  return Apply(IndexOp::kEq, e, 0, ranges);
}

Folded FoldWhere(OnnxNode& n) {
  const auto inputs = AllInputs(n);
  if (!inputs.has_value()) return std::nullopt;
  const auto select = [](const std::vector<const IndexExpr*>& v) -> std::optional<IndexExpr> {
    return *v[0] == IndexExpr(0) ? *v[2] : *v[1];
  };
  return One(n.dtype(1), Elementwise(*inputs, select));
}

// Small constants of floating type become integers here, by the rules of a cast.
std::optional<IndexTensor> FloatConstant(OnnxNode& n, DType to) {
  const OnnxValue* value = n.Operand(0)->constant.get();
  if (value == nullptr || !IsFloat(value->dtype)) return std::nullopt;
  const int bytes = DTypeBytes(value->dtype);
  const int64_t count = static_cast<int64_t>(value->bytes.size()) / bytes;
  if (count > kMaxIndexElements) return std::nullopt;
  IndexTensor t;
  t.dims = value->dims;
  for (int64_t i = 0; i < count; ++i) {
    const double v = LoadScalar(value->dtype, value->bytes.data() + i * bytes).f;
    constexpr double kExact = 9007199254740992.0;  // 2^53
    if (!(std::abs(v) < kExact)) return std::nullopt;
    t.values.emplace_back(to == DType::kBool ? int64_t{v != 0} : static_cast<int64_t>(v));
  }
  return t;
}

Folded FoldCast(OnnxNode& n) {
  const absl::StatusOr<DType> to = CastTarget(n);
  if (!to.ok()) return std::nullopt;
  if (n.Index(0) == nullptr) return IsFloat(*to) ? std::nullopt : One(*to, FloatConstant(n, *to));
  if (*to != DType::kBool) return One(*to, *n.Index(0));
  const RangeContext ranges = n.ranges();
  return One(*to,
             Elementwise({n.Index(0)},
                         [&](const std::vector<const IndexExpr*>& v) -> std::optional<IndexExpr> {
                           const auto is_zero = Apply(IndexOp::kEq, *v[0], 0, ranges);
                           return is_zero.has_value() ? Apply(IndexOp::kEq, *is_zero, 0, ranges)
                                                      : is_zero;
                         }));
}

// Same elements, other dims.
Folded WithDims(OnnxNode& n, const absl::StatusOr<Dims>& dims) {
  if (!dims.ok()) return std::nullopt;
  const std::optional<std::vector<int64_t>> numbers = SmallConstDims(*dims);
  if (!numbers.has_value()) return std::nullopt;
  const int64_t count =
      std::accumulate(numbers->begin(), numbers->end(), int64_t{1}, std::multiplies<>());
  IndexTensor t = *n.Index(0);
  if (count != static_cast<int64_t>(t.values.size())) return std::nullopt;
  t.dims = *numbers;
  return One(n.dtype(0), std::move(t));
}

Folded FoldReshape(OnnxNode& n) {
  if (n.Index(0) == nullptr || n.opset() < 5 || n.Index(1) == nullptr) return std::nullopt;
  return WithDims(n, ReshapeDims(n));
}
Folded FoldSqueeze(OnnxNode& n) {
  return n.Index(0) == nullptr ? std::nullopt : WithDims(n, SqueezeDims(n));
}
Folded FoldUnsqueeze(OnnxNode& n) {
  return n.Index(0) == nullptr ? std::nullopt : WithDims(n, UnsqueezeDims(n));
}

Folded FoldExpand(OnnxNode& n) {
  if (n.Index(0) == nullptr || n.Index(1) == nullptr) return std::nullopt;
  const absl::StatusOr<Dims> dims = ExpandDims(n);
  if (!dims.ok()) return std::nullopt;
  const std::optional<std::vector<int64_t>> numbers = SmallConstDims(*dims);
  if (!numbers.has_value()) return std::nullopt;
  const IndexTensor& x = *n.Index(0);
  const size_t lead = numbers->size() - x.dims.size();
  return One(n.dtype(0), Remap(x, *numbers, [&](const std::vector<int64_t>& index) {
               int64_t at = 0;
               for (size_t d = 0; d < x.dims.size(); ++d) {
                 const int64_t i = x.dims[d] == 1 ? 0 : index[lead + d];
                 if (i >= x.dims[d]) return int64_t{-1};
                 at = at * x.dims[d] + i;
               }
               return at;
             }));
}

// Row-major position of `index` in `dims`.
int64_t Position(const std::vector<int64_t>& index, const std::vector<int64_t>& dims) {
  int64_t at = 0;
  for (size_t d = 0; d < dims.size(); ++d) at = at * dims[d] + index[d];
  return at;
}

std::optional<IndexTensor> Sliced(const IndexTensor& x, int axis, int64_t start, int64_t step,
                                  int64_t size) {
  std::vector<int64_t> dims = x.dims;
  dims[axis] = size;
  return Remap(x, dims, [&](const std::vector<int64_t>& index) {
    std::vector<int64_t> from = index;
    from[axis] = start + step * index[axis];
    return Position(from, x.dims);
  });
}

Folded FoldSlice(OnnxNode& n) {
  if (n.Index(0) == nullptr) return std::nullopt;
  for (int i = 1; i < n.num_inputs(); ++i)
    if (n.Has(i) && n.Index(i) == nullptr) return std::nullopt;
  const absl::StatusOr<std::vector<SliceRange>> ranges = SliceArguments(n);
  if (!ranges.ok()) return std::nullopt;
  std::optional<IndexTensor> x = *n.Index(0);
  for (const SliceRange& r : *ranges) {
    if (!r.start.IsConst() || !r.step.IsConst() || !r.size.IsConst()) return std::nullopt;
    x = Sliced(*x, r.axis, r.start.ConstOrDie(), r.step.ConstOrDie(), r.size.ConstOrDie());
    if (!x.has_value()) return std::nullopt;
  }
  return One(n.dtype(0), std::move(x));
}

Folded FoldSplit(OnnxNode& n) {
  if (n.Index(0) == nullptr || (n.Has(1) && n.Index(1) == nullptr)) return std::nullopt;
  const absl::StatusOr<int> axis = n.Axis(n.Int("axis", 0), n.rank(0));
  if (!axis.ok()) return std::nullopt;
  const absl::StatusOr<std::vector<IndexExpr>> sizes = SplitSizes(n, *axis);
  if (!sizes.ok()) return std::nullopt;
  std::vector<FoldedOutput> outputs;
  int64_t start = 0;
  for (const IndexExpr& size : *sizes) {
    if (!size.IsConst()) return std::nullopt;
    std::optional<IndexTensor> part = Sliced(*n.Index(0), *axis, start, 1, size.ConstOrDie());
    if (!part.has_value()) return std::nullopt;
    outputs.push_back({n.dtype(0), *std::move(part)});
    start += size.ConstOrDie();
  }
  return outputs;
}

Folded FoldConcat(OnnxNode& n) {
  const auto inputs = AllInputs(n);
  const absl::StatusOr<int> axis = n.Axis(n.Int("axis", 1), n.rank(0));
  if (!inputs.has_value() || !axis.ok()) return std::nullopt;
  // As [outer, along, inner]: rows of every input in turn.
  IndexTensor result;
  result.dims = (*inputs)[0]->dims;
  int64_t along = 0;
  for (const IndexTensor* t : *inputs) {
    std::vector<int64_t> same = t->dims;
    if (same.size() != result.dims.size()) return std::nullopt;
    along += same[*axis];
    same[*axis] = result.dims[*axis];
    if (same != result.dims) return std::nullopt;
    result.assumes.insert(t->assumes.begin(), t->assumes.end());
  }
  int64_t outer = 1, inner = 1;
  for (int d = 0; d < n.rank(0); ++d) {
    if (d < *axis) outer *= result.dims[d];
    if (d > *axis) inner *= result.dims[d];
  }
  if (outer * inner > kMaxIndexElements || along > kMaxIndexElements) return std::nullopt;
  for (int64_t o = 0; o < outer; ++o) {
    for (const IndexTensor* t : *inputs) {
      const int64_t row = t->dims[*axis] * inner;
      result.values.insert(result.values.end(), t->values.begin() + o * row,
                           t->values.begin() + (o + 1) * row);
    }
  }
  if (static_cast<int64_t>(result.values.size()) > kMaxIndexElements) return std::nullopt;
  result.dims[*axis] = along;
  return One(n.dtype(0), std::move(result));
}

Folded FoldTranspose(OnnxNode& n) {
  if (n.Index(0) == nullptr) return std::nullopt;
  const IndexTensor& x = *n.Index(0);
  std::vector<int64_t> perm = n.Ints("perm");
  if (perm.empty()) {
    for (int d = n.rank(0); d-- > 0;) perm.push_back(d);
  }
  const absl::StatusOr<std::vector<int>> sorted = n.Axes(perm, n.rank(0));
  if (!sorted.ok() || perm.size() != x.dims.size()) return std::nullopt;
  std::vector<int64_t> dims;
  for (int64_t& p : perm) {
    if (p < 0) p += n.rank(0);
    dims.push_back(x.dims[p]);
  }
  return One(n.dtype(0), Remap(x, dims, [&](const std::vector<int64_t>& index) {
               std::vector<int64_t> from(index.size());
               for (size_t d = 0; d < perm.size(); ++d) from[perm[d]] = index[d];
               return Position(from, x.dims);
             }));
}

Folded FoldGather(OnnxNode& n) {
  const auto inputs = AllInputs(n);
  const absl::StatusOr<int> axis = n.Axis(n.Int("axis", 0), n.rank(0));
  if (!inputs.has_value() || !axis.ok()) return std::nullopt;
  const IndexTensor &x = *(*inputs)[0], &which = *(*inputs)[1];
  std::vector<int64_t> dims = x.dims;
  dims.erase(dims.begin() + *axis);
  dims.insert(dims.begin() + *axis, which.dims.begin(), which.dims.end());
  const int64_t extent = x.dims[*axis];
  std::optional<IndexTensor> result = Remap(x, dims, [&](const std::vector<int64_t>& index) {
    const auto begin = index.begin() + *axis, end = begin + which.dims.size();
    const IndexExpr& e = which.values[Position({begin, end}, which.dims)];
    int64_t i = e.AsConst().value_or(extent);
    if (i < 0 && i >= -extent) i += extent;
    if (i < 0 || i >= extent) return int64_t{-1};
    std::vector<int64_t> from(index.begin(), begin);
    from.push_back(i);
    from.insert(from.end(), end, index.end());
    return Position(from, x.dims);
  });
  if (result.has_value()) result->assumes.insert(which.assumes.begin(), which.assumes.end());
  return One(n.dtype(0), std::move(result));
}

FoldFunction Reduce(IndexOp op, int input_since) {
  return [=](OnnxNode& n) -> Folded {
    if (n.Index(0) == nullptr || (n.Has(1) && n.Index(1) == nullptr)) return std::nullopt;
    if (IsFloat(n.dtype(0)) && op == IndexOp::kMul) return std::nullopt;  // signs of zeros
    const auto axes = AxesArgument(n, input_since);
    if (!axes.ok()) return std::nullopt;
    if (!axes->has_value() && n.Int("noop_with_empty_axes", 0) != 0) return std::nullopt;
    std::vector<int64_t> all(n.rank(0));
    std::iota(all.begin(), all.end(), 0);
    const absl::StatusOr<std::vector<int>> sorted = n.Axes(axes->value_or(all), n.rank(0));
    if (!sorted.ok()) return std::nullopt;
    return One(n.dtype(0),
               ReduceIndex(op, *n.Index(0), *sorted, n.Int("keepdims", 1) != 0, n.ranges()));
  };
}

const std::map<std::string, FoldFunction, std::less<>>& Table() {
  static const auto& table = *new std::map<std::string, FoldFunction, std::less<>>{
      {"Abs", Unary(Absolute)},
      {"Add", Binary(IndexOp::kAdd)},
      {"And", Binary(IndexOp::kAnd, true)},
      {"Cast", FoldCast},
      {"CastLike", FoldCast},
      {"Ceil", FoldRounding},
      {"Concat", FoldConcat},
      {"Div", Binary(IndexOp::kDiv)},
      {"Equal", Binary(IndexOp::kEq, true)},
      {"Expand", FoldExpand},
      {"Floor", FoldRounding},
      {"Gather", FoldGather},
      {"Greater", Binary(IndexOp::kLt, true, true)},
      {"GreaterOrEqual", Binary(IndexOp::kLe, true, true)},
      {"Less", Binary(IndexOp::kLt, true)},
      {"LessOrEqual", Binary(IndexOp::kLe, true)},
      {"Max", Binary(IndexOp::kMax)},
      {"Min", Binary(IndexOp::kMin)},
      {"Mod", FoldMod},
      {"Mul", Binary(IndexOp::kMul)},
      {"Neg", Unary(Negate)},
      {"Not", Unary(LogicalNot)},
      {"Or", Binary(IndexOp::kOr, true)},
      {"ReduceMax", Reduce(IndexOp::kMax, 18)},
      {"ReduceMin", Reduce(IndexOp::kMin, 18)},
      {"ReduceProd", Reduce(IndexOp::kMul, 18)},
      {"ReduceSum", Reduce(IndexOp::kAdd, 13)},
      {"Reshape", FoldReshape},
      {"Round", FoldRounding},
      {"Slice", FoldSlice},
      {"Split", FoldSplit},
      {"Squeeze", FoldSqueeze},
      {"Sub", Binary(IndexOp::kSub)},
      {"Sum", Binary(IndexOp::kAdd)},
      {"Transpose", FoldTranspose},
      {"Unsqueeze", FoldUnsqueeze},
      {"Where", FoldWhere},
      {"Xor", Binary(IndexOp::kXor, true)},
  };
  return table;
}

}  // namespace

std::optional<std::vector<FoldedOutput>> FoldOnnxNode(OnnxNode& n) {
  const auto rule = Table().find(n.op_type());
  if (rule == Table().end()) return std::nullopt;
  Folded outputs = rule->second(n);
  if (!outputs.has_value() || !n.attribute_status().ok() ||
      static_cast<int>(outputs->size()) < n.num_outputs()) {
    return std::nullopt;
  }
  const RangeContext ranges = n.ranges();
  for (FoldedOutput& output : *outputs) {
    if (!FitsDType(output.value, output.dtype, ranges)) return std::nullopt;
  }
  return outputs;
}

}  // namespace stax
