// f64 arithmetic in all four rounding directions, in integers: nothing depends on the floating
// environment or on what the compiler does with it. Rounding to nearest is the processor's own.
//
//   AddF64(1.0, 0x1p-60, Rounding::kUp) == 1.0 + 0x1p-52
#ifndef STAX_RUNTIME_EMULATOR_ISA_WIDE_FLOAT_H_
#define STAX_RUNTIME_EMULATOR_ISA_WIDE_FLOAT_H_

#include "runtime/emulator/isa/float_format.h"

namespace stax::isa {

double AddF64(double a, double b, Rounding rounding);
double MultiplyF64(double a, double b, Rounding rounding);
double FmaF64(double a, double b, double c, Rounding rounding);
double DivideF64(double a, double b, Rounding rounding);
double SqrtF64(double a, Rounding rounding);

}  // namespace stax::isa

#endif  // STAX_RUNTIME_EMULATOR_ISA_WIDE_FLOAT_H_
