// What happened before what, for the warps of one cluster (mostly: of one block).
//
// Every warp has a clock, which its synchronisation moves on, and knows of each other warp up to
// which clock that warp's accesses happen before its own (FastTrack: Flanagan and Freund, PLDI
// 2009). Within a warp, lanes are ordered by WarpBarrier and the barriers of the block. What some
// lanes know before the others (one lane has waited for an mbarrier) is kept by lanes until a
// barrier makes it known to all. A "self" is the number of a warp in the cluster: rank of the block
// * warps of a block + warp.
//
// One thread at a time: the one that runs the cluster.
#ifndef STAX_RUNTIME_EMULATOR_MEMORY_CLOCKS_H_
#define STAX_RUNTIME_EMULATOR_MEMORY_CLOCKS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "runtime/emulator/memory/access.h"
#include "runtime/emulator/memory/release.h"
#include "runtime/emulator/memory/shadow.h"

namespace stax::emulator {

class ClusterClocks {
 public:
  // Blocks of `threads` threads.
  ClusterClocks(ReleaseTable* releases, int blocks, int threads);

  // Forgets everything; these blocks begin. By rank, linear numbers in the grid.
  void Start(absl::Span<const uint32_t> blocks);

  int warps() const { return warps_; }
  // Stamp of lane 0 now. 0: the warp's clock is at its end, check it no more.
  Stamp Now(int self) const {
    const Warp& warp = warp_[self];
    if (warp.now == kLastClock) return 0;
    return MakeStamp(blocks_[self / warps_], self % warps_, 0, warp.now);
  }
  uint32_t block(int self) const { return blocks_[self / warps_]; }
  // Linear number in its block.
  uint32_t thread(int self, int lane) const {
    return static_cast<uint32_t>(self % warps_ * kWarpSize + lane);
  }

  // Whether a strong access of this scope by the warp includes the thread of the stamp.
  bool InScope(Scope scope, int self, Stamp stamp) const {
    if (scope == Scope::kBlock) return StampBlock(stamp) == block(self);
    return scope != Scope::kCluster || NumberOf(stamp) >= 0;
  }

  // Whether what `stamp` tells happened before what the lane does now. Stamps of blocks outside the
  // cluster: in shared memory they are left from earlier blocks and always before.
  bool Before(int self, int lane, Stamp stamp, bool shared) const {
    int other = NumberOf(stamp);
    if (other == self) {
      if (StampLane(stamp) == lane || StampClock(stamp) <= warp_[self].synced) return true;
      if (warp_[self].partial && BeforeInWarp(self, lane, stamp)) return true;
    } else if (other >= 0) {
      if (StampClock(stamp) <= row_[self * total_ + other]) return true;
    } else if (shared || stamp == 0) {
      return true;
    }
    if (other >= 0 && warp_[self].more() &&
        KnowsMore(self, lane, other, StampLane(stamp), StampClock(stamp))) {
      return true;
    }
    return !acquired_.empty() && AfterRelease(self, lane, stamp);
  }
  // True if it is so for every lane of the warp, and quick to see.
  bool BeforeWarp(int self, Stamp stamp, bool shared) const {
    int other = NumberOf(stamp);
    if (other == self) return StampClock(stamp) <= warp_[self].synced;
    if (other < 0) return shared || stamp == 0;
    return StampClock(stamp) <= row_[self * total_ + other];
  }
  // The same for several lanes that did it at once.
  bool Before(int self, int lane, Stamp stamp, uint32_t lanes, bool shared) const;

  // The warps of the block (bits) with all their lanes wait for each other.
  void BlockBarrier(int rank, uint32_t warps);
  // So do the given warps of all blocks, by rank.
  void ClusterBarrier(absl::Span<const uint32_t> warps);
  void WarpBarrier(int self, uint32_t lanes);

  // One-sided synchronisation within the cluster, for mbarrier, barrier.arrive and the like: what
  // the lanes know when they arrive is known to the lanes that wait with the same key later.
  void Arrive(int self, uint32_t lanes, uint64_t key);
  void Wait(int self, uint32_t lanes, uint64_t key);

