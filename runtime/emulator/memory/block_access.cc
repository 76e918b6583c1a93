// Loads, stores and atomics of BlockMemory; what is counted of them is in block_counters.cc.
#include <cstdint>
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

template <typename Function>
void BlockMemory::ForEachSpace(int warp, const AccessSite& site, uint32_t lanes,
                               const uint64_t* addresses, Function access) {
  if (lanes == 0) return;
  if (site.space != Space::kGeneric) {
    access({warp, site, site.space, lanes, addresses, 0});
    return;
  }
  uint64_t stripped[kWarpSize];
  while (lanes != 0) {
    uint64_t window = addresses[__builtin_ctz(lanes)] >> kWindowShift;
    Space space = SpaceOf(window << kWindowShift);
    uint32_t group = 0;
    for (uint32_t left = lanes; left != 0; left &= left - 1) {
      int lane = __builtin_ctz(left);
      if (addresses[lane] >> kWindowShift == window) group |= uint32_t{1} << lane;
    }
    lanes &= ~group;
    if (space == Space::kGlobal) {
      access({warp, site, space, group, addresses, 0});
      continue;
    }
    for (uint32_t left = group; left != 0; left &= left - 1) {
      int lane = __builtin_ctz(left);
      stripped[lane] = addresses[lane] & kWindowOffsetMask;
    }
    access({warp, site, space, group, stripped, window << kWindowShift});
  }
}

BlockMemory::Run BlockMemory::NextRun(uint32_t lanes, const uint64_t* addresses, int bytes) {
  Run run;
  run.lane = __builtin_ctz(lanes);
  run.count = 1;
  run.address = addresses[run.lane];
  if (lanes == ~uint32_t{0}) {
    // Most accesses: no branch a lane.
    uint64_t different = 0;
    uint64_t expected = run.address;
    for (int lane = 0; lane < kWarpSize; ++lane, expected += bytes) {
      different |= addresses[lane] ^ expected;
    }
    if (different == 0) {
      run.count = kWarpSize;
      return run;
    }
  }
  int end = run.lane + __builtin_ctzll(~(uint64_t{lanes} >> run.lane));
  int lane = run.lane + 1;
  if (lane == end) return run;
  run.same = addresses[lane] == run.address;
  uint64_t step = run.same ? 0 : bytes;
  while (lane < end && addresses[lane] == addresses[lane - 1] + step) ++lane;
  run.count = lane - run.lane;
  return run;
}

template <typename One, typename Bad>
uint32_t BlockMemory::ForEachLocal(const Access& access, One one, Bad bad) {
  const auto bytes = static_cast<uint64_t>(access.site.bytes());
  const auto thread = static_cast<uint64_t>(access.warp) * kWarpSize;
  auto* data = reinterpret_cast<uint8_t*>(local_data_.data());
  uint32_t good = 0;
  for (uint32_t left = access.lanes; left != 0; left &= left - 1) {
    int lane = __builtin_ctz(left);
    uint64_t address = access.addresses[lane];
    local_.written_begin = local_stride_ * (thread + lane);
    local_.data = data + local_.written_begin;
    if ((address & (bytes - 1)) == 0 && address < local_.bytes && bytes <= local_.bytes - address) {
      one(Run{lane, 1, false, address}, local_);
      good |= uint32_t{1} << lane;
    } else {
      ReportBad(access, lane, &local_);
      bad(lane);
    }
  }
  return good;
}

template <typename One, typename Bad>
uint32_t BlockMemory::ForEachRun(const Access& access, One one, Bad bad, bool* single) {
  if (access.space == Space::kLocal) return ForEachLocal(access, one, bad);
  const auto bytes = static_cast<uint64_t>(access.site.bytes());
  auto good = [&](const Run& run, const Region* region) {
    if (region == nullptr || (run.address & (bytes - 1)) != 0) return false;
    uint64_t offset = run.address - region->begin;
    uint64_t needed = run.same ? bytes : bytes * run.count;
    return offset <= region->bytes && needed <= region->bytes - offset;
  };
  const bool read_only = (access.space == Space::kConst || access.space == Space::kParam) &&
                         access.site.kind != AccessKind::kLoad;
  const int warp_thread = access.warp * kWarpSize;
  uint32_t done = 0;
  int runs = 0;
  for (uint32_t left = access.lanes; left != 0;) {
    Run run = NextRun(left, access.addresses, static_cast<int>(bytes));
    uint32_t lanes = LanesOf(run.lane, run.count);
    left &= ~lanes;
    ++runs;
    const Region* region = FindRegion(access.space, run.address, warp_thread + run.lane);
    if (!read_only && good(run, region)) {
      one(run, *region);
      done |= lanes;
      continue;
    }
    runs += run.count;
    for (; lanes != 0; lanes &= lanes - 1) {
      int lane = __builtin_ctz(lanes);
      Run alone{lane, 1, false, access.addresses[lane]};
      region = FindRegion(access.space, alone.address, warp_thread + lane);
      if (!read_only && good(alone, region)) {
        one(alone, *region);
        done |= uint32_t{1} << lane;
      } else {
        ReportBad(access, lane, region);
        bad(lane);
      }
    }
  }
  *single = runs == 1;
  return done;
}

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

