#include "runtime/emulator/launch/runtime_functions.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "runtime/emulator/isa/matrix_tiles.h"
#include "runtime/emulator/isa/mma.h"
#include "runtime/emulator/isa/warp_exchange.h"
#include "runtime/emulator/isa/wmma.h"
#include "runtime/emulator/launch/cluster_runner.h"
#include "runtime/emulator/launch/mbarrier.h"
#include "runtime/emulator/memory/access.h"

namespace stax::emulator {
namespace {

int WarpOf(const WarpContext* warp) { return static_cast<int>(warp->warpid); }

// A loop around it most likely waits for other threads: they run sooner.
void Poll(WarpContext* warp) {
  constexpr uint32_t kCost = 1 << 9;  // backward jumps
  warp->budget = warp->budget > kCost ? warp->budget - kCost : 1;
  ++warp->polls;
}

void Load(WarpContext* warp, const MemorySite* site, uint32_t lanes, const uint64_t* addresses,
          void* values) {
  if (lanes == 0) return;
  ClusterRunner::MemoryOf(*warp).Load(WarpOf(warp), site->access, lanes, addresses, values);
  if (site->access.strong) Poll(warp);
}

void Store(WarpContext* warp, const MemorySite* site, uint32_t lanes, const uint64_t* addresses,
           const void* values) {
  if (lanes == 0) return;
  ClusterRunner::MemoryOf(*warp).Store(WarpOf(warp), site->access, lanes, addresses, values);
  ClusterRunner::CountWrite(*warp);
}

uint64_t Element(const void* values, int bytes, int lane) {
  uint64_t value = 0;
  if (values != nullptr)
    std::memcpy(&value, static_cast<const uint8_t*>(values) + int64_t{lane} * bytes,
                static_cast<size_t>(bytes));
  return value;
}

void Atomic(WarpContext* warp, const MemorySite* site, uint32_t lanes, const uint64_t* addresses,
            const void* operand, const void* compare, void* old) {
  if (lanes == 0) return;
  alignas(64) uint8_t olds[kWarpLanes * 16];
  const int bytes = site->access.element_bytes;
  ClusterRunner::MemoryOf(*warp).Atomic(WarpOf(warp), site->access, lanes, addresses, site->atomic,
                                        operand, compare, olds);
  if (old != nullptr) std::memcpy(old, olds, static_cast<size_t>(kWarpLanes) * bytes);
  // An atomic that leaves all as it was, as in a loop around a lock, is no progress.
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    const int lane = __builtin_ctz(left);
    const uint64_t before = Element(olds, bytes, lane);
    if (bytes > 8 || site->atomic(before, Element(operand, bytes, lane),
                                  Element(compare, bytes, lane)) != before) {
      ClusterRunner::CountWrite(*warp);
      return;
    }
  }
  Poll(warp);
}

void Fence(WarpContext* warp, const MemorySite* site, uint32_t lanes) {
  if (lanes != 0) ClusterRunner::MemoryOf(*warp).Fence(WarpOf(warp), lanes, site->access.scope);
}

void WarpBarrier(WarpContext* warp, uint32_t lanes) {
  ClusterRunner::MemoryOf(*warp).WarpBarrier(WarpOf(warp), lanes);
}

void NotNamed(WarpContext* warp, uint32_t instruction, uint32_t lanes) {
  if (lanes == 0) return;
  const auto thread = static_cast<uint32_t>(WarpOf(warp) * kWarpLanes + __builtin_ctz(lanes));
  ClusterRunner::FaultsOf(*warp).Add(
      FaultKind::kInvalidShuffle, static_cast<int>(instruction),
      ClusterRunner::MemoryOf(*warp).block(), thread, 0,
      [] { return std::string("executes it, but the member mask does not name this lane"); });
}

uint32_t Shuffle(WarpContext* warp, uint32_t instruction, uint32_t lanes, uint32_t mode,
                 const uint32_t* value, const uint32_t* b, const uint32_t* c, uint32_t* result) {
  const isa::ShuffleResult shuffled =
      isa::Shuffle(static_cast<isa::ShuffleMode>(mode), lanes, value, b, c, result);
  if (shuffled.inactive_sources != 0) {
    const int lane = __builtin_ctz(shuffled.inactive_sources);
    const auto thread = static_cast<uint32_t>(WarpOf(warp) * kWarpLanes + lane);
    ClusterRunner::FaultsOf(*warp).Add(
        FaultKind::kInvalidShuffle, static_cast<int>(instruction),
        ClusterRunner::MemoryOf(*warp).block(), thread, 0, [] {
          return std::string("reads the value of a lane that does not take part in the shuffle");
        });
  }
  return shuffled.predicates;
}

void Mma(const isa::MmaOperation* operation, const void* const* a, const void* const* b,
         const void* const* c, void* const* d) {
  isa::RunMma(*operation, a, b, c, d);
}

// Rows of 16 bytes; lane i has the address of row i.
void Tiles(WarpContext* warp, const TileSite* site, const void* other, uint32_t* const* registers) {
  constexpr int kRowBytes = 16;
  constexpr int kRows = 8;  // of a tile
  if (site->tiles.move == isa::TileMove::kTranspose) {
    isa::TransposeTile(static_cast<const uint32_t*>(other), registers[0]);
    return;
  }
  const int rows = kRows * site->tiles.tiles;
  const uint32_t lanes = rows == kWarpLanes ? ~0U : (1U << rows) - 1;
  const auto* addresses = static_cast<const uint64_t*>(other);
  alignas(64) uint16_t values[kWarpLanes * kRowBytes / sizeof(uint16_t)] = {};
  BlockMemory& memory = ClusterRunner::MemoryOf(*warp);
  if (site->tiles.move == isa::TileMove::kLoad) {
    memory.Load(WarpOf(warp), site->site->access, lanes, addresses, values);
    isa::LoadTiles(site->tiles, values, registers);
    return;
  }
  isa::StoreTiles(site->tiles, const_cast<const uint32_t* const*>(registers), values);
  memory.Store(WarpOf(warp), site->site->access, lanes, addresses, values);
  ClusterRunner::CountWrite(*warp);
}

// Element by element: each is an access of the warp.
void Wmma(WarpContext* warp, const WmmaSite* site, const uint64_t* addresses,
          const uint32_t* stride, void* const* registers) {
  const isa::WmmaOperation& operation = site->operation;
  const isa::MmaFragment& fragment = operation.fragment;
  const int bytes = site->site->access.element_bytes;
  BlockMemory& memory = ClusterRunner::MemoryOf(*warp);
  for (int reg = 0; reg < fragment.registers; ++reg) {
    auto* words = static_cast<uint8_t*>(registers[reg]);
    for (int index = 0; index < fragment.elements_a_register; ++index) {
      uint64_t at[kWarpLanes];
      alignas(64) uint8_t values[kWarpLanes * 8];
      for (int lane = 0; lane < kWarpLanes; ++lane) {
        const isa::MatrixPosition position =
            isa::FragmentPosition(fragment, operation.matrix, lane, reg, index);
        const int64_t pitch = stride != nullptr ? stride[lane] : operation.default_stride;
        const int64_t element = operation.column_major ? position.column * pitch + position.row
                                                       : position.row * pitch + position.column;
        at[lane] = addresses[lane] + static_cast<uint64_t>(element * bytes);
        std::memcpy(values + lane * bytes, words + lane * fragment.register_bytes + index * bytes,
                    static_cast<size_t>(bytes));
      }
      if (operation.move == isa::WmmaMove::kStore) {
        memory.Store(WarpOf(warp), site->site->access, ~0U, at, values);
        continue;
      }
      memory.Load(WarpOf(warp), site->site->access, ~0U, at, values);
      for (int lane = 0; lane < kWarpLanes; ++lane)
        std::memcpy(words + lane * fragment.register_bytes + index * bytes, values + lane * bytes,
                    static_cast<size_t>(bytes));
    }
  }
  if (operation.move == isa::WmmaMove::kStore) ClusterRunner::CountWrite(*warp);
}

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

// What Arrive and Wait of the clocks know an mbarrier by: the block it is in, and where there.
uint64_t MbarrierKey(const WarpContext& warp, uint64_t address) {
  constexpr uint64_t kKey = uint64_t{0x4d} << kWindowShift;
  const uint64_t within = address & kWindowOffsetMask;
  const uint64_t field = within >> kSharedRankShift;
  const uint64_t rank = field == 0 ? warp.cluster_ctarank : field - 1;
  return kKey | rank << 32 | (within & kSharedOffsetMask);
}

void ChangeMbarrier(WarpContext* warp, const MemorySite& site, isa::AtomicFunction function,
                    uint32_t lanes, const uint64_t* addresses, const uint64_t* operands,
                    uint64_t* states) {
  BlockMemory& memory = ClusterRunner::MemoryOf(*warp);
  for (uint32_t left = lanes; left != 0; left &= left - 1)
    memory.Arrive(WarpOf(warp), MbarrierKey(*warp, addresses[__builtin_ctz(left)]));
  memory.Atomic(WarpOf(warp), site.access, lanes, addresses, function, operands, nullptr, states);
  ClusterRunner::CountWrite(*warp);
}

void BulkCopy(WarpContext* warp, const CopySite* site, uint32_t lanes, const uint64_t* to,
              const uint64_t* from, const uint32_t* bytes, const uint64_t* barrier) {
  BlockMemory& memory = ClusterRunner::MemoryOf(*warp);
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    const int lane = __builtin_ctz(left);
    memory.Copy(WarpOf(warp), lane, site->from->access, from[lane], site->to->access, to[lane],
                bytes[lane]);
    if (barrier == nullptr) continue;
    uint64_t operands[kWarpLanes];
    uint64_t states[kWarpLanes];
    operands[lane] = bytes[lane];
    ChangeMbarrier(warp, *site->barrier, &MbarrierCompleteTx, 1U << lane, barrier, operands,
                   states);
  }
  if (lanes != 0) ClusterRunner::CountWrite(*warp);
}

