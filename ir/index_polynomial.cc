// Canonical polynomials: their order, the builder, and arithmetic that reports overflow.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "ir/index_expr.h"
#include "ir/index_expr_internal.h"

namespace stax {
namespace {

using Atom = IndexExpr::Atom;
using AtomKind = IndexExpr::AtomKind;
using Poly = IndexExpr::Poly;
using Term = IndexExpr::Term;

constexpr int32_t kMaxWeight = 1 << 30;

// Names without a number at the end (sizes, as a rule) come before those with one (loop variables,
// as a rule), so that strides read "n*i0". Numbers inside compare by value: i2 before i10.
int CompareNames(std::string_view a, std::string_view b) {
  if (a == b) return 0;
  const bool a_numbered = !a.empty() && absl::ascii_isdigit(a.back());
  const bool b_numbered = !b.empty() && absl::ascii_isdigit(b.back());
  if (a_numbered != b_numbered) return a_numbered ? 1 : -1;
  size_t i = 0;
  while (i < a.size() && i < b.size() && a[i] == b[i]) ++i;
  // Back to the start of the number in which the names differ, if they differ in one.
  size_t start = i;
  while (start > 0 && absl::ascii_isdigit(a[start - 1])) --start;
  const auto number_length = [start](std::string_view s) {
    size_t end = start;
    while (end < s.size() && absl::ascii_isdigit(s[end])) ++end;
    return end - start;
  };
  const size_t a_digits = number_length(a), b_digits = number_length(b);
  // Leading zeros make a number longer, not larger, but any total order will do for such names.
  if (a_digits > 0 && b_digits > 0 && a_digits != b_digits) return a_digits < b_digits ? -1 : 1;
  return a < b ? -1 : 1;
}

int32_t AtomWeight(const Atom& atom) {
  if (atom.kind == AtomKind::kVar) return 1;
  return std::min(kMaxWeight,
                  1 + IndexExprAccess::Get(atom.a).weight + IndexExprAccess::Get(atom.b).weight);
}

int Sign(int64_t a, int64_t b) { return a < b ? -1 : a > b ? 1 : 0; }

// Merges two sorted lists of atoms.
std::vector<AtomPtr> MergeAtoms(const std::vector<AtomPtr>& a, const std::vector<AtomPtr>& b) {
  std::vector<AtomPtr> merged;
  merged.reserve(a.size() + b.size());
  std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(merged),
             [](const AtomPtr& x, const AtomPtr& y) { return CompareAtoms(*x, *y) < 0; });
  return merged;
}

}  // namespace

int CompareAtoms(const Atom& a, const Atom& b) {
  if (&a == &b) return 0;
  if (a.kind != b.kind) return a.kind < b.kind ? -1 : 1;
  if (a.kind == AtomKind::kVar) return CompareNames(a.name, b.name);
  if (const int order = CompareExprs(a.a, b.a)) return order;
  return CompareExprs(a.b, b.b);
}

int CompareMonomials(const std::vector<AtomPtr>& a, const std::vector<AtomPtr>& b) {
  if (a.size() != b.size()) return a.size() > b.size() ? -1 : 1;
  for (size_t i = 0; i < a.size(); ++i) {
    if (const int order = CompareAtoms(*a[i], *b[i])) return order;
  }
  return 0;
}

int CompareExprs(const IndexExpr& a, const IndexExpr& b) {
  if (IndexExprAccess::SamePointer(a, b)) return 0;
  const std::vector<Term>& x = a.terms();
  const std::vector<Term>& y = b.terms();
  for (size_t i = 0; i < x.size() && i < y.size(); ++i) {
    if (const int order = CompareMonomials(x[i].atoms, y[i].atoms)) return order;
    if (const int order = Sign(x[i].coeff, y[i].coeff)) return order;
  }
  if (x.size() != y.size()) return x.size() < y.size() ? -1 : 1;
  return Sign(a.constant(), b.constant());
}

void PolyBuilder::AddConstant(int64_t value) {
  overflow_ |= __builtin_add_overflow(poly_.constant, value, &poly_.constant);
}

void PolyBuilder::AddTerm(int64_t coeff, std::vector<AtomPtr> atoms) {
  if (atoms.empty()) return AddConstant(coeff);
  if (coeff == 0) return;
  if (sorted_ && !poly_.terms.empty()) {
    sorted_ = CompareMonomials(poly_.terms.back().atoms, atoms) < 0;
  }
  poly_.terms.push_back({coeff, std::move(atoms)});
}

