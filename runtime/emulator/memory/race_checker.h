// Finds accesses of two threads to the same byte, one of them a write, that nothing orders.
//
// Told of every access of a warp, as runs: consecutive lanes that access consecutive pieces of
// memory, or lanes that all read the same piece. Not reported are: two strong accesses (atomics are
// strong), and a store of the value that an earlier store has put there.
#ifndef STAX_RUNTIME_EMULATOR_MEMORY_RACE_CHECKER_H_
#define STAX_RUNTIME_EMULATOR_MEMORY_RACE_CHECKER_H_

#include <atomic>
#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "runtime/emulator/memory/access.h"
#include "runtime/emulator/memory/clocks.h"
#include "runtime/emulator/memory/fault.h"
#include "runtime/emulator/memory/shadow.h"

namespace stax::emulator {

struct RaceRun {
  const AccessSite* site = nullptr;
  int self = 0;  // of the warp in the cluster; see clocks.h
  int lane = 0;  // the first
  // A lane accesses 1 << lane_shift bytes, aligned to that. kOneLane: the first does it all.
  static constexpr int kOneLane = 40;
  int lane_shift = 2;
  uint32_t same_lanes = 0;  // if not 0: all these lanes access the same bytes (loads only)
  bool shared = false;      // shared memory
  uint64_t address = 0;     // of the first byte, for reports
};

// One thread at a time, but for shadows that several checkers share.
class RaceChecker {
 public:
  // `scopes` of strong accesses, by instruction: kDevice until one of a narrower scope is done;
  // shared by all checkers of a launch.
  RaceChecker(ClusterClocks* clocks, FaultSink* faults, std::vector<std::atomic<Scope>>* scopes,
              uint64_t launch, Dim3 block)
      : clocks_(*clocks), faults_(*faults), scopes_(*scopes), launch_(launch), block_(block) {}

  // Bytes [offset, offset + bytes) of what `shadow` watches.
  void Loads(ShadowTable& shadow, uint64_t offset, uint64_t bytes, const RaceRun& run);

  // `store(first, count)` stores bytes of the run; called for all of them piece by piece, while
  // nobody else checks there. `same(first, count)`: whether that would change nothing.
  using Store = absl::FunctionRef<void(uint64_t first, uint64_t count)>;
  using Same = absl::FunctionRef<bool(uint64_t first, uint64_t count)>;
  void Stores(ShadowTable& shadow, uint64_t offset, uint64_t bytes, const RaceRun& run, Store store,
              Same same);

 private:
  // A part of a run within a page.
  struct Piece {
    ShadowPage& page;
    uint64_t cell;   // the first, in the page
    uint64_t cells;  // how many
    uint64_t first;  // byte of the run where the piece begins
  };
  struct Other {
    Stamp stamp;
    uint32_t lanes;
    Tag tag;
    bool read;
  };

  // Whether the last accesses of all cells were alike and happen before what any lane does now: so
  // it is mostly, and cells can be written without a look at each.
  bool OrderedAlike(const Piece& piece, const RaceRun& run) const;
  void LoadPiece(const Piece& piece, const RaceRun& run, Stamp now);
  void StorePiece(const Piece& piece, const RaceRun& run, Stamp now, Same same);
  void NoteScope(const RaceRun& run);
  // Whether the accesses are strong and each in the other's scope: then they are no race (PTX ISA,
  // memory consistency model, "morally strong operations").
  bool MorallyStrong(const RaceRun& run, Stamp other, Tag other_tag) const;
  void CheckWrite(const Cell& cell, int cell_bytes, const RaceRun& run, int lane, uint64_t first,
                  const Same* same);
  void CheckReads(ShadowPage& page, const Cell& cell, const RaceRun& run, int lane, uint64_t first);
  void AddReader(ShadowPage& page, Cell& cell, const RaceRun& run, const Reader& reader);
  void Report(const RaceRun& run, int lane, uint64_t first, const Other& other);

  ClusterClocks& clocks_;
  FaultSink& faults_;
  std::vector<std::atomic<Scope>>& scopes_;
  uint64_t launch_;
  Dim3 block_;
};

}  // namespace stax::emulator

#endif  // STAX_RUNTIME_EMULATOR_MEMORY_RACE_CHECKER_H_
