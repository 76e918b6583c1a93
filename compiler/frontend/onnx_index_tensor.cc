#include "compiler/frontend/onnx_index_tensor.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ir/graph_rules.h"
#include "ir/scalar.h"

namespace stax {
namespace {

constexpr int64_t kMaxInt64 = std::numeric_limits<int64_t>::max();

// Sums and products of magnitudes below this cannot overflow int64.
constexpr int64_t kTame = int64_t{1} << 30;
// Formulas of shapes have few terms; more are the mark of a hostile model.
constexpr size_t kMaxTerms = 64;

bool IsTame(const IndexExpr& e) { return Magnitude(e) <= kTame && e.terms().size() <= kMaxTerms; }

std::optional<int64_t> ApplyNumbers(IndexOp op, int64_t a, int64_t b) {
  int64_t r = 0;
  switch (op) {
    case IndexOp::kAdd:
      if (__builtin_add_overflow(a, b, &r)) return std::nullopt;
      return r;
    case IndexOp::kSub:
      if (__builtin_sub_overflow(a, b, &r)) return std::nullopt;
      return r;
    case IndexOp::kMul:
      if (__builtin_mul_overflow(a, b, &r)) return std::nullopt;
      return r;
    case IndexOp::kDiv:
    case IndexOp::kMod:
    case IndexOp::kFmod:
      if (b == 0 || (b == -1 && a == std::numeric_limits<int64_t>::min())) return std::nullopt;
      if (op == IndexOp::kDiv) return a / b;
      r = a % b;
      if (op == IndexOp::kMod && r != 0 && (r < 0) != (b < 0)) r += b;
      return r;
    case IndexOp::kMax:
      return std::max(a, b);
    case IndexOp::kMin:
      return std::min(a, b);
    case IndexOp::kEq:
      return int64_t{a == b};
    case IndexOp::kLt:
      return int64_t{a < b};
    case IndexOp::kLe:
      return int64_t{a <= b};
    case IndexOp::kAnd:
      return int64_t{a != 0 && b != 0};
    case IndexOp::kOr:
      return int64_t{a != 0 || b != 0};
    case IndexOp::kXor:
      return int64_t{(a != 0) != (b != 0)};
  }
  return std::nullopt;
}

// What holds for all sizes, else nullopt.
std::optional<IndexExpr> Compare(IndexOp op, const IndexExpr& a, const IndexExpr& b,
                                 const RangeContext& ranges) {
  switch (op) {
    case IndexOp::kEq:
      if (ranges.ProveEq(a, b)) return 1;
      if (ranges.ProveLt(a, b) || ranges.ProveLt(b, a)) return 0;
      return std::nullopt;
    case IndexOp::kLt:
      if (ranges.ProveLt(a, b)) return 1;
      if (ranges.ProveLe(b, a)) return 0;
      return std::nullopt;
    case IndexOp::kLe:
      if (ranges.ProveLe(a, b)) return 1;
      if (ranges.ProveLt(b, a)) return 0;
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

// The multi-index of row-major position `at`.
void Unravel(int64_t at, const std::vector<int64_t>& dims, std::vector<int64_t>& index) {
  for (size_t d = dims.size(); d-- > 0;) {
    index[d] = at % dims[d];
    at /= dims[d];
  }
}

// Elements, or nullopt above the limit.
std::optional<int64_t> SmallCount(const std::vector<int64_t>& dims) {
  int64_t count = 1;
  for (int64_t d : dims) {
    if (d < 0) return std::nullopt;
    if (d == 0) return 0;
  }
  for (int64_t d : dims) {
    if (d > kMaxIndexElements / count) return std::nullopt;
    count *= d;
  }
  return count;
}

std::optional<std::vector<int64_t>> BroadcastConstDims(const std::vector<int64_t>& a,
                                                       const std::vector<int64_t>& b) {
  std::vector<int64_t> result(std::max(a.size(), b.size()));
  for (size_t k = 1; k <= result.size(); ++k) {
    const int64_t da = k <= a.size() ? a[a.size() - k] : 1;
    const int64_t db = k <= b.size() ? b[b.size() - k] : 1;
    if (da != db && da != 1 && db != 1) return std::nullopt;
    result[result.size() - k] = da == 1 ? db : da;
  }
  return result;
}

// Whole numbers up to this magnitude are exact in the type.
int64_t ExactLimit(DType dtype) {
  switch (dtype) {
    case DType::kF16:
      return int64_t{1} << 11;
    case DType::kBF16:
      return int64_t{1} << 8;
    case DType::kF32:
      return int64_t{1} << 24;
    case DType::kF64:
      return int64_t{1} << 53;
    default:
      return kMaxInt64;
  }
}

std::optional<int64_t> WholeNumber(const Scalar& s, bool clamp) {
  if (IsFloat(s.dtype)) {
    const bool whole = std::abs(s.f) <= static_cast<double>(ExactLimit(s.dtype)) &&
                       s.f == std::floor(s.f) && !(s.f == 0 && std::signbit(s.f));
    return whole ? std::optional<int64_t>(static_cast<int64_t>(s.f)) : std::nullopt;
  }
  const bool above = s.dtype == DType::kU64 && s.i < 0;
  if (!above && s.i >= -kMaxInt64) return s.i;
  if (!clamp) return std::nullopt;
  return above ? kMaxInt64 : -kMaxInt64;
}

std::optional<IndexTensor> ReadIndices(const OnnxValue& value, bool clamp) {
  const std::optional<int64_t> count = SmallCount(value.dims);
  if (!count.has_value()) return std::nullopt;
  IndexTensor t;
  t.dims = value.dims;
  const int bytes = DTypeBytes(value.dtype);
  for (int64_t i = 0; i < *count; ++i) {
    const std::optional<int64_t> v =
        WholeNumber(LoadScalar(value.dtype, value.bytes.data() + i * bytes), clamp);
    if (!v.has_value()) return std::nullopt;
    t.values.emplace_back(*v);
  }
  return t;
}

IndexExpr FromAtom(const IndexExpr::Atom& atom) {
  switch (atom.kind) {
    case IndexExpr::AtomKind::kVar:
      return IndexExpr::Var(atom.name);
    case IndexExpr::AtomKind::kFloorDiv:
      return FloorDiv(atom.a, atom.b);
    case IndexExpr::AtomKind::kMod:
      return Mod(atom.a, atom.b);
    case IndexExpr::AtomKind::kMin:
      return Min(atom.a, atom.b);
    case IndexExpr::AtomKind::kMax:
      return Max(atom.a, atom.b);
  }
  return 1;
}

// Splits a product of symbols (one term, no constant) into its factors.
void AppendFactors(const IndexExpr& e, std::vector<IndexExpr>& factors) {
  if (e.constant() != 0 || e.terms().size() != 1) {
    factors.push_back(e);
    return;
  }
  const IndexExpr::Term& term = e.terms()[0];
  factors.emplace_back(term.coeff);
  for (const auto& atom : term.atoms) factors.push_back(FromAtom(*atom));
}

std::vector<IndexExpr> Factors(const std::vector<IndexExpr>& products, int64_t* constant) {
  std::vector<IndexExpr> all, symbolic;
  for (const IndexExpr& e : products) AppendFactors(e, all);
  *constant = 1;
  for (IndexExpr& e : all) {
    if (e.IsConst()) {
      if (__builtin_mul_overflow(*constant, e.ConstOrDie(), constant)) *constant = 0;
    } else {
      symbolic.push_back(std::move(e));
    }
  }
  return symbolic;
}

}  // namespace

std::optional<IndexTensor> IndexTensorFromValue(const OnnxValue& value) {
  return ReadIndices(value, /*clamp=*/false);
}

std::optional<IndexTensor> ClampedIndexTensor(const OnnxValue& value) {
  return ReadIndices(value, /*clamp=*/true);
}

IndexExpr ClampedIndex(int64_t value) { return std::max(value, -kMaxInt64); }

absl::StatusOr<IndexExpr> SafeProduct(const IndexExpr& a, const IndexExpr& b) {
  int64_t magnitude;
  if (!__builtin_mul_overflow(Magnitude(a), Magnitude(b), &magnitude) && magnitude < kMaxBytes)
    return a * b;
  return absl::InvalidArgumentError(
      absl::StrCat("the size ", a.ToString(), " * ", b.ToString(), " is too large"));
}

std::vector<std::byte> BytesOf(const IndexTensor& t, DType dtype) {
  const int bytes = DTypeBytes(dtype);
  std::vector<std::byte> data(t.values.size() * bytes);
  for (size_t i = 0; i < t.values.size(); ++i) {
    const int64_t v = t.values[i].ConstOrDie();
    StoreScalar(
        IsFloat(dtype) ? Scalar::Float(dtype, static_cast<double>(v)) : Scalar::Int(dtype, v),
        data.data() + i * bytes);
  }
  return data;
}

bool FitsDType(const IndexTensor& t, DType dtype, const RangeContext& ranges) {
  if (dtype == DType::kBool) {
    return std::all_of(t.values.begin(), t.values.end(),
                       [](const IndexExpr& v) { return v == IndexExpr(0) || v == IndexExpr(1); });
  }
  const bool is_float = IsFloat(dtype);
  const int bits = 8 * DTypeBytes(dtype);
  // Formulas of sizes stay inside 64 bits: frontends and run time bound the sizes of tensors.
  const int64_t hi = is_float     ? ExactLimit(dtype)
                     : bits == 64 ? kMaxInt64
                                  : (int64_t{1} << (IsSigned(dtype) ? bits - 1 : bits)) - 1;
  const int64_t lo = is_float ? -hi : IsSigned(dtype) ? -hi - 1 : 0;
  return std::all_of(t.values.begin(), t.values.end(), [&](const IndexExpr& v) {
    if (v.IsConst()) return v.ConstOrDie() >= lo && v.ConstOrDie() <= hi;
    const Interval bounds = ranges.Bounds(v);
    return bounds.lo >= lo && bounds.hi <= hi;
  });
}

std::optional<IndexExpr> Apply(IndexOp op, const IndexExpr& a, const IndexExpr& b,
                               const RangeContext& ranges) {
  if (a.IsConst() && b.IsConst()) {
    const std::optional<int64_t> r = ApplyNumbers(op, a.ConstOrDie(), b.ConstOrDie());
    if (!r.has_value() || *r < -kMaxInt64) return std::nullopt;
    return *r;
  }
  if (!IsTame(a) || !IsTame(b)) return std::nullopt;
  switch (op) {
    case IndexOp::kAdd:
      return Simplify(a + b, ranges);
    case IndexOp::kSub:
      return Simplify(a - b, ranges);
    case IndexOp::kMul:
      if (a.terms().size() * b.terms().size() > kMaxTerms) return std::nullopt;
      return Simplify(a * b, ranges);
    case IndexOp::kDiv:
    case IndexOp::kMod:
    case IndexOp::kFmod:
      // Where nothing is negative all roundings agree.
      if (!ranges.ProveLe(0, a) || !ranges.ProveLt(0, b)) return std::nullopt;
      return Simplify(op == IndexOp::kDiv ? FloorDiv(a, b) : Mod(a, b), ranges);
    case IndexOp::kMax:
      return Simplify(Max(a, b), ranges);
    case IndexOp::kMin:
      return Simplify(Min(a, b), ranges);
    default:
      return Compare(op, a, b, ranges);
  }
}

std::optional<IndexTensor> Elementwise(const std::vector<const IndexTensor*>& operands,
                                       const IndexFunction& apply) {
  IndexTensor out;
  for (const IndexTensor* t : operands) {
    std::optional<std::vector<int64_t>> dims = BroadcastConstDims(out.dims, t->dims);
    if (!dims.has_value()) return std::nullopt;
    out.dims = *std::move(dims);
    out.assumes.insert(t->assumes.begin(), t->assumes.end());
  }
  const std::optional<int64_t> count = SmallCount(out.dims);
  if (!count.has_value()) return std::nullopt;
  std::vector<int64_t> index(out.dims.size());
  for (int64_t at = 0; at < *count; ++at) {
    Unravel(at, out.dims, index);
    std::vector<const IndexExpr*> elements;
    for (const IndexTensor* t : operands) {
      int64_t position = 0;
      for (size_t d = 0; d < t->dims.size(); ++d) {
        const int64_t i = t->dims[d] == 1 ? 0 : index[out.dims.size() - t->dims.size() + d];
        position = position * t->dims[d] + i;
      }
      elements.push_back(&t->values[position]);
    }
    std::optional<IndexExpr> value = apply(elements);
    if (!value.has_value()) return std::nullopt;
    out.values.push_back(*std::move(value));
  }
  return out;
}

std::optional<IndexTensor> Remap(const IndexTensor& in, std::vector<int64_t> dims,
                                 const PositionFunction& source) {
  const std::optional<int64_t> count = SmallCount(dims);
  if (!count.has_value()) return std::nullopt;
  IndexTensor out;
  out.dims = std::move(dims);
  out.assumes = in.assumes;
  std::vector<int64_t> index(out.dims.size());
  for (int64_t at = 0; at < *count; ++at) {
    Unravel(at, out.dims, index);
    const int64_t from = source(index);
    if (from < 0 || from >= static_cast<int64_t>(in.values.size())) return std::nullopt;
    out.values.push_back(in.values[from]);
  }
  return out;
}

std::optional<IndexTensor> ReduceIndex(IndexOp op, const IndexTensor& in,
                                       const std::vector<int>& axes, bool keep_dims,
                                       const RangeContext& ranges) {
  IndexTensor kept = in;
  for (int axis : axes) kept.dims[axis] = 1;
  const std::optional<int64_t> count = SmallCount(kept.dims);
  if (!count.has_value()) return std::nullopt;
  std::vector<std::optional<IndexExpr>> values(*count);
  std::vector<int64_t> index(in.dims.size());
  for (size_t at = 0; at < in.values.size(); ++at) {
    Unravel(static_cast<int64_t>(at), in.dims, index);
    int64_t to = 0;
    for (size_t d = 0; d < index.size(); ++d)
      to = to * kept.dims[d] + (kept.dims[d] == 1 ? 0 : index[d]);
    std::optional<IndexExpr>& sum = values[to];
    if (!sum.has_value()) {
      sum = in.values[at];
    } else if (sum = Apply(op, *sum, in.values[at], ranges); !sum.has_value()) {
      return std::nullopt;
    }
  }
  const bool has_identity = op == IndexOp::kAdd || op == IndexOp::kMul;
  kept.values.clear();
  for (const std::optional<IndexExpr>& v : values) {
    if (!v.has_value() && !has_identity) return std::nullopt;  // maximum of nothing
    kept.values.push_back(v.value_or(op == IndexOp::kMul ? 1 : 0));
  }
  for (size_t k = axes.size(); !keep_dims && k-- > 0;) kept.dims.erase(kept.dims.begin() + axes[k]);
  return kept;
}

std::vector<int64_t> StridesOf(const std::vector<int64_t>& dims) {
  std::vector<int64_t> strides(dims.size(), 1);
  for (size_t d = dims.size(); d-- > 1;) strides[d - 1] = strides[d] * dims[d];
  return strides;
}

std::optional<std::vector<int64_t>> SmallConstDims(const Dims& dims) {
  std::vector<int64_t> result;
  for (const IndexExpr& d : dims) {
    if (!d.IsConst()) return std::nullopt;
    result.push_back(d.ConstOrDie());
  }
  if (!SmallCount(result).has_value()) return std::nullopt;
  return result;
}

absl::StatusOr<IndexExpr> DivideExactly(std::vector<IndexExpr> numerator,
                                        std::vector<IndexExpr> denominator,
                                        const RangeContext& ranges) {
  int64_t top = 1, bottom = 1;
  std::vector<IndexExpr> num = Factors(numerator, &top), den = Factors(denominator, &bottom);
  std::vector<IndexExpr> rest;
  for (const IndexExpr& d : den) {
    const auto at = std::find(num.begin(), num.end(), d);
    if (at == num.end()) {
      rest.push_back(d);
    } else {
      num.erase(at);
    }
  }
  const auto fail = [&] {
    const auto text = [](const std::vector<IndexExpr>& factors) {
      return absl::StrJoin(factors, " * ", [](std::string* out, const IndexExpr& e) {
        absl::StrAppend(out, "(", e.ToString(), ")");
      });
    };
    return absl::FailedPreconditionError(
        absl::StrCat(text(numerator), " is not known to be divisible by ", text(denominator)));
  };
  if (top == 0 || bottom == 0) return fail();
  const int64_t common = std::gcd(top, bottom);
  num.insert(num.begin(), top / common);
  rest.insert(rest.begin(), bottom / common);
  int64_t magnitude = 1;
  for (const IndexExpr& e : num) {
    if (__builtin_mul_overflow(magnitude, Magnitude(e), &magnitude) || magnitude >= kMaxBytes)
      return fail();
  }
  IndexExpr n = Simplify(Product(num), ranges);
  if (rest.size() == 1 && rest[0] == IndexExpr(1)) return n;
  const std::optional<int64_t> by = rest.size() == 1 ? rest[0].AsConst() : std::nullopt;
  if (!by.has_value() || !ranges.ProveDivisible(n, *by)) return fail();
  return Simplify(FloorDiv(n, *by), ranges);
}

}  // namespace stax
