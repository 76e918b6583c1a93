// Two nests as one.
#ifndef STAX_COMPILER_SCHEDULE_FUSE_PAIR_H_
#define STAX_COMPILER_SCHEDULE_FUSE_PAIR_H_

#include <optional>

#include "ir/loop_nest.h"

namespace stax {

// Largest fused body, in ops and in buffers. A body is emitted once per register slot of a thread,
// so code size and compile time grow with it, while what fusion saves does not. (A transformer's
// longest pointwise or normalisation chains have below 100 ops.)
inline constexpr int kMaxFusedOps = 512;
inline constexpr int kMaxFusedBuffers = 48;

// `first` and then `second` in one nest, or nullopt when that is not possible or not sensible.
//
// Legal when the iteration spaces match (match_dims.h) and every load by `second` of a buffer that
// `first` stores has the index of the store, so that the value is at hand. All stores are kept;
// values, loads and reductions that both have are one. `second` stores nothing that `first` loads.
// Siblings, of which neither reads the other, need loads in common that are a good part of what one
// of them loads, unless `unrelated` asks for fewer launches whatever they load. Contractions never
// have siblings, since their accumulators fill the registers.
std::optional<LoopNest> FusePair(const LoopNest& first, const LoopNest& second,
                                 bool unrelated = false);

}  // namespace stax

#endif  // STAX_COMPILER_SCHEDULE_FUSE_PAIR_H_
