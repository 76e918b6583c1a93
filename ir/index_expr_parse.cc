#include "ir/index_expr_parse.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "ir/index_expr.h"
#include "ir/index_expr_internal.h"

namespace stax {
namespace {

using Kind = IndexSyntax::Kind;

// Largest expression that Parse builds: short texts such as products of sums may describe
// polynomials of exponential size.
constexpr size_t kMaxTerms = 1024;
constexpr size_t kMaxDegree = 64;
constexpr int32_t kMaxParsedWeight = 1 << 16;

absl::Status ErrorAt(int column, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("index expression, column ", column, ": ", what));
}

bool IsNameStart(char c) { return absl::ascii_isalpha(c) || c == '_'; }
bool IsNamePart(char c) { return absl::ascii_isalnum(c) || c == '_' || c == '.'; }

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  absl::StatusOr<IndexSyntax> ParseAll() {
    absl::StatusOr<IndexSyntax> e = Sum();
    if (!e.ok()) return e;
    SkipSpace();
    if (pos_ < text_.size()) return Expected("an operator or the end");
    return e;
  }

 private:
  absl::StatusOr<IndexSyntax> Sum() {
    if (++nesting_ > kMaxIndexDepth) return TooDeep();
    absl::StatusOr<IndexSyntax> first = ProductOf();
    if (!first.ok()) return first;
    IndexSyntax sum = *std::move(first);
    while (true) {
      const int column = NextColumn();
      const bool minus = Peek() == '-';
      if (!minus && Peek() != '+') break;
      ++pos_;
      absl::StatusOr<IndexSyntax> next = ProductOf();
      if (!next.ok()) return next;
      IndexSyntax operand =
          minus ? Node(Kind::kNegate, column, *std::move(next)) : *std::move(next);
      if (auto status = Append(Kind::kSum, column, std::move(operand), &sum); !status.ok()) {
        return status;
      }
    }
    --nesting_;
    return sum;
  }

  absl::StatusOr<IndexSyntax> ProductOf() {
    absl::StatusOr<IndexSyntax> first = Unary();
    if (!first.ok()) return first;
    IndexSyntax product = *std::move(first);
    while (true) {
      const int column = NextColumn();
      Kind kind;
      if (Take("//")) {
        kind = Kind::kFloorDiv;
      } else if (Take("%")) {
        kind = Kind::kMod;
      } else if (Take("*")) {
        kind = Kind::kProduct;
      } else {
        return product;
      }
      absl::StatusOr<IndexSyntax> next = Unary();
      if (!next.ok()) return next;
      if (auto status = Append(kind, column, *std::move(next), &product); !status.ok()) {
        return status;
      }
    }
  }

  absl::StatusOr<IndexSyntax> Unary() {
    const int column = NextColumn();
    bool negative = false;
    while (Take("-")) {
      negative = !negative;
      NextColumn();
    }
    absl::StatusOr<IndexSyntax> e = Primary();
    if (!e.ok() || !negative) return e;
    return Node(Kind::kNegate, column, *std::move(e));
  }

  absl::StatusOr<IndexSyntax> Primary() {
    IndexSyntax node;
    node.column = NextColumn();
    if (Take("(")) {
      absl::StatusOr<IndexSyntax> e = Sum();
      if (!e.ok()) return e;
      NextColumn();
      if (!Take(")")) return Expected("an operator or ')'");
      return e;
    }
    const size_t start = pos_;
    if (absl::ascii_isdigit(Peek())) {
      while (absl::ascii_isdigit(Peek())) ++pos_;
      const std::string digits(text_.substr(start, pos_ - start));
      if (!absl::SimpleAtoi(digits, &node.value)) {
        return ErrorAt(node.column, "the number does not fit in int64");
      }
      return node;
    }
    if (!IsNameStart(Peek())) return Expected("a number, a name or '('");
    while (IsNamePart(Peek())) ++pos_;
    node.name = std::string(text_.substr(start, pos_ - start));
    node.kind = Kind::kVar;
    NextColumn();
    if (Peek() != '(') return node;
    return Call(node.name, node.column);
  }

  absl::StatusOr<IndexSyntax> Call(const std::string& name, int column) {
    IndexSyntax call;
    call.column = column;
    if (name == "floordiv") {
      call.kind = Kind::kFloorDiv;
    } else if (name == "mod") {
      call.kind = Kind::kMod;
    } else if (name == "min") {
      call.kind = Kind::kMin;
    } else if (name == "max") {
      call.kind = Kind::kMax;
    } else {
      return ErrorAt(column, absl::StrCat("unknown function '", name.substr(0, 32),
                                          "', expected floordiv, mod, min or max"));
    }
    for (const std::string_view opening : {"(", ","}) {
      NextColumn();
      if (!Take(opening)) return Expected("an operator or ','");
      absl::StatusOr<IndexSyntax> arg = Sum();
      if (!arg.ok()) return arg;
      call.depth = std::max(call.depth, arg->depth + 1);
      call.args.push_back(*std::move(arg));
    }
    NextColumn();
    if (!Take(")")) return Expected("an operator or ')'");
    if (call.depth > kMaxIndexDepth) return TooDeep();
    return call;
  }

  static IndexSyntax Node(Kind kind, int column, IndexSyntax arg) {
    IndexSyntax node;
    node.kind = kind;
    node.column = column;
    node.depth = arg.depth + 1;
    node.args.push_back(std::move(arg));
    return node;
  }

  // Makes *left the node of `kind` over what *left was and `right`. Sums and products take any
  // number of operands, so that a long one is not a deep tree.
  absl::Status Append(Kind kind, int column, IndexSyntax right, IndexSyntax* left) {
    const bool extend = kind == left->kind && (kind == Kind::kSum || kind == Kind::kProduct);
    if (!extend) *left = Node(kind, column, std::move(*left));
    left->depth = std::max(left->depth, right.depth + 1);
    left->args.push_back(std::move(right));
    return left->depth > kMaxIndexDepth ? TooDeep() : absl::OkStatus();
  }

