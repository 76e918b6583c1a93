// The text form of index expressions as a syntax tree. IndexExpr::Parse builds a canonical
// expression from it; the rewrite rules keep the tree, since a rule's left side must not be
// rewritten by the rule itself.
#ifndef STAX_IR_INDEX_EXPR_PARSE_H_
#define STAX_IR_INDEX_EXPR_PARSE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace stax {

struct IndexSyntax {
  enum class Kind { kConst, kVar, kSum, kNegate, kProduct, kFloorDiv, kMod, kMin, kMax };
  Kind kind = Kind::kConst;
  int64_t value = 0;              // kConst
  std::string name;               // kVar
  std::vector<IndexSyntax> args;  // kSum, kProduct: two or more; kNegate: one; the others: two
  int column = 1;                 // of the first character or the operator, from 1
  int depth = 1;                  // of the tree
};

// Longest accepted text in bytes, and deepest nesting of parentheses and of the tree: the parser
// and all that walks the tree recurse.
inline constexpr size_t kMaxIndexTextLength = 1 << 16;
inline constexpr int kMaxIndexDepth = 200;

// Grammar, left-associative:
//   sum     = product {("+" | "-") product}
//   product = unary {("*" | "//" | "%") unary}
//   unary   = {"-"} primary
//   primary = number | name | function "(" sum "," sum ")" | "(" sum ")"
// InvalidArgument "index expression, column C: ..." otherwise.
absl::StatusOr<IndexSyntax> ParseIndexSyntax(std::string_view text);

}  // namespace stax

#endif  // STAX_IR_INDEX_EXPR_PARSE_H_
