#include "ir/index_rules.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_split.h"
#include "ir/check.h"
#include "ir/index_expr.h"
#include "ir/index_expr_internal.h"
#include "ir/index_expr_parse.h"

namespace stax {
namespace {

using Atom = IndexExpr::Atom;
using AtomKind = IndexExpr::AtomKind;
using Term = IndexExpr::Term;

// The atom if e is exactly one atom of `kind`.
const Atom* AsAtom(const IndexExpr& e, AtomKind kind) {
  if (e.terms().size() != 1 || e.constant() != 0) return nullptr;
  const Term& term = e.terms()[0];
  const bool is = term.coeff == 1 && term.atoms.size() == 1 && term.atoms[0]->kind == kind;
  return is ? term.atoms[0].get() : nullptr;
}

// a = d*x + y with x != 0.
void ProposeSplit(const RuleSite& site, RuleAttempt attempt) {
  const std::optional<Division> division = Divide(site.a, site.b);
  if (!division.has_value() || IsValue(division->quotient, 0)) return;
  attempt({{'d', site.b}, {'x', division->quotient}, {'y', division->rest}});
}

// a = y in [q*d, q*d + d) for a constant q.
void ProposeWithin(const RuleSite& site, RuleAttempt attempt) {
  const std::optional<int64_t> q = ConstantQuotient(site.ranges, site.a, site.b);
  if (q.has_value()) attempt({{'y', site.a}, {'d', site.b}, {'q', *q}});
}

// b = g*d for a monomial g, with a = g*x + y. Every term of a gives a candidate for g.
void ProposeCommonFactor(const RuleSite& site, RuleAttempt attempt) {
  std::vector<Term> tried;
  for (const Term& term : site.a.terms()) {
    const Term gcd = MonomialGcd(site.b, term);
    if (gcd.atoms.empty() && gcd.coeff == 1) continue;
    bool seen = false;
    for (const Term& other : tried) {
      seen |= other.coeff == gcd.coeff && CompareMonomials(other.atoms, gcd.atoms) == 0;
    }
    if (seen) continue;
    tried.push_back(gcd);
    const IndexExpr g = TermExpr(gcd);
    if (g == site.b) continue;
    const std::optional<IndexExpr> d = ExactQuotient(site.b, g);
    if (!d.has_value()) continue;
    const std::optional<Division> division = Divide(site.a, g);
    if (!division.has_value()) continue;
    if (attempt({{'g', g}, {'x', division->quotient}, {'d', *d}, {'y', division->rest}})) return;
  }
}

// The same with y = 0: g is what all of a and b have in common.
void ProposeExactCommonFactor(const RuleSite& site, RuleAttempt attempt) {
  if (site.a.IsConst() || site.a.constant() != 0) return;
  Term gcd = MonomialGcd(site.a, site.a.terms()[0]);
  gcd = MonomialGcd(site.b, std::move(gcd));
  if (gcd.atoms.empty() && gcd.coeff == 1) return;
  const IndexExpr g = TermExpr(gcd);
  const std::optional<IndexExpr> x = ExactQuotient(site.a, g), d = ExactQuotient(site.b, g);
  if (x.has_value() && d.has_value()) attempt({{'g', g}, {'x', *x}, {'d', *d}});
}

constexpr size_t kMaxMultipliedTerms = 4;

// a = floordiv(x, b) + y, unless multiplying out b*y would make a long sum longer.
void ProposeNested(const RuleSite& site, RuleAttempt attempt) {
  for (const Term& term : site.a.terms()) {
    if (term.coeff != 1 || term.atoms.size() != 1) continue;
    const Atom& inner = *term.atoms[0];
    if (inner.kind != AtomKind::kFloorDiv) continue;
    // y is a without this term.
    const size_t terms = inner.b.terms().size();
    if (terms > 1 && terms * (site.a.terms().size() - 1) > kMaxMultipliedTerms) continue;
    const std::optional<IndexExpr> y = TrySub(site.a, TermExpr(term));
    if (!y.has_value()) continue;
    if (attempt({{'x', inner.a}, {'b', inner.b}, {'y', *y}, {'d', site.b}})) return;
  }
}

// a = mod(x, d*k).
void ProposeFloorDivOfMod(const RuleSite& site, RuleAttempt attempt) {
  const Atom* inner = AsAtom(site.a, AtomKind::kMod);
  if (inner == nullptr) return;
  const std::optional<IndexExpr> k = ExactQuotient(inner->b, site.b);
  if (k.has_value()) attempt({{'x', inner->a}, {'d', site.b}, {'k', *k}});
}

// a = c*mod(x, m) + y with c*m = k*d.
void ProposeModUnderDivision(const RuleSite& site, RuleAttempt attempt) {
  for (const Term& term : site.a.terms()) {
    for (size_t i = 0; i < term.atoms.size(); ++i) {
      const Atom& inner = *term.atoms[i];
      if (inner.kind != AtomKind::kMod) continue;
      Term factor = term;
      factor.atoms.erase(factor.atoms.begin() + i);
      const IndexExpr c = TermExpr(factor);
      const std::optional<IndexExpr> product = TryMul(c, inner.b);
      if (!product.has_value()) continue;
      const std::optional<IndexExpr> k = ExactQuotient(*product, site.b);
      if (!k.has_value()) continue;
      const std::optional<IndexExpr> y = TrySub(site.a, TermExpr(term));
      if (!y.has_value()) continue;
      if (attempt(
              {{'c', c}, {'x', inner.a}, {'m', inner.b}, {'y', *y}, {'d', site.b}, {'k', *k}})) {
        return;
      }
    }
  }
}

void ProposeZero(const RuleSite& site, RuleAttempt attempt) {
  if (IsValue(site.a, 0)) attempt({{'d', site.b}});
}

void ProposeMinusOne(const RuleSite& site, RuleAttempt attempt) {
  if (IsValue(site.a, -1)) attempt({{'d', site.b}});
}

void ProposeExpansion(const RuleSite& site, RuleAttempt attempt) {
  attempt({{'x', site.a}, {'d', site.b}});
}

void ProposeOperands(const RuleSite& site, RuleAttempt attempt) {
  attempt({{'a', site.a}, {'b', site.b}});
}

// Chains of min (or max) lean to the right with operands ascending: min(a, min(b, min(c, d))).
template <AtomKind kind>
void ProposeSwap(const RuleSite& site, RuleAttempt attempt) {
  if (AsAtom(site.b, kind) != nullptr) return;  // the chain rules sort a into it
  if (site.b < site.a) attempt({{'a', site.a}, {'b', site.b}});
}

template <AtomKind kind>
void ProposeRotate(const RuleSite& site, RuleAttempt attempt) {
  const Atom* left = AsAtom(site.a, kind);
  if (left != nullptr) attempt({{'a', left->a}, {'b', left->b}, {'c', site.b}});
}

template <AtomKind kind>
void ProposeChain(const RuleSite& site, RuleAttempt attempt) {
  const Atom* right = AsAtom(site.b, kind);
  if (right != nullptr) attempt({{'a', site.a}, {'b', right->a}, {'c', right->b}});
}

// Carries a into its place in the chain, and to any later operand that it absorbs or is absorbed
// by.
template <AtomKind kind>
void ProposeSwapInChain(const RuleSite& site, RuleAttempt attempt) {
  const Atom* right = AsAtom(site.b, kind);
  if (right == nullptr) return;
  bool wanted = right->a < site.a;
  for (const IndexExpr* rest = &right->b; !wanted;) {
    const Atom* next = AsAtom(*rest, kind);
    const IndexExpr& other = next != nullptr ? next->a : *rest;
    wanted =
        ProveLeByBounds(site.ranges, site.a, other) || ProveLeByBounds(site.ranges, other, site.a);
    if (next == nullptr) break;
    rest = &next->b;
  }
  if (wanted) attempt({{'a', site.a}, {'b', right->a}, {'c', right->b}});
}

constexpr AtomKind kMin = AtomKind::kMin;
constexpr AtomKind kMax = AtomKind::kMax;

constexpr IndexRule kRules[] = {
    {"floordiv-zero", "floordiv(0, d) = 0", "", RuleUse::kAlways, ProposeZero},
    {"floordiv-minus-one", "floordiv(-1, d) = -1", "", RuleUse::kAlways, ProposeMinusOne},
    {"floordiv-split", "floordiv(d*x + y, d) = x + floordiv(y, d)", "", RuleUse::kAlways,
     ProposeSplit},
    {"floordiv-within", "floordiv(y, d) = q", "q*d <= y; y < q*d + d", RuleUse::kAlways,
     ProposeWithin},
    {"floordiv-common-factor", "floordiv(g*x, g*d) = floordiv(x, d)", "1 <= d", RuleUse::kAlways,
     ProposeExactCommonFactor},
    {"floordiv-common-factor-and-rest", "floordiv(g*x + y, g*d) = floordiv(x, d)", "0 <= y; y < g",
     RuleUse::kAlways, ProposeCommonFactor},
    {"floordiv-nested", "floordiv(floordiv(x, b) + y, d) = floordiv(x + b*y, b*d)", "",
     RuleUse::kAlways, ProposeNested},
    {"floordiv-of-mod", "floordiv(mod(x, d*k), d) = mod(floordiv(x, d), k)", "", RuleUse::kAlways,
     ProposeFloorDivOfMod},
    {"floordiv-of-mod-and-rest",
     "floordiv(c*mod(x, m) + y, d) = floordiv(c*x + y, d) - k*floordiv(x, m)", "c*m == k*d",
     RuleUse::kWhereSmaller, ProposeModUnderDivision},

    {"mod-zero", "mod(0, d) = 0", "", RuleUse::kAlways, ProposeZero},
    {"mod-minus-one", "mod(-1, d) = d - 1", "", RuleUse::kAlways, ProposeMinusOne},
    {"mod-split", "mod(d*x + y, d) = mod(y, d)", "", RuleUse::kAlways, ProposeSplit},
    {"mod-within", "mod(y, d) = y - q*d", "q*d <= y; y < q*d + d", RuleUse::kAlways, ProposeWithin},
    {"mod-common-factor", "mod(g*x, g*d) = g*mod(x, d)", "1 <= d", RuleUse::kAlways,
     ProposeExactCommonFactor},
    {"mod-common-factor-and-rest", "mod(g*x + y, g*d) = g*mod(x, d) + y", "0 <= y; y < g",
     RuleUse::kAlways, ProposeCommonFactor},
    {"mod-of-mod", "mod(c*mod(x, m) + y, d) = mod(c*x + y, d)", "c*m == k*d", RuleUse::kAlways,
     ProposeModUnderDivision},
    {"mod-expansion", "mod(x, d) = x - d*floordiv(x, d)", "", RuleUse::kExpansion,
     ProposeExpansion},

    {"min-left", "min(a, b) = a", "a <= b", RuleUse::kAlways, ProposeOperands},
    {"min-right", "min(a, b) = b", "b <= a", RuleUse::kAlways, ProposeOperands},
    {"min-rotate", "min(min(a, b), c) = min(a, min(b, c))", "", RuleUse::kAlways,
     ProposeRotate<kMin>},
    {"min-chain-left", "min(a, min(b, c)) = min(a, c)", "a <= b", RuleUse::kAlways,
     ProposeChain<kMin>},
    {"min-chain-right", "min(a, min(b, c)) = min(b, c)", "b <= a", RuleUse::kAlways,
     ProposeChain<kMin>},
    {"min-chain-swap", "min(a, min(b, c)) = min(b, min(a, c))", "", RuleUse::kAlways,
     ProposeSwapInChain<kMin>},
    {"min-swap", "min(a, b) = min(b, a)", "", RuleUse::kAlways, ProposeSwap<kMin>},

    {"max-left", "max(a, b) = a", "b <= a", RuleUse::kAlways, ProposeOperands},
    {"max-right", "max(a, b) = b", "a <= b", RuleUse::kAlways, ProposeOperands},
    {"max-rotate", "max(max(a, b), c) = max(a, max(b, c))", "", RuleUse::kAlways,
     ProposeRotate<kMax>},
    {"max-chain-left", "max(a, max(b, c)) = max(a, c)", "b <= a", RuleUse::kAlways,
     ProposeChain<kMax>},
    {"max-chain-right", "max(a, max(b, c)) = max(b, c)", "a <= b", RuleUse::kAlways,
     ProposeChain<kMax>},
    {"max-chain-swap", "max(a, max(b, c)) = max(b, max(a, c))", "", RuleUse::kAlways,
     ProposeSwapInChain<kMax>},
    {"max-swap", "max(a, b) = max(b, a)", "", RuleUse::kAlways, ProposeSwap<kMax>},
};

IndexSyntax ParseSide(std::string_view text) {
  absl::StatusOr<IndexSyntax> side = ParseIndexSyntax(text);
  STAX_CHECK(side.ok(), side.status().ToString());
  return *std::move(side);
}

RuleCondition ParseCondition(const std::string& text) {
  using Relation = RuleCondition::Relation;
  constexpr std::pair<const char*, Relation> kRelations[] = {
      {"<=", Relation::kLe}, {"==", Relation::kEq}, {"<", Relation::kLt}};
  for (const auto& [sign, relation] : kRelations) {
    const std::vector<std::string> sides = absl::StrSplit(text, sign);
    if (sides.size() == 2) return {relation, ParseSide(sides[0]), ParseSide(sides[1])};
  }
  CheckFailed(__FILE__, __LINE__, "relation", "no relation in the condition " + text);
}

std::vector<ParsedIndexRule> ParseTable() {
  std::vector<ParsedIndexRule> table;
  for (const IndexRule& rule : kRules) {
    const std::vector<std::string> sides = absl::StrSplit(rule.statement, " = ");
    STAX_CHECK(sides.size() == 2, rule.statement);
    ParsedIndexRule parsed = {&rule, ParseSide(sides[0]), ParseSide(sides[1]), {}};
    const std::vector<std::string> conditions =
        absl::StrSplit(rule.condition, ';', absl::SkipWhitespace());
    for (const std::string& text : conditions) parsed.conditions.push_back(ParseCondition(text));
    table.push_back(std::move(parsed));
  }
  return table;
}

}  // namespace

const std::vector<ParsedIndexRule>& AllIndexRules() {
  static const auto& table = *new std::vector<ParsedIndexRule>(ParseTable());
  return table;
}

const ParsedIndexRule& ModExpansionRule() {
  static const ParsedIndexRule& expansion = [&]() -> const ParsedIndexRule& {
    for (const ParsedIndexRule& rule : AllIndexRules()) {
      if (rule.rule->use == RuleUse::kExpansion) return rule;
    }
    CheckFailed(__FILE__, __LINE__, "kExpansion", "the table has no expansion rule");
  }();
  return expansion;
}

}  // namespace stax
