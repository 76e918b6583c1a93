// For tests: executes lowered and scheduled programs with the loop interpreter and compares them
// with the graph they came from.
#ifndef STAX_COMPILER_LOWERING_TESTING_RUN_PROGRAM_H_
#define STAX_COMPILER_LOWERING_TESTING_RUN_PROGRAM_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/lowering/lowering.h"
#include "ir/graph.h"
#include "ir/interpreter.h"

namespace stax {

using Sizes = std::map<std::string, int64_t>;
using TensorBytes = std::map<std::string, Bytes>;  // by tensor or output name

// Runs `nests` in order on the plan's buffers and returns the outputs by name. `inputs` are by the
// model's names.
absl::StatusOr<TensorBytes> RunNests(const LoopProgram& plan, const std::vector<LoopNest>& nests,
                                     const Sizes& sizes, const TensorBytes& inputs);

// Random values for every input of the graph: floats in [-2, 2], integers in [-8, 8]. With
// `specials` one float in 16 is NaN, an infinity or a zero of either sign.
TensorBytes RandomInputs(const Graph& graph, const Sizes& sizes, uint64_t seed,
                         bool specials = false);

// Empty when `got` equals `want`, else which element differs. Integers and bools must be equal;
// floats may differ by the rounding of sums taken in another order.
std::string CompareOutputs(const Graph& graph, const TensorBytes& want, const TensorBytes& got);

// The same with what the graph interpreter computes.
std::string CompareWithGraph(const Graph& graph, const Sizes& sizes, const TensorBytes& inputs,
                             const TensorBytes& got);

}  // namespace stax

#endif  // STAX_COMPILER_LOWERING_TESTING_RUN_PROGRAM_H_
