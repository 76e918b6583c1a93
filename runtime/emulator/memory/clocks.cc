#include "runtime/emulator/memory/clocks.h"

#include <algorithm>
#include <utility>

namespace stax::emulator {
namespace {

constexpr uint32_t kAllLanes = ~uint32_t{0};
// A barrier passes on the last fences of the warps it joins, at most these.
constexpr size_t kMostInherited = 64;
// How far back in a chain of releases one is looked for that a newer one makes superfluous.
constexpr int kChainSearch = 64;

// Adds a fence to those of a list; it replaces the ones of the same warp whose lanes it has.
void AddFence(std::vector<FenceUse>& list, const FenceUse& added) {
  for (FenceUse& use : list) {
    if (use.fence == added.fence) {
      use.lanes |= added.lanes;
      return;
    }
    bool same_warp =
        use.fence->self == added.fence->self && use.fence->blocks == added.fence->blocks;
    if (same_warp && (use.lanes & ~added.lanes) == 0) {
      if (use.fence->clock < added.fence->clock) use = added;
      return;
    }
  }
  if (list.size() == kMostInherited) list.erase(list.begin());
  list.push_back(added);
}

}  // namespace

void ClusterClocks::Known::Raise(int self, int lane, uint32_t clock) {
  if (clock <= warps[self]) return;
  uint32_t& known = lanes[self * kWarpSize + lane];
  known = std::max(known, clock);
}

void ClusterClocks::Known::Join(const Known& other) {
  for (size_t i = 0; i < warps.size(); ++i) warps[i] = std::max(warps[i], other.warps[i]);
  for (auto [of, clock] : other.lanes) {
    Raise(static_cast<int>(of / kWarpSize), static_cast<int>(of % kWarpSize), clock);
  }
}

bool ClusterClocks::Known::Covers(int self, int lane, uint32_t clock) const {
  if (clock <= warps[self]) return true;
  auto found = lanes.find(self * kWarpSize + lane);
  return found != lanes.end() && clock <= found->second;
}

ClusterClocks::ClusterClocks(ReleaseTable* releases, int blocks, int threads)
    : releases_(releases),
      warps_((threads + kWarpSize - 1) / kWarpSize),
      total_(blocks * warps_),
      threads_(threads),
      warp_(total_) {
  joined_.resize(total_);
}

void ClusterClocks::Start(absl::Span<const uint32_t> blocks) {
  blocks_.assign(blocks.begin(), blocks.end());
  row_.assign(static_cast<size_t>(total_) * total_, 0);
  for (int self = 0; self < total_; ++self) {
    Warp& warp = warp_[self];
    warp.now = 1;
    warp.synced = 0;
    warp.partial = false;
    int lanes = std::min(threads_ - self % warps_ * kWarpSize, kWarpSize);
    warp.lanes = kAllLanes >> (kWarpSize - lanes);
    warp.single.clear();
    warp.ahead = 0;
    warp.fences.clear();
    warp.inherited.clear();
    warp.observed.clear();
  }
  any_fence_ = false;
  arrived_.clear();
  acquired_.clear();
}

bool ClusterClocks::Before(int self, int lane, Stamp stamp, uint32_t lanes, bool shared) const {
  stamp &= ~kStampLaneMask;
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    Stamp one = stamp | static_cast<Stamp>(__builtin_ctz(left)) << kStampLaneShift;
    if (!Before(self, lane, one, shared)) return false;
  }
  return true;
}

bool ClusterClocks::BeforeInWarp(int self, int lane, Stamp stamp) const {
  return StampClock(stamp) <= warp_[self].order[lane * kWarpSize + StampLane(stamp)];
}

bool ClusterClocks::KnowsMore(int self, int lane, int other, int other_lane, uint32_t clock) const {
  const Warp& warp = warp_[self];
  auto found = warp.single.find(other * kWarpSize + other_lane);
  if (found != warp.single.end() && clock <= found->second) return true;
  return (warp.ahead >> lane & 1) != 0 && warp.beyond[lane].Covers(other, other_lane, clock);
}