// Stacks of threads, which unoptimized kernels do little but read and write: nothing to watch but
// the bounds and what was written, and no other thread.
template <typename T, bool kIsLoad, typename Values>
uint32_t BlockMemory::AccessLocal(const Access& access, Values* values) {
  const auto bytes = static_cast<uint64_t>(access.site.bytes());
  const int elements = access.site.elements;
  const uint64_t limit = local_.bytes;
  uint64_t row = local_stride_ * kWarpSize * access.warp;  // of the lane, in all local memory
  auto* data = reinterpret_cast<uint8_t*>(local_data_.data());
  uint32_t good = 0;
  for (int lane = 0; lane < kWarpSize; ++lane, row += local_stride_) {
    if ((access.lanes >> lane & 1) == 0) continue;
    const uint64_t address = access.addresses[lane];
    if ((address & (bytes - 1)) != 0 || address >= limit || bytes > limit - address) {
      ReportBad(access, lane, &local_);
      if constexpr (kIsLoad) {
        for (int e = 0; e < elements; ++e) values[e * kWarpSize + lane] = T{};
      }
      continue;
    }
    good |= uint32_t{1} << lane;
    uint8_t* place = data + row + address;
    for (int e = 0; e < elements; ++e) {
      if constexpr (kIsLoad) {
        memcpy(&values[e * kWarpSize + lane], place + e * sizeof(T), sizeof(T));
      } else {
        memcpy(place + e * sizeof(T), &values[e * kWarpSize + lane], sizeof(T));
      }
    }
    if (local_.written == nullptr) continue;
    if constexpr (kIsLoad) {
      if (local_written_.AllSet(row + address, bytes)) continue;
      if (access.site.unused) continue;
      local_.written_begin = row;
      CheckWritten(access, {lane, 1, false, address}, local_);
    } else {
      local_written_.SetAlone(row + address, bytes);
    }
  }
  return good;
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
      if (region.touched == nullptr) {
        memcpy(to, from, extent);
      } else {
        CopyFromDevice(to, from, extent);
      }
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
  if (region.copied != nullptr && copies_.any()) {
    CheckCopiesOfLoad(region, offset, extent, RaceRunOf(access, run));
  }
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
  const int shift = __builtin_ctzll(bytes);
  // Calls piece(byte of the run, value in the registers) for the elements of bytes [first, last).
  auto for_elements = [&](uint64_t first, uint64_t last, auto zero, auto piece) {
    using T = decltype(zero);
    const T* from = static_cast<const T*>(values) + run.lane;
    for (uint64_t at = first; at < last; at += sizeof(T)) {
      piece(at, from[(at & (bytes - 1)) / sizeof(T) * kWarpSize + (at >> shift)]);
    }
  };
  auto store = [&](uint64_t first, uint64_t count) {
    if (site.elements == 1 && !strong) {
      const auto* from = static_cast<const uint8_t*>(values) + run.lane * bytes;
      if (region.touched == nullptr) {
        memcpy(to + first, from + first, count);
      } else {
        CopyToDevice(to + first, from + first, count);
      }
      return;
    }
    ForElementType(site.element_bytes, [&](auto zero) {
      using T = decltype(zero);
      // Lanes are aligned, so a piece has whole ones.
      const T* from = static_cast<const T*>(values) + run.lane;
      for (uint64_t i = first >> shift; i < (first + count) >> shift; ++i) {
        for (int e = 0; e < site.elements; ++e) {
          StoreDevice(to + i * bytes + e * sizeof(T), from[e * kWarpSize + i], strong);
        }
      }
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
    if (region.copied != nullptr && copies_.any()) {
      CheckCopiesOfStore(region, offset, extent, RaceRunOf(access, run), same);
    }
    races_.Stores(*region.shadow, offset, extent, RaceRunOf(access, run), store, same);
    if (site.asynchronous && region.copied != nullptr) BeginSmall(access, run, region);
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
    if (access.space == Space::kLocal) {
      ForElementType(site.element_bytes, [&](auto zero) {
        using T = decltype(zero);
        CountLoad(access, AccessLocal<T, true>(access, static_cast<T*>(values)), false);
      });
      return;
    }
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
    if (access.space == Space::kLocal) {
      ForElementType(site.element_bytes, [&](auto zero) {
        using T = decltype(zero);
        CountStore(access, AccessLocal<T, false>(access, static_cast<const T*>(values)), false);
      });
      return;
    }
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
  if (region.copied != nullptr && copies_.any()) {
    CheckCopiesOfStore(region, offset, extent, RaceRunOf(access, run),
                       [](uint64_t, uint64_t) { return false; });
  }
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

}  // namespace stax::emulator
