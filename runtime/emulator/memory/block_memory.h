// Memory as the threads of one block see it: every access of a warp is one call.
//
//   ClusterMemory cluster(&launch);             // one for each OS thread, used again and again
//   cluster.Start({17});                        // block 17 (and the rest of its cluster)
//   BlockMemory& block = cluster.block(0);
//   block.Load(warp, site, lanes, addresses, values);
//   block.BlockBarrier(all_warps);
//   cluster.AddCounters();                      // at the end
#ifndef STAX_RUNTIME_EMULATOR_MEMORY_BLOCK_MEMORY_H_
#define STAX_RUNTIME_EMULATOR_MEMORY_BLOCK_MEMORY_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "runtime/emulator/memory/access.h"
#include "runtime/emulator/memory/async_copies.h"
#include "runtime/emulator/memory/atomic_bits.h"
#include "runtime/emulator/memory/clocks.h"
#include "runtime/emulator/memory/counters.h"
#include "runtime/emulator/memory/fault.h"
#include "runtime/emulator/memory/launch_memory.h"
#include "runtime/emulator/memory/race_checker.h"
#include "runtime/emulator/memory/shadow.h"

namespace stax::emulator {

class ClusterMemory;

// What an atomic makes of the old value; values narrower than 64 bits are zero-extended. `compare`
// is 0 if the instruction has none.
using AtomicFunction = uint64_t (*)(uint64_t old, uint64_t operand, uint64_t compare);

// How a bulk copy tells that it is complete: by an mbarrier, else with its lane's bulk async-group.
struct BulkEnd {
  std::optional<uint64_t> mbarrier;  // its key
  bool counts_source = true;         // not for the same bytes to a further block
};

// In all of these `lanes` are those that take part, addresses and values of others are not touched.
// Values are laid out as registers: [element][32] of element_bytes each. A lane whose access is a
// fault reads 0 or stores nothing, and all goes on.
class BlockMemory {
 public:
  BlockMemory(LaunchMemory* launch, ClusterMemory* cluster, int rank);

  void Load(int warp, const AccessSite& site, uint32_t lanes, const uint64_t* addresses,
            void* values);
  void Store(int warp, const AccessSite& site, uint32_t lanes, const uint64_t* addresses,
             const void* values);
  // Lanes in order, each a read-modify-write that no other thread comes between. `compare` and
  // `olds` may be null. Elements of 2, 4 or 8 bytes; of 16 bytes: an exchange, with `compare` a
  // compare-and-swap, whatever `function` is.
  void Atomic(int warp, const AccessSite& site, uint32_t lanes, const uint64_t* addresses,
              AtomicFunction function, const void* operands, const void* compare, void* olds);

  // cp.async.bulk by one lane: the bytes of `from` (as `site` says: a load) to `to` (a store).
  // Counts global memory. For cp.async: a Load and an asynchronous Store of the warp.
  void Copy(int warp, int lane, const AccessSite& from_site, uint64_t from,
            const AccessSite& to_site, uint64_t to, uint64_t bytes, const BulkEnd& end = {});
  // cp.reduce.async.bulk by one lane: each element of the source is an operand of an atomic.
  void Reduce(int warp, int lane, const AccessSite& from_site, uint64_t from,
              const AccessSite& to_site, uint64_t to, uint64_t bytes, AtomicFunction function,
              const BulkEnd& end);
  // Which copies are complete; see AsyncCopies. An mbarrier is known by its key, as in Arrive.
  void CommitCopies(int warp, uint32_t lanes, CopyKind kind);
  void WaitForCopies(int warp, uint32_t lanes, CopyKind kind, uint32_t pending);
  void TrackCopies(int warp, uint32_t lanes, uint64_t mbarrier);
  void EndPhase(uint64_t mbarrier);
  void WaitForPhase(int warp, uint32_t lanes, uint64_t mbarrier);
  void ForgetPhases(uint64_t mbarrier);

  // The warps (bits) waited for each other, with all their lanes.
  void BlockBarrier(uint32_t warps);
  void WarpBarrier(int warp, uint32_t lanes);
  void Fence(int warp, uint32_t lanes, Scope scope);
  // mbarrier, bar.arrive, barrier.cluster.arrive and the like: see ClusterClocks. The key is any
  // number that is the same at both ends, such as the address of the mbarrier with its rank.
  void Arrive(int warp, uint32_t lanes, uint64_t key);
  void Wait(int warp, uint32_t lanes, uint64_t key);

  // All threads of the block have ended: its shared memory is gone for the rest of the cluster.
  void End() { ended_ = true; }

  // Linear number of the block.
  uint32_t block() const { return block_; }
  // The bytes of shared memory, for reading results; accesses go through the above.
  uint8_t* shared_data() { return reinterpret_cast<uint8_t*>(shared_data_.data()); }

 private:
  friend class ClusterMemory;

  // Memory that is bounded and watched as a whole: an allocation, a block's shared memory, a
  // thread's local memory.
  struct Region {
    uint64_t begin = 0;
    uint64_t bytes = 0;
    uint8_t* data = nullptr;
    AtomicBits* written = nullptr;             // null: all is
    uint64_t written_begin = 0;                // bit of the first byte
    ShadowTable* shadow = nullptr;             // null: nothing to watch
    LaunchMemory::Touched* touched = nullptr;  // null: not global, no other OS thread is there
    CopyCells* copied = nullptr;               // null: no copies are watched here
  };
  // Consecutive lanes whose accesses are consecutive in memory, or all the same.
  struct Run {
    int lane = 0;
    int count = 0;
    bool same = false;
    uint64_t address = 0;
  };
  // An access on its way: the instruction, restricted to lanes whose addresses lie in one space.
  struct Access {
    int warp;
    const AccessSite& site;
    Space space;
    uint32_t lanes;
    const uint64_t* addresses;  // within the space
    uint64_t window;            // what the instruction's addresses have more
  };

