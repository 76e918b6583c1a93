#include "compiler/schedule/nest_graph.h"

#include <cstddef>

namespace stax {

NestGraph::NestGraph(int size)
    : size_(size),
      alive_(size, true),
      before_(size, Bits((size + 63) / 64)),
      after_(size, Bits((size + 63) / 64)) {}

void NestGraph::Set(Bits* bits, int k, bool value) {
  const uint64_t mask = uint64_t{1} << (k % 64);
  (*bits)[k / 64] = value ? (*bits)[k / 64] | mask : (*bits)[k / 64] & ~mask;
}

void NestGraph::Or(Bits* bits, const Bits& other) {
  for (std::size_t w = 0; w < other.size(); ++w) (*bits)[w] |= other[w];
}

bool NestGraph::Intersect(const Bits& a, const Bits& b) {
  for (std::size_t w = 0; w < a.size(); ++w)
    if ((a[w] & b[w]) != 0) return true;
  return false;
}

void NestGraph::AddEdge(int from, int to) {
  if (Test(before_[to], from)) return;
  Bits sources = before_[from];
  Set(&sources, from, true);
  Or(&before_[to], sources);
  for (int k = 0; k <= from; ++k)
    if (Test(sources, k)) Set(&after_[k], to, true);
}

bool NestGraph::CanMerge(int a, int b) const {
  return !Intersect(after_[a], before_[b]) && !Intersect(after_[b], before_[a]);
}

void NestGraph::Merge(int a, int b) {
  Or(&before_[a], before_[b]);
  Or(&after_[a], after_[b]);
  for (Bits* bits : {&before_[a], &after_[a]}) {
    Set(bits, a, false);
    Set(bits, b, false);
  }
  alive_[b] = false;
  for (int k = 0; k < size_; ++k) {
    if (Test(before_[a], k)) {
      Or(&after_[k], after_[a]);
      Set(&after_[k], b, false);
      Set(&after_[k], a, true);
    } else if (Test(after_[a], k)) {
      Or(&before_[k], before_[a]);
      Set(&before_[k], b, false);
      Set(&before_[k], a, true);
    }
  }
}

std::vector<int> NestGraph::Order() const {
  std::vector<int> order;
  Bits done(before_.empty() ? 0 : before_[0].size());
  std::vector<bool> placed(size_, false);
  const auto ready = [&](int k) {
    for (std::size_t w = 0; w < done.size(); ++w)
      if ((before_[k][w] & ~done[w]) != 0) return false;
    return true;
  };
  for (int k = 0; k < size_;) {
    if (!alive_[k] || placed[k] || !ready(k)) {
      ++k;
      continue;
    }
    order.push_back(k);
    placed[k] = true;
    Set(&done, k, true);
    k = 0;  // a lower number may be ready now
  }
  return order;
}

}  // namespace stax
