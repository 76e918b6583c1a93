// What the .cc files of //ir:index_expr share: the representation of a polynomial, the one builder
// that makes canonical ones, and arithmetic that reports overflow instead of ending the program.
#ifndef STAX_IR_INDEX_EXPR_INTERNAL_H_
#define STAX_IR_INDEX_EXPR_INTERNAL_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/index_expr.h"

namespace stax {

// Coefficients lie in (-2^63, 2^63), so that negation never overflows.
inline constexpr int64_t kMaxCoeff = INT64_MAX;

// Sum of terms and a constant. Canonical: atoms of a term ascend, terms descend by degree and then
// ascend lexicographically by atoms (a monomial order, so division with remainder terminates), no
// two terms have the same atoms, no coefficient is zero.
struct IndexExpr::Poly {
  std::vector<Term> terms;
  int64_t constant = 0;
  // Nodes of the expression written as a tree, saturating: what printing or evaluating costs.
  int32_t weight = 1;
  // Whether any atom is not a variable; if none is, there is nothing to simplify.
  bool has_compound = false;
};

using AtomPtr = std::shared_ptr<const IndexExpr::Atom>;

// The key to IndexExpr's representation.
struct IndexExprAccess {
  static IndexExpr Make(std::shared_ptr<const IndexExpr::Poly> poly) {
    return IndexExpr(std::move(poly));
  }
  static const IndexExpr::Poly& Get(const IndexExpr& e) { return *e.poly_; }
  static bool SamePointer(const IndexExpr& a, const IndexExpr& b) { return a.poly_ == b.poly_; }
};

inline bool IsValue(const IndexExpr& e, int64_t value) {
  return e.IsConst() && e.constant() == value;
}

// Three-way comparisons by content: negative, zero, positive.
int CompareAtoms(const IndexExpr::Atom& a, const IndexExpr::Atom& b);
int CompareMonomials(const std::vector<AtomPtr>& a, const std::vector<AtomPtr>& b);
int CompareExprs(const IndexExpr& a, const IndexExpr& b);

// Collects terms in any order; Finish() sorts them and adds like terms.
class PolyBuilder {
 public:
  void Reserve(size_t terms) { poly_.terms.reserve(terms); }
  void AddConstant(int64_t value);
  void AddTerm(int64_t coeff, std::vector<AtomPtr> atoms);  // `atoms` sorted
  // scale * e, and scale * atoms * e.
  void AddScaled(const IndexExpr& e, int64_t scale);
  void AddProduct(const IndexExpr& e, int64_t scale, const std::vector<AtomPtr>& atoms);
  // nullopt when a coefficient left its range.
  std::optional<IndexExpr> Finish();

 private:
  IndexExpr::Poly poly_;
  bool sorted_ = true;
  bool overflow_ = false;
};

// nullopt on overflow of a coefficient.
std::optional<IndexExpr> TryAdd(const IndexExpr& a, const IndexExpr& b);
std::optional<IndexExpr> TrySub(const IndexExpr& a, const IndexExpr& b);
std::optional<IndexExpr> TryMul(const IndexExpr& a, const IndexExpr& b);

// FloorDiv, Mod, Min or Max by `kind`.
IndexExpr MakeCompound(IndexExpr::AtomKind kind, const IndexExpr& a, const IndexExpr& b);
// The bare atom as an expression, no rules applied.
IndexExpr MakeAtom(IndexExpr::AtomKind kind, IndexExpr a, IndexExpr b);
IndexExpr AtomExpr(AtomPtr atom);
IndexExpr TermExpr(const IndexExpr::Term& term);

// IndexExpr::Evaluate, nullopt for any error.
std::optional<int64_t> TryEvaluate(const IndexExpr& e,
                                   const std::map<std::string, int64_t>& values);

// a = d * quotient + rest, by polynomial division: no term of `rest` is a multiple of the leading
// term of d. For a constant d > 0 the coefficients of `rest` lie in (-d/2, d), its constant in
// [0, d). nullopt on overflow, and for a division by a sum that takes too many steps.
struct Division {
  IndexExpr quotient, rest;
};
std::optional<Division> Divide(const IndexExpr& a, const IndexExpr& d);  // d != 0
// a / d where d divides a as a polynomial, else nullopt.
std::optional<IndexExpr> ExactQuotient(const IndexExpr& a, const IndexExpr& d);
// Largest monomial that divides every term of a and the term b; its coefficient is positive.
IndexExpr::Term MonomialGcd(const IndexExpr& a, IndexExpr::Term b);

// coeff and rest of e = coeff * atom + rest, neither with `atom` as a factor of a term (it may
// be inside other atoms); nullopt when a term has a higher power of it.
struct LinearForm {
  IndexExpr coeff, rest;
};
std::optional<LinearForm> LinearIn(const IndexExpr& e, const IndexExpr::Atom& atom);

// The value of a variable that has only one.
std::optional<int64_t> OnlyValue(const RangeContext& ranges, const std::string& name);

// a <= b by bounds alone, without simplifying first: what rules may ask.
bool ProveLeByBounds(const RangeContext& ranges, const IndexExpr& a, const IndexExpr& b);

// The only constant that floordiv(a, d) may be, found by trying two points; nullopt when it is not
// constant.
std::optional<int64_t> ConstantQuotient(const RangeContext& ranges, const IndexExpr& a,
                                        const IndexExpr& d);

// e with every mod(x, d) that occurs once in a term written as x - d*floordiv(x, d). Equal integers
// that are merged or split in different ways often become equal expressions.
IndexExpr ExpandMods(const IndexExpr& e, const RangeContext& ranges);

// Rounding towards minus infinity; b > 0.
inline int64_t FloorDivInt(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }
inline int64_t ModInt(int64_t a, int64_t b) { return a % b + (a % b < 0 ? b : 0); }

}  // namespace stax

#endif  // STAX_IR_INDEX_EXPR_INTERNAL_H_