void PolyBuilder::AddScaled(const IndexExpr& e, int64_t scale) { AddProduct(e, scale, {}); }

void PolyBuilder::AddProduct(const IndexExpr& e, int64_t scale, const std::vector<AtomPtr>& atoms) {
  int64_t value;
  for (const Term& term : e.terms()) {
    overflow_ |= __builtin_mul_overflow(term.coeff, scale, &value);
    AddTerm(value, atoms.empty() ? term.atoms : MergeAtoms(term.atoms, atoms));
  }
  overflow_ |= __builtin_mul_overflow(e.constant(), scale, &value);
  AddTerm(value, atoms);
}

std::optional<IndexExpr> PolyBuilder::Finish() {
  std::vector<Term>& terms = poly_.terms;
  if (!sorted_) {
    std::sort(terms.begin(), terms.end(),
              [](const Term& a, const Term& b) { return CompareMonomials(a.atoms, b.atoms) < 0; });
    size_t kept = 0;
    for (size_t i = 0; i < terms.size(); ++i) {
      if (kept > 0 && CompareMonomials(terms[kept - 1].atoms, terms[i].atoms) == 0) {
        int64_t& coeff = terms[kept - 1].coeff;
        overflow_ |= __builtin_add_overflow(coeff, terms[i].coeff, &coeff);
        continue;
      }
      if (kept > 0 && terms[kept - 1].coeff == 0) --kept;
      if (kept != i) terms[kept] = std::move(terms[i]);
      ++kept;
    }
    if (kept > 0 && terms[kept - 1].coeff == 0) --kept;
    terms.resize(kept);
  }
  overflow_ |= poly_.constant == INT64_MIN;
  int64_t weight = poly_.constant != 0 || terms.empty() ? 1 : 0;
  for (const Term& term : terms) {
    overflow_ |= term.coeff == INT64_MIN;
    if (term.coeff != 1) ++weight;
    for (const AtomPtr& atom : term.atoms) {
      weight = std::min<int64_t>(kMaxWeight, weight + AtomWeight(*atom));
      poly_.has_compound |= atom->kind != AtomKind::kVar;
    }
  }
  if (overflow_) return std::nullopt;
  poly_.weight = static_cast<int32_t>(weight);
  return IndexExprAccess::Make(std::make_shared<Poly>(std::move(poly_)));
}

IndexExpr AtomExpr(AtomPtr atom) {
  Poly poly;
  poly.weight = AtomWeight(*atom);
  poly.has_compound = atom->kind != AtomKind::kVar;
  poly.terms.push_back({1, {std::move(atom)}});
  return IndexExprAccess::Make(std::make_shared<Poly>(std::move(poly)));
}

IndexExpr TermExpr(const Term& term) {
  PolyBuilder builder;
  builder.AddTerm(term.coeff, term.atoms);
  return *builder.Finish();
}

IndexExpr MakeAtom(AtomKind kind, IndexExpr a, IndexExpr b) {
  return AtomExpr(std::make_shared<Atom>(Atom{kind, "", std::move(a), std::move(b)}));
}

std::optional<IndexExpr> TryAdd(const IndexExpr& a, const IndexExpr& b) {
  PolyBuilder builder;
  builder.Reserve(a.terms().size() + b.terms().size());
  builder.AddScaled(a, 1);
  builder.AddScaled(b, 1);
  return builder.Finish();
}

std::optional<IndexExpr> TrySub(const IndexExpr& a, const IndexExpr& b) {
  PolyBuilder builder;
  builder.Reserve(a.terms().size() + b.terms().size());
  builder.AddScaled(a, 1);
  builder.AddScaled(b, -1);
  return builder.Finish();
}

std::optional<IndexExpr> TryMul(const IndexExpr& a, const IndexExpr& b) {
  const IndexExpr& shorter = a.terms().size() < b.terms().size() ? a : b;
  const IndexExpr& longer = &shorter == &a ? b : a;
  PolyBuilder builder;
  builder.Reserve((a.terms().size() + 1) * (b.terms().size() + 1));
  for (const Term& term : shorter.terms()) builder.AddProduct(longer, term.coeff, term.atoms);
  builder.AddScaled(longer, shorter.constant());
  return builder.Finish();
}

}  // namespace stax
