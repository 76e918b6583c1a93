// Asynchronous copies of one cluster that are in flight: issued, and not known to be complete.
//
// The bytes move when a copy is issued; here is kept who may access them. A cell for 4 bytes of
// shared memory names the batch of copies that writes, or reads, them last: the copies of a warp's
// lanes in one cp.async-group, or those that complete in one phase of an mbarrier. A batch knows
// the waits that found it complete. An access is right if it comes after such a wait: a thread's
// own, or one that happens before it. So a barrier that comes before the wait does not help.
//
//   copies.Begin(cells.written, all, 0, 16, lane, instruction,
//                copies.GroupBatch(self, lane, CopyKind::kSmall));
//   copies.Commit(self, lanes, kind);
//   copies.Wait(self, lanes, kind, 0);
//
// Memory is bounded: no more batches than cells. A cell has one batch for each direction; of
// several bulk copies that read the same bytes the last one is known.
#ifndef STAX_RUNTIME_EMULATOR_MEMORY_ASYNC_COPIES_H_
#define STAX_RUNTIME_EMULATOR_MEMORY_ASYNC_COPIES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "runtime/emulator/memory/access.h"
#include "runtime/emulator/memory/clocks.h"
#include "runtime/emulator/memory/race_checker.h"
#include "runtime/emulator/memory/shadow.h"

namespace stax::emulator {

// They have groups of their own: cp.async and cp.async.bulk.
enum class CopyKind : uint8_t { kSmall, kBulk };

// Who copies 4 bytes. Batch 0: nobody.
struct CopyCell {
  uint32_t batch = 0;
  uint16_t instruction = 0;  // kUnknownInstruction: none that fits
  uint16_t lane = 0;         // of the warp that issued the copy
  static constexpr uint16_t kUnknownInstruction = 0xffff;
};

// Beside the shared memory of a block; empty until the first copy.
struct CopyCells {
  std::vector<CopyCell> written;  // by copies
  std::vector<CopyCell> read;
};

class AsyncCopies {
 public:
  static constexpr int kCellBytes = 4;  // the least that a copy moves

  AsyncCopies(const ClusterClocks* clocks, int selves);

  // Forgets all copies; the caller has done so with the cells.
  void Start();
  // False: there is nothing to check.
  bool any() const { return used_ > 0; }
  uint32_t batches() const { return used_; }

  // The batch of copies that the lane adds to its group, or to the phase under way of an mbarrier.
  uint32_t GroupBatch(int self, int lane, CopyKind kind);
  uint32_t PhaseBatch(int self, int lane, uint64_t mbarrier);
  // A copy of this batch begins to write, or to read, these bytes. `all`: bytes that the block has.
  void Begin(std::vector<CopyCell>& cells, uint64_t all, uint64_t offset, uint64_t bytes, int lane,
             int instruction, uint32_t batch);

  // Each lane's copies so far are a group.
  void Commit(int self, uint32_t lanes, CopyKind kind);
  // Each lane's groups are complete but for the last `pending` ones.
  void Wait(int self, uint32_t lanes, CopyKind kind, uint32_t pending);

  // cp.async.mbarrier.arrive: all the lanes' small copies so far complete in the phase under way.
  void Track(int self, uint32_t lanes, uint64_t mbarrier);
  // The phase under way is over.
  void EndPhase(uint64_t mbarrier);
  // The lanes have seen that the phase before the one under way is over.
  void WaitForPhase(int self, uint32_t lanes, uint64_t mbarrier);
  // It begins anew, or is no mbarrier any more.
  void Forget(uint64_t mbarrier);

  // Calls conflict(cell, lane, byte of the run) where a lane accesses bytes of a copy without
  // coming after a wait for it.
  using Conflict = absl::FunctionRef<void(const CopyCell&, int lane, uint64_t first)>;
  void CheckLoad(const std::vector<CopyCell>& cells, uint64_t offset, uint64_t bytes,
                 const RaceRun& run, Conflict conflict) const;
  // The same for stores; the bytes are the store's then. Where `same(first, bytes)`, the store
  // changes nothing, which is no conflict.
  using Same = absl::FunctionRef<bool(uint64_t first, uint64_t bytes)>;
  void CheckStore(std::vector<CopyCell>& cells, uint64_t offset, uint64_t bytes, const RaceRun& run,
                  Same same, Conflict conflict);

  // For reports.
  int SelfOf(const CopyCell& cell) const { return batches_[cell.batch].self; }
  CopyKind KindOf(const CopyCell& cell) const { return batches_[cell.batch].kind; }
  // Completes by an mbarrier, as far as is known.
  bool IsTracked(const CopyCell& cell) const { return batches_[cell.batch].tracked; }
  // Somebody has waited for it.
  bool IsWaitedFor(const CopyCell& cell) const;

 private:
  struct Waited {
    uint32_t copiers = 0;  // lanes of the batch's warp whose copies were waited for
    int self = 0;          // of the warp that waited
    uint32_t lanes = 0;    // that waited; 0: each copier for its own
    Stamp stamp = 0;       // when, of lane 0
  };
  struct Batch {
    int self = 0;  // of the warp that issued the copies
    CopyKind kind = CopyKind::kSmall;
    bool tracked = false;
    bool closed = false;    // takes no more copies
    uint32_t group = 0;     // number in each lane's groups
    uint32_t copiers = 0;   // lanes that have copies in it
    uint32_t unwaited = 0;  // of those, the lanes that have not waited for their group
    uint32_t cells = 0;     // that name it
    uint32_t lists = 0;     // that have it
    std::vector<Waited> waited;
  };
  struct Groups {
    uint32_t committed[kWarpSize] = {};
    std::vector<uint32_t> open;  // batches that some lane has not waited for
  };
  struct Tracked {
    uint32_t batch;
    uint32_t copiers;
  };
  struct Mbarrier {
    std::vector<Tracked> under_way;
    std::vector<Tracked> over;
  };

  uint32_t NewBatch(int self, CopyKind kind);
  void Release(uint32_t batch);  // if nothing refers to it
  void Leave(CopyCell& cell);
  void Unlist(uint32_t batch);
  void DropUnused(std::vector<Tracked>& list);
  static void AddWait(Batch& batch, const Waited& waited);
  Groups& GroupsOf(int self, CopyKind kind) { return groups_[2 * self + static_cast<int>(kind)]; }
  bool IsAfterWait(int self, uint32_t lanes, const Batch& batch) const;
  bool IsAfterWait(int self, int lane, const CopyCell& cell) const;
  // Calls visit(cell, FirstConflict, first byte of the run there, bytes) for cells of copies.
  template <typename Cells, typename Visit>
  void ForEachCopied(Cells& cells, uint64_t offset, uint64_t bytes, const RaceRun& run,
                     Visit visit) const;
  // The first lane that accesses bytes of the cell without coming after a wait; -1: none.
  int FirstConflict(const CopyCell& cell, uint64_t begin, uint64_t end, const RaceRun& run) const;

  const ClusterClocks& clocks_;
  std::vector<Batch> batches_{1};  // [0] is not used
  std::vector<uint32_t> free_;
  uint32_t used_ = 0;
  std::vector<Groups> groups_;
  absl::flat_hash_map<uint64_t, Mbarrier> mbarriers_;
};

}  // namespace stax::emulator

#endif  // STAX_RUNTIME_EMULATOR_MEMORY_ASYNC_COPIES_H_