void ClusterClocks::LearnAll(int self, const Known& known) {
  Warp& warp = warp_[self];
  uint32_t* row = &row_[static_cast<size_t>(self) * total_];
  for (int i = 0; i < total_; ++i) row[i] = std::max(row[i], known.warps[i]);
  warp.synced = std::max(warp.synced, known.warps[self]);
  for (auto [of, clock] : known.lanes) {
    const auto other = static_cast<int>(of / kWarpSize);
    if (clock <= (other == self ? warp.synced : row[other])) continue;
    uint32_t& single = warp.single[of];
    single = std::max(single, clock);
  }
}

void ClusterClocks::LearnMore(int self, uint32_t lanes, const Known& known) {
  Warp& warp = warp_[self];
  warp.beyond.resize(kWarpSize);
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    const int lane = __builtin_ctz(left);
    Known& beyond = warp.beyond[lane];
    if ((warp.ahead >> lane & 1) == 0) {
      beyond.warps.assign(total_, 0);
      beyond.lanes.clear();
    }
    beyond.Join(known);
  }
  warp.ahead |= lanes;
}

void ClusterClocks::Converge(int self, uint32_t lanes) {
  Warp& warp = warp_[self];
  if ((warp.ahead & lanes) == 0) return;
  Known joined;
  joined.warps.assign(total_, 0);
  for (uint32_t left = warp.ahead & lanes; left != 0; left &= left - 1) {
    joined.Join(warp.beyond[__builtin_ctz(left)]);
  }
  if ((warp.lanes & ~lanes) != 0) return LearnMore(self, lanes, joined);
  warp.ahead = 0;
  LearnAll(self, joined);
}

void ClusterClocks::Join(const std::vector<int>& participants) {
  // A warp knows itself by its clock, not by its row.
  std::fill(joined_.begin(), joined_.end(), 0);
  absl::flat_hash_map<uint32_t, uint32_t> single;
  for (int self : participants) {
    Converge(self, kAllLanes);
    for (auto [of, clock] : warp_[self].single) single[of] = std::max(single[of], clock);
  }
  for (int self : participants) {
    const uint32_t* row = &row_[static_cast<size_t>(self) * total_];
    for (int i = 0; i < total_; ++i) joined_[i] = std::max(joined_[i], row[i]);
  }
  for (int self : participants) joined_[self] = warp_[self].now;
  absl::erase_if(single,
                 [&](const auto& one) { return one.second <= joined_[one.first / kWarpSize]; });
  for (int self : participants) {
    std::copy(joined_.begin(), joined_.end(), &row_[static_cast<size_t>(self) * total_]);
    Warp& warp = warp_[self];
    warp.single = single;
    warp.synced = warp.now;
    warp.partial = false;
    Tick(warp);
  }
  if (any_fence_) ShareFences(participants);
}

// Programs fence in every thread, meet at a barrier, and have one thread do the atomic; or have one
// thread do it, meet, and fence in every thread. Both work, so what a warp has fenced or observed
// is passed on at a barrier.
void ClusterClocks::ShareFences(const std::vector<int>& participants) {
  std::vector<FenceUse> fences;
  std::vector<Observed> observed;
  for (int self : participants) {
    for (const FenceUse& use : warp_[self].inherited) AddFence(fences, use);
    for (const FenceUse& use : warp_[self].fences) AddFence(fences, use);
    for (const Observed& one : warp_[self].observed) {
      bool known = std::any_of(observed.begin(), observed.end(),
                               [&](const Observed& other) { return other.node == one.node; });
      if (!known) observed.push_back({one.node, kAllLanes});
    }
  }
  for (int self : participants) {
    warp_[self].inherited = fences;
    warp_[self].observed = observed;
  }
}

void ClusterClocks::BlockBarrier(int rank, uint32_t warps) {
  participants_.clear();
  for (uint32_t left = warps; left != 0; left &= left - 1) {
    int warp = __builtin_ctz(left);
    if (warp < warps_) participants_.push_back(rank * warps_ + warp);
  }
  Join(participants_);
}

void ClusterClocks::ClusterBarrier(absl::Span<const uint32_t> warps) {
  participants_.clear();
  for (size_t rank = 0; rank < warps.size(); ++rank) {
    for (uint32_t left = warps[rank]; left != 0; left &= left - 1) {
      int warp = __builtin_ctz(left);
      if (warp < warps_) participants_.push_back(static_cast<int>(rank) * warps_ + warp);
    }
  }
  Join(participants_);
}

