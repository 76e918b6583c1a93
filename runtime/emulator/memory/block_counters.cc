// Bulk copies of BlockMemory, and what is counted of all accesses.
#include <cstdint>
#include <cstring>

#include "runtime/emulator/memory/block_memory.h"
#include "runtime/emulator/memory/coalescing.h"
#include "runtime/emulator/memory/device_bytes.h"

namespace stax::emulator {
namespace {

// Of bulk copies (PTX ISA, cp.async.bulk): addresses and size.
constexpr int kCopyAlignment = 16;

// A run on its own is one stretch of memory.
Coalescing GlobalPieces(uint32_t good, const uint64_t* addresses, int bytes, bool single) {
  if (!single || good == 0) return CoalescingOf(good, addresses, bytes);
  uint64_t first = addresses[__builtin_ctz(good)];
  uint64_t last = addresses[kWarpSize - 1 - __builtin_clz(good)];
  return CoalescingOf(first, last - first + bytes);
}

// Lanes of a run on its own have consecutive addresses, or all the same.
Wavefronts SharedWavefronts(uint32_t good, const uint64_t* addresses, int bytes, bool is_load,
                            bool single) {
  const bool consecutive =
      single && good != 0 &&
      addresses[__builtin_ctz(good)] != addresses[kWarpSize - 1 - __builtin_clz(good)];
  return consecutive ? LeastWavefrontsOf(good, bytes)
                     : WavefrontsOf(good, addresses, bytes, is_load);
}

}  // namespace

void BlockMemory::Copy(int warp, int lane, const AccessSite& from_site, uint64_t from,
                       const AccessSite& to_site, uint64_t to, uint64_t bytes) {
  if (bytes == 0) return;
  const Access load = OneLane(warp, lane, from_site, &from);
  const Access store = OneLane(warp, lane, to_site, &to);
  if (!CopyWhole(load, store, lane, bytes)) CopyPieces(load, store, lane, bytes);

  MemoryCounters& c = counters_[from_site.instruction];
  if (load.space == Space::kGlobal) {
    Coalescing pieces = CoalescingOf(from, bytes);
    ++c.global_load_requests;
    c.global_load_sectors += pieces.sectors;
    c.global_load_transactions += pieces.lines;
    c.global_load_bytes += static_cast<int64_t>(bytes);
  }
  if (store.space == Space::kGlobal) {
    Coalescing pieces = CoalescingOf(to, bytes);
    ++c.global_store_requests;
    c.global_store_sectors += pieces.sectors;
    c.global_store_transactions += pieces.lines;
    c.global_store_bytes += static_cast<int64_t>(bytes);
  }
}

// `address` becomes one within the space.
BlockMemory::Access BlockMemory::OneLane(int warp, int lane, const AccessSite& site,
                                         uint64_t* address) {
  Space space = site.space;
  uint64_t window = 0;
  if (space == Space::kGeneric) {
    space = SpaceOf(*address);
    if (space != Space::kGlobal) {
      window = *address & ~kWindowOffsetMask;
      *address &= kWindowOffsetMask;
    }
  }
  return {warp, site, space, uint32_t{1} << lane, address, window};
}

bool BlockMemory::CopyWhole(const Access& load, const Access& store, int lane, uint64_t bytes) {
  const uint64_t from = *load.addresses;
  const uint64_t to = *store.addresses;
  const int thread = load.warp * kWarpSize + lane;
  auto whole = [&](const Region* region, uint64_t address) {
    if (region == nullptr) return false;
    uint64_t offset = address - region->begin;
    return offset <= region->bytes && bytes <= region->bytes - offset;
  };
  if ((from | to | bytes) % kCopyAlignment != 0) return false;
  if (store.space == Space::kConst || store.space == Space::kParam) return false;
  const Region* found = FindRegion(load.space, from, thread);
  if (!whole(found, from)) return false;
  const Region source = *found;
  found = FindRegion(store.space, to, thread);
  if (!whole(found, to)) return false;
  const Region target = *found;
  const uint64_t source_offset = from - source.begin;
  const uint64_t target_offset = to - target.begin;
  if (source.written != nullptr &&
      !source.written->AllSet(source.written_begin + source_offset, bytes)) {
    return false;
  }

  copied_.resize(bytes);
  CopyFromDevice(copied_.data(), source.data + source_offset, bytes);
  auto race_run = [&](const Access& access) {
    RaceRun run = RaceRunOf(access, Run{lane, 1, false, *access.addresses});
    run.lane_shift = RaceRun::kOneLane;
    return run;
  };
  if (source.shadow != nullptr) {
    races_.Loads(*source.shadow, source_offset, bytes, race_run(load));
  }
  uint8_t* data = target.data + target_offset;
  auto write = [&](uint64_t first, uint64_t count) {
    CopyToDevice(data + first, copied_.data() + first, count);
  };
  if (target.shadow == nullptr) {
    write(0, bytes);
  } else {
    auto same = [&](uint64_t first, uint64_t count) {
      uint8_t old[kCopyAlignment];
      CopyFromDevice(old, data + first, count);
      return memcmp(old, copied_.data() + first, count) == 0;
    };
    races_.Stores(*target.shadow, target_offset, bytes, race_run(store), write, same);
  }
  if (target.written != nullptr) {
    target.written->Set(target.written_begin + target_offset, bytes);
  }
  // Aligned to less than a sector: from the first one touched to the last.
  if (source.touched != nullptr) {
    uint64_t first = source_offset / kSectorBytes;
    source.touched->read.Set(first, (source_offset + bytes - 1) / kSectorBytes - first + 1);
  }
  if (target.touched != nullptr) {
    uint64_t first = target_offset / kSectorBytes;
    target.touched->written.Set(first, (target_offset + bytes - 1) / kSectorBytes - first + 1);
  }
  return true;
}

// What is wrong is found and told in pieces, each as an access of the lane.
void BlockMemory::CopyPieces(const Access& load, const Access& store, int lane, uint64_t bytes) {
  const MemoryCounters load_before = counters_[load.site.instruction];
  const MemoryCounters store_before = counters_[store.site.instruction];
  AccessSite load_site = load.site;
  AccessSite store_site = store.site;
  uint64_t addresses[kWarpSize];
  uint8_t values[static_cast<size_t>(kWarpSize) * kCopyAlignment];
  load_site.elements = store_site.elements = 1;
  for (uint64_t done = 0; done < bytes;) {
    int piece = kCopyAlignment;
    while (static_cast<uint64_t>(piece) > bytes - done) piece /= 2;
    load_site.element_bytes = store_site.element_bytes = piece;
    addresses[lane] = (*load.addresses | load.window) + done;
    Load(load.warp, load_site, load.lanes, addresses, values);
    addresses[lane] = (*store.addresses | store.window) + done;
    Store(store.warp, store_site, store.lanes, addresses, values);
    done += piece;
  }
  counters_[load.site.instruction] = load_before;
  counters_[store.site.instruction] = store_before;
}

void BlockMemory::CountLoad(const Access& access, uint32_t good, bool single) {
  MemoryCounters& c = counters_[access.site.instruction];
  const int bytes = access.site.bytes();
  const int64_t asked = static_cast<int64_t>(__builtin_popcount(good)) * bytes;
  if (access.space == Space::kGlobal) {
    Coalescing pieces = GlobalPieces(good, access.addresses, bytes, single);
    ++c.global_load_requests;
    c.global_load_sectors += pieces.sectors;
    c.global_load_transactions += pieces.lines;
    c.global_load_bytes += asked;
  } else if (access.space == Space::kShared) {
    Wavefronts fronts = SharedWavefronts(good, access.addresses, bytes, true, single);
    ++c.shared_load_requests;
    c.shared_load_wavefronts += fronts.wavefronts;
    c.shared_load_bank_conflicts += fronts.wavefronts - fronts.least;
    c.shared_load_bytes += asked;
  } else if (access.space == Space::kLocal) {
    ++c.local_load_requests;
    c.local_load_bytes += asked;
  }
}

void BlockMemory::CountStore(const Access& access, uint32_t good, bool single) {
  MemoryCounters& c = counters_[access.site.instruction];
  const int bytes = access.site.bytes();
  const int64_t asked = static_cast<int64_t>(__builtin_popcount(good)) * bytes;
  if (access.space == Space::kGlobal) {
    Coalescing pieces = GlobalPieces(good, access.addresses, bytes, single);
    ++c.global_store_requests;
    c.global_store_sectors += pieces.sectors;
    c.global_store_transactions += pieces.lines;
    c.global_store_bytes += asked;
  } else if (access.space == Space::kShared) {
    Wavefronts fronts = SharedWavefronts(good, access.addresses, bytes, false, single);
    ++c.shared_store_requests;
    c.shared_store_wavefronts += fronts.wavefronts;
    c.shared_store_bank_conflicts += fronts.wavefronts - fronts.least;
    c.shared_store_bytes += asked;
  } else if (access.space == Space::kLocal) {
    ++c.local_store_requests;
    c.local_store_bytes += asked;
  }
}

void BlockMemory::CountAtomic(const Access& access, uint32_t good) {
  MemoryCounters& c = counters_[access.site.instruction];
  const int lanes = __builtin_popcount(good);
  if (access.space == Space::kGlobal) {
    ++c.global_atomic_requests;
    c.global_atomics += lanes;
    c.global_atomic_sectors += CoalescingOf(good, access.addresses, access.site.bytes()).sectors;
  } else if (access.space == Space::kShared) {
    ++c.shared_atomic_requests;
    c.shared_atomics += lanes;
  }
}

}  // namespace stax::emulator
