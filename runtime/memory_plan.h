// Memory plan: places temporaries of known lifetime in one arena so that those alive together do
// not overlap and the arena is small (S9.7: a buffer is free for reuse after its last use).
#ifndef STAX_RUNTIME_MEMORY_PLAN_H_
#define STAX_RUNTIME_MEMORY_PLAN_H_

#include <cstdint>
#include <vector>

namespace stax {

inline constexpr int64_t kPlanAlignment = 256;  // in bytes; that of Device::Allocate

struct Lifetime {
  int64_t bytes = 0;
  int first = 0;  // position of the first launch that uses it
  int last = 0;   // and of the last one; both inclusive
};

struct MemoryPlan {
  std::vector<int64_t> offsets;  // one a lifetime, in its order; multiples of kPlanAlignment
  int64_t arena_bytes = 0;
};

// Largest first into the lowest gap that is free for the whole lifetime. O(n^2). All bytes
// together, each rounded up to the alignment, fit in int64.
MemoryPlan PlanMemory(const std::vector<Lifetime>& lifetimes);

}  // namespace stax

#endif  // STAX_RUNTIME_MEMORY_PLAN_H_
