// For property tests: small random graphs over every kind of op.
#ifndef STAX_COMPILER_LOWERING_TESTING_RANDOM_GRAPH_H_
#define STAX_COMPILER_LOWERING_TESTING_RANDOM_GRAPH_H_

#include <cstdint>

#include "compiler/lowering/testing/run_program.h"
#include "ir/graph.h"

namespace stax {

struct RandomGraphOptions {
  int ops = 12;           // builder calls after the inputs
  bool symbolic = false;  // sizes n and m instead of some literals
  // Literals around the lengths of vectors, warps and blocks, up to 300, instead of up to 8.
  bool long_dims = false;
};

// The same graph for the same seed; Verify holds.
Graph RandomGraph(uint64_t seed, const RandomGraphOptions& options);

// Values for n and m that fit the symbols of a random graph.
Sizes RandomSizes(uint64_t seed);

}  // namespace stax

#endif  // STAX_COMPILER_LOWERING_TESTING_RANDOM_GRAPH_H_
