// MergeDims: fewer dims, same points in the same order.
//
// Input: a well-formed nest. Output: an equal nest in which dims of extent 1 are gone and
// neighbours (of one kind, reduction or loop) are one dim wherever every index walks them as one:
//
//   x[16384*i0 + 8192*i1 + r0], i0 < 64, i1 < 2   ->   x[8192*i0 + r0], i0 < 128
//
// Comes after fusion (which matches dims one by one) and before tiling (fewer dims, fewer divisions
// and fewer candidates). Dims are renamed i0, i1, ... and r0, r1, ... in order.
#ifndef STAX_COMPILER_SCHEDULE_MERGE_DIMS_H_
#define STAX_COMPILER_SCHEDULE_MERGE_DIMS_H_

#include <optional>
#include <string>

#include "ir/loop_nest.h"

namespace stax {

LoopNest MergeDims(const LoopNest& nest);

// `e` as an expression in `merged`, which stands for inner_extent * outer + inner, or nullopt when
// it depends on the two in another way. Exposed for tests.
std::optional<IndexExpr> MergeVariables(const IndexExpr& e, const std::string& outer,
                                        const std::string& inner, const IndexExpr& inner_extent,
                                        const std::string& merged);

}  // namespace stax

#endif  // STAX_COMPILER_SCHEDULE_MERGE_DIMS_H_