  // Acquire and release patterns; see release.h.
  void Fence(int self, uint32_t lanes, Scope scope);
  // Before a strong store or an atomic is done.
  void BeforeStrongWrite(int self, int lane, uint64_t key, Scope scope);
  // After a strong load or an atomic is done.
  void AfterStrongRead(int self, int lane, uint64_t key);

 private:
  // Clocks up to which something is known: of warps as a whole, [self], and of single lanes where
  // that is more, by self * 32 + lane.
  struct Known {
    std::vector<uint32_t> warps;
    absl::flat_hash_map<uint32_t, uint32_t> lanes;

    void Raise(int self, int lane, uint32_t clock);
    void Join(const Known& other);
    bool Covers(int self, int lane, uint32_t clock) const;
  };
  struct Observed {
    const ReleaseNode* node = nullptr;
    uint32_t lanes = 0;
  };
  struct Warp {
    uint32_t now = 1;
    uint32_t synced = 0;
    bool partial = false;         // some lanes have synced without the others since: see `order`
    uint32_t lanes = 0;           // that the block has
    std::vector<uint32_t> order;  // [lane * 32 + other]: clock up to which a lane knows another
    // What all lanes know of single lanes, beyond their warps' clocks in `row_`.
    absl::flat_hash_map<uint32_t, uint32_t> single;
    uint32_t ahead = 0;               // lanes that know more than all do: what, is in `beyond`
    std::vector<Known> beyond;        // of each lane
    std::vector<FenceUse> fences;     // the last one of each lane
    std::vector<FenceUse> inherited;  // of warps it met at a barrier after their fences
    std::vector<Observed> observed;   // not yet followed by a fence

    bool more() const { return ahead != 0 || !single.empty(); }
  };
  // That lanes of a warp have acquired something is an event like an access: who comes after it,
  // knows what they know.
  struct Acquired {
    const ReleaseNode* node = nullptr;
    int self = 0;
    uint32_t lanes = 0;
    uint32_t clock = 0;
    std::unique_ptr<ReleasedClocks> clocks;  // made when first asked
  };

  int NumberOf(Stamp stamp) const {
    uint32_t block = StampBlock(stamp);
    if (block == blocks_[0]) return StampWarp(stamp);
    for (size_t rank = 1; rank < blocks_.size(); ++rank) {
      if (blocks_[rank] == block) return static_cast<int>(rank) * warps_ + StampWarp(stamp);
    }
    return -1;
  }
  bool BeforeInWarp(int self, int lane, Stamp stamp) const;
  bool AfterRelease(int self, int lane, Stamp stamp) const;
  bool Knows(int self, int lane, const Acquired& acquired) const;
  // Of what lanes know beyond `row_`.
  bool KnowsMore(int self, int lane, int other, int other_lane, uint32_t clock) const;
  void LearnAll(int self, const Known& known);
  void LearnMore(int self, uint32_t lanes, const Known& known);
  // Lanes met: each of them knows what any did; all that the block has are the whole warp.
  void Converge(int self, uint32_t lanes);
  void Join(const std::vector<int>& participants);
  void ShareFences(const std::vector<int>& participants);
  void Acquire(int self, const ReleaseNode* node, uint32_t lanes);
  static void Tick(Warp& warp) { warp.now += warp.now != kLastClock; }

  ReleaseTable* releases_;
  int warps_;  // of a block
  int total_;  // of the cluster
  int threads_;
  std::vector<uint32_t> blocks_;
  std::vector<Warp> warp_;
  std::vector<uint32_t> row_;  // [self * total_ + other]
  bool any_fence_ = false;     // so that barriers need not look for fences where there are none
  absl::flat_hash_map<uint64_t, Known> arrived_;
  mutable std::vector<Acquired> acquired_;
  std::vector<int> participants_;
  std::vector<uint32_t> joined_;
};

}  // namespace stax::emulator

#endif  // STAX_RUNTIME_EMULATOR_MEMORY_CLOCKS_H_
