// What translated code and the launcher share about a warp. Translated code reads and writes the
// members by their offsets.
#ifndef STAX_RUNTIME_EMULATOR_TRANSLATE_WARP_CONTEXT_H_
#define STAX_RUNTIME_EMULATOR_TRANSLATE_WARP_CONTEXT_H_

#include <cstdint>

namespace stax::emulator {

inline constexpr int kWarpLanes = 32;
// Of each block's shared memory, for the system (%reserved_smem_offset_begin and _end; sm_80 on).
inline constexpr int kReservedSharedBytes = 1024;

struct WarpContext {
  // Of the block and launch; the same for all lanes.
  const uint8_t* parameters = nullptr;
  uint64_t* counts = nullptr;  // see TranslatedKernel::counters
  uint32_t ntid[3] = {1, 1, 1};
  uint32_t ctaid[3] = {0, 0, 0};
  uint32_t nctaid[3] = {1, 1, 1};
  uint32_t cluster_ctaid[3] = {0, 0, 0};
  uint32_t cluster_nctaid[3] = {1, 1, 1};
  uint32_t clusterid[3] = {0, 0, 0};
  uint32_t nclusterid[3] = {1, 1, 1};
  uint32_t cluster_ctarank = 0;
  uint32_t cluster_nctarank = 1;
  uint32_t is_explicit_cluster = 0;
  uint32_t warpid = 0;
  uint32_t nwarpid = 1;
  uint32_t smid = 0;
  uint32_t nsmid = 1;
  uint32_t gridid = 0;
  // [1] and [2]: high and low word of the address of a cooperative grid's workspace; 0 without.
  uint32_t envreg[3] = {0, 0, 0};
  uint32_t total_smem_size = 0;
  uint32_t dynamic_smem_size = 0;
  uint32_t reserved_smem_offset = 0;
  // Of the lanes.
  uint32_t tid_x[kWarpLanes] = {};
  uint32_t tid_y[kWarpLanes] = {};
  uint32_t tid_z[kWarpLanes] = {};

  // Set by the launcher before each run.
  uint32_t live = 0;    // lanes that have not exited
  uint32_t others = 0;  // live lanes that are not in the group that runs
  uint32_t carry = 0;   // the condition code register, a bit a lane
  // Left for backward jumps until the group gives way; translated code counts it down.
  uint32_t budget = 0;
  // Where a run begins behind a wait (RunFunction): the lanes that have met, in this place and in
  // others, and the same in one of those places, 0 in the rest.
  uint32_t met = 0;
  uint32_t met_first = 0;
  // Accesses since the last backward jump that may wait for another thread's: the launcher's.
  uint32_t polls = 0;

  // Set by translated code when it returns.
  // kDiverge: lanes that go to the returned block. kBarrier, kTrap: lanes that arrive.
  uint32_t taken = 0;
  uint32_t other_block = 0;           // kDiverge: where the rest goes
  uint32_t targets[kWarpLanes] = {};  // kScatter: each lane's next block; kWait: see there
  uint32_t barrier_id[kWarpLanes] = {};
  uint32_t barrier_count[kWarpLanes] = {};  // threads; 0: all of the block
  uint32_t barrier_predicate = 0;           // bar.red: bits of the lanes
  uint32_t barrier_instruction = 0;         // kBarrier, kTrap: its position

  uint64_t clock = 0;     // instructions the warp has run, for %clock
  void* block = nullptr;  // the launcher's
};

// What `run` returns: kind | block << kRunBlockShift.
inline constexpr int kRunBlockShift = 8;
enum class RunResult : uint32_t {
  kGoto,     // the group goes to the block
  kDiverge,  // `taken` lanes to the block, the rest to other_block
  kScatter,  // each lane to its own of `targets`
  kWait,     // at a convergent instruction that begins the block: not all named lanes are here;
             // `targets` holds each lane's member mask
  kBarrier,  // `taken` lanes are at a barrier, then go on at the block, where the rest is
  kYield,    // out of budget or waiting for other threads; goes on at the block
  kExit,     // the lanes are done
  kTrap,     // trap
};

// Translated code: runs the lanes of `lanes` from the beginning of a block on; from the number of
// blocks on it counts them again: there `lanes` are behind the wait of the block's first
// instruction, for which they have met others elsewhere.
using RunFunction = uint64_t (*)(void* registers, WarpContext* warp, uint32_t block,
                                 uint32_t lanes);

}  // namespace stax::emulator

#endif  // STAX_RUNTIME_EMULATOR_TRANSLATE_WARP_CONTEXT_H_
