// IndexExpr: the one integer algebra of Stax. Sizes, strides, loop bounds, guards, traffic
// formulas, grids and tuning constraints are all IndexExprs.
//
// An IndexExpr is an immutable polynomial with int64 coefficients over atoms, where an atom is a
// variable or floordiv(a, b), mod(a, b), min(a, b), max(a, b). The polynomial is kept in canonical
// form (terms sorted, like terms collected), so structural equality is equality of polynomials:
//
//   IndexExpr i = IndexExpr::Var("i0"), j = IndexExpr::Var("i1");
//   IndexExpr e = 16384 * i + 8192 * j;         // == 8192 * (2 * i + j)
//   e.ToString()                                // "16384*i0 + 8192*i1"
//
// Terms are ordered by degree, highest first, then by their factors; the constant comes last. Names
// without a number at the end (mostly sizes) come before those with one (mostly loop variables),
// numbers compare by value, and variables come before floordiv, mod, min and max:
// "n*i0 + i2 + i10 + mod(i1, 4) + 3".
//
// Division rounds towards minus infinity and mod has the sign of the divisor; divisors must be
// positive (they are sizes). Arithmetic on coefficients saturates never: an overflow is a
// programmer error (CHECK); frontends bound sizes first (total bytes of a tensor < 2^62).
//
// Rules that need to know the ranges of variables are applied by Simplify() in a RangeContext.
// The rules are a table (ir/index_rules.h), each proved by Z3 in a test. They hold for integers of
// any size: floordiv(floordiv(x, m), n) becomes floordiv(x, m*n), so code that computes an
// expression in 32 bits needs bounds of all its parts, divisors included.
#ifndef STAX_IR_INDEX_EXPR_H_
#define STAX_IR_INDEX_EXPR_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace stax {

class IndexExpr {
 public:
  enum class AtomKind { kVar, kFloorDiv, kMod, kMin, kMax };

  // A factor of a term. kVar uses `name`; the others `a` and `b`.
  struct Atom;
  // coeff * product of atoms (sorted; repeated for powers).
  struct Term {
    int64_t coeff = 0;
    std::vector<std::shared_ptr<const Atom>> atoms;
  };

  IndexExpr() : IndexExpr(0) {}
  IndexExpr(int64_t value);  // NOLINT: constants convert, as in `2 * n + 1`
  static IndexExpr Var(std::string_view name);

  // Parses what ToString prints; also accepts parentheses, unary minus, "a // b", "a % b",
  // "floordiv(a, b)", "mod(a, b)", "min(a, b)", "max(a, b)". Names: [A-Za-z_][A-Za-z0-9_.]*.
  // InvalidArgument with position and expectation otherwise.
  static absl::StatusOr<IndexExpr> Parse(std::string_view text);
  std::string ToString() const;

  bool IsConst() const;
  std::optional<int64_t> AsConst() const;
  int64_t ConstOrDie() const;
  // The variable's name if the expression is exactly one variable.
  std::optional<std::string> AsVar() const;

  int64_t constant() const;                // the term without atoms
  const std::vector<Term>& terms() const;  // the others, in canonical order

  // Names of all variables, also those inside atoms.
  std::set<std::string> Vars() const;
  bool Mentions(std::string_view var) const;

  // Simultaneous substitution of variables.
  IndexExpr Substitute(const std::map<std::string, IndexExpr>& values) const;

  // Value under an assignment; FailedPrecondition names a missing variable, InvalidArgument a
  // division by a non-positive number, OutOfRange an overflow of int64.
  absl::StatusOr<int64_t> Evaluate(const std::map<std::string, int64_t>& values) const;

  // Coefficient of `var` when the expression is coeff * var + rest with `rest` and `coeff` free
  // of `var` (the stride of an access along a loop); nullopt when not linear in `var`.
  std::optional<IndexExpr> StrideOf(std::string_view var) const;

  // Structural order and equality of canonical forms.
  friend bool operator==(const IndexExpr& a, const IndexExpr& b);
  friend bool operator!=(const IndexExpr& a, const IndexExpr& b) { return !(a == b); }
  friend bool operator<(const IndexExpr& a, const IndexExpr& b);

  friend IndexExpr operator+(const IndexExpr& a, const IndexExpr& b);
  friend IndexExpr operator-(const IndexExpr& a, const IndexExpr& b);
  friend IndexExpr operator*(const IndexExpr& a, const IndexExpr& b);
  IndexExpr operator-() const;

  struct Poly;  // canonical polynomial, shared
 private:
  friend struct IndexExprAccess;
  explicit IndexExpr(std::shared_ptr<const Poly> poly) : poly_(std::move(poly)) {}
  std::shared_ptr<const Poly> poly_;
};

struct IndexExpr::Atom {
  AtomKind kind = AtomKind::kVar;
  std::string name;
  IndexExpr a, b;
};

// With the context-free rules applied: constants fold, x / 1 = x, x mod 1 = 0,
// (d*x + y) / d = x + y / d, (d*x + y) mod d = y mod d, and so on.
IndexExpr FloorDiv(const IndexExpr& a, const IndexExpr& b);
IndexExpr CeilDiv(const IndexExpr& a, const IndexExpr& b);  // floordiv(a + b - 1, b)
IndexExpr Mod(const IndexExpr& a, const IndexExpr& b);
IndexExpr Min(const IndexExpr& a, const IndexExpr& b);
IndexExpr Max(const IndexExpr& a, const IndexExpr& b);

// Product of all, 1 for none.
IndexExpr Product(const std::vector<IndexExpr>& factors);
// The same of factors that come from a file: nullopt when a coefficient overflows int64.
std::optional<IndexExpr> TryProduct(const std::vector<IndexExpr>& factors);

// Closed interval; kNegInf / kPosInf when unbounded.
struct Interval {
  static constexpr int64_t kNegInf = INT64_MIN;
  static constexpr int64_t kPosInf = INT64_MAX;
  int64_t lo = kNegInf;
  int64_t hi = kPosInf;
};

// What is known of variables: size symbols have constant bounds, loop variables run over
// [0, extent) where the extent may itself be symbolic.
class RangeContext {
 public:
  void AddSize(std::string_view name, int64_t lower, int64_t upper);
  void AddLoop(std::string_view name, IndexExpr extent);

  // Extent of a loop variable, nullopt if `name` is not one.
  std::optional<IndexExpr> Extent(std::string_view name) const;

  // Sound bounds of an expression (saturating interval arithmetic).
  Interval Bounds(const IndexExpr& e) const;

  // True only if it holds for all values of the variables; false means "not proved".
  bool ProveLe(const IndexExpr& a, const IndexExpr& b) const;  // a <= b
  bool ProveLt(const IndexExpr& a, const IndexExpr& b) const;  // a < b
  bool ProveEq(const IndexExpr& a, const IndexExpr& b) const;
  // True only if d divides e for all values.
  bool ProveDivisible(const IndexExpr& e, int64_t d) const;

 private:
  friend class BoundSearch;
  std::map<std::string, Interval, std::less<>> sizes_;
  std::map<std::string, IndexExpr, std::less<>> loops_;
};

// Applies the range-dependent rules until nothing changes: (i*d + j) / d = i for 0 <= j < d,
// (i*d + j) mod d = j, i mod d = i for i < d, min/max with a proved order, nested divisions, and
// d * (x / d) + x mod d = x. Idempotent. Best used after each reshape of a chain: it takes some
// microseconds then, while unsimplified chains grow exponentially.
IndexExpr Simplify(const IndexExpr& e, const RangeContext& ranges);

}  // namespace stax

#endif  // STAX_IR_INDEX_EXPR_H_
