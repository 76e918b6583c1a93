// The rewrite rules of index expressions, as a table.
//
// A rule states an equality of integers in the text form of index expressions:
//
//   floordiv(g*x + y, g*d) = floordiv(x, d)   if 0 <= y, y < g
//
// Its letters stand for any expressions. The statement is all there is to a rule: the rewriter
// (index_simplify.cc) builds the result from the right side, only after proving the conditions, and
// a test proves with Z3 that every statement in the table holds for all integers. What the text
// cannot say is how to find the letters, since a polynomial matches g*x + y in many ways; that is
// the one piece of code of a rule. The most that a mistake in it can do is to propose letters that
// do not give the left side, and the rewriter checks that they do.
#ifndef STAX_IR_INDEX_RULES_H_
#define STAX_IR_INDEX_RULES_H_

#include <initializer_list>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "ir/index_expr.h"
#include "ir/index_expr_parse.h"

namespace stax {

// What a letter of a rule stands for.
struct RuleBinding {
  char letter;
  IndexExpr value;
};
using RuleBindings = std::initializer_list<RuleBinding>;

// A place where a rule may apply: floordiv(a, b), mod(a, b), min(a, b) or max(a, b).
struct RuleSite {
  const IndexExpr& a;
  const IndexExpr& b;
  const RangeContext& ranges;
};

// Takes a proposal; true when the rule applied, so that no other is wanted.
using RuleAttempt = absl::FunctionRef<bool(RuleBindings)>;

enum class RuleUse {
  kAlways,        // wherever it applies
  kWhereSmaller,  // where the result has a smaller weight
  kExpansion,     // only by ExpandMods and its inverse
};

struct IndexRule {
  const char* name;
  const char* statement;  // "left = right"
  const char* condition;  // "a <= b; c < d; e == f", "" for none; divisors on the left are positive
  RuleUse use;
  void (*propose)(const RuleSite& site, RuleAttempt attempt);
};

struct RuleCondition {
  enum class Relation { kLe, kLt, kEq };
  Relation relation;
  IndexSyntax a, b;
};

// A rule with its text parsed; the root of `left` is what it applies to.
struct ParsedIndexRule {
  const IndexRule* rule;
  IndexSyntax left, right;
  std::vector<RuleCondition> conditions;
};

// The table, in the order in which rules are tried.
const std::vector<ParsedIndexRule>& AllIndexRules();
// mod(x, d) = x - d*floordiv(x, d).
const ParsedIndexRule& ModExpansionRule();

}  // namespace stax

#endif  // STAX_IR_INDEX_RULES_H_
