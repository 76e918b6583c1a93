#include "runtime/emulator/launch/copy_functions.h"

#include <optional>

#include "runtime/emulator/isa/atomic.h"
#include "runtime/emulator/launch/cluster_runner.h"
#include "runtime/emulator/launch/mbarrier.h"
#include "runtime/emulator/memory/access.h"

namespace stax::emulator {
namespace {

int WarpOf(const WarpContext* warp) { return static_cast<int>(warp->warpid); }

// Which block's shared memory an address lies in.
uint64_t RankOf(const WarpContext& warp, uint64_t address) {
  const uint64_t field = (address & kWindowOffsetMask) >> kSharedRankShift;
  return field == 0 ? warp.cluster_ctarank : field - 1;
}

// What Arrive and Wait of the clocks know an mbarrier by: the block it is in, and where there.
uint64_t MbarrierKey(const WarpContext& warp, uint64_t address) {
  constexpr uint64_t kKey = uint64_t{0x4d} << kWindowShift;
  return kKey | RankOf(warp, address) << 32 | (address & kSharedOffsetMask);
}

// Calls function(key, lanes) for each mbarrier that lanes name.
template <typename Function>
void ForEachMbarrier(const WarpContext& warp, uint32_t lanes, const uint64_t* addresses,
                     Function function) {
  while (lanes != 0) {
    const uint64_t address = addresses[__builtin_ctz(lanes)];
    uint32_t alike = 0;
    for (uint32_t left = lanes; left != 0; left &= left - 1) {
      const int lane = __builtin_ctz(left);
      if (addresses[lane] == address) alike |= 1U << lane;
    }
    lanes &= ~alike;
    function(MbarrierKey(warp, address), alike);
  }
}

void ChangeMbarrier(WarpContext* warp, const MemorySite& site, isa::AtomicFunction function,
                    uint32_t lanes, const uint64_t* addresses, const uint64_t* operands,
                    uint64_t* states) {
  BlockMemory& memory = ClusterRunner::MemoryOf(*warp);
  ForEachMbarrier(*warp, lanes, addresses,
                  [&](uint64_t key, uint32_t alike) { memory.Arrive(WarpOf(warp), alike, key); });
  memory.Atomic(WarpOf(warp), site.access, lanes, addresses, function, operands, nullptr, states);
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    const int lane = __builtin_ctz(left);
    const uint64_t now = function(states[lane], operands[lane], 0);
    if (MbarrierPhase(now) != MbarrierPhase(states[lane]))
      memory.EndPhase(MbarrierKey(*warp, addresses[lane]));
  }
  ClusterRunner::CountWrite(*warp);
}

// One lane's bulk copy to one place.
void CopyOnce(WarpContext* warp, const CopySite& site, int lane, uint64_t to, uint64_t from,
              uint32_t bytes, const uint64_t* barrier, bool counts_source) {
  BlockMemory& memory = ClusterRunner::MemoryOf(*warp);
  BulkEnd end;
  end.counts_source = counts_source;
  if (barrier != nullptr) end.mbarrier = MbarrierKey(*warp, *barrier);
  const AccessSite& from_site = site.from->access;
  if (site.to->atomic != nullptr) {
    memory.Reduce(WarpOf(warp), lane, from_site, from, site.to->access, to, bytes, site.to->atomic,
                  end);
  } else {
    memory.Copy(WarpOf(warp), lane, from_site, from, site.to->access, to, bytes, end);
  }
  if (barrier == nullptr) return;
  uint64_t addresses[kWarpLanes];
  uint64_t operands[kWarpLanes];
  uint64_t states[kWarpLanes];
  addresses[lane] = *barrier;
  operands[lane] = bytes;
  ChangeMbarrier(warp, *site.barrier, &MbarrierCompleteTx, 1U << lane, addresses, operands, states);
}

// The lanes for which the phase that they ask for is over.
uint32_t TestMbarrier(WarpContext* warp, const MbarrierSite& site, uint32_t lanes,
                      const uint64_t* addresses, const uint64_t* operands, uint64_t* states) {
  BlockMemory& memory = ClusterRunner::MemoryOf(*warp);
  memory.Load(WarpOf(warp), site.site->access, lanes, addresses, states);
  uint32_t done = 0;
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    const int lane = __builtin_ctz(left);
    const int waited = site.op == MbarrierOp::kTestParity ? static_cast<int>(operands[lane] & 1)
                                                          : MbarrierPhase(operands[lane]);
    if (MbarrierPhase(states[lane]) != waited) done |= 1U << lane;
  }
  ForEachMbarrier(*warp, done, addresses, [&](uint64_t key, uint32_t alike) {
    memory.Wait(WarpOf(warp), alike, key);
    memory.WaitForPhase(WarpOf(warp), alike, key);
  });
  if (done != lanes) warp->budget = 1;  // others have to run first
  return done;
}

}  // namespace

