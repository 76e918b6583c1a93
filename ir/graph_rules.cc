#include "ir/graph_rules.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace stax {
namespace {

// Of a formula, and of the product of a shape's dims: products of sums grow exponentially.
constexpr int64_t kMaxTerms = 64;

constexpr int64_t kMaxInt64 = std::numeric_limits<int64_t>::max();

int64_t SaturatingAdd(int64_t a, int64_t b) {
  int64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? kMaxInt64 : sum;
}

int64_t SaturatingMul(int64_t a, int64_t b) {
  int64_t product;
  return __builtin_mul_overflow(a, b, &product) ? kMaxInt64 : product;
}

int64_t SaturatingAbs(int64_t a) {
  if (a == std::numeric_limits<int64_t>::min()) return kMaxInt64;
  return a < 0 ? -a : a;
}

// A variable of `e` that is no declared symbol; empty if there is none.
std::string UndeclaredSymbol(const std::vector<SizeSymbol>& symbols, const IndexExpr& e) {
  for (const std::string& var : e.Vars()) {
    const bool declared = std::any_of(symbols.begin(), symbols.end(),
                                      [&](const SizeSymbol& s) { return s.name == var; });
    if (!declared) return var;
  }
  return "";
}

// A divisor in `e` that may be zero or negative; nullopt if there is none.
std::optional<IndexExpr> BadDivisor(const RangeContext& ranges, const IndexExpr& e) {
  for (const IndexExpr::Term& term : e.terms()) {
    for (const auto& atom : term.atoms) {
      if (atom->kind == IndexExpr::AtomKind::kVar) continue;
      for (const IndexExpr* inner : {&atom->a, &atom->b}) {
        if (auto bad = BadDivisor(ranges, *inner); bad.has_value()) return bad;
      }
      const bool divides =
          atom->kind == IndexExpr::AtomKind::kFloorDiv || atom->kind == IndexExpr::AtomKind::kMod;
      if (divides && !ranges.ProveLt(0, atom->b)) return atom->b;
    }
  }
  return std::nullopt;
}

int64_t NumTerms(const IndexExpr& e) {
  return static_cast<int64_t>(e.terms().size()) + (e.constant() != 0 ? 1 : 0);
}

std::string SymbolNames(const std::vector<SizeSymbol>& symbols) {
  if (symbols.empty()) return "none";
  return absl::StrJoin(symbols, ", ",
                       [](std::string* out, const SizeSymbol& s) { out->append(s.name); });
}

}  // namespace

std::string ShapeText(const Dims& dims) {
  return absl::StrCat(
      "[",
      absl::StrJoin(dims, ", ",
                    [](std::string* out, const IndexExpr& dim) { out->append(dim.ToString()); }),
      "]");
}

std::string TypeText(DType dtype, const Dims& dims) {
  return absl::StrCat(std::string(DTypeName(dtype)), ShapeText(dims));
}

int64_t Magnitude(const IndexExpr& e) {
  int64_t sum = SaturatingAbs(e.constant());
  for (const IndexExpr::Term& term : e.terms()) {
    int64_t product = SaturatingAbs(term.coeff);
    for (const auto& atom : term.atoms) {
      if (atom->kind == IndexExpr::AtomKind::kVar) continue;
      product =
          SaturatingMul(product, std::max({int64_t{1}, Magnitude(atom->a), Magnitude(atom->b)}));
    }
    sum = SaturatingAdd(sum, product);
  }
  return sum;
}

absl::Status CheckFormula(const std::vector<SizeSymbol>& symbols, const RangeContext& ranges,
                          const IndexExpr& e) {
  if (const std::string name = UndeclaredSymbol(symbols, e); !name.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "'", name, "' is not a declared symbol (declared: ", SymbolNames(symbols), ")"));
  }
  if (NumTerms(e) > kMaxTerms) {
    return absl::InvalidArgumentError(absl::StrCat("a formula of ", NumTerms(e), " terms; at most ",
                                                   kMaxTerms, " are supported"));
  }
  if (Magnitude(e) > kMaxElements) {
    return absl::InvalidArgumentError(
        absl::StrCat(e.ToString(), " is too large; at most ", kMaxElements, " is supported"));
  }
  if (const auto divisor = BadDivisor(ranges, e); divisor.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat("divisor ", divisor->ToString(), " may be zero or negative"));
  }
  return absl::OkStatus();
}