void ClusterClocks::WarpBarrier(int self, uint32_t lanes) {
  Warp& warp = warp_[self];
  for (Observed& observed : warp.observed) {
    if ((observed.lanes & lanes) != 0) observed.lanes |= lanes;
  }
  Converge(self, lanes);
  if ((warp.lanes & ~lanes) == 0) {
    warp.synced = warp.now;
    warp.partial = false;
    Tick(warp);
    return;
  }
  if (!warp.partial) {
    warp.order.assign(kWarpSize * kWarpSize, warp.synced);
    warp.partial = true;
  }
  uint32_t joined[kWarpSize] = {};
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    const uint32_t* row = &warp.order[__builtin_ctz(left) * kWarpSize];
    for (int i = 0; i < kWarpSize; ++i) joined[i] = std::max(joined[i], row[i]);
  }
  for (uint32_t left = lanes; left != 0; left &= left - 1) joined[__builtin_ctz(left)] = warp.now;
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    std::copy(joined, joined + kWarpSize, &warp.order[__builtin_ctz(left) * kWarpSize]);
  }
  Tick(warp);
}

void ClusterClocks::Arrive(int self, uint32_t lanes, uint64_t key) {
  Warp& warp = warp_[self];
  Known& known = arrived_[key];
  known.warps.resize(total_);
  const uint32_t* row = &row_[static_cast<size_t>(self) * total_];
  const uint32_t synced = (warp.lanes & ~lanes) == 0 ? warp.now : warp.synced;
  for (int i = 0; i < total_; ++i) {
    known.warps[i] = std::max(known.warps[i], i == self ? synced : row[i]);
  }
  for (auto [of, clock] : warp.single) {
    known.Raise(static_cast<int>(of / kWarpSize), static_cast<int>(of % kWarpSize), clock);
  }
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    const int lane = __builtin_ctz(left);
    known.Raise(self, lane, warp.now);
    for (int other = 0; warp.partial && other < kWarpSize; ++other) {
      known.Raise(self, other, warp.order[lane * kWarpSize + other]);
    }
    if ((warp.ahead >> lane & 1) != 0) known.Join(warp.beyond[lane]);
  }
  Tick(warp);
}

void ClusterClocks::Wait(int self, uint32_t lanes, uint64_t key) {
  auto found = arrived_.find(key);
  if (found == arrived_.end()) return;
  if ((warp_[self].lanes & ~lanes) == 0) {
    LearnAll(self, found->second);
  } else {
    LearnMore(self, lanes, found->second);
  }
}

void ClusterClocks::Fence(int self, uint32_t lanes, Scope scope) {
  Warp& warp = warp_[self];
  any_fence_ = true;
  for (Observed& observed : warp.observed) {
    if ((observed.lanes & lanes) == 0) continue;
    Acquire(self, observed.node, observed.lanes & lanes);
    observed.lanes &= ~lanes;
  }
  warp.observed.erase(std::remove_if(warp.observed.begin(), warp.observed.end(),
                                     [](const Observed& one) { return one.lanes == 0; }),
                      warp.observed.end());

  auto snapshot = std::make_shared<FenceSnapshot>();
  snapshot->blocks = blocks_;
  snapshot->warps = warps_;
  snapshot->row.assign(row_.begin() + static_cast<ptrdiff_t>(self) * total_,
                       row_.begin() + static_cast<ptrdiff_t>(self + 1) * total_);
  snapshot->self = self;
  snapshot->clock = warp.now;
  snapshot->synced = warp.synced;
  if (warp.partial) snapshot->order = warp.order;
  snapshot->scope = scope;
  for (auto [of, clock] : warp.single) {
    snapshot->more.push_back(
        {of / kWarpSize, static_cast<int>(of % kWarpSize), clock, /*lanes=*/kAllLanes});
  }
  for (uint32_t left = warp.ahead & lanes; left != 0; left &= left - 1) {
    const Known& beyond = warp.beyond[__builtin_ctz(left)];
    for (int i = 0; i < total_; ++i) {
      if (beyond.warps[i] != 0) {
        snapshot->more.push_back({static_cast<uint32_t>(i), -1, beyond.warps[i], left & -left});
      }
    }
    for (auto [of, clock] : beyond.lanes) {
      snapshot->more.push_back(
          {of / kWarpSize, static_cast<int>(of % kWarpSize), clock, left & -left});
    }
  }
  for (const Acquired& acquired : acquired_) {
    uint32_t knowing = 0;
    for (uint32_t left = lanes; left != 0; left &= left - 1) {
      int lane = __builtin_ctz(left);
      if (Knows(self, lane, acquired)) knowing |= uint32_t{1} << lane;
    }
    if (knowing != 0) snapshot->acquired.push_back({acquired.node, knowing});
  }
  for (FenceUse& use : warp.fences) use.lanes &= ~lanes;
  warp.fences.erase(std::remove_if(warp.fences.begin(), warp.fences.end(),
                                   [](const FenceUse& use) { return use.lanes == 0; }),
                    warp.fences.end());
  warp.fences.push_back({std::move(snapshot), lanes});
  Tick(warp);
}