  char Peek() const { return pos_ < text_.size() ? text_[pos_] : '\0'; }

  bool Take(std::string_view token) {
    if (text_.substr(pos_, token.size()) != token) return false;
    pos_ += token.size();
    return true;
  }

  void SkipSpace() {
    while (pos_ < text_.size() && absl::ascii_isspace(text_[pos_])) ++pos_;
  }

  // Column of the next token.
  int NextColumn() {
    SkipSpace();
    return static_cast<int>(pos_) + 1;
  }

  absl::Status Expected(absl::string_view what) {
    const int column = NextColumn();
    if (pos_ >= text_.size())
      return ErrorAt(column, absl::StrCat("expected ", what, ", found the end"));
    const char c = text_[pos_];
    const std::string found = absl::ascii_isprint(c)
                                  ? std::string(1, c)
                                  : absl::StrCat("byte ", static_cast<unsigned char>(c));
    return ErrorAt(column, absl::StrCat("expected ", what, ", found '", found, "'"));
  }

  absl::Status TooDeep() {
    return ErrorAt(NextColumn(), absl::StrCat("nested deeper than ", kMaxIndexDepth));
  }

  const std::string_view text_;
  size_t pos_ = 0;
  int nesting_ = 0;
};

// Builds the canonical expression, with errors at the columns of operators.
class Builder {
 public:
  static absl::StatusOr<IndexExpr> Build(const IndexSyntax& node) {
    switch (node.kind) {
      case Kind::kConst:
        return IndexExpr(node.value);
      case Kind::kVar:
        return IndexExpr::Var(node.name);
      case Kind::kSum:
        return BuildSum(node);
      case Kind::kNegate:
        return BuildNegate(node);
      case Kind::kProduct:
        return BuildProduct(node);
      default:
        return BuildCall(node);
    }
  }

 private:
  static absl::StatusOr<IndexExpr> Checked(const IndexSyntax& node, std::optional<IndexExpr> e) {
    if (!e.has_value()) return ErrorAt(node.column, "a coefficient does not fit in int64");
    if (e->terms().size() > kMaxTerms || IndexExprAccess::Get(*e).weight > kMaxParsedWeight) {
      return ErrorAt(node.column, absl::StrCat("more than ", kMaxTerms, " terms or ",
                                               kMaxParsedWeight, " nodes when multiplied out"));
    }
    return *std::move(e);
  }

  static absl::StatusOr<IndexExpr> BuildSum(const IndexSyntax& node) {
    PolyBuilder sum;
    for (const IndexSyntax& arg : node.args) {
      const bool negate = arg.kind == Kind::kNegate;
      absl::StatusOr<IndexExpr> e = Build(negate ? arg.args[0] : arg);
      if (!e.ok()) return e;
      sum.AddScaled(*e, negate ? -1 : 1);
    }
    return Checked(node, sum.Finish());
  }

  static absl::StatusOr<IndexExpr> BuildNegate(const IndexSyntax& node) {
    absl::StatusOr<IndexExpr> e = Build(node.args[0]);
    if (!e.ok()) return e;
    return Checked(node, TrySub(0, *e));
  }

  static size_t Degree(const IndexExpr& e) {
    return e.terms().empty() ? 0 : e.terms()[0].atoms.size();  // terms descend by degree
  }

  static absl::StatusOr<IndexExpr> BuildProduct(const IndexSyntax& node) {
    IndexExpr product = 1;
    for (const IndexSyntax& arg : node.args) {
      absl::StatusOr<IndexExpr> e = Build(arg);
      if (!e.ok()) return e;
      if ((product.terms().size() + 1) * (e->terms().size() + 1) > 4 * kMaxTerms ||
          Degree(product) + Degree(*e) > kMaxDegree) {
        return ErrorAt(arg.column, absl::StrCat("a product of more than ", kMaxTerms,
                                                " terms or of degree over ", kMaxDegree));
      }
      e = Checked(arg, TryMul(product, *e));
      if (!e.ok()) return e;
      product = *std::move(e);
    }
    return product;
  }

  static absl::StatusOr<IndexExpr> BuildCall(const IndexSyntax& node) {
    absl::StatusOr<IndexExpr> a = Build(node.args[0]);
    if (!a.ok()) return a;
    absl::StatusOr<IndexExpr> b = Build(node.args[1]);
    if (!b.ok()) return b;
    if (node.kind == Kind::kMin) return Checked(node, Min(*a, *b));
    if (node.kind == Kind::kMax) return Checked(node, Max(*a, *b));
    if (b->IsConst() && b->constant() <= 0) {
      return ErrorAt(node.args[1].column,
                     absl::StrCat("a divisor must be positive, found ", b->constant()));
    }
    return Checked(node, node.kind == Kind::kFloorDiv ? FloorDiv(*a, *b) : Mod(*a, *b));
  }
};

}  // namespace

absl::StatusOr<IndexSyntax> ParseIndexSyntax(std::string_view text) {
  if (text.size() > kMaxIndexTextLength) {
    return ErrorAt(static_cast<int>(kMaxIndexTextLength) + 1,
                   absl::StrCat("longer than ", kMaxIndexTextLength, " bytes"));
  }
  return Parser(text).ParseAll();
}

absl::StatusOr<IndexExpr> IndexExpr::Parse(std::string_view text) {
  absl::StatusOr<IndexSyntax> syntax = ParseIndexSyntax(text);
  if (!syntax.ok()) return syntax.status();
  return Builder::Build(*syntax);
}

}  // namespace stax
