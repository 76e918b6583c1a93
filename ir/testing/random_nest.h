// Random well-formed LoopNests with inputs, for property tests of whatever takes a LoopNest: text,
// verifier, interpreter, scheduling, code generation.
//
//   LoopNest nest = RandomNest(seed, {});
//   auto sizes = RandomSizes(nest, seed);
//   auto memory = RandomInputs(nest, sizes, seed);
//   Interpret(nest, sizes, memory);   // OK for every seed
//
// The same seed gives the same nest on every platform. Nests have broadcast, transposed, reversed,
// strided, masked and indirect loads, several reductions that use each other's results, and
// outputs of both levels.
#ifndef STAX_IR_TESTING_RANDOM_NEST_H_
#define STAX_IR_TESTING_RANDOM_NEST_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ir/interpreter.h"
#include "ir/loop_nest.h"

namespace stax {

struct RandomNestOptions {
  // How ops enter the body. The same seed computes the same outputs either way, which is what a
  // test of BodyBuilder compares.
  enum class Style { kBuilder, kRaw };
  Style style = Style::kBuilder;

  int max_ops = 24;           // scalar ops, casts and selects
  int max_dims = 3;           // loop and reduction dims together
  int max_extent = 7;         // of dims of constant extent
  bool symbols = true;        // extents may be size symbols
  bool reductions = true;     // dims may be reduction dims
  bool masks = true;          // loads may be masked
  bool indirect = true;       // loads may be gathers
  bool math = true;           // ops that are not exact (IsExactOp), such as exp
  std::vector<DType> dtypes;  // of inputs and casts; empty: all but bool
};

LoopNest RandomNest(uint64_t seed, const RandomNestOptions& options);

// A small value for every symbol.
std::map<std::string, int64_t> RandomSizes(const LoopNest& nest, uint64_t seed);

// Contents for the buffers that are read. One in eight elements is a special value of its type: a
// zero of either sign, an infinity, NaN, a denormal, the largest and the smallest number.
// `specials` false leaves those out, and keeps floats in [-4, 4] and integers in [-9, 9].
std::map<std::string, Bytes> RandomInputs(const LoopNest& nest,
                                          const std::map<std::string, int64_t>& sizes,
                                          uint64_t seed, bool specials = true);

}  // namespace stax

#endif  // STAX_IR_TESTING_RANDOM_NEST_H_
