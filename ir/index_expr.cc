#include "ir/index_expr.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "ir/check.h"
#include "ir/index_expr_internal.h"

namespace stax {
namespace {

using Atom = IndexExpr::Atom;
using AtomKind = IndexExpr::AtomKind;
using Poly = IndexExpr::Poly;
using Term = IndexExpr::Term;

// Shared by every default-constructed expression, notably the unused operands of variables.
const std::shared_ptr<const Poly>& ZeroPoly() {
  static const auto& zero = *new std::shared_ptr<const Poly>(std::make_shared<Poly>());
  return zero;
}

const char* FunctionName(AtomKind kind) {
  switch (kind) {
    case AtomKind::kVar:
      return "";
    case AtomKind::kFloorDiv:
      return "floordiv";
    case AtomKind::kMod:
      return "mod";
    case AtomKind::kMin:
      return "min";
    case AtomKind::kMax:
      return "max";
  }
  return "";
}

void AppendAtom(const Atom& atom, std::string* out);

void AppendMonomial(const std::vector<AtomPtr>& atoms, std::string* out) {
  for (size_t i = 0; i < atoms.size(); ++i) {
    if (i > 0) out->push_back('*');
    AppendAtom(*atoms[i], out);
  }
}

void AppendExpr(const IndexExpr& e, std::string* out) {
  bool first = true;
  const auto sign = [&](int64_t value) {
    if (first) {
      if (value < 0) out->push_back('-');
    } else {
      out->append(value < 0 ? " - " : " + ");
    }
    first = false;
  };
  for (const Term& term : e.terms()) {
    sign(term.coeff);
    const int64_t magnitude = term.coeff < 0 ? -term.coeff : term.coeff;
    if (magnitude != 1) absl::StrAppend(out, magnitude, "*");
    AppendMonomial(term.atoms, out);
  }
  if (first) {
    absl::StrAppend(out, e.constant());
  } else if (e.constant() != 0) {
    sign(e.constant());
    absl::StrAppend(out, e.constant() < 0 ? -e.constant() : e.constant());
  }
}

void AppendAtom(const Atom& atom, std::string* out) {
  if (atom.kind == AtomKind::kVar) {
    out->append(atom.name);
    return;
  }
  out->append(FunctionName(atom.kind));
  out->push_back('(');
  AppendExpr(atom.a, out);
  out->append(", ");
  AppendExpr(atom.b, out);
  out->push_back(')');
}

IndexExpr OrDie(std::optional<IndexExpr> e) {
  STAX_CHECK(e.has_value(), "a coefficient of an index expression overflows int64");
  return *std::move(e);
}

}  // namespace

IndexExpr::IndexExpr(int64_t value) {
  if (value == 0) {
    poly_ = ZeroPoly();
    return;
  }
  STAX_CHECK(value != INT64_MIN, "a constant of an index expression is out of range");
  auto poly = std::make_shared<Poly>();
  poly->constant = value;
  poly_ = std::move(poly);
}

IndexExpr IndexExpr::Var(std::string_view name) {
  return AtomExpr(std::make_shared<Atom>(Atom{AtomKind::kVar, std::string(name), {}, {}}));
}

std::string IndexExpr::ToString() const {
  std::string out;
  AppendExpr(*this, &out);
  return out;
}

bool IndexExpr::IsConst() const { return poly_->terms.empty(); }

std::optional<int64_t> IndexExpr::AsConst() const {
  if (!IsConst()) return std::nullopt;
  return poly_->constant;
}

int64_t IndexExpr::ConstOrDie() const {
  STAX_CHECK(IsConst(), ToString());
  return poly_->constant;
}

std::optional<std::string> IndexExpr::AsVar() const {
  if (poly_->terms.size() != 1 || poly_->constant != 0) return std::nullopt;
  const Term& term = poly_->terms[0];
  if (term.coeff != 1 || term.atoms.size() != 1 || term.atoms[0]->kind != AtomKind::kVar) {
    return std::nullopt;
  }
  return term.atoms[0]->name;
}

int64_t IndexExpr::constant() const { return poly_->constant; }
const std::vector<Term>& IndexExpr::terms() const { return poly_->terms; }

namespace {

// Calls visit(name) for each variable until it returns true; whether it did.
template <typename Visitor>
bool VisitVars(const IndexExpr& e, const Visitor& visit) {
  for (const Term& term : e.terms()) {
    for (const AtomPtr& atom : term.atoms) {
      if (atom->kind == AtomKind::kVar ? visit(atom->name)
                                       : VisitVars(atom->a, visit) || VisitVars(atom->b, visit)) {
        return true;
      }
    }
  }
  return false;
}

std::optional<int64_t> TryEvaluateAtom(const Atom& atom,
                                       const std::map<std::string, int64_t>& values) {
  if (atom.kind == AtomKind::kVar) {
    const auto it = values.find(atom.name);
    if (it == values.end()) return std::nullopt;
    return it->second;
  }
  const std::optional<int64_t> a = TryEvaluate(atom.a, values), b = TryEvaluate(atom.b, values);
  if (!a.has_value() || !b.has_value()) return std::nullopt;
  if (atom.kind == AtomKind::kMin) return std::min(*a, *b);
  if (atom.kind == AtomKind::kMax) return std::max(*a, *b);
  if (*b <= 0) return std::nullopt;
  return atom.kind == AtomKind::kFloorDiv ? FloorDivInt(*a, *b) : ModInt(*a, *b);
}

// Why TryEvaluate(e, values) fails.
absl::Status EvaluationError(const IndexExpr& e, const std::map<std::string, int64_t>& values) {
  for (const Term& term : e.terms()) {
    for (const AtomPtr& atom : term.atoms) {
      if (TryEvaluateAtom(*atom, values).has_value()) continue;
      if (atom->kind == AtomKind::kVar) {
        return absl::FailedPreconditionError(
            absl::StrCat("no value for variable '", atom->name, "'"));
      }
      const std::optional<int64_t> b = TryEvaluate(atom->b, values);
      if (!TryEvaluate(atom->a, values).has_value()) return EvaluationError(atom->a, values);
      if (!b.has_value()) return EvaluationError(atom->b, values);
      return absl::InvalidArgumentError(absl::StrCat("the divisor ", atom->b.ToString(), " is ", *b,
                                                     ", but a divisor must be positive"));
    }
  }
  return absl::OutOfRangeError(
      absl::StrCat("the value of ", e.ToString(), " does not fit in int64"));
}

}  // namespace

std::set<std::string> IndexExpr::Vars() const {
  std::set<std::string> names;
  VisitVars(*this, [&](const std::string& name) {
    names.insert(name);
    return false;
  });
  return names;
}

bool IndexExpr::Mentions(std::string_view var) const {
  return VisitVars(*this, [&](const std::string& name) { return name == var; });
}

IndexExpr IndexExpr::Substitute(const std::map<std::string, IndexExpr>& values) const {
  const auto replaced = [&](const std::string& name) { return values.count(name) > 0; };
  if (!VisitVars(*this, replaced)) return *this;
  IndexExpr sum = constant();
  for (const Term& term : terms()) {
    IndexExpr product = term.coeff;
    for (const AtomPtr& atom : term.atoms) {
      if (atom->kind != AtomKind::kVar) {
        product = product *
                  MakeCompound(atom->kind, atom->a.Substitute(values), atom->b.Substitute(values));
        continue;
      }
      const auto it = values.find(atom->name);
      product = product * (it != values.end() ? it->second : AtomExpr(atom));
    }
    sum = sum + product;
  }
  return sum;
}

std::optional<int64_t> TryEvaluate(const IndexExpr& e,
                                   const std::map<std::string, int64_t>& values) {
  // The sum is exact in 128 bits, so only the result and single products can be out of range.
  __int128 sum = e.constant();
  for (const Term& term : e.terms()) {
    int64_t product = term.coeff;
    bool fits = true, zero = false;
    for (const AtomPtr& atom : term.atoms) {
      const std::optional<int64_t> value = TryEvaluateAtom(*atom, values);
      if (!value.has_value()) return std::nullopt;
      zero |= *value == 0;
      fits &= !__builtin_mul_overflow(product, *value, &product);
    }
    if (zero) continue;
    if (!fits) return std::nullopt;
    sum += product;
  }
  if (sum < INT64_MIN || sum > INT64_MAX) return std::nullopt;
  return static_cast<int64_t>(sum);
}

absl::StatusOr<int64_t> IndexExpr::Evaluate(const std::map<std::string, int64_t>& values) const {
  if (const std::optional<int64_t> value = TryEvaluate(*this, values)) return *value;
  return EvaluationError(*this, values);
}

std::optional<IndexExpr> IndexExpr::StrideOf(std::string_view var) const {
  PolyBuilder stride;
  for (const Term& term : terms()) {
    std::vector<AtomPtr> others;
    int power = 0;
    for (const AtomPtr& atom : term.atoms) {
      if (atom->kind == AtomKind::kVar && atom->name == var) {
        ++power;
      } else if (atom->kind != AtomKind::kVar && (atom->a.Mentions(var) || atom->b.Mentions(var))) {
        return std::nullopt;
      } else {
        others.push_back(atom);
      }
    }
    if (power > 1) return std::nullopt;
    if (power == 1) stride.AddTerm(term.coeff, std::move(others));
  }
  return stride.Finish();
}

bool operator==(const IndexExpr& a, const IndexExpr& b) { return CompareExprs(a, b) == 0; }
bool operator<(const IndexExpr& a, const IndexExpr& b) { return CompareExprs(a, b) < 0; }

IndexExpr operator+(const IndexExpr& a, const IndexExpr& b) { return OrDie(TryAdd(a, b)); }
IndexExpr operator-(const IndexExpr& a, const IndexExpr& b) { return OrDie(TrySub(a, b)); }
IndexExpr operator*(const IndexExpr& a, const IndexExpr& b) { return OrDie(TryMul(a, b)); }
IndexExpr IndexExpr::operator-() const { return OrDie(TrySub(0, *this)); }

IndexExpr CeilDiv(const IndexExpr& a, const IndexExpr& b) { return FloorDiv(a + b - 1, b); }

IndexExpr Product(const std::vector<IndexExpr>& factors) { return OrDie(TryProduct(factors)); }

std::optional<IndexExpr> TryProduct(const std::vector<IndexExpr>& factors) {
  std::optional<IndexExpr> product = 1;
  for (size_t i = 0; i < factors.size() && product.has_value(); ++i)
    product = TryMul(*product, factors[i]);
  return product;
}

}  // namespace stax
