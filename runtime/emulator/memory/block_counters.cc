// What BlockMemory counts of accesses.
#include <cstdint>

#include "runtime/emulator/memory/block_memory.h"
#include "runtime/emulator/memory/coalescing.h"

namespace stax::emulator {
namespace {

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
