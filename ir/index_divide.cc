// Division of polynomials, the basis of the rules for floordiv and mod.
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "ir/index_expr.h"
#include "ir/index_expr_internal.h"

namespace stax {
namespace {

using Term = IndexExpr::Term;

// Atoms of `a` without those of `b` (both sorted); nullopt when b does not divide a.
std::optional<std::vector<AtomPtr>> RemoveAtoms(const std::vector<AtomPtr>& a,
                                                const std::vector<AtomPtr>& b) {
  std::vector<AtomPtr> left;
  size_t j = 0;
  for (const AtomPtr& atom : a) {
    const int order = j < b.size() ? CompareAtoms(*atom, *b[j]) : -1;
    if (order > 0) return std::nullopt;
    if (order == 0) {
      ++j;
    } else {
      left.push_back(atom);
    }
  }
  if (j < b.size()) return std::nullopt;
  return left;
}

std::vector<AtomPtr> CommonAtoms(const std::vector<AtomPtr>& a, const std::vector<AtomPtr>& b) {
  std::vector<AtomPtr> common;
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const int order = CompareAtoms(*a[i], *b[j]);
    if (order == 0) common.push_back(a[i]);
    if (order <= 0) ++i;
    if (order >= 0) ++j;
  }
  return common;
}

std::optional<Division> DivideByConstant(const IndexExpr& a, int64_t d) {
  PolyBuilder quotient, rest;
  for (const Term& term : a.terms()) {
    int64_t q = term.coeff / d, r = term.coeff % d;
    // -10*i becomes i for d = 11, but -i does not become 10*i, whose range is wider.
    if (d > 0 && r <= d / 2 - d) {
      --q;
      r += d;
    }
    quotient.AddTerm(q, term.atoms);
    rest.AddTerm(r, term.atoms);
  }
  quotient.AddConstant(d > 0 ? FloorDivInt(a.constant(), d) : a.constant() / d);
  rest.AddConstant(d > 0 ? ModInt(a.constant(), d) : a.constant() % d);
  std::optional<IndexExpr> q = quotient.Finish(), r = rest.Finish();
  if (!q.has_value() || !r.has_value()) return std::nullopt;
  return Division{*std::move(q), *std::move(r)};
}

// Each term on its own: what is subtracted for one changes no other.
std::optional<Division> DivideByMonomial(const IndexExpr& a, const Term& d) {
  PolyBuilder quotient, rest;
  rest.AddConstant(a.constant());
  for (const Term& term : a.terms()) {
    const int64_t coeff = term.coeff / d.coeff;
    std::optional<std::vector<AtomPtr>> atoms;
    if (coeff != 0) atoms = RemoveAtoms(term.atoms, d.atoms);
    rest.AddTerm(atoms.has_value() ? term.coeff % d.coeff : term.coeff, term.atoms);
    if (atoms.has_value()) quotient.AddTerm(coeff, *std::move(atoms));
  }
  std::optional<IndexExpr> q = quotient.Finish(), r = rest.Finish();
  if (!q.has_value() || !r.has_value()) return std::nullopt;
  return Division{*std::move(q), *std::move(r)};
}

// Terms that a division may write before it is given up. It writes what is left anew for each term
// of the quotient, so that sums of a thousand terms would take a second.
constexpr size_t kMaxWrittenTerms = 1 << 12;

}  // namespace

std::optional<Division> Divide(const IndexExpr& a, const IndexExpr& d) {
  if (d.IsConst()) return DivideByConstant(a, d.constant());
  const Term& lead = d.terms()[0];
  if (d.terms().size() == 1 && d.constant() == 0) return DivideByMonomial(a, lead);
  PolyBuilder quotient;
  IndexExpr left = a;
  size_t written = 0;
  size_t done = 0;  // terms of `left` before this one stay in the rest
  while (done < left.terms().size()) {
    const Term& term = left.terms()[done];
    const int64_t coeff = term.coeff / lead.coeff;
    std::optional<std::vector<AtomPtr>> atoms;
    if (coeff != 0) atoms = RemoveAtoms(term.atoms, lead.atoms);
    if (!atoms.has_value()) {
      ++done;
      continue;
    }
    written += left.terms().size();
    if (written > kMaxWrittenTerms) return std::nullopt;
    // Subtracting coeff * atoms * d changes this term and smaller ones only.
    PolyBuilder difference;
    difference.AddScaled(left, 1);
    difference.AddProduct(d, -coeff, *atoms);
    quotient.AddTerm(coeff, *std::move(atoms));
    std::optional<IndexExpr> next = difference.Finish();
    if (!next.has_value()) return std::nullopt;
    const bool gone = term.coeff % lead.coeff == 0;
    left = *std::move(next);
    if (!gone) ++done;
  }
  std::optional<IndexExpr> q = quotient.Finish();
  if (!q.has_value()) return std::nullopt;
  return Division{*std::move(q), std::move(left)};
}

std::optional<IndexExpr> ExactQuotient(const IndexExpr& a, const IndexExpr& d) {
  if (d.IsConst() && d.constant() == 0) return std::nullopt;
  std::optional<Division> division = Divide(a, d);
  if (!division.has_value() || !IsValue(division->rest, 0)) return std::nullopt;
  return std::move(division->quotient);
}

Term MonomialGcd(const IndexExpr& a, Term b) {
  Term gcd = {b.coeff, std::move(b.atoms)};
  for (const Term& term : a.terms()) {
    gcd.coeff = std::gcd(gcd.coeff, term.coeff);
    gcd.atoms = CommonAtoms(gcd.atoms, term.atoms);
  }
  if (a.constant() != 0) {
    gcd.coeff = std::gcd(gcd.coeff, a.constant());
    gcd.atoms.clear();
  }
  if (gcd.coeff < 0) gcd.coeff = -gcd.coeff;
  return gcd;
}

std::optional<LinearForm> LinearIn(const IndexExpr& e, const IndexExpr::Atom& atom) {
  PolyBuilder coeff, rest;
  rest.AddConstant(e.constant());
  for (const Term& term : e.terms()) {
    std::vector<AtomPtr> others;
    for (const AtomPtr& factor : term.atoms) {
      if (CompareAtoms(*factor, atom) != 0) others.push_back(factor);
    }
    const size_t power = term.atoms.size() - others.size();
    if (power > 1) return std::nullopt;
    (power == 1 ? coeff : rest).AddTerm(term.coeff, std::move(others));
  }
  return LinearForm{*coeff.Finish(), *rest.Finish()};
}

}  // namespace stax
