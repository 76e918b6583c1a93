#include "runtime/emulator/memory/release.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"

namespace stax::emulator {
namespace {

// Whether a release of this scope by the warp of a fence reaches a thread of block `rank` of a
// cluster.
bool Reaches(Scope scope, const FenceSnapshot& fence, const std::vector<uint32_t>& blocks,
             int rank) {
  switch (scope) {
    case Scope::kBlock:
      return fence.blocks[fence.self / fence.warps] == blocks[rank];
    case Scope::kCluster:
      return fence.blocks == blocks;
    case Scope::kDevice:
    case Scope::kSystem:
      return true;
  }
  return true;
}

void Raise(absl::flat_hash_map<uint64_t, uint32_t>& clocks, uint64_t key, uint32_t clock) {
  if (clock == 0) return;
  uint32_t& known = clocks[key];
  known = std::max(known, clock);
}

}  // namespace

void ReleaseTable::Publish(uint64_t key, ReleaseNode node) {
  Shard& shard = shards_[ShardOf(key)];
  absl::MutexLock lock(&shard.mutex);
  const ReleaseNode*& last = shard.last[key];
  node.previous = last;
  last = &shard.nodes.emplace_back(std::move(node));
  any_.store(true, std::memory_order_relaxed);
}

const ReleaseNode* ReleaseTable::Find(uint64_t key) const {
  // A launch without fences asks for no lock. Whoever read a value that was stored after a release
  // sees `any_` as well: the store itself, and its load, order the two (block_memory.cc).
  if (!any_.load(std::memory_order_relaxed)) return nullptr;
  const Shard& shard = shards_[ShardOf(key)];
  absl::MutexLock lock(&shard.mutex);
  auto found = shard.last.find(key);
  return found == shard.last.end() ? nullptr : found->second;
}

ReleasedClocks::ReleasedClocks(const ReleaseNode* node, const std::vector<uint32_t>& blocks,
                               int rank) {
  absl::flat_hash_set<const ReleaseNode*> seen;
  std::vector<const ReleaseNode*> todo = {node};
  while (!todo.empty()) {
    const ReleaseNode* next = todo.back();
    todo.pop_back();
    // A node that was seen has had its predecessors seen.
    for (; next != nullptr && seen.insert(next).second; next = next->previous) {
      for (const FenceUse& use : next->fences) {
        Scope scope = std::min(next->scope, use.fence->scope);
        if (!Reaches(scope, *use.fence, blocks, rank)) continue;
        Add(use);
        for (const FenceSnapshot::Acquired& acquired : use.fence->acquired) {
          if ((acquired.lanes & use.lanes) != 0) todo.push_back(acquired.node);
        }
      }
    }
  }
}

void ReleasedClocks::Add(const FenceUse& use) {
  const FenceSnapshot& fence = *use.fence;
  for (const FenceSnapshot::More& more : fence.more) {
    if ((more.lanes & use.lanes) == 0) continue;
    const uint32_t block = fence.blocks[more.warp / fence.warps];
    const int warp = static_cast<int>(more.warp) % fence.warps;
    if (more.lane < 0) {
      Raise(warps_, MakeStamp(block, warp, 0, 0) >> kStampWarpShift, more.clock);
    } else {
      Raise(lanes_, MakeStamp(block, warp, more.lane, 0) >> kStampLaneShift, more.clock);
    }
  }
  for (size_t i = 0; i < fence.row.size(); ++i) {
    uint32_t block = fence.blocks[i / fence.warps];
    int warp = static_cast<int>(i % fence.warps);
    bool self = static_cast<int>(i) == fence.self;
    Stamp stamp = MakeStamp(block, warp, 0, 0);
    Raise(warps_, stamp >> kStampWarpShift, self ? fence.synced : fence.row[i]);
    if (!self) continue;
    for (uint32_t left = use.lanes; left != 0; left &= left - 1) {
      int lane = __builtin_ctz(left);
      Raise(lanes_, MakeStamp(block, warp, lane, 0) >> kStampLaneShift, fence.clock);
      if (fence.order.empty()) continue;
      for (int other = 0; other < kWarpSize; ++other) {
        Raise(lanes_, MakeStamp(block, warp, other, 0) >> kStampLaneShift,
              fence.order[lane * kWarpSize + other]);
      }
    }
  }
}

bool ReleasedClocks::Covers(Stamp stamp) const {
  uint32_t clock = StampClock(stamp);
  auto warp = warps_.find(stamp >> kStampWarpShift);
  if (warp != warps_.end() && clock <= warp->second) return true;
  auto lane = lanes_.find(stamp >> kStampLaneShift);
  return lane != lanes_.end() && clock <= lane->second;
}

}  // namespace stax::emulator
