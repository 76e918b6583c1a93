// The approximate functions: ex2, lg2, sin, cos, tanh, rcp, rsqrt, sqrt, div.
//
// The ISA bounds their error and the hardware's tables are not published. Here each returns its
// exact value rounded to nearest: through f64, so that in the rare case where the f64 result lies
// within 2^-28 of a tie, the neighbour may come out. That is within every bound of the ISA (2 ulp
// for div, 2^-22 relative for ex2, 2^-11 for tanh ...), but it is not the bits of a GPU.
//
// Operands and results are bits of f32 without .ftz: the caller flushes what the modifiers say.
// The special cases are those of the ISA's tables; a NaN is 0x7fffffff.
#ifndef STAX_RUNTIME_EMULATOR_ISA_APPROXIMATE_H_
#define STAX_RUNTIME_EMULATOR_ISA_APPROXIMATE_H_

#include <cstdint>

namespace stax::isa {

enum class Approximate { kReciprocal, kReciprocalSqrt, kSqrt, kSin, kCos, kLog2, kExp2, kTanh };

// The function on the value as a double, not rounded to f32.
double ApproximateDouble(Approximate function, double a);

// div.approx.f32: a * (1 / b), so that for |b| above 2^126 it is 0, or NaN when a is infinite.
double DivideApproximate(double a, double b);

// The .ftz forms of f64 look at the upper half of `a` only, and give 20 bits after the point: the
// lower half of the result is zero. Subnormal numbers are zeros.
uint64_t ReciprocalF64(uint64_t a);
uint64_t ReciprocalSqrtF64(uint64_t a);

// rsqrt.approx.f64, which is no instruction of the hardware: the processor's square root and
// division, within 1 ulp.
double ReciprocalSqrtFull(double a);

}  // namespace stax::isa

#endif  // STAX_RUNTIME_EMULATOR_ISA_APPROXIMATE_H_
