// An IndexExpr compiled for evaluation at many points: variables are positions in an array, no
// map lookups, no allocation.
//
//   IndexProgram program(IndexExpr::Parse("128*i0 + r0").value(), {{"i0", 0}, {"r0", 1}});
//   const int64_t point[] = {2, 5};
//   IndexProgram::Fault fault = IndexProgram::Fault::kNone;
//   program.Evaluate(point, &fault);   // 261
#ifndef STAX_IR_INDEX_PROGRAM_H_
#define STAX_IR_INDEX_PROGRAM_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ir/index_expr.h"

namespace stax {

class IndexProgram {
 public:
  enum class Fault { kNone, kOverflow, kBadDivisor };

  IndexProgram() = default;
  // `slots` has every variable of `e` (CHECK).
  IndexProgram(const IndexExpr& e, const std::map<std::string, int>& slots);

  // The value with variable v being values[slots[v]]. On an overflow of int64 or a divisor below 1
  // sets *fault and returns 0; otherwise leaves *fault.
  int64_t Evaluate(const int64_t* values, Fault* fault) const;

 private:
  struct Factor {
    IndexExpr::AtomKind kind;
    int slot = -1;       // kVar
    int a = -1, b = -1;  // the others: polynomials
  };
  struct Term {
    int64_t coeff;
    std::vector<Factor> factors;
  };
  struct Polynomial {
    int64_t constant;
    std::vector<Term> terms;
  };

  int Compile(const IndexExpr& e, const std::map<std::string, int>& slots);
  int64_t Run(int polynomial, const int64_t* values, Fault* fault) const;
  int64_t RunFactor(const Factor& factor, const int64_t* values, Fault* fault) const;

  std::vector<Polynomial> polynomials_;  // parts before wholes: the last is the expression
};

}  // namespace stax

#endif  // STAX_IR_INDEX_PROGRAM_H_
