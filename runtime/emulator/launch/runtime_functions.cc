#include "runtime/emulator/launch/runtime_functions.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "runtime/emulator/isa/matrix_tiles.h"
#include "runtime/emulator/isa/mma.h"
#include "runtime/emulator/isa/warp_exchange.h"
#include "runtime/emulator/isa/wmma.h"
#include "runtime/emulator/launch/cluster_runner.h"
#include "runtime/emulator/launch/copy_functions.h"
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
  if (lanes != 0) ClusterRunner::MemoryOf(*warp).WarpBarrier(WarpOf(warp), lanes);
}

std::string MisuseText(Misuse kind, uint32_t limit) {
  switch (kind) {
    case Misuse::kNotNamed:
      return "executes it, but the member mask does not name this lane";
    case Misuse::kBranchIndex:
      return absl::StrCat("its index is beyond the table, which has ", limit, " labels");
    case Misuse::kSourceBytes:
      return absl::StrCat("reads more than the ", limit, " bytes that it copies");
    case Misuse::kMbarrierCount:
      return absl::StrCat("the object expects 1 to ", limit, " arrivals, which its count is not");
  }
  return "";
}

void ReportMisuse(WarpContext* warp, uint32_t instruction, uint32_t lanes, uint32_t kind,
                  uint32_t limit) {
  const auto misuse = static_cast<Misuse>(kind);
  for (; lanes != 0; lanes &= lanes - 1) {
    const auto thread = static_cast<uint32_t>(WarpOf(warp) * kWarpLanes + __builtin_ctz(lanes));
    ClusterRunner::FaultsOf(*warp).Add(
        misuse == Misuse::kNotNamed ? FaultKind::kInvalidShuffle : FaultKind::kUndefinedBehavior,
        static_cast<int>(instruction), ClusterRunner::MemoryOf(*warp).block(), thread, 0,
        [&] { return MisuseText(misuse, limit); });
  }
}

uint32_t Shuffle(WarpContext* warp, uint32_t instruction, uint32_t lanes, uint32_t mode,
                 const uint32_t* value, const uint32_t* b, const uint32_t* c, uint32_t* result) {
  const isa::ShuffleResult shuffled =
      isa::Shuffle(static_cast<isa::ShuffleMode>(mode), lanes, value, b, c, result);
  // Lanes that have met this one in another place are told of there.
  if (const uint32_t wrong = shuffled.inactive_sources & ~warp->others; wrong != 0) {
    const int lane = __builtin_ctz(wrong);
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

}  // namespace

const RuntimeFunctions& LaunchFunctions() {
  static const RuntimeFunctions functions = {
      &Load, &Store, &Atomic, &Fence, &WarpBarrier, &ReportMisuse, &Shuffle,
      &Mma,  &Tiles, &Wmma,   &Copy,  &BulkCopy,    &CopyGroup,    &Mbarrier};
  return functions;
}

}  // namespace stax::emulator
