// Matching the iteration spaces of two nests by common refinement.
//
// Dims of both are cut until they are the same: [256, 1000] and [16, 16, 1000] become
// [16, 16, 1000] with i0 = 16*f0 + f1 in the first. Flags must agree: reduction dims match
// reduction dims. A pointwise nest takes over the flags of the nest it is matched with, either all
// its dims (softmax's exp against its sum) or, running once a row, only the loop dims (an
// epilogue).
#ifndef STAX_COMPILER_SCHEDULE_MATCH_DIMS_H_
#define STAX_COMPILER_SCHEDULE_MATCH_DIMS_H_

#include <map>
#include <string>
#include <vector>

#include "ir/loop_nest.h"

namespace stax {

struct DimMatch {
  std::vector<LoopDim> dims;  // of the fused nest, named by position and kind
  // Variables of either nest as expressions over `dims`.
  std::map<std::string, IndexExpr> first_vars, second_vars;
};

// All matches worth trying, the most natural first; empty when the spaces differ. Besides the
// dims' own order, dims are matched in the order of their strides in buffers that both nests
// access: that fuses a nest over [M, N] with one over its transpose. Whether the indices then agree
// is for the caller to check.
std::vector<DimMatch> MatchDims(const LoopNest& first, const LoopNest& second);

}  // namespace stax

#endif  // STAX_COMPILER_SCHEDULE_MATCH_DIMS_H_
