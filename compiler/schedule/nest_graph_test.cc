#include "compiler/schedule/nest_graph.h"

#include <random>
#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stax {
namespace {

using ::testing::ElementsAre;

TEST(NestGraphTest, NoMergeAroundAThirdNode) {
  NestGraph g(4);  // 0 -> 1 -> 2, 0 -> 2, 3 apart
  g.AddEdge(0, 1);
  g.AddEdge(0, 2);
  g.AddEdge(1, 2);
  EXPECT_TRUE(g.Reaches(0, 2));
  EXPECT_FALSE(g.Reaches(2, 0));
  EXPECT_TRUE(g.CanMerge(0, 1));
  EXPECT_FALSE(g.CanMerge(0, 2));
  EXPECT_TRUE(g.CanMerge(0, 3));
  g.Merge(0, 1);
  EXPECT_FALSE(g.alive(1));
  EXPECT_TRUE(g.CanMerge(0, 2));
  g.Merge(0, 2);
  EXPECT_THAT(g.Order(), ElementsAre(0, 3));
}

TEST(NestGraphTest, OrderPutsProducersFirst) {
  NestGraph g(5);
  g.AddEdge(0, 4);
  g.AddEdge(1, 2);
  g.AddEdge(3, 4);
  ASSERT_TRUE(g.CanMerge(1, 4));
  g.Merge(1, 4);  // 1 now needs 0 and 3
  EXPECT_THAT(g.Order(), ElementsAre(0, 3, 1, 2));
}

// Against reachability computed from the edges.
TEST(NestGraphTest, RandomMergesKeepItClosed) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    constexpr int kSize = 70;
    NestGraph g(kSize);
    std::vector<int> group(kSize);
    std::set<std::pair<int, int>> edges;
    for (int to = 0; to < kSize; ++to) {
      group[to] = to;
      for (int k = 0; k < 2 && to > 0; ++k) {
        const int from = static_cast<int>(random() % to);
        if (random() % 2 == 0) continue;
        g.AddEdge(from, to);
        edges.insert({from, to});
      }
    }
    const auto reaches = [&](int from, int to) {
      std::set<int> seen;
      std::vector<int> work = {from};
      while (!work.empty()) {
        const int k = work.back();
        work.pop_back();
        for (const auto& [a, b] : edges)
          if (group[a] == k && group[b] != k && seen.insert(group[b]).second)
            work.push_back(group[b]);
      }
      return seen.count(to) > 0;
    };
    for (int step = 0; step < 20; ++step) {
      const int a = group[random() % kSize], b = group[random() % kSize];
      if (a == b) continue;
      ASSERT_EQ(g.Reaches(a, b), reaches(a, b));
      if (!g.CanMerge(a, b)) continue;
      g.Merge(a, b);
      for (int& k : group)
        if (k == b) k = a;
      ASSERT_FALSE(reaches(a, a));  // no cycle
    }
    std::vector<int> position(kSize, -1);
    const std::vector<int> order = g.Order();
    for (size_t k = 0; k < order.size(); ++k) position[order[k]] = static_cast<int>(k);
    EXPECT_EQ(order.size(), std::set<int>(group.begin(), group.end()).size());
    for (const auto& [from, to] : edges)
      if (group[from] != group[to]) {
        EXPECT_LT(position[group[from]], position[group[to]]);
      }
  }
}

}  // namespace
}  // namespace stax
