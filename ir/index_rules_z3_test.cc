// Proves with Z3 that every rewrite rule in the table holds for all integers.
//
// A rule "left = right if conditions" is refuted by integers that satisfy the conditions and make
// all divisors on the left positive, but give the sides different values or make a divisor on the
// right not positive. The proof shows that there are none:
//   - floordiv(a, b) and mod(a, b) become fresh q and r with a = b*q + r and 0 <= r <= b - 1;
//   - since all are integers, x != y is written x <= y - 1 or x >= y + 1, and x < y as x <= y - 1.
//   - a term t that is an integer is at most -1, 0, or at least 1; Integers() lists the terms of
//   which
//     a proof needs to know it, mostly the difference of two quotients that turn out to be equal.
// Nothing else about integers is needed, so the formula is given to Z3's decision procedure for
// nonlinear arithmetic over the reals: if it has no real solution it has no integer one. Rules
// multiply letters, and over the integers such formulas are undecidable in general.
//
// The table is what the rewriter uses, so a rule cannot be added without being proved here.
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "gtest/gtest.h"
#include "ir/index_expr_parse.h"
#include "ir/index_rules.h"
#include "z3++.h"

namespace stax {
namespace {

using Kind = IndexSyntax::Kind;
using Relation = RuleCondition::Relation;

constexpr unsigned kTimeoutMs = 20000;

// Polynomials in the letters of a rule and its quotients, which are named q1, q2, ... from the left
// and from the inside. They hold integers whatever the rule says, so a wrong one here can make a
// proof fail but not succeed.
const std::multimap<std::string, std::string>& Integers() {
  static const auto& integers = *new std::multimap<std::string, std::string>{
      {"floordiv-of-mod", "q1 - q4"},
      {"floordiv-of-mod", "k*q1 + q2 - q3"},
      {"floordiv-of-mod", "q2"},
      {"floordiv-of-mod", "k - q2"},
      {"floordiv-of-mod-and-rest", "q1 - q4"},
      {"mod-zero", "q1"},
      {"mod-minus-one", "q1 + 1"},
      {"mod-split", "q1 - q2 - x"},
      {"mod-within", "q1 - q"},
      {"mod-common-factor", "q1 - q2"},
      {"mod-common-factor-and-rest", "q1 - q2"},
      {"mod-of-mod", "k*q1 + q2 - q3"},
      {"mod-expansion", "q1 - q2"},
  };
  return integers;
}

class Encoder {
 public:
  // Definitions and divisors, collected while encoding.
  struct Facts {
    std::vector<z3::expr> definitions;
    std::vector<z3::expr> divisors;
  };

  explicit Encoder(z3::context& context) : context_(context) {}

  z3::expr Encode(const IndexSyntax& node, Facts* facts) {
    switch (node.kind) {
      case Kind::kConst:
        return context_.real_val(std::to_string(node.value).c_str());
      case Kind::kVar:
        return context_.real_const(node.name.c_str());
      case Kind::kNegate:
        return -Encode(node.args[0], facts);
      case Kind::kSum:
      case Kind::kProduct: {
        z3::expr result = Encode(node.args[0], facts);
        for (size_t i = 1; i < node.args.size(); ++i) {
          const z3::expr arg = Encode(node.args[i], facts);
          result = node.kind == Kind::kSum ? result + arg : result * arg;
        }
        return result;
      }
      case Kind::kFloorDiv:
      case Kind::kMod:
        return EncodeDivision(node, facts);
      case Kind::kMin:
      case Kind::kMax: {
        const z3::expr a = Encode(node.args[0], facts), b = Encode(node.args[1], facts);
        return node.kind == Kind::kMin ? z3::ite(a <= b, a, b) : z3::ite(a <= b, b, a);
      }
    }
    return context_.real_val(0);
  }

  z3::expr Encode(const RuleCondition& condition) {
    Facts none;
    const z3::expr a = Encode(condition.a, &none), b = Encode(condition.b, &none);
    switch (condition.relation) {
      case Relation::kLe:
        return a <= b;
      case Relation::kLt:
        return a <= b - 1;
      case Relation::kEq:
        return a == b;
    }
    return context_.bool_val(false);
  }

 private:
  z3::expr EncodeDivision(const IndexSyntax& node, Facts* facts) {
    const z3::expr a = Encode(node.args[0], facts), b = Encode(node.args[1], facts);
    const std::string id = std::to_string(++fresh_);
    const z3::expr q = context_.real_const(("q" + id).c_str());
    const z3::expr r = context_.real_const(("r" + id).c_str());
    facts->definitions.push_back(a == b * q + r && r >= 0 && r <= b - 1);
    facts->divisors.push_back(b);
    return node.kind == Kind::kFloorDiv ? q : r;
  }

