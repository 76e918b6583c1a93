// ChooseTile: how the dims of a nest are cut into the axes of a tile (S9.3).
//
// Every candidate is scored by the bytes of accesses it makes coalesced: those whose stride is 1
// along the innermost dim of some axis. The best wins; among equals the one with fewer axes and
// then the one that keeps the dims' order. Example 6.1, x.t() + y: with one axis x = (i0, i1) only
// y and the result are contiguous; y = (i0), x = (i1) makes x contiguous too.
//
// Contractions (two loads each independent of loop dims the other depends on) get two loop axes,
// so that a tile uses what it loads several times.
#ifndef STAX_COMPILER_SCHEDULE_CHOOSE_TILE_H_
#define STAX_COMPILER_SCHEDULE_CHOOSE_TILE_H_

#include <cstdint>
#include <vector>

#include "compiler/kernel_spec.h"
#include "compiler/target.h"
#include "ir/loop_nest.h"

namespace stax {

struct TileChoice {
  std::vector<TileAxis> axes;  // y, x, r
  bool contraction = false;
  // Of the loads and stores, at the hints: all, and those coalesced with these axes.
  int64_t bytes = 0, coalesced_bytes = 0;
};

// Whether a reduction reuses what it loads along two loop dims, as a matmul does.
bool IsContraction(const LoopNest& nest);

TileChoice ChooseTile(const LoopNest& nest, const TargetSpec& target);

}  // namespace stax

#endif  // STAX_COMPILER_SCHEDULE_CHOOSE_TILE_H_
