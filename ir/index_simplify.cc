// Simplify repeats passes until one changes nothing, which makes it idempotent. A pass rewrites
// every atom from the inside out and recombines the terms of every sum. Rules that apply always
// lower the number or the nesting of atoms, or sort operands; all else must lower the weight.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/index_expr.h"
#include "ir/index_expr_internal.h"
#include "ir/index_rewriter.h"

namespace stax {
namespace {

using Atom = IndexExpr::Atom;
using AtomKind = IndexExpr::AtomKind;
using Term = IndexExpr::Term;

// A backstop: of 300 thousand random expressions none took more than four passes.
constexpr int kMaxPasses = 32;
// Divisors of constants that Recombine tries; reshapes split off small factors one at a time.
constexpr int64_t kMaxTriedDivisor = 64;

class Simplifier {
 public:
  explicit Simplifier(const RangeContext& ranges) : rewriter_(ranges) {}

  // One pass over e: atoms from the inside out, then the sum.
  IndexExpr Pass(const IndexExpr& e);

 private:
  IndexExpr PassAtom(const AtomPtr& atom);
  IndexExpr Recombine(const IndexExpr& e);
  IndexExpr ContractMods(IndexExpr e);
  std::optional<IndexExpr> Contract(const IndexExpr& e, const Atom& quotient,
                                    const IndexExpr& coeff, const IndexExpr& k);