uint32_t Mbarrier(WarpContext* warp, const MbarrierSite* site, uint32_t lanes,
                  const uint64_t* addresses, const uint64_t* operands, uint64_t* states) {
  static constexpr isa::AtomicFunction kFunctions[] = {
      &MbarrierInit,     &MbarrierInit,       &MbarrierArrive,        &MbarrierArriveDrop,
      &MbarrierExpectTx, &MbarrierCompleteTx, &MbarrierArriveExpectTx};
  if (lanes == 0) return 0;
  if (site->op == MbarrierOp::kInit || site->op == MbarrierOp::kInvalidate) {
    for (uint32_t left = lanes; left != 0; left &= left - 1) {
      const int lane = __builtin_ctz(left);
      states[lane] = MbarrierInit(0, operands[lane], 0);
    }
    ClusterRunner::MemoryOf(*warp).Store(WarpOf(warp), site->site->access, lanes, addresses,
                                         states);
    ClusterRunner::CountWrite(*warp);
    return 0;
  }
  if (site->op != MbarrierOp::kTestWait && site->op != MbarrierOp::kTestParity) {
    ChangeMbarrier(warp, *site->site, kFunctions[static_cast<int>(site->op)], lanes, addresses,
                   operands, states);
    return 0;
  }
  BlockMemory& memory = ClusterRunner::MemoryOf(*warp);
  memory.Load(WarpOf(warp), site->site->access, lanes, addresses, states);
  uint32_t done = 0;
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    const int lane = __builtin_ctz(left);
    const int waited = site->op == MbarrierOp::kTestParity ? static_cast<int>(operands[lane] & 1)
                                                           : MbarrierPhase(operands[lane]);
    if (MbarrierPhase(states[lane]) == waited) continue;
    done |= 1U << lane;
    memory.Wait(WarpOf(warp), MbarrierKey(*warp, addresses[lane]));
  }
  if (done != lanes) warp->budget = 1;  // others have to run first
  return done;
}

}  // namespace

const RuntimeFunctions& LaunchFunctions() {
  static const RuntimeFunctions functions = {&Load,     &Store,    &Atomic,  &Fence, &WarpBarrier,
                                             &NotNamed, &Shuffle,  &Mma,     &Tiles, &Wmma,
                                             &Copy,     &BulkCopy, &Mbarrier};
  return functions;
}

}  // namespace stax::emulator
