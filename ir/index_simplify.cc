// Applies the rule table: in the constructors FloorDiv, Mod, Min and Max with nothing known about
// variables, and in Simplify with their ranges.
//
// Simplify repeats passes until one changes nothing, which makes it idempotent. A pass rewrites
// every atom from the inside out and recombines the terms of every sum. Rules that apply always
// lower the number or the nesting of atoms, or sort operands; all others must lower the weight.
#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ir/check.h"
#include "ir/index_expr.h"
#include "ir/index_expr_internal.h"
#include "ir/index_expr_parse.h"
#include "ir/index_rules.h"

namespace stax {
namespace {

using Atom = IndexExpr::Atom;
using AtomKind = IndexExpr::AtomKind;
using Kind = IndexSyntax::Kind;
using Term = IndexExpr::Term;

// A backstop for Simplify: of 300 thousand random expressions none took more than four passes.
constexpr int kMaxPasses = 32;
// Largest sum that Recombine and DivideExpanded look at, so that time stays near linear. Sums from
// reshapes that cancel are far smaller; larger ones come from reshapes that have nothing in common.
constexpr int32_t kMaxRecombinedWeight = 200;
// Nesting of rule applications, a backstop for the stack.
constexpr int kMaxRewriteDepth = 64;

AtomKind KindOf(const IndexSyntax& node) {
  switch (node.kind) {
    case Kind::kFloorDiv:
      return AtomKind::kFloorDiv;
    case Kind::kMod:
      return AtomKind::kMod;
    case Kind::kMin:
      return AtomKind::kMin;
    case Kind::kMax:
      return AtomKind::kMax;
    default:
      return AtomKind::kVar;
  }
}

// Rules by the kind of the atom they rewrite, so that a site tries only those.
const std::vector<const ParsedIndexRule*>& RulesFor(AtomKind kind) {
  using Lists = std::vector<std::vector<const ParsedIndexRule*>>;
  static const Lists& lists = *[] {
    auto* lists = new Lists(static_cast<size_t>(AtomKind::kMax) + 1);
    for (const ParsedIndexRule& rule : AllIndexRules()) {
      (*lists)[static_cast<size_t>(KindOf(rule.left))].push_back(&rule);
    }
    return lists;
  }();
  return lists[static_cast<size_t>(kind)];
}

int32_t Weight(const IndexExpr& e) { return IndexExprAccess::Get(e).weight; }

const RangeContext& NothingKnown() {
  static const auto& none = *new RangeContext;
  return none;
}

bool IsDivision(AtomKind kind) { return kind == AtomKind::kFloorDiv || kind == AtomKind::kMod; }

int64_t Fold(AtomKind kind, int64_t a, int64_t b) {
  switch (kind) {
    case AtomKind::kFloorDiv:
      return FloorDivInt(a, b);
    case AtomKind::kMod:
      return ModInt(a, b);
    case AtomKind::kMin:
      return std::min(a, b);
    default:
      return std::max(a, b);
  }
}

class Rewriter {
 public:
  explicit Rewriter(const RangeContext& ranges) : ranges_(ranges) {}

  // kind(a, b) with the rules applied to it and to what they build, not inside a and b.
  IndexExpr Build(AtomKind kind, const IndexExpr& a, const IndexExpr& b);

  // One pass over e: atoms from the inside out, then the sum.
  IndexExpr Pass(const IndexExpr& e);

  IndexExpr ExpandMods(const IndexExpr& e);

