#include "ir/index_program.h"

#include <algorithm>
#include <utility>

#include "ir/check.h"

namespace stax {

using AtomKind = IndexExpr::AtomKind;

IndexProgram::IndexProgram(const IndexExpr& e, const std::map<std::string, int>& slots) {
  Compile(e, slots);
}

int IndexProgram::Compile(const IndexExpr& e, const std::map<std::string, int>& slots) {
  Polynomial polynomial{e.constant(), {}};
  for (const IndexExpr::Term& term : e.terms()) {
    Term compiled{term.coeff, {}};
    for (const auto& atom : term.atoms) {
      Factor factor{atom->kind};
      if (atom->kind == AtomKind::kVar) {
        auto it = slots.find(atom->name);
        STAX_CHECK(it != slots.end(), "no slot for variable " + atom->name);
        factor.slot = it->second;
      } else {
        factor.a = Compile(atom->a, slots);
        factor.b = Compile(atom->b, slots);
      }
      compiled.factors.push_back(factor);
    }
    polynomial.terms.push_back(std::move(compiled));
  }
  polynomials_.push_back(std::move(polynomial));
  return static_cast<int>(polynomials_.size()) - 1;
}

int64_t IndexProgram::Evaluate(const int64_t* values, Fault* fault) const {
  if (polynomials_.empty()) return 0;
  Fault own = Fault::kNone;
  const int64_t value = Run(static_cast<int>(polynomials_.size()) - 1, values, &own);
  if (own == Fault::kNone) return value;
  *fault = own;
  return 0;
}

int64_t IndexProgram::Run(int polynomial, const int64_t* values, Fault* fault) const {
  const Polynomial& p = polynomials_[polynomial];
  int64_t sum = p.constant;
  for (const Term& term : p.terms) {
    int64_t product = term.coeff;
    for (const Factor& factor : term.factors) {
      const int64_t value =
          factor.kind == AtomKind::kVar ? values[factor.slot] : RunFactor(factor, values, fault);
      if (__builtin_mul_overflow(product, value, &product)) *fault = Fault::kOverflow;
    }
    if (__builtin_add_overflow(sum, product, &sum)) *fault = Fault::kOverflow;
  }
  return sum;
}

int64_t IndexProgram::RunFactor(const Factor& factor, const int64_t* values, Fault* fault) const {
  const int64_t a = Run(factor.a, values, fault);
  const int64_t b = Run(factor.b, values, fault);
  if (factor.kind == AtomKind::kMin) return std::min(a, b);
  if (factor.kind == AtomKind::kMax) return std::max(a, b);
  if (b <= 0) {
    *fault = Fault::kBadDivisor;
    return 0;
  }
  const int64_t remainder = a % b + (a % b < 0 ? b : 0);
  if (factor.kind == AtomKind::kMod) return remainder;
  return a / b - (a % b < 0 ? 1 : 0);
}

}  // namespace stax
