// Nests of running sums, products, maxima and minima.
#ifndef STAX_COMPILER_LOWERING_CUMULATIVE_NESTS_H_
#define STAX_COMPILER_LOWERING_CUMULATIVE_NESTS_H_

#include <vector>

#include "compiler/lowering/reduction_nests.h"
#include "ir/graph.h"
#include "ir/loop_nest.h"

namespace stax {

// A short axis is one reduction over all positions with those after the element masked out
// (DescribeReduction). A long one of n positions is cut into blocks of about sqrt(n): the blocks'
// results, their running results, and within each block the running result combined with that of
// the blocks before it. That is about n^1.5 steps instead of n^2.
std::vector<LoopNest> CumulativeNests(const GraphOp& op, const StoredTensor& result,
                                      const NestContext& context);

}  // namespace stax

#endif  // STAX_COMPILER_LOWERING_CUMULATIVE_NESTS_H_