 private:
  // The result of the first rule that applies; nullopt when none does.
  std::optional<IndexExpr> ApplyRules(AtomKind kind, const IndexExpr& a, const IndexExpr& b);
  std::optional<IndexExpr> TryRules(AtomKind kind, const IndexExpr& a, const IndexExpr& b);
  std::optional<IndexExpr> Apply(const ParsedIndexRule& rule, RuleBindings bindings);
  bool Holds(const RuleCondition& condition, RuleBindings bindings);
  // The expression of a side of a rule; nullopt on overflow.
  std::optional<IndexExpr> Instantiate(const IndexSyntax& side, RuleBindings bindings);
  // With the atoms as written instead of rewritten.
  static std::optional<IndexExpr> InstantiateRaw(const IndexSyntax& side, RuleBindings bindings);
  static bool Matches(const IndexSyntax& side, RuleBindings bindings, const IndexExpr& e) {
    const std::optional<IndexExpr> instance = InstantiateRaw(side, bindings);
    return instance.has_value() && *instance == e;
  }
  template <typename MakeCompound>
  static std::optional<IndexExpr> InstantiateWith(const IndexSyntax& side, RuleBindings bindings,
                                                  const MakeCompound& make);

  std::optional<IndexExpr> DivideExpanded(AtomKind kind, const IndexExpr& a, const IndexExpr& b);

  IndexExpr PassAtom(const AtomPtr& atom);
  IndexExpr Recombine(const IndexExpr& e);
  IndexExpr ContractMods(IndexExpr e);
  bool ContractOne(IndexExpr* e);

  struct Site {
    AtomKind kind;
    IndexExpr a, b;
    bool operator<(const Site& other) const {
      if (kind != other.kind) return kind < other.kind;
      if (const int order = CompareExprs(a, other.a)) return order < 0;
      return CompareExprs(b, other.b) < 0;
    }
  };

