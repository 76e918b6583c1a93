// Arithmetic on doubles, rounded to odd: an inexact result is that neighbour of the exact one whose
// last bit is 1. Rounding it again to a format with at least two bits fewer is as good as rounding
// the exact result (Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums", 2008).
//
// Operands are values of f32 or a narrower format, or exact products of two, so that nothing
// overflows or becomes subnormal. NaN and infinity come out as in IEEE 754.
#ifndef STAX_RUNTIME_EMULATOR_ISA_ROUND_TO_ODD_H_
#define STAX_RUNTIME_EMULATOR_ISA_ROUND_TO_ODD_H_

#include "runtime/emulator/isa/float_format.h"

namespace stax::isa {

// An exact sum of zero that comes of different signs is -0 when rounding down, else +0.
double OddAdd(double a, double b, Rounding rounding);
double OddDivide(double a, double b);
double OddSqrt(double a);

}  // namespace stax::isa

#endif  // STAX_RUNTIME_EMULATOR_ISA_ROUND_TO_ODD_H_
