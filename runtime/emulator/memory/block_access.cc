// Loads, stores and atomics of BlockMemory, and what is counted of them.
#include <cstring>

#include "absl/synchronization/mutex.h"
#include "runtime/emulator/memory/block_memory.h"
#include "runtime/emulator/memory/coalescing.h"
#include "runtime/emulator/memory/device_bytes.h"

namespace stax::emulator {
namespace {

// Calls with a value of the type that holds an element.
template <typename Function>
void ForElementType(int bytes, Function function) {
  switch (bytes) {
    case 1:
      return function(uint8_t{});
    case 2:
      return function(uint16_t{});
    case 4:
      return function(uint32_t{});
    case 8:
      return function(uint64_t{});
    default:
      return function(Word16{});
  }
}

uint64_t Element(const void* values, int index, int bytes) {
  uint64_t value = 0;
  memcpy(&value, static_cast<const uint8_t*>(values) + static_cast<ptrdiff_t>(index) * bytes,
         bytes);
  return value;
}

// Read, modify, write; returns the old value.
template <typename T>
T AtomicUpdate(uint8_t* place, AtomicFunction function, uint64_t operand, uint64_t compare) {
  T* word = reinterpret_cast<T*>(place);
  T old = __atomic_load_n(word, __ATOMIC_RELAXED);
  while (true) {
    T updated = static_cast<T>(function(old, operand, compare));
    if (__atomic_compare_exchange_n(word, &old, updated, /*weak=*/true, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE)) {
      return old;
    }
  }
}

uint32_t LanesOf(int lane, int count) { return (~uint32_t{0} >> (kWarpSize - count)) << lane; }

bool IsStrong(const AccessSite& site) { return site.strong || site.acquire || site.release; }

}  // namespace

RaceRun BlockMemory::RaceRunOf(const Access& access, const Run& run) const {
  RaceRun result;
  result.site = &access.site;
  result.self = SelfOf(access.warp);
  result.lane = run.lane;
  result.lane_shift = __builtin_ctz(access.site.bytes());
  if (run.same) result.same_lanes = LanesOf(run.lane, run.count);
  result.shared = access.space == Space::kShared;
  result.address = run.address | access.window;
  return result;
}

uint64_t BlockMemory::SyncKey(const Access& access, uint64_t address) const {
  if (access.space != Space::kShared) return address;
  uint64_t rank = address >> kSharedRankShift;
  uint64_t block = rank == 0 ? block_ : cluster_.blocks_[rank - 1]->block_;
  return uint64_t{1} << 63 | block << kSharedRankShift | (address & kSharedOffsetMask);
}

void BlockMemory::LoadRun(const Access& access, const Run& run, const Region& region,
                          void* values) {
  const AccessSite& site = access.site;
  const auto bytes = static_cast<uint64_t>(site.bytes());
  const uint64_t offset = run.address - region.begin;
  const uint64_t extent = run.same ? bytes : bytes * run.count;
  const uint8_t* from = region.data + offset;
  const bool strong = IsStrong(site);
  ForElementType(site.element_bytes, [&](auto zero) {
    using T = decltype(zero);
    T* to = static_cast<T*>(values) + run.lane;
    if (run.same) {
      for (int e = 0; e < site.elements; ++e) {
        T value = LoadDevice<T>(from + e * sizeof(T), strong);
        for (int i = 0; i < run.count; ++i) to[e * kWarpSize + i] = value;
      }
    } else if (site.elements == 1 && !strong) {
      CopyFromDevice(to, from, extent);
    } else {
      for (int i = 0; i < run.count; ++i) {
        for (int e = 0; e < site.elements; ++e) {
          to[e * kWarpSize + i] = LoadDevice<T>(from + i * bytes + e * sizeof(T), strong);
        }
      }
    }
  });
  if (region.written != nullptr && !region.written->AllSet(region.written_begin + offset, extent)) {
    CheckWritten(access, run, region);
  }
  if (region.touched != nullptr) {
    uint64_t sector = offset / kSectorBytes;
    region.touched->read.Set(sector, (offset + extent - 1) / kSectorBytes - sector + 1);
  }
  if (region.shadow == nullptr) return;
  races_.Loads(*region.shadow, offset, extent, RaceRunOf(access, run));
  if (!strong) return;
  for (int i = 0; i < run.count; ++i) {
    uint64_t address = run.address + (run.same ? 0 : i * bytes);
    clocks_.AfterStrongRead(SelfOf(access.warp), run.lane + i, SyncKey(access, address));
  }
}

void BlockMemory::StoreRun(const Access& access, const Run& run, const Region& region,
                           const void* values) {
  const AccessSite& site = access.site;
  const auto bytes = static_cast<uint64_t>(site.bytes());
  if (run.same && run.count > 1) {
    // Lanes in order; the last one stays.
    for (int i = 0; i < run.count; ++i) {
      StoreRun(access, {run.lane + i, 1, false, run.address}, region, values);
    }
    return;
  }
  const uint64_t offset = run.address - region.begin;
  const uint64_t extent = bytes * run.count;
  uint8_t* to = region.data + offset;
  const bool strong = IsStrong(site);
  // Calls piece(byte of the run, value in the registers) for the elements of bytes [first, last).
  auto for_elements = [&](uint64_t first, uint64_t last, auto zero, auto piece) {
    using T = decltype(zero);
    const T* from = static_cast<const T*>(values) + run.lane;
    for (uint64_t at = first; at < last; at += sizeof(T)) {
      piece(at, from[at % bytes / sizeof(T) * kWarpSize + at / bytes]);
    }
  };
  auto store = [&](uint64_t first, uint64_t count) {
    if (site.elements == 1 && !strong) {
      const auto* from = static_cast<const uint8_t*>(values) + run.lane * bytes;
      CopyToDevice(to + first, from + first, count);
      return;
    }
    ForElementType(site.element_bytes, [&](auto zero) {
      for_elements(first, first + count, zero,
                   [&](uint64_t at, auto value) { StoreDevice(to + at, value, strong); });
    });
  };
  if (region.shadow == nullptr) {
    store(0, extent);
  } else {
    auto same = [&](uint64_t first, uint64_t count) {
      bool all_same = true;
      ForElementType(site.element_bytes, [&](auto zero) {
        constexpr uint64_t kSize = sizeof(zero);
        uint64_t begin = first / kSize * kSize;
        for_elements(begin, first + count, zero, [&](uint64_t at, auto value) {
          auto old = LoadDevice<decltype(value)>(to + at);
          all_same &= memcmp(&old, &value, kSize) == 0;
        });
      });
      return all_same;
    };
    if (strong) {
      for (int i = 0; i < run.count; ++i) {
        clocks_.BeforeStrongWrite(SelfOf(access.warp), run.lane + i,
                                  SyncKey(access, run.address + i * bytes), site.scope);
      }
    }
    races_.Stores(*region.shadow, offset, extent, RaceRunOf(access, run), store, same);
  }
  if (region.written != nullptr) {
    if (region.touched != nullptr) {
      region.written->Set(region.written_begin + offset, extent);
    } else {
      region.written->SetAlone(region.written_begin + offset, extent);
    }
  }
  if (region.touched != nullptr) {
    uint64_t sector = offset / kSectorBytes;
    region.touched->written.Set(sector, (offset + extent - 1) / kSectorBytes - sector + 1);
  }
}

void BlockMemory::Load(int warp, const AccessSite& site, uint32_t lanes, const uint64_t* addresses,
                       void* values) {
  if (site.release && check_races_) clocks_.Fence(SelfOf(warp), lanes, site.scope);
  ForEachSpace(warp, site, lanes, addresses, [&](const Access& access) {
    bool single = false;
    uint32_t good = ForEachRun(
        access, [&](const Run& run, const Region& region) { LoadRun(access, run, region, values); },
        [&](int lane) {
          for (int e = 0; e < site.elements; ++e) {
            ptrdiff_t index = e * kWarpSize + lane;
            memset(static_cast<uint8_t*>(values) + index * site.element_bytes, 0,
                   site.element_bytes);
          }
        },
        &single);
    CountLoad(access, good, single);
  });
  if (site.acquire && check_races_) clocks_.Fence(SelfOf(warp), lanes, site.scope);
}

void BlockMemory::Store(int warp, const AccessSite& site, uint32_t lanes, const uint64_t* addresses,
                        const void* values) {
  if (site.release && check_races_) clocks_.Fence(SelfOf(warp), lanes, site.scope);
  ForEachSpace(warp, site, lanes, addresses, [&](const Access& access) {
    bool single = false;
    uint32_t good = ForEachRun(
        access,
        [&](const Run& run, const Region& region) { StoreRun(access, run, region, values); },
        [](int) {}, &single);
    CountStore(access, good, single);
  });
}

void BlockMemory::AtomicLane(const Access& access, int lane, const Region& region,
                             AtomicFunction function, const void* operands, const void* compare,
                             void* olds) {
  const AccessSite& site = access.site;
  const uint64_t address = access.addresses[lane];
  const uint64_t offset = address - region.begin;
  const int bytes = site.element_bytes;
  uint8_t* place = region.data + offset;
  Run run{lane, 1, false, address};
  const auto extent = static_cast<uint64_t>(site.bytes());
  if (region.written != nullptr) {
    if (!region.written->AllSet(region.written_begin + offset, extent)) {
      CheckWritten(access, run, region);
      region.written->Set(region.written_begin + offset, extent);
    }
  }
  auto update = [&](int e) {
    int index = e * kWarpSize + lane;
    uint8_t* at = place + static_cast<ptrdiff_t>(e) * bytes;
    if (bytes == 16) {
      Word16 value;
      memcpy(&value, static_cast<const uint8_t*>(operands) + index * 16, 16);
      absl::MutexLock lock(&launch_.wide_atomics());
      auto old = LoadDevice<Word16>(at, /*strong=*/true);
      bool exchange = true;
      if (compare != nullptr) {
        exchange = memcmp(&old, static_cast<const uint8_t*>(compare) + index * 16, 16) == 0;
      }
      if (exchange) StoreDevice(at, value, /*strong=*/true);
      if (olds != nullptr) memcpy(static_cast<uint8_t*>(olds) + index * 16, &old, 16);
      return;
    }
    uint64_t operand = Element(operands, index, bytes);
    uint64_t compared = compare == nullptr ? 0 : Element(compare, index, bytes);
    ForElementType(bytes, [&](auto zero) {
      using T = decltype(zero);
      if constexpr (sizeof(T) < 16) {
        T old = AtomicUpdate<T>(at, function, operand, compared);
        if (olds != nullptr) memcpy(static_cast<T*>(olds) + index, &old, sizeof(T));
      }
    });
  };
  auto update_all = [&] {
    for (int e = 0; e < site.elements; ++e) update(e);
  };
  if (region.touched != nullptr) {
    region.touched->read.Set(offset / kSectorBytes, 1);
    region.touched->written.Set(offset / kSectorBytes, 1);
  }
  if (region.shadow == nullptr) {
    update_all();
    return;
  }
  int self = SelfOf(access.warp);
  uint64_t key = SyncKey(access, address);
  clocks_.BeforeStrongWrite(self, lane, key, site.scope);
  bool done = false;
  races_.Stores(
      *region.shadow, offset, extent, RaceRunOf(access, run),
      [&](uint64_t, uint64_t) {
        // Aligned, so it is one piece.
        if (!done) update_all();
        done = true;
      },
      [](uint64_t, uint64_t) { return false; });
  clocks_.AfterStrongRead(self, lane, key);
}

void BlockMemory::Atomic(int warp, const AccessSite& site, uint32_t lanes,
                         const uint64_t* addresses, AtomicFunction function, const void* operands,
                         const void* compare, void* olds) {
  if (site.release && check_races_) clocks_.Fence(SelfOf(warp), lanes, site.scope);
  ForEachSpace(warp, site, lanes, addresses, [&](const Access& access) {
    bool single = false;
    uint32_t good = ForEachRun(
        access,
        [&](const Run& run, const Region& region) {
          for (int i = 0; i < run.count; ++i) {
            AtomicLane(access, run.lane + i, region, function, operands, compare, olds);
          }
        },
        [&](int lane) {
          if (olds == nullptr) return;
          for (int e = 0; e < site.elements; ++e) {
            ptrdiff_t index = e * kWarpSize + lane;
            memset(static_cast<uint8_t*>(olds) + index * site.element_bytes, 0, site.element_bytes);
          }
        },
        &single);
    CountAtomic(access, good);
  });
  if (site.acquire && check_races_) clocks_.Fence(SelfOf(warp), lanes, site.scope);
}

void BlockMemory::Copy(int warp, int lane, const AccessSite& from_site, uint64_t from,
                       const AccessSite& to_site, uint64_t to, uint64_t bytes) {
  // As accesses of one lane of at most this many bytes, which is what a site can say.
  constexpr int kPiece = 16;
  const uint32_t lanes = uint32_t{1} << lane;
  uint64_t done = 0;
  uint64_t addresses[kWarpSize];
  uint8_t values[static_cast<size_t>(kWarpSize) * kPiece];
  AccessSite load = from_site;
  AccessSite store = to_site;
  MemoryCounters load_before = counters_[from_site.instruction];
  while (done < bytes) {
    int piece = kPiece;
    while (static_cast<uint64_t>(piece) > bytes - done) piece /= 2;
    load.element_bytes = store.element_bytes = piece;
    load.elements = store.elements = 1;
    addresses[lane] = from + done;
    Load(warp, load, lanes, addresses, values);
    addresses[lane] = to + done;
    Store(warp, store, lanes, addresses, values);
    done += piece;
  }
  counters_[from_site.instruction] = load_before;
  auto space_of = [](const AccessSite& site, uint64_t address) {
    return site.space == Space::kGeneric ? SpaceOf(address) : site.space;
  };
  MemoryCounters& c = counters_[from_site.instruction];
  if (space_of(from_site, from) == Space::kGlobal) {
    Coalescing pieces = CoalescingOf(from, bytes);
    ++c.global_load_requests;
    c.global_load_sectors += pieces.sectors;
    c.global_load_transactions += pieces.lines;
    c.global_load_bytes += static_cast<int64_t>(bytes);
  }
  if (space_of(to_site, to) == Space::kGlobal) {
    Coalescing pieces = CoalescingOf(to, bytes);
    ++c.global_store_requests;
    c.global_store_sectors += pieces.sectors;
    c.global_store_transactions += pieces.lines;
    c.global_store_bytes += static_cast<int64_t>(bytes);
  }
}

namespace {

// A run on its own is one stretch of memory.
Coalescing GlobalPieces(uint32_t good, const uint64_t* addresses, int bytes, bool single) {
  if (!single || good == 0) return CoalescingOf(good, addresses, bytes);
  uint64_t first = addresses[__builtin_ctz(good)];
  uint64_t last = addresses[kWarpSize - 1 - __builtin_clz(good)];
  return CoalescingOf(first, last - first + bytes);
}

Wavefronts SharedWavefronts(uint32_t good, const uint64_t* addresses, int bytes, bool single) {
  return single ? LeastWavefrontsOf(good, bytes) : WavefrontsOf(good, addresses, bytes);
}

}  // namespace

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
    Wavefronts fronts = SharedWavefronts(good, access.addresses, bytes, single);
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
    Wavefronts fronts = SharedWavefronts(good, access.addresses, bytes, single);
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