absl::Status CheckShape(const std::vector<SizeSymbol>& symbols, const RangeContext& ranges,
                        DType dtype, const Dims& dims) {
  const auto error = [&](const std::string& problem) {
    return absl::InvalidArgumentError(absl::StrCat(TypeText(dtype, dims), ": ", problem));
  };
  int64_t min_elements = 1, terms = 1, bytes_magnitude = DTypeBytes(dtype);
  for (const IndexExpr& dim : dims) {
    // Empty dims count as 1, since strides are products of the other dims.
    const int64_t lower = ranges.Bounds(dim).lo;
    min_elements = SaturatingMul(min_elements, std::max(lower, int64_t{1}));
    terms = SaturatingMul(terms, std::max(NumTerms(dim), int64_t{1}));
    bytes_magnitude = SaturatingMul(bytes_magnitude, std::max(Magnitude(dim), int64_t{1}));
    if (lower >= 0) continue;
    if (absl::Status s = CheckFormula(symbols, ranges, dim); !s.ok()) {
      return error(std::string(s.message()));
    }
    return error(
        absl::StrCat("size ", dim.ToString(), dim.IsConst() ? " is" : " may be", " negative"));
  }
  if (min_elements > kMaxElements) {
    return error(absl::StrCat(
        "a tensor of ", min_elements == kMaxInt64 ? "2^63 or more" : absl::StrCat(min_elements),
        " elements; at most ", kMaxElements, " are supported"));
  }
  if (bytes_magnitude >= kMaxBytes) return error("its size in bytes may exceed 2^62");
  if (terms > kMaxTerms) return error("the formula of its size is too long");
  for (const IndexExpr& dim : dims) {
    if (absl::Status s = CheckFormula(symbols, ranges, dim); !s.ok()) {
      return error(std::string(s.message()));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Dims> BroadcastDims(const Dims& a, const Dims& b, const RangeContext& ranges) {
  const size_t rank = std::max(a.size(), b.size());
  Dims result(rank);
  for (size_t k = 1; k <= rank; ++k) {  // from the last dim on
    const IndexExpr da = k <= a.size() ? a[a.size() - k] : IndexExpr(1);
    const IndexExpr db = k <= b.size() ? b[b.size() - k] : IndexExpr(1);
    if (db == 1 || ranges.ProveEq(da, db)) {
      result[rank - k] = da;
    } else if (da == 1) {
      result[rank - k] = db;
    } else {
      const bool known = da.IsConst() && db.IsConst();
      return absl::InvalidArgumentError(absl::StrCat(
          "shapes ", ShapeText(a), " and ", ShapeText(b), " do not broadcast: ", da.ToString(),
          " and ", db.ToString(), known ? " differ" : " are not known to be equal"));
    }
  }
  return result;
}

int FirstDifference(const Dims& a, const Dims& b, const RangeContext& ranges) {
  for (size_t d = 0; d < a.size(); ++d) {
    if (!ranges.ProveEq(a[d], b[d])) return static_cast<int>(d);
  }
  return -1;
}

std::string SliceProblem(const IndexExpr& extent, const IndexExpr& start, const IndexExpr& step,
                         const IndexExpr& size, const RangeContext& ranges) {
  if (ranges.ProveEq(size, 0)) return "";
  const bool forward = ranges.ProveLt(0, step);
  if (!forward && !ranges.ProveLt(step, 0)) {
    return absl::StrCat("step ", step.ToString(), " is not known to be non-zero of one sign");
  }
  int64_t span;
  if (__builtin_mul_overflow(Magnitude(step), Magnitude(size), &span) || span >= kMaxBytes) {
    return absl::StrCat("step ", step.ToString(), " is too large for ", size.ToString(),
                        " elements");
  }
  const IndexExpr last = start + step * (size - 1);
  const IndexExpr& low = forward ? start : last;
  const IndexExpr& high = forward ? last : start;
  if (ranges.ProveLe(0, low) && ranges.ProveLt(high, extent)) return "";
  return absl::StrCat("elements ", low.ToString(), " to ", high.ToString(), " are not inside [0, ",
                      extent.ToString(), ")");
}

std::string PadProblem(const IndexExpr& extent, const IndexExpr& before, const IndexExpr& after,
                       PadMode mode, const RangeContext& ranges) {
  const std::string pads = absl::StrCat("padded by ", before.ToString(), " and ", after.ToString());
  if (!ranges.ProveLe(0, before) || !ranges.ProveLe(0, after)) {
    return absl::StrCat(pads, ", which may be negative");
  }
  if (before == 0 && after == 0) return "";
  if (mode == PadMode::kReflect &&
      !(ranges.ProveLt(before, extent) && ranges.ProveLt(after, extent))) {
    return absl::StrCat(pads, "; to reflect, pads must be known to be less than the size");
  }
  if (mode == PadMode::kEdge && !ranges.ProveLt(0, extent)) {
    return absl::StrCat(pads, ", but it may have no edge to repeat");
  }
  return "";
}

absl::Status CheckOpDType(OpCode code, DType dtype) {
  bool allowed = false;
  std::string_view wanted;
  switch (ClassOf(code)) {
    case OpClass::kSame:
      allowed = dtype != DType::kBool;
      wanted = "integers or floats";
      break;
    case OpClass::kFloat:
      allowed = IsFloat(dtype);
      wanted = "floats";
      break;
    case OpClass::kInt: {
      const bool shift = code == OpCode::kShl || code == OpCode::kShr;
      allowed = IsInteger(dtype) || (dtype == DType::kBool && !shift);
      wanted = shift ? "integers" : "integers or bool";
      break;
    }
    case OpClass::kCompare:
      allowed = dtype != DType::kBool || code == OpCode::kEq || code == OpCode::kNe;
      wanted = "integers or floats";
      break;
    case OpClass::kSpecial:
      return absl::InvalidArgumentError("is not an elementwise operator");
  }
  if (allowed) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("takes ", std::string(wanted)));
}

absl::Status CheckReduceDType(ReduceKind kind, DType dtype) {
  const bool accumulates = kind == ReduceKind::kSum || kind == ReduceKind::kProd;
  if (dtype != DType::kBool && !(accumulates && IsHalf(dtype))) return absl::OkStatus();
  return absl::InvalidArgumentError(accumulates ? "takes integers, f32 or f64 (cast first)"
                                                : "takes integers or floats (cast first)");
}

}  // namespace stax
