#include "ir/index_rewriter.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
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

using AtomKind = IndexExpr::AtomKind;
using Kind = IndexSyntax::Kind;

// Nesting of rule applications, a backstop for the stack.
constexpr int kMaxRewriteDepth = 64;

// Most work on one site, in nodes of the expressions that rules are matched with; a node takes
// about a microsecond. Trying which of n mods under a division pay when taken out together takes
// 2^n tries, and long sums are matched term by term. A site that would take more goes without
// tries, or without rules at all. Lowering stays below 1000 in its tests (2026-11-30).
constexpr int64_t kMaxRewriteWork = 1 << 13;

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

const RangeContext& NothingKnown() {
  static const auto& none = *new RangeContext;
  return none;
}

// The expression of a side of a rule, with atoms made by `make`; nullopt on overflow.
template <typename Make>
std::optional<IndexExpr> InstantiateWith(const IndexSyntax& side, RuleBindings bindings,
                                         const Make& make) {
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

// With the atoms as written instead of rewritten.
std::optional<IndexExpr> InstantiateRaw(const IndexSyntax& side, RuleBindings bindings) {
  return InstantiateWith(side, bindings, MakeAtom);
}

// Position of the only mod among the atoms; -1 for none or several.
int OnlyMod(const IndexExpr::Term& term) {
  int found = -1;
  for (size_t i = 0; i < term.atoms.size(); ++i) {
    if (term.atoms[i]->kind != AtomKind::kMod) continue;
    if (found >= 0) return -1;
    found = static_cast<int>(i);
  }
  return found;
}

}  // namespace

std::optional<IndexExpr> Rewriter::Instantiate(const IndexSyntax& side, RuleBindings bindings) {
  return InstantiateWith(
      side, bindings,
      [this](AtomKind kind, const IndexExpr& a, const IndexExpr& b) -> std::optional<IndexExpr> {
        // Contradictory divisors, such as n and -2*n, have no values; leave such nonsense alone.
        if (IsDivision(kind) && b.IsConst() && b.constant() <= 0) return std::nullopt;
        return Build(kind, a, b);
      });
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

bool Rewriter::Site::operator<(const Site& other) const {
  if (kind != other.kind) return kind < other.kind;
  if (const int order = CompareExprs(a, other.a)) return order < 0;
  return CompareExprs(b, other.b) < 0;
}

std::optional<IndexExpr> Rewriter::Rewrite(AtomKind kind, const IndexExpr& a, const IndexExpr& b) {
  // A size that is zero makes divisions by it meaningless, but they are then never evaluated.
  if (IsDivision(kind) && b.IsConst() && b.constant() <= 0) return std::nullopt;
  if (a.IsConst() && b.IsConst()) return IndexExpr(Fold(kind, a.constant(), b.constant()));
  if (depth_ >= kMaxRewriteDepth) return std::nullopt;
  if (depth_ > 0) return Recall(kind, a, b);
  // All or nothing, so that the result does not depend on where the work ran out.
  for (const bool may_try : {true, false}) {
    work_ = 0;
    may_try_ = may_try;
    std::optional<IndexExpr> result = Recall(kind, a, b);
    if (!OutOfWork()) return result;
  }
  return std::nullopt;
}

std::optional<IndexExpr> Rewriter::Recall(AtomKind kind, const IndexExpr& a, const IndexExpr& b) {
  if (&ranges_ == &NothingKnown()) return TryRules(kind, a, b);
  const Site site = {kind, a, b};
  if (const auto it = rewritten_.find(site); it != rewritten_.end()) return it->second;
  std::optional<IndexExpr> result = TryRules(kind, a, b);
  if (may_try_ && !OutOfWork()) rewritten_.emplace(site, result);
  return result;
}

bool Rewriter::OutOfWork() const { return work_ > kMaxRewriteWork; }

std::optional<IndexExpr> Rewriter::TryRules(AtomKind kind, const IndexExpr& a, const IndexExpr& b) {
  ++depth_;
  const int64_t weight = int64_t{Weight(a)} + Weight(b);
  work_ += weight;
  std::optional<IndexExpr> result;
  if (may_try_ && !OutOfWork()) result = DivideExpanded(kind, a, b);
  for (const ParsedIndexRule* rule : RulesFor(kind)) {
    if (result.has_value() || OutOfWork()) break;
    if (rule->rule->use == RuleUse::kExpansion) continue;
    if (rule->rule->use == RuleUse::kWhereSmaller && !may_try_) continue;
    rule->rule->propose({a, b, ranges_}, [&](RuleBindings bindings) {
      work_ += weight;
      if (OutOfWork()) return true;
      result = Apply(*rule, bindings);
      if (!result.has_value()) return false;
      const std::optional<IndexExpr> left_a = InstantiateRaw(rule->left.args[0], bindings);
      const std::optional<IndexExpr> left_b = InstantiateRaw(rule->left.args[1], bindings);
      if (!left_a.has_value() || !left_b.has_value()) {
        result.reset();
        return false;
      }
      STAX_CHECK(*left_a == a && *left_b == b,
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
  std::optional<IndexExpr> result = Rewrite(kind, a, b);
  return result.has_value() ? *std::move(result) : MakeAtom(kind, a, b);
}

std::optional<IndexExpr> Rewriter::ExpandMod(const IndexExpr& x, const IndexExpr& d) {
  return Instantiate(ModExpansionRule().right, {{'x', x}, {'d', d}});
}

IndexExpr Rewriter::ExpandMods(const IndexExpr& e) {
  PolyBuilder sum;
  sum.AddConstant(e.constant());
  for (const IndexExpr::Term& term : e.terms()) {
    const int mod = OnlyMod(term);
    if (mod < 0) {
      sum.AddTerm(term.coeff, term.atoms);
      continue;
    }
    const IndexExpr::Atom& atom = *term.atoms[mod];
    const std::optional<IndexExpr> expansion = ExpandMod(atom.a, atom.b);
    if (!expansion.has_value()) return e;
    std::vector<AtomPtr> others = term.atoms;
    others.erase(others.begin() + mod);
    sum.AddProduct(*expansion, term.coeff, others);
  }
  const std::optional<IndexExpr> result = sum.Finish();
  return result.has_value() ? *result : e;
}

IndexExpr MakeCompound(AtomKind kind, const IndexExpr& a, const IndexExpr& b) {
  STAX_CHECK(!IsDivision(kind) || !b.IsConst() || b.constant() > 0,
             absl::StrCat("the divisor of ", a.ToString(), " is ", b.ToString()));
  return Rewriter(NothingKnown()).Build(kind, a, b);
}

IndexExpr FloorDiv(const IndexExpr& a, const IndexExpr& b) {
  return MakeCompound(AtomKind::kFloorDiv, a, b);
}
IndexExpr Mod(const IndexExpr& a, const IndexExpr& b) { return MakeCompound(AtomKind::kMod, a, b); }
IndexExpr Min(const IndexExpr& a, const IndexExpr& b) { return MakeCompound(AtomKind::kMin, a, b); }
IndexExpr Max(const IndexExpr& a, const IndexExpr& b) { return MakeCompound(AtomKind::kMax, a, b); }

}  // namespace stax
