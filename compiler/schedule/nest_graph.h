// Which nest must come before which, while nests are being merged.
#ifndef STAX_COMPILER_SCHEDULE_NEST_GRAPH_H_
#define STAX_COMPILER_SCHEDULE_NEST_GRAPH_H_

#include <cstdint>
#include <vector>

namespace stax {

// A DAG over nodes 0 .. size-1, transitively closed in bit sets. Edges are given up front, from
// lower to higher numbers; Merge keeps it closed.
class NestGraph {
 public:
  explicit NestGraph(int size);

  // `from` < `to`. All edges into a node are added before the edges out of it are.
  void AddEdge(int from, int to);

  bool Reaches(int from, int to) const { return Test(after_[from], to); }

  // Whether a and b may become one node: no path between them through a third one.
  bool CanMerge(int a, int b) const;

  // `b` becomes part of `a`. CanMerge(a, b) holds; b is not to be used any more.
  void Merge(int a, int b);

  bool alive(int node) const { return alive_[node]; }

  // Alive nodes in topological order, at each step the least number first.
  std::vector<int> Order() const;

 private:
  using Bits = std::vector<uint64_t>;
  static bool Test(const Bits& bits, int k) { return (bits[k / 64] >> (k % 64)) & 1; }
  static void Set(Bits* bits, int k, bool value);
  static void Or(Bits* bits, const Bits& other);
  static bool Intersect(const Bits& a, const Bits& b);

  int size_;
  std::vector<bool> alive_;
  std::vector<Bits> before_, after_;  // nodes that reach it; nodes it reaches
};

}  // namespace stax

#endif  // STAX_COMPILER_SCHEDULE_NEST_GRAPH_H_
