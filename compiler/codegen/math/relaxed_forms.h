// Which functions have a cheaper form for the NVIDIA targets, and how far off it may be.
//
// f32 functions are within 2 ulp by contract. Where a result is rounded to f16 or bf16 before
// anybody sees it (compiler/codegen/precision.h finds out where), half an ulp of that type may be
// spent on errors before the rounding: the rounded result is then within 1 ulp of the exact one.
#ifndef STAX_COMPILER_CODEGEN_MATH_RELAXED_FORMS_H_
#define STAX_COMPILER_CODEGEN_MATH_RELAXED_FORMS_H_

#include "ir/dtype.h"
#include "ir/loop_op.h"

namespace stax {

// Half an ulp of the largest fraction: what a result that is rounded to `half` may be off before,
// relative to its value. 0 for types that are not f16 or bf16.
constexpr double HalfTolerance(DType half) {
  return half == DType::kBF16 ? 0x1p-9 : half == DType::kF16 ? 0x1p-12 : 0;
}

struct RelaxedForm {
  OpCode code;
  // Bound of |computed - exact| / |exact|; for the logarithms of |computed - exact| /
  // max(|exact|, 1), since their instruction has an absolute error near 1. Results that are
  // subnormal in f32 are in addition rounded once more to a multiple of 2^-149.
  double error;
};

// Of several forms of a function the cheapest first. What is measured of them: README.md.
inline constexpr RelaxedForm kRelaxedForms[] = {
    {OpCode::kExp, 0x1p-17},    {OpCode::kExp2, 0x1p-20}, {OpCode::kSigmoid, 0x1p-17},
    {OpCode::kTanh, 0x1.1p-11}, {OpCode::kTanh, 0x1p-17}, {OpCode::kErf, 0x1p-17},
    {OpCode::kLog, 0x1p-21},    {OpCode::kLog2, 0x1p-21}, {OpCode::kSqrt, 0x1p-22},
    {OpCode::kDiv, 0x1p-21},
};

// The first form of `code` whose error is at most `tolerance`, or nullptr.
constexpr const RelaxedForm* FindRelaxedForm(OpCode code, double tolerance) {
  for (const RelaxedForm& form : kRelaxedForms) {
    if (form.code == code && form.error <= tolerance) return &form;
  }
  return nullptr;
}

constexpr bool HasRelaxedForm(OpCode code) { return FindRelaxedForm(code, 1) != nullptr; }

}  // namespace stax

#endif  // STAX_COMPILER_CODEGEN_MATH_RELAXED_FORMS_H_
