// Whether a reduction is cut in two (S9.4): the first nest reduces pieces of the reduced dims, the
// second one the pieces' results.
//
// A reduction has a program instance a row (or a tile of columns) to run in parallel. With few
// outputs that leaves most of the device idle, so rows are cut into pieces.
#ifndef STAX_COMPILER_LOWERING_SPLIT_REDUCTION_H_
#define STAX_COMPILER_LOWERING_SPLIT_REDUCTION_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/target.h"
#include "ir/loop_nest.h"

namespace stax {

struct SplitPlan {
  // Positions of leading reduction dims that become loops of the first nest as they are.
  std::vector<int> whole;
  // The reduction dim after them, if any, that is cut into `pieces` of `chunk` each, the last ones
  // perhaps short or empty.
  std::optional<int> cut;
  int64_t pieces = 1;
  IndexExpr chunk;
};

// How to split the reduction `nest` (one reduce, not split yet), nullopt to leave it whole.
// Symbolic sizes are judged at their hints (S10.3). `contraction`: the nest is an einsum.
//   Rows (reduction along contiguous memory): fewer than 2 a multiprocessor (cpu: 8) are cut into
//     pieces of 8192 elements, as long as that makes no more than 128 a multiprocessor (cpu: 8)
//     and 8192 a row; not when there are less than 2^16 elements in all.
//   Columns: until there are 1024 partial results a multiprocessor (cpu: 128), of 32 elements at
//     least each.
std::optional<SplitPlan> ChooseSplit(const LoopNest& nest, bool contraction,
                                     const TargetSpec& target);

}  // namespace stax

#endif  // STAX_COMPILER_LOWERING_SPLIT_REDUCTION_H_
