#include "runtime/memory_plan.h"

#include <algorithm>
#include <numeric>

namespace stax {
namespace {

int64_t RoundUp(int64_t bytes) {
  return (bytes + kPlanAlignment - 1) / kPlanAlignment * kPlanAlignment;
}

bool AliveTogether(const Lifetime& a, const Lifetime& b) {
  return a.first <= b.last && b.first <= a.last;
}

}  // namespace

MemoryPlan PlanMemory(const std::vector<Lifetime>& lifetimes) {
  std::vector<int> order(lifetimes.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    return lifetimes[a].bytes != lifetimes[b].bytes ? lifetimes[a].bytes > lifetimes[b].bytes
                                                    : a < b;
  });
  MemoryPlan plan;
  plan.offsets.assign(lifetimes.size(), 0);
  std::vector<int> placed;  // sorted by offset
  for (int id : order) {
    int64_t offset = 0;
    for (int other : placed) {
      if (!AliveTogether(lifetimes[id], lifetimes[other])) continue;
      if (plan.offsets[other] - offset >= RoundUp(lifetimes[id].bytes)) break;
      offset = std::max(offset, plan.offsets[other] + RoundUp(lifetimes[other].bytes));
    }
    plan.offsets[id] = offset;
    plan.arena_bytes = std::max(plan.arena_bytes, offset + RoundUp(lifetimes[id].bytes));
    placed.insert(std::upper_bound(placed.begin(), placed.end(), id,
                                   [&](int a, int b) { return plan.offsets[a] < plan.offsets[b]; }),
                  id);
  }
  return plan;
}

}  // namespace stax
