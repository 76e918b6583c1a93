#include "runtime/memory_plan.h"

#include <random>

#include "gtest/gtest.h"

namespace stax {
namespace {

TEST(MemoryPlan, ReusesABufferAfterItsLastUse) {
  // A chain: each buffer lives from its producer to its consumer. Two places are enough.
  MemoryPlan plan = PlanMemory({{1000, 0, 1}, {1000, 1, 2}, {1000, 2, 3}, {1000, 3, 4}});
  EXPECT_EQ(plan.arena_bytes, 2 * 1024);
  EXPECT_EQ(plan.offsets[0], plan.offsets[2]);
  EXPECT_EQ(plan.offsets[1], plan.offsets[3]);
}

TEST(MemoryPlan, EmptyAndZeroSized) {
  EXPECT_EQ(PlanMemory({}).arena_bytes, 0);
  EXPECT_EQ(PlanMemory({{0, 0, 3}}).arena_bytes, 0);
}

TEST(MemoryPlan, RandomPlansNeverOverlapAndStayWithinTheSum) {
  std::mt19937 rng(7);
  for (int trial = 0; trial < 500; ++trial) {
    std::vector<Lifetime> lifetimes(rng() % 20);
    int64_t sum = 0;
    for (Lifetime& life : lifetimes) {
      life.first = rng() % 10;
      life.last = life.first + rng() % 5;
      life.bytes = rng() % 5000;
      sum += (life.bytes + 255) / 256 * 256;
    }
    MemoryPlan plan = PlanMemory(lifetimes);
    EXPECT_LE(plan.arena_bytes, sum);
    for (size_t i = 0; i < lifetimes.size(); ++i) {
      EXPECT_EQ(plan.offsets[i] % 256, 0);
      EXPECT_LE(plan.offsets[i] + lifetimes[i].bytes, plan.arena_bytes);
      for (size_t j = 0; j < i; ++j) {
        bool together =
            lifetimes[i].first <= lifetimes[j].last && lifetimes[j].first <= lifetimes[i].last;
        bool apart = plan.offsets[i] + lifetimes[i].bytes <= plan.offsets[j] ||
                     plan.offsets[j] + lifetimes[j].bytes <= plan.offsets[i];
        EXPECT_TRUE(!together || apart) << "trial " << trial << ": " << i << " and " << j;
      }
    }
  }
}

}  // namespace
}  // namespace stax
