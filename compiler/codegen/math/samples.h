// Arguments that are hard for the math functions, for tests and tools.
#ifndef STAX_COMPILER_CODEGEN_MATH_SAMPLES_H_
#define STAX_COMPILER_CODEGEN_MATH_SAMPLES_H_

#include <cstdint>
#include <vector>

namespace stax::math {

struct Arguments {
  std::vector<double> a, b;  // for f32 functions every value is a float
};

// `count` pairs, a fixed sequence for each seed: random bits; moderate magnitudes; close to 1 and
// to multiples of pi/2; bases and exponents whose power is near the ends of the range or within.
Arguments RandomArguments(bool f64, int64_t count, uint64_t seed);

// Zeros, infinities, NaN, both signs of every exponent with mantissas at their ends, subnormals;
// and (`b`) a walk over the same values out of step.
Arguments EdgeArguments(bool f64);

// Every f16 and every bf16 number.
Arguments HalfArguments();

}  // namespace stax::math

#endif  // STAX_COMPILER_CODEGEN_MATH_SAMPLES_H_