  z3::context& context_;
  int fresh_ = 0;
};

z3::check_result Check(const z3::expr& formula) {
  z3::context& context = formula.ctx();
  z3::solver solver = z3::tactic(context, "qfnra-nlsat").mk_solver();
  z3::params params(context);
  params.set("timeout", kTimeoutMs);
  solver.set(params);
  solver.add(formula);
  return solver.check();
}

// unsat: the rule holds.
z3::check_result Refute(const ParsedIndexRule& rule) {
  z3::context context;
  Encoder encoder(context);
  Encoder::Facts left_facts, right_facts;
  const z3::expr left = encoder.Encode(rule.left, &left_facts);
  const z3::expr right = encoder.Encode(rule.right, &right_facts);

  z3::expr premises = context.bool_val(true);
  for (const RuleCondition& condition : rule.conditions) {
    premises = premises && encoder.Encode(condition);
  }
  for (const z3::expr& divisor : left_facts.divisors) premises = premises && divisor >= 1;
  for (const z3::expr& definition : left_facts.definitions) premises = premises && definition;
  // Letters that divisions on the right need are positive, and then the sides are equal.
  z3::expr divisor_fails = context.bool_val(false);
  for (const z3::expr& divisor : right_facts.divisors) {
    divisor_fails = divisor_fails || divisor <= 0;
  }
  z3::expr sides_differ = left <= right - 1 || left >= right + 1;
  for (const z3::expr& definition : right_facts.definitions) {
    sides_differ = sides_differ && definition;
  }

  Encoder::Facts none;
  const auto [first, last] = Integers().equal_range(rule.rule->name);
  for (auto it = first; it != last; ++it) {
    const z3::expr t = encoder.Encode(ParseIndexSyntax(it->second).value(), &none);
    premises = premises && (t <= -1 || t == 0 || t >= 1);
  }

  // Premises that nothing meets would prove anything.
  if (Check(premises) != z3::sat) return z3::unknown;
  for (const z3::expr& failure : {divisor_fails, sides_differ}) {
    const z3::check_result result = Check(premises && failure);
    if (result != z3::unsat) return result;
  }
  return z3::unsat;
}

class IndexRulesZ3Test : public testing::TestWithParam<int> {};

TEST_P(IndexRulesZ3Test, HoldsForAllIntegers) {
  const ParsedIndexRule& rule = AllIndexRules()[GetParam()];
  const z3::check_result result = Refute(rule);
  EXPECT_EQ(result, z3::unsat) << rule.rule->name << ": " << rule.rule->statement << " if "
                               << rule.rule->condition
                               << (result == z3::sat ? " is false" : " is not proved");
}

// The method must be able to refute: variants of rules with a condition dropped or a side changed.
TEST(IndexRulesZ3MethodTest, FalseRulesAreNotProved) {
  const std::tuple<const char*, const char*, const char*> kFalse[] = {
      {"floordiv-within", "floordiv(y, d)", "q"},
      {"mod-within", "mod(y, d)", "y - q*d"},
      {"floordiv-common-factor", "floordiv(g*x + y, g*d)", "floordiv(x, d)"},
      {"mod-common-factor", "mod(g*x + y, g*d)", "g*mod(x, d) + y"},
      {"floordiv-nested", "floordiv(floordiv(x, b) + y, d)", "floordiv(x + y, b*d)"},
      {"mod-of-mod", "mod(c*mod(x, m) + y, d)", "mod(c*x + y, d)"},
      {"floordiv-split", "floordiv(x, b)", "floordiv(x, d)"},
      {"min-left", "min(a, b)", "a"},
      {"min-swap", "min(a, b)", "max(b, a)"},
  };
  for (const auto& [name, left, right] : kFalse) {
    const IndexRule rule = {name, "", "", RuleUse::kAlways, nullptr};
    const ParsedIndexRule parsed = {
        &rule, ParseIndexSyntax(left).value(), ParseIndexSyntax(right).value(), {}};
    EXPECT_NE(Refute(parsed), z3::unsat) << left << " = " << right;
  }
}

TEST(IndexRulesZ3MethodTest, EveryHintBelongsToARule) {
  std::set<std::string> names;
  for (const ParsedIndexRule& rule : AllIndexRules()) {
    EXPECT_TRUE(names.insert(rule.rule->name).second) << "two rules named " << rule.rule->name;
  }
  for (const auto& [name, term] : Integers()) EXPECT_EQ(names.count(name), 1) << name;
}

INSTANTIATE_TEST_SUITE_P(Table, IndexRulesZ3Test,
                         testing::Range(0, static_cast<int>(AllIndexRules().size())),
                         [](const testing::TestParamInfo<int>& info) {
                           std::string name = AllIndexRules()[info.param].rule->name;
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

}  // namespace
}  // namespace stax
