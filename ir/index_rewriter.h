// Applies the rule table (index_rules.h). The constructors FloorDiv, Mod, Min and Max use a
// Rewriter that knows nothing of variables, Simplify one with their ranges.
#ifndef STAX_IR_INDEX_REWRITER_H_
#define STAX_IR_INDEX_REWRITER_H_

#include <cstdint>
#include <map>
#include <optional>

#include "ir/index_expr.h"
#include "ir/index_expr_internal.h"
#include "ir/index_expr_parse.h"
#include "ir/index_rules.h"

namespace stax {

class Rewriter {
 public:
  explicit Rewriter(const RangeContext& ranges) : ranges_(ranges) {}

  const RangeContext& ranges() const { return ranges_; }

  // kind(a, b) with the rules applied to it and to what they build, not inside a and b.
  IndexExpr Build(IndexExpr::AtomKind kind, const IndexExpr& a, const IndexExpr& b);
  // The same, nullopt when no rule applies.
  std::optional<IndexExpr> Rewrite(IndexExpr::AtomKind kind, const IndexExpr& a,
                                   const IndexExpr& b);

  // mod(x, d) as x - d*floordiv(x, d); nullopt on overflow.
  std::optional<IndexExpr> ExpandMod(const IndexExpr& x, const IndexExpr& d);
  // e with every mod that is the only one of its term expanded.
  IndexExpr ExpandMods(const IndexExpr& e);

 private:
  // Rewrite, from memory when it was asked before.
  std::optional<IndexExpr> Recall(IndexExpr::AtomKind kind, const IndexExpr& a, const IndexExpr& b);
  bool OutOfWork() const;
  std::optional<IndexExpr> TryRules(IndexExpr::AtomKind kind, const IndexExpr& a,
                                    const IndexExpr& b);
  std::optional<IndexExpr> Apply(const ParsedIndexRule& rule, RuleBindings bindings);
  bool Holds(const RuleCondition& condition, RuleBindings bindings);
  // The expression of a side of a rule; nullopt on overflow.
  std::optional<IndexExpr> Instantiate(const IndexSyntax& side, RuleBindings bindings);
  std::optional<IndexExpr> DivideExpanded(IndexExpr::AtomKind kind, const IndexExpr& a,
                                          const IndexExpr& b);

  struct Site {
    IndexExpr::AtomKind kind;
    IndexExpr a, b;
    bool operator<(const Site& other) const;
  };

  const RangeContext& ranges_;
  int depth_ = 0;
  int64_t work_ = 0;     // since the outermost Rewrite began: nodes that rules were matched with
  bool may_try_ = true;  // whether rewrites are tried that are dropped when they do not pay
  // Results of Rewrite: Simplify tries variants of a sum that share most of their atoms.
  std::map<Site, std::optional<IndexExpr>> rewritten_;
};

// Nodes of e written as a tree; rules that are not always an improvement must lower it.
inline int32_t Weight(const IndexExpr& e) { return IndexExprAccess::Get(e).weight; }

// Largest sum that is expanded to look for parts that cancel, so that time stays near linear. Sums
// from reshapes that cancel are far smaller; larger ones come from reshapes that have nothing in
// common.
inline constexpr int32_t kMaxRecombinedWeight = 200;

}  // namespace stax

#endif  // STAX_IR_INDEX_REWRITER_H_