void ClusterClocks::Acquire(int self, const ReleaseNode* node, uint32_t lanes) {
  uint32_t clock = warp_[self].now;
  const ReleaseNode* older = node;
  for (int i = 0; i < kChainSearch && older != nullptr; ++i, older = older->previous) {
    for (Acquired& acquired : acquired_) {
      if (acquired.self != self || acquired.node != older) continue;
      if (older == node && (lanes & ~acquired.lanes) == 0) return;
      if ((acquired.lanes & ~lanes) != 0) continue;
      // The newer one tells all that the older does, but is known only to who comes after it.
      if (acquired.clock != clock) continue;
      acquired = {node, self, lanes, clock, nullptr};
      return;
    }
  }
  acquired_.push_back({node, self, lanes, clock, nullptr});
}

bool ClusterClocks::Knows(int self, int lane, const Acquired& acquired) const {
  const int other = acquired.self;
  if (other != self && acquired.clock <= row_[self * total_ + other]) return true;
  for (uint32_t left = acquired.lanes; warp_[self].more() && left != 0; left &= left - 1) {
    if (KnowsMore(self, lane, other, __builtin_ctz(left), acquired.clock)) return true;
  }
  if (other != self) return false;
  if ((acquired.lanes >> lane & 1) != 0 || acquired.clock <= warp_[self].synced) return true;
  if (!warp_[self].partial) return false;
  for (uint32_t left = acquired.lanes; left != 0; left &= left - 1) {
    if (acquired.clock <= warp_[self].order[lane * kWarpSize + __builtin_ctz(left)]) return true;
  }
  return false;
}

bool ClusterClocks::AfterRelease(int self, int lane, Stamp stamp) const {
  for (size_t i = acquired_.size(); i-- > 0;) {
    Acquired& acquired = acquired_[i];
    if (!Knows(self, lane, acquired)) continue;
    if (acquired.clocks == nullptr) {
      acquired.clocks =
          std::make_unique<ReleasedClocks>(acquired.node, blocks_, acquired.self / warps_);
    }
    if (acquired.clocks->Covers(stamp)) return true;
  }
  return false;
}

void ClusterClocks::BeforeStrongWrite(int self, int lane, uint64_t key, Scope scope) {
  if (!any_fence_) return;
  const Warp& warp = warp_[self];
  ReleaseNode node;
  for (const FenceUse& use : warp.fences) {
    if ((use.lanes >> lane & 1) != 0) node.fences.push_back({use.fence, uint32_t{1} << lane});
  }
  for (const FenceUse& use : warp.inherited) node.fences.push_back(use);
  if (node.fences.empty()) return;
  node.scope = scope;
  releases_->Publish(key, std::move(node));
}

void ClusterClocks::AfterStrongRead(int self, int lane, uint64_t key) {
  const ReleaseNode* node = releases_->Find(key);
  if (node == nullptr) return;
  any_fence_ = true;
  uint32_t bit = uint32_t{1} << lane;
  for (Observed& observed : warp_[self].observed) {
    // The chain of a newer one has the older: a thread that polls has one entry.
    if (observed.node == node || (observed.node == node->previous && observed.lanes == bit)) {
      observed.node = node;
      observed.lanes |= bit;
      return;
    }
  }
  warp_[self].observed.push_back({node, bit});
}

}  // namespace stax::emulator