  void Start(uint32_t block);
  template <typename Function>
  void ForEachSpace(int warp, const AccessSite& site, uint32_t lanes, const uint64_t* addresses,
                    Function access);
  static Run NextRun(uint32_t lanes, const uint64_t* addresses, int bytes);
  // Null: no such memory.
  const Region* FindRegion(Space space, uint64_t address, int thread) {
    if (space == Space::kGlobal && address - recent_[0].begin < recent_[0].bytes) {
      return &recent_[0];
    }
    return FindOtherRegion(space, address, thread);
  }
  const Region* FindOtherRegion(Space space, uint64_t address, int thread);
  const Region* FindGlobal(uint64_t address);

  // Does `one(run, region)` for runs that are good as a whole; reports the lanes that are not,
  // calls `bad(lane)` for them and returns the good ones. `single`: whether they were one run.
  template <typename One, typename Bad>
  uint32_t ForEachRun(const Access& access, One one, Bad bad, bool* single);
  // The same for atomics in local memory, where each lane is on its own.
  template <typename One, typename Bad>
  uint32_t ForEachLocal(const Access& access, One one, Bad bad);
  template <typename T, bool kIsLoad, typename Values>
  uint32_t AccessLocal(const Access& access, Values* values);
  void LoadRun(const Access& access, const Run& run, const Region& region, void* values);
  void StoreRun(const Access& access, const Run& run, const Region& region, const void* values);
  void AtomicLane(const Access& access, int lane, const Region& region, AtomicFunction function,
                  const void* operands, const void* compare, void* olds);
  static Access OneLane(int warp, int lane, const AccessSite& site, uint64_t* address);
  // False, and nothing done, if something is wrong.
  bool CopyWhole(const Access& load, const Access& store, int lane, uint64_t bytes,
                 const BulkEnd& end);
  void CopyPieces(const Access& load, const Access& store, int lane, uint64_t bytes);
  RaceRun BulkRun(const Access& access, int lane) const;
  void CheckBulkSize(const Access& access, int lane, uint64_t bytes);
  void CountBulk(const Access& access, uint64_t bytes);
  void BeginSmall(const Access& access, const Run& run, const Region& region);
  void BeginBulk(const Region& region, uint64_t offset, uint64_t bytes, const RaceRun& run,
                 bool reads, const BulkEnd& end);
  // Before the access is done.
  void CheckCopiesOfLoad(const Region& region, uint64_t offset, uint64_t bytes, const RaceRun& run);
  void CheckCopiesOfStore(const Region& region, uint64_t offset, uint64_t bytes, const RaceRun& run,
                          AsyncCopies::Same same);
  void ReportCopy(const RaceRun& run, int lane, uint64_t first, const CopyCell& cell,
                  bool copy_reads);
  void CheckWritten(const Access& access, const Run& run, const Region& region);
  void ReportBad(const Access& access, int lane, const Region* region);
  RaceRun RaceRunOf(const Access& access, const Run& run) const;
  int SelfOf(int warp) const;
  uint64_t SyncKey(const Access& access, uint64_t address) const;

  void CountLoad(const Access& access, uint32_t good, bool single);
  void CountStore(const Access& access, uint32_t good, bool single);
  void CountAtomic(const Access& access, uint32_t good);

  LaunchMemory& launch_;
  ClusterMemory& cluster_;
  ClusterClocks& clocks_;
  AsyncCopies& copies_;
  const int rank_;
  const bool check_memory_;
  const bool check_races_;
  RaceChecker races_;
  uint32_t block_ = 0;
  bool ended_ = false;
  int threads_;

  std::vector<uint64_t> shared_data_;
  AtomicBits shared_written_;
  ShadowTable shared_shadow_;
  CopyCells copied_cells_;
  Region shared_;
  Region recent_shared_;  // of another block, at its address in the cluster
  std::vector<uint64_t> local_data_;
  uint64_t local_stride_;
  AtomicBits local_written_;
  Region local_;  // the last one that was looked for
  Region const_;
  Region param_;
  // The global regions used last, the very last one first.
  static constexpr int kRecent = 4;
  Region recent_[kRecent];
  std::vector<MemoryCounters> counters_;
  std::vector<uint8_t> copied_;  // by the bulk copy that is under way
};

// The blocks of one cluster, run by one OS thread at a time. Without clusters: one block.
class ClusterMemory {
 public:
  explicit ClusterMemory(LaunchMemory* launch);

  // These blocks begin: linear numbers by rank. Shared and local memory are as nobody wrote them.
  void Start(absl::Span<const uint32_t> blocks);
  BlockMemory& block(int rank) { return *blocks_[rank]; }
  int blocks() const { return static_cast<int>(blocks_.size()); }
  // The given warps (bits, by rank) waited for each other.
  void ClusterBarrier(absl::Span<const uint32_t> warps);
  // Adds what was counted since the last call to the launch.
  void AddCounters();

 private:
  friend class BlockMemory;

  LaunchMemory& launch_;
  ClusterClocks clocks_;
  AsyncCopies copies_;
  std::vector<std::unique_ptr<BlockMemory>> blocks_;
};

}  // namespace stax::emulator

#endif  // STAX_RUNTIME_EMULATOR_MEMORY_BLOCK_MEMORY_H_