void Copy(WarpContext* warp, const CopySite* site, uint32_t lanes, const uint64_t* to,
          const uint64_t* from, const uint32_t* from_bytes) {
  if (lanes == 0) return;
  const int bytes = site->from->access.element_bytes;
  BlockMemory& memory = ClusterRunner::MemoryOf(*warp);
  alignas(64) uint8_t values[kWarpLanes * 16] = {};
  uint32_t whole = 0;
  uint32_t part = 0;
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    const int lane = __builtin_ctz(left);
    if (from_bytes[lane] >= static_cast<uint32_t>(bytes)) {
      whole |= 1U << lane;
    } else if (from_bytes[lane] > 0) {
      part |= 1U << lane;
    }
  }
  if (whole != 0) memory.Load(WarpOf(warp), site->from->access, whole, from, values);
  AccessSite byte = site->from->access;
  byte.element_bytes = 1;
  for (int b = 0; b < bytes && part != 0; ++b) {
    uint64_t at[kWarpLanes];
    uint8_t got[kWarpLanes];
    uint32_t wants = 0;
    for (uint32_t left = part; left != 0; left &= left - 1) {
      const int lane = __builtin_ctz(left);
      at[lane] = from[lane] + static_cast<uint64_t>(b);
      if (b < static_cast<int>(from_bytes[lane])) wants |= 1U << lane;
    }
    if (wants == 0) break;
    memory.Load(WarpOf(warp), byte, wants, at, got);
    for (uint32_t left = wants; left != 0; left &= left - 1) {
      const int lane = __builtin_ctz(left);
      values[lane * bytes + b] = got[lane];
    }
  }
  memory.Store(WarpOf(warp), site->to->access, lanes, to, values);
  ClusterRunner::CountWrite(*warp);
}

void BulkCopy(WarpContext* warp, const CopySite* site, uint32_t lanes, const uint64_t* to,
              const uint64_t* from, const uint32_t* bytes, const uint64_t* barrier,
              const uint16_t* blocks) {
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    const int lane = __builtin_ctz(left);
    if (blocks == nullptr) {
      CopyOnce(warp, *site, lane, to[lane], from[lane], bytes[lane],
               barrier == nullptr ? nullptr : barrier + lane, /*counts_source=*/true);
      continue;
    }
    bool first = true;
    for (uint32_t ranks = blocks[lane]; ranks != 0; ranks &= ranks - 1) {
      auto there = [&](uint64_t address) {
        return (address & ~kWindowOffsetMask) |
               SharedAddressOf(__builtin_ctz(ranks), address & kSharedOffsetMask);
      };
      const uint64_t its_barrier = there(barrier[lane]);
      CopyOnce(warp, *site, lane, there(to[lane]), from[lane], bytes[lane], &its_barrier, first);
      first = false;
    }
  }
  if (lanes != 0) ClusterRunner::CountWrite(*warp);
}

void CopyGroup(WarpContext* warp, const CopyGroupSite* site, uint32_t lanes) {
  if (lanes == 0) return;
  BlockMemory& memory = ClusterRunner::MemoryOf(*warp);
  if (site->commits) memory.CommitCopies(WarpOf(warp), lanes, site->kind);
  if (site->waits) memory.WaitForCopies(WarpOf(warp), lanes, site->kind, site->pending);
}

uint32_t Mbarrier(WarpContext* warp, const MbarrierSite* site, uint32_t lanes,
                  const uint64_t* addresses, const uint64_t* operands, uint64_t* states) {
  // By MbarrierOp; null: no change of what is there.
  static constexpr isa::AtomicFunction kFunctions[] = {nullptr,
                                                       nullptr,
                                                       &MbarrierArrive,
                                                       &MbarrierArriveDrop,
                                                       &MbarrierExpectTx,
                                                       &MbarrierCompleteTx,
                                                       &MbarrierArriveExpectTx,
                                                       nullptr,
                                                       nullptr,
                                                       &MbarrierArrive,
                                                       &MbarrierArrive};
  if (lanes == 0) return 0;
  BlockMemory& memory = ClusterRunner::MemoryOf(*warp);
  switch (site->op) {
    case MbarrierOp::kInit:
    case MbarrierOp::kInvalidate:
      for (uint32_t left = lanes; left != 0; left &= left - 1) {
        const int lane = __builtin_ctz(left);
        states[lane] = MbarrierInit(0, operands[lane], 0);
        memory.ForgetPhases(MbarrierKey(*warp, addresses[lane]));
      }
      memory.Store(WarpOf(warp), site->site->access, lanes, addresses, states);
      ClusterRunner::CountWrite(*warp);
      return 0;
    case MbarrierOp::kTestWait:
    case MbarrierOp::kTestParity:
      return TestMbarrier(warp, *site, lanes, addresses, operands, states);
    case MbarrierOp::kArriveCopies:
    case MbarrierOp::kArriveCopiesNoIncrement:
      ForEachMbarrier(*warp, lanes, addresses, [&](uint64_t key, uint32_t alike) {
        memory.TrackCopies(WarpOf(warp), alike, key);
      });
      break;
    default:
      break;
  }
  ChangeMbarrier(warp, *site->site, kFunctions[static_cast<int>(site->op)], lanes, addresses,
                 operands, states);
  return 0;
}

}  // namespace stax::emulator