  Rewriter rewriter_;
  // Results of PassAtom; the keys are kept alive by `alive_`.
  std::unordered_map<const Atom*, IndexExpr> passed_;
  std::vector<AtomPtr> alive_;
};

IndexExpr Simplifier::PassAtom(const AtomPtr& atom) {
  if (atom->kind == AtomKind::kVar) {
    const std::optional<int64_t> value = OnlyValue(rewriter_.ranges(), atom->name);
    return value.has_value() ? IndexExpr(*value) : AtomExpr(atom);
  }
  if (const auto it = passed_.find(atom.get()); it != passed_.end()) return it->second;
  const IndexExpr a = Pass(atom->a), b = Pass(atom->b);
  std::optional<IndexExpr> result = rewriter_.Rewrite(atom->kind, a, b);
  if (!result.has_value()) {
    result = a == atom->a && b == atom->b ? AtomExpr(atom) : MakeAtom(atom->kind, a, b);
  }
  alive_.push_back(atom);
  passed_.emplace(atom.get(), *result);
  return *result;
}

IndexExpr Simplifier::Pass(const IndexExpr& e) {
  PolyBuilder sum;
  sum.AddConstant(e.constant());
  bool compounds = false;
  for (const Term& term : e.terms()) {
    bool changes = false;
    for (const AtomPtr& atom : term.atoms) {
      changes |=
          atom->kind != AtomKind::kVar || OnlyValue(rewriter_.ranges(), atom->name).has_value();
      compounds |= atom->kind != AtomKind::kVar;
    }
    if (!changes) {
      sum.AddTerm(term.coeff, term.atoms);
      continue;
    }
    std::optional<IndexExpr> product = IndexExpr(term.coeff);
    for (const AtomPtr& atom : term.atoms) {
      product = TryMul(*product, PassAtom(atom));
      if (!product.has_value()) return e;
    }
    sum.AddScaled(*product, 1);
  }
  const std::optional<IndexExpr> result = sum.Finish();
  if (!result.has_value()) return e;
  return compounds ? Recombine(*result) : *result;
}

// Puts together what division took apart: d*floordiv(x, d) + mod(x, d) = x and its like for more
// digits, by writing all mods as differences, where they cancel, and going back where that is
// shorter.
IndexExpr Simplifier::Recombine(const IndexExpr& e) {
  if (e.terms().size() < 2 || Weight(e) > kMaxRecombinedWeight) return e;
  IndexExpr result = ContractMods(rewriter_.ExpandMods(e));
  return Weight(result) < Weight(e) ? result : e;
}

// Expanded, c*mod(y, k) is c*y - c*k*q with q = floordiv(y, k). The values of k that q =
// floordiv(x, d) with the coefficient `coeff` may come from: d itself with y = x, and divisors of d
// that divide `coeff` too, with y = floordiv(x, d/k).
std::vector<IndexExpr> CandidateDivisors(const IndexExpr& coeff, const IndexExpr& d) {
  std::vector<IndexExpr> candidates = {d};
  const auto add = [&](const IndexExpr& k) {
    if (IsValue(k, 1)) return;
    if (std::find(candidates.begin(), candidates.end(), k) == candidates.end()) {
      candidates.push_back(k);
    }
  };
  const Term whole = d.IsConst() ? Term{d.constant(), {}} : d.terms()[0];
  const Term gcd = MonomialGcd(coeff, MonomialGcd(d, whole));
  add(TermExpr(gcd));
  if (!gcd.atoms.empty()) add(TermExpr({1, gcd.atoms}));
  add(gcd.coeff);
  for (int64_t k = 2; k <= kMaxTriedDivisor && k < gcd.coeff; ++k) {
    if (gcd.coeff % k != 0) continue;
    add(k);
    add(gcd.coeff / k);
  }
  // c = 1 where k is a sum such as n + 2.
  const std::optional<IndexExpr> minus = TrySub(0, coeff);
  if (coeff.terms().size() > 1 && minus.has_value()) add(*minus);
  return candidates;
}

// e, which has the term coeff*quotient, with the part of it that makes up a mod by k as that mod;
// nullopt when there is no such k.
std::optional<IndexExpr> Simplifier::Contract(const IndexExpr& e, const Atom& quotient,
                                              const IndexExpr& coeff, const IndexExpr& k) {
  const std::optional<IndexExpr> minus_c = ExactQuotient(coeff, k);
  const std::optional<IndexExpr> inner = ExactQuotient(quotient.b, k);
  if (!minus_c.has_value() || !inner.has_value()) return std::nullopt;
  if (k != quotient.b && !ProveLeByBounds(rewriter_.ranges(), 1, k)) return std::nullopt;
  const IndexExpr y = rewriter_.Build(AtomKind::kFloorDiv, quotient.a, *inner);
  const std::optional<IndexExpr> expanded = rewriter_.ExpandMod(y, k);
  if (!expanded.has_value()) return std::nullopt;
  // The difference is zero, so any multiple of it may be added.
  const std::optional<IndexExpr> zero = TrySub(*expanded, rewriter_.Build(AtomKind::kMod, y, k));
  const std::optional<IndexExpr> scaled = zero.has_value() ? TryMul(*minus_c, *zero) : std::nullopt;
  return scaled.has_value() ? TryAdd(e, *scaled) : std::nullopt;
}

// Writes parts of e as mods as long as that makes it shorter.
IndexExpr Simplifier::ContractMods(IndexExpr e) {
  while (true) {
    IndexExpr best = e;
    for (const Term& term : e.terms()) {
      for (const AtomPtr& atom : term.atoms) {
        if (atom->kind != AtomKind::kFloorDiv) continue;
        const std::optional<LinearForm> form = LinearIn(e, *atom);
        if (!form.has_value()) continue;
        for (const IndexExpr& k : CandidateDivisors(form->coeff, atom->b)) {
          std::optional<IndexExpr> shorter = Contract(e, *atom, form->coeff, k);
          if (shorter.has_value() && Weight(*shorter) < Weight(best)) best = *std::move(shorter);
        }
      }
    }
    if (Weight(best) == Weight(e)) return e;
    e = std::move(best);
  }
}

}  // namespace

IndexExpr ExpandMods(const IndexExpr& e, const RangeContext& ranges) {
  return Rewriter(ranges).ExpandMods(e);
}

IndexExpr Simplify(const IndexExpr& e, const RangeContext& ranges) {
  Simplifier simplifier(ranges);
  IndexExpr current = e;
  for (int pass = 0; pass < kMaxPasses; ++pass) {
    IndexExpr next = simplifier.Pass(current);
    if (next == current) break;
    current = std::move(next);
  }
  return current;
}

}  // namespace stax
