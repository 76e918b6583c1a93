// Order between threads that no barrier makes: release and acquire (PTX ISA, "Memory Consistency
// Model", release and acquire patterns).
//
//   thread A: writes; fence; atomic or strong store to F      (release)
//   thread B: atomic or strong load of F; fence; reads        (acquire)
//
// At a fence the warp's knowledge is kept as a FenceSnapshot; an access to F that follows publishes
// it under F's address. Who accesses F later finds it there and, after a fence of its own, knows
// what it held. F's releases form a chain, never broken: what is observed may be more than what was
// read, so that a race may be missed but none is made up.
#ifndef STAX_RUNTIME_EMULATOR_MEMORY_RELEASE_H_
#define STAX_RUNTIME_EMULATOR_MEMORY_RELEASE_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "runtime/emulator/memory/access.h"
#include "runtime/emulator/memory/shadow.h"

namespace stax::emulator {

struct FenceSnapshot;

// Lanes that executed the fence.
struct FenceUse {
  std::shared_ptr<const FenceSnapshot> fence;
  uint32_t lanes = 0;
};

struct ReleaseNode {
  const ReleaseNode* previous = nullptr;  // of the same address
  std::vector<FenceUse> fences;
  Scope scope = Scope::kDevice;
};

// What a warp knew at a fence.
struct FenceSnapshot {
  struct Acquired {
    const ReleaseNode* node = nullptr;
    uint32_t lanes = 0;  // of the warp, those that know it
  };

  // Clock up to which lanes of the warp know another warp (lane -1: as a whole) beyond `row`.
  struct More {
    uint32_t warp = 0;  // [rank * warps + warp]
    int lane = -1;
    uint32_t clock = 0;
    uint32_t lanes = 0;
  };

  std::vector<uint32_t> blocks;  // of the cluster, by rank
  int warps = 0;                 // of a block
  std::vector<uint32_t> row;     // [rank * warps + warp]: the clock up to which it knows that warp
  int self = 0;                  // of the warp itself
  uint32_t clock = 0;            // up to which a lane knows itself,
  uint32_t synced = 0;           // all lanes know each other,
  std::vector<uint32_t> order;   // if not empty, [lane * 32 + other] a lane knows another
  Scope scope = Scope::kDevice;
  std::vector<Acquired> acquired;
  std::vector<More> more;
};

// The releases of one launch. Thread-safe.
class ReleaseTable {
 public:
  // `node.previous` is set here.
  void Publish(uint64_t key, ReleaseNode node);
  // The last release to this address, or null. Valid as long as the table.
  const ReleaseNode* Find(uint64_t key) const;

 private:
  static constexpr int kShards = 16;
  struct Shard {
    mutable absl::Mutex mutex;
    absl::flat_hash_map<uint64_t, const ReleaseNode*> last ABSL_GUARDED_BY(mutex);
    std::deque<ReleaseNode> nodes ABSL_GUARDED_BY(mutex);
  };
  static int ShardOf(uint64_t key) { return static_cast<int>(key / 8 % kShards); }

  std::atomic<bool> any_{false};
  Shard shards_[kShards];
};

// All that a chain of releases lets an acquiring thread know, in a form that is quick to ask.
class ReleasedClocks {
 public:
  // For a thread of block `rank` of the cluster that consists of `blocks`.
  ReleasedClocks(const ReleaseNode* node, const std::vector<uint32_t>& blocks, int rank);

  bool Covers(Stamp stamp) const;

 private:
  void Add(const FenceUse& use);

  absl::flat_hash_map<uint64_t, uint32_t> warps_;  // by the stamp above its lane
  absl::flat_hash_map<uint64_t, uint32_t> lanes_;  // by the stamp above its clock
};

}  // namespace stax::emulator

#endif  // STAX_RUNTIME_EMULATOR_MEMORY_RELEASE_H_