  const RangeContext& ranges_;
  int depth_ = 0;
  // Results of ApplyRules in Simplify: Recombine tries variants of a sum that share most of their
  // atoms.
  std::map<Site, std::optional<IndexExpr>> applied_;
  // Results of PassAtom; the keys are kept alive by `alive_`.
  std::unordered_map<const Atom*, IndexExpr> passed_;
  std::vector<AtomPtr> alive_;
};

template <typename MakeCompound>
std::optional<IndexExpr> Rewriter::InstantiateWith(const IndexSyntax& side, RuleBindings bindings,
                                                   const MakeCompound& make) {
  switch (side.kind) {
    case Kind::kConst:
      return IndexExpr(side.value);
    case Kind::kVar:
      for (const RuleBinding& binding : bindings) {
        if (binding.letter == side.name[0]) return binding.value;
      }
      CheckFailed(__FILE__, __LINE__, "binding",
                  absl::StrCat("a rule proposes no value for ", side.name));
    case Kind::kNegate:
    case Kind::kSum: {
      PolyBuilder sum;
      for (const IndexSyntax& arg : side.args) {
        const bool negate = arg.kind == Kind::kNegate;
        const std::optional<IndexExpr> e =
            InstantiateWith(negate ? arg.args[0] : arg, bindings, make);
        if (!e.has_value()) return std::nullopt;
        sum.AddScaled(*e, negate != (side.kind == Kind::kNegate) ? -1 : 1);
      }
      return sum.Finish();
    }
    case Kind::kProduct: {
      std::optional<IndexExpr> product = InstantiateWith(side.args[0], bindings, make);
      for (size_t i = 1; i < side.args.size() && product.has_value(); ++i) {
        const std::optional<IndexExpr> e = InstantiateWith(side.args[i], bindings, make);
        if (!e.has_value()) return std::nullopt;
        product = TryMul(*product, *e);
      }
      return product;
    }
    default: {
      const std::optional<IndexExpr> a = InstantiateWith(side.args[0], bindings, make);
      const std::optional<IndexExpr> b = InstantiateWith(side.args[1], bindings, make);
      if (!a.has_value() || !b.has_value()) return std::nullopt;
      return make(KindOf(side), *a, *b);
    }
  }
}

std::optional<IndexExpr> Rewriter::Instantiate(const IndexSyntax& side, RuleBindings bindings) {
  return InstantiateWith(
      side, bindings,
      [this](AtomKind kind, const IndexExpr& a, const IndexExpr& b) -> std::optional<IndexExpr> {
        // Contradictory divisors, such as n and -2*n, have no values; leave such nonsense alone.
        if (IsDivision(kind) && b.IsConst() && b.constant() <= 0) return std::nullopt;
        return Build(kind, a, b);
      });
}

std::optional<IndexExpr> Rewriter::InstantiateRaw(const IndexSyntax& side, RuleBindings bindings) {
  return InstantiateWith(side, bindings, MakeAtom);
}

bool Rewriter::Holds(const RuleCondition& condition, RuleBindings bindings) {
  const std::optional<IndexExpr> a = InstantiateRaw(condition.a, bindings);
  const std::optional<IndexExpr> b = InstantiateRaw(condition.b, bindings);
  if (!a.has_value() || !b.has_value()) return false;
  switch (condition.relation) {
    case RuleCondition::Relation::kEq:
      return *a == *b;
    case RuleCondition::Relation::kLe:
      return ProveLeByBounds(ranges_, *a, *b);
    case RuleCondition::Relation::kLt: {
      const std::optional<IndexExpr> next = TryAdd(*a, 1);
      return next.has_value() && ProveLeByBounds(ranges_, *next, *b);
    }
  }
  return false;
}

std::optional<IndexExpr> Rewriter::Apply(const ParsedIndexRule& rule, RuleBindings bindings) {
  for (const RuleCondition& condition : rule.conditions) {
    if (!Holds(condition, bindings)) return std::nullopt;
  }
  return Instantiate(rule.right, bindings);
}

std::optional<IndexExpr> Rewriter::ApplyRules(AtomKind kind, const IndexExpr& a,
                                              const IndexExpr& b) {
  // A size that is zero makes divisions by it meaningless, but they are then never evaluated.
  if (IsDivision(kind) && b.IsConst() && b.constant() <= 0) return std::nullopt;
  if (a.IsConst() && b.IsConst()) return IndexExpr(Fold(kind, a.constant(), b.constant()));
  if (depth_ >= kMaxRewriteDepth) return std::nullopt;
  if (&ranges_ == &NothingKnown()) return TryRules(kind, a, b);
  const Site site = {kind, a, b};
  if (const auto it = applied_.find(site); it != applied_.end()) return it->second;
  std::optional<IndexExpr> result = TryRules(kind, a, b);
  applied_.emplace(site, result);
  return result;
}

std::optional<IndexExpr> Rewriter::TryRules(AtomKind kind, const IndexExpr& a, const IndexExpr& b) {
  ++depth_;
  std::optional<IndexExpr> result = DivideExpanded(kind, a, b);
  for (const ParsedIndexRule* rule : RulesFor(kind)) {
    if (result.has_value()) break;
    if (rule->rule->use == RuleUse::kExpansion) continue;
    rule->rule->propose({a, b, ranges_}, [&](RuleBindings bindings) {
      result = Apply(*rule, bindings);
      if (!result.has_value()) return false;
      STAX_CHECK(
          Matches(rule->left.args[0], bindings, a) && Matches(rule->left.args[1], bindings, b),
          absl::StrCat("rule ", rule->rule->name, " was proposed where it does not match"));
      const bool wanted =
          rule->rule->use == RuleUse::kAlways || Weight(*result) < Weight(a) + Weight(b) + 1;
      if (!wanted) result.reset();
      return wanted;
    });
  }
  --depth_;
  return result;
}

// floordiv or mod of a sum whose mods are written as differences, if that is shorter: the parts of
// floordiv(x, 12) + mod(floordiv(x, 4), 3), which is floordiv(x, 4) - 2*floordiv(x, 12), are then
// split off one by one.
std::optional<IndexExpr> Rewriter::DivideExpanded(AtomKind kind, const IndexExpr& a,
                                                  const IndexExpr& b) {
  if (!IsDivision(kind)) return std::nullopt;
  if (a.terms().size() < 2 || !IndexExprAccess::Get(a).has_compound) return std::nullopt;
  if (Weight(a) > kMaxRecombinedWeight) return std::nullopt;
  const IndexExpr expanded = ExpandMods(a);
  if (expanded == a) return std::nullopt;
  IndexExpr result = Build(kind, expanded, b);
  if (Weight(result) >= Weight(a) + Weight(b) + 1) return std::nullopt;
  return result;
}

IndexExpr Rewriter::Build(AtomKind kind, const IndexExpr& a, const IndexExpr& b) {
  std::optional<IndexExpr> result = ApplyRules(kind, a, b);
  return result.has_value() ? *std::move(result) : MakeAtom(kind, a, b);
}

IndexExpr Rewriter::PassAtom(const AtomPtr& atom) {
  if (atom->kind == AtomKind::kVar) {
    const std::optional<int64_t> value = OnlyValue(ranges_, atom->name);
    return value.has_value() ? IndexExpr(*value) : AtomExpr(atom);
  }
  if (const auto it = passed_.find(atom.get()); it != passed_.end()) return it->second;
  const IndexExpr a = Pass(atom->a), b = Pass(atom->b);
  std::optional<IndexExpr> result = ApplyRules(atom->kind, a, b);
  if (!result.has_value()) {
    result = a == atom->a && b == atom->b ? AtomExpr(atom) : MakeAtom(atom->kind, a, b);
  }
  alive_.push_back(atom);
  passed_.emplace(atom.get(), *result);
  return *result;
}

IndexExpr Rewriter::Pass(const IndexExpr& e) {
  PolyBuilder sum;
  sum.AddConstant(e.constant());
  bool compounds = false;
  for (const Term& term : e.terms()) {
    bool changes = false;
    for (const AtomPtr& atom : term.atoms) {
      changes |= atom->kind != AtomKind::kVar || OnlyValue(ranges_, atom->name).has_value();
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

// Position of the only mod among the atoms; -1 for none or several.
int OnlyMod(const Term& term) {
  int found = -1;
  for (size_t i = 0; i < term.atoms.size(); ++i) {
    if (term.atoms[i]->kind != AtomKind::kMod) continue;
    if (found >= 0) return -1;
    found = static_cast<int>(i);
  }
  return found;
}

IndexExpr Rewriter::ExpandMods(const IndexExpr& e) {
  PolyBuilder sum;
  sum.AddConstant(e.constant());
  for (const Term& term : e.terms()) {
    const int mod = OnlyMod(term);
    if (mod < 0) {
      sum.AddTerm(term.coeff, term.atoms);
      continue;
    }
    const Atom& atom = *term.atoms[mod];
    const std::optional<IndexExpr> expansion =
        Instantiate(ModExpansionRule().right, {{'x', atom.a}, {'d', atom.b}});
    if (!expansion.has_value()) return e;
    std::vector<AtomPtr> others = term.atoms;
    others.erase(others.begin() + mod);
    sum.AddProduct(*expansion, term.coeff, others);
  }
  const std::optional<IndexExpr> result = sum.Finish();
  return result.has_value() ? *result : e;
}

// What a part of a sum that comes from c*mod(y, k) looks like after expansion: c*y - c*k*q with
// q = floordiv(y, k). Given an atom q = floordiv(x, d) and its coefficient, proposes k = d with
// y = x, and divisors k of d with y = floordiv(x, d/k).
std::vector<IndexExpr> CandidateDivisors(const IndexExpr& coeff, const IndexExpr& d) {
  std::vector<IndexExpr> candidates = {d};
  if (IsValue(coeff, 0) || d.IsConst() != coeff.IsConst()) return candidates;
  const auto add = [&](const IndexExpr& k) {
    if (std::find(candidates.begin(), candidates.end(), k) == candidates.end()) {
      candidates.push_back(k);
    }
  };
  if (coeff.IsConst()) {
    // Small divisors only: reshapes split off factors one at a time.
    const int64_t gcd = std::gcd(coeff.constant(), d.constant());
    add(gcd);
    for (int64_t k = 2; k <= 64 && k < gcd; ++k) {
      if (gcd % k == 0) add(k), add(gcd / k);
    }
    return candidates;
  }
  if (const std::optional<IndexExpr> minus = TrySub(0, coeff)) add(*minus);
  add(TermExpr(MonomialGcd(coeff, MonomialGcd(d, d.terms()[0]))));
  return candidates;
}

bool Rewriter::ContractOne(IndexExpr* e) {
  IndexExpr best = *e;
  for (const Term& term : e->terms()) {
    for (const AtomPtr& atom : term.atoms) {
      if (atom->kind != AtomKind::kFloorDiv) continue;
      const std::optional<LinearForm> form = LinearIn(*e, *atom);
      if (!form.has_value()) continue;
      for (const IndexExpr& k : CandidateDivisors(form->coeff, atom->b)) {
        const std::optional<IndexExpr> c = ExactQuotient(form->coeff, k);
        const std::optional<IndexExpr> outer = ExactQuotient(atom->b, k);
        if (!c.has_value() || !outer.has_value()) continue;
        if (!ProveLeByBounds(ranges_, 1, k) && k != atom->b) continue;
        const IndexExpr y = Build(AtomKind::kFloorDiv, atom->a, *outer);
        const std::optional<IndexExpr> expansion =
            Instantiate(ModExpansionRule().right, {{'x', y}, {'d', k}});
        if (!expansion.has_value()) continue;
        const std::optional<IndexExpr> change = TrySub(*expansion, Build(AtomKind::kMod, y, k));
        if (!change.has_value()) continue;
        // c is minus the factor of the mod.
        const std::optional<IndexExpr> scaled = TryMul(*c, *change);
        if (!scaled.has_value()) continue;
        const std::optional<IndexExpr> contracted = TryAdd(*e, *scaled);
        if (contracted.has_value() && Weight(*contracted) < Weight(best)) best = *contracted;
      }
    }
  }
  if (best == *e) return false;
  *e = std::move(best);
  return true;
}

IndexExpr Rewriter::ContractMods(IndexExpr e) {
  while (ContractOne(&e)) {
  }
  return e;
}

// Puts together what division took apart: d*floordiv(x, d) + mod(x, d) = x and its like for more
// digits, by writing all mods as differences, where they cancel, and going back where that is
// shorter.
IndexExpr Rewriter::Recombine(const IndexExpr& e) {
  if (e.terms().size() < 2 || Weight(e) > kMaxRecombinedWeight) return e;
  IndexExpr result = ContractMods(ExpandMods(e));
  return Weight(result) < Weight(e) ? result : e;
}

}  // namespace

IndexExpr ExpandMods(const IndexExpr& e, const RangeContext& ranges) {
  return Rewriter(ranges).ExpandMods(e);
}

namespace {

IndexExpr MakeCompound(AtomKind kind, const IndexExpr& a, const IndexExpr& b) {
  return Rewriter(NothingKnown()).Build(kind, a, b);
}

IndexExpr MakeDivision(AtomKind kind, const IndexExpr& a, const IndexExpr& b) {
  STAX_CHECK(!b.IsConst() || b.constant() > 0,
             absl::StrCat("the divisor of ", a.ToString(), " is ", b.ToString()));
  return MakeCompound(kind, a, b);
}

}  // namespace

IndexExpr FloorDiv(const IndexExpr& a, const IndexExpr& b) {
  return MakeDivision(AtomKind::kFloorDiv, a, b);
}
IndexExpr Mod(const IndexExpr& a, const IndexExpr& b) { return MakeDivision(AtomKind::kMod, a, b); }
IndexExpr Min(const IndexExpr& a, const IndexExpr& b) { return MakeCompound(AtomKind::kMin, a, b); }
IndexExpr Max(const IndexExpr& a, const IndexExpr& b) { return MakeCompound(AtomKind::kMax, a, b); }

IndexExpr Simplify(const IndexExpr& e, const RangeContext& ranges) {
  Rewriter rewriter(ranges);
  IndexExpr current = e;
  for (int pass = 0; pass < kMaxPasses; ++pass) {
    IndexExpr next = rewriter.Pass(current);
    if (next == current) break;
    current = std::move(next);
  }
  return current;
}

}  // namespace stax
