// What follows from the ranges of variables: bounds, orders, equality and divisibility.
#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "ir/index_bounds.h"
#include "ir/index_expr.h"
#include "ir/index_expr_internal.h"

namespace stax {

std::optional<int64_t> OnlyValue(const RangeContext& ranges, const std::string& name) {
  const Interval bounds = BoundSearch(ranges).QuickVar(name);
  if (bounds.lo != bounds.hi) return std::nullopt;
  return bounds.lo;
}

bool ProveLeByBounds(const RangeContext& ranges, const IndexExpr& a, const IndexExpr& b) {
  const std::optional<IndexExpr> difference = TrySub(b, a);
  if (!difference.has_value()) return false;
  return BoundSearch(ranges).ProveNonNegative(*difference, {&a, &b});
}

std::optional<int64_t> ConstantQuotient(const RangeContext& ranges, const IndexExpr& a,
                                        const IndexExpr& d) {
  const BoundSearch search(ranges);
  std::optional<int64_t> quotient;
  for (const bool last : {false, true}) {
    if (!search.KnowsVariables()) break;
    std::map<std::string, int64_t> values;
    if (!search.Sample(a, last, last, &values) || !search.Sample(d, last, last, &values)) continue;
    const std::optional<int64_t> x = TryEvaluate(a, values), y = TryEvaluate(d, values);
    if (!x.has_value() || !y.has_value() || *y <= 0) continue;
    const int64_t found = FloorDivInt(*x, *y);
    if (quotient.has_value() && *quotient != found) return std::nullopt;
    quotient = found;
  }
  if (quotient.has_value() || !d.IsConst() || d.constant() <= 0) return quotient;
  // Variables without bounds: only those inside mod, min and max can do no harm.
  const Interval bounds = search.Quick(a);
  if (bounds.lo == Interval::kNegInf || bounds.hi == Interval::kPosInf) return std::nullopt;
  const int64_t first = FloorDivInt(bounds.lo, d.constant());
  if (first != FloorDivInt(bounds.hi, d.constant())) return std::nullopt;
  return first;
}

void RangeContext::AddSize(std::string_view name, int64_t lower, int64_t upper) {
  sizes_.insert_or_assign(std::string(name), Interval{lower, upper});
}

void RangeContext::AddLoop(std::string_view name, IndexExpr extent) {
  loops_.insert_or_assign(std::string(name), std::move(extent));
}

std::optional<IndexExpr> RangeContext::Extent(std::string_view name) const {
  const auto it = loops_.find(name);
  if (it == loops_.end()) return std::nullopt;
  return it->second;
}

Interval RangeContext::Bounds(const IndexExpr& e) const {
  BoundSearch above(*this), below(*this);
  Interval bounds = below.Quick(e);
  if (below.QuickIsExact(e)) return bounds;
  below.AssumeDefined(e);
  above.AssumeDefined(e);
  bounds.lo = std::max(bounds.lo, below.Lower(e, Interval::kPosInf));
  const std::optional<IndexExpr> negated = TrySub(0, e);
  const int64_t lower =
      negated.has_value() ? above.Lower(*negated, Interval::kPosInf) : Interval::kNegInf;
  if (lower != Interval::kNegInf) bounds.hi = std::min(bounds.hi, -lower);
  return bounds;
}

bool RangeContext::ProveLe(const IndexExpr& a, const IndexExpr& b) const {
  if (ProveLeByBounds(*this, a, b)) return true;
  const std::optional<IndexExpr> difference = TrySub(b, a);
  if (!difference.has_value() || !IndexExprAccess::Get(*difference).has_compound) return false;
  const IndexExpr simple = Simplify(*difference, *this);
  if (simple != *difference && ProveLeByBounds(*this, 0, simple)) return true;
  const IndexExpr expanded = ExpandMods(simple, *this);
  return expanded != simple && ProveLeByBounds(*this, 0, expanded);
}

bool RangeContext::ProveLt(const IndexExpr& a, const IndexExpr& b) const {
  const std::optional<IndexExpr> next = TryAdd(a, 1);
  return next.has_value() && ProveLe(*next, b);
}

bool RangeContext::ProveEq(const IndexExpr& a, const IndexExpr& b) const {
  if (a == b) return true;
  const std::optional<IndexExpr> difference = TrySub(a, b);
  if (!difference.has_value()) return false;
  const IndexExpr simple = Simplify(*difference, *this);
  if (IsValue(simple, 0) || IsValue(ExpandMods(simple, *this), 0)) return true;
  return ProveLeByBounds(*this, 0, simple) && ProveLeByBounds(*this, simple, 0);
}

namespace {

int64_t ExprDivisor(const IndexExpr& e, int64_t d);

// Largest divisor of d that is sure to divide the atom.
int64_t AtomDivisor(const IndexExpr::Atom& atom, int64_t d) {
  int64_t scaled;
  switch (atom.kind) {
    case IndexExpr::AtomKind::kVar:
      return 1;
    case IndexExpr::AtomKind::kFloorDiv: {
      // x = c*g*y makes floordiv(x, c) = g*y.
      const std::optional<int64_t> c = atom.b.AsConst();
      if (!c.has_value() || __builtin_mul_overflow(*c, d, &scaled)) return 1;
      const int64_t divisor = ExprDivisor(atom.a, scaled);
      return divisor % *c == 0 ? std::gcd(divisor / *c, d) : 1;
    }
    default:
      return std::gcd(ExprDivisor(atom.a, d), ExprDivisor(atom.b, d));
  }
}

// Largest divisor of d that is sure to divide e.
int64_t ExprDivisor(const IndexExpr& e, int64_t d) {
  int64_t result = std::gcd(e.constant(), d);
  for (const IndexExpr::Term& term : e.terms()) {
    int64_t divisor = std::gcd(term.coeff, d);
    for (const AtomPtr& atom : term.atoms) divisor *= AtomDivisor(*atom, d / divisor);
    result = std::gcd(result, divisor);
  }
  return result;
}

}  // namespace

bool RangeContext::ProveDivisible(const IndexExpr& e, int64_t d) const {
  if (d <= 0) return false;
  if (ExprDivisor(e, d) == d) return true;
  const IndexExpr simple = Simplify(e, *this);
  return ExprDivisor(simple, d) == d || ExprDivisor(ExpandMods(simple, *this), d) == d ||
         IsValue(Simplify(Mod(simple, d), *this), 0);
}

}  // namespace stax
