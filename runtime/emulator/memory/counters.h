// What the hardware counts of memory accesses: one of these a memory instruction, and their sum.
// docs/emulator.md says how they compare with a GPU's.
#ifndef STAX_RUNTIME_EMULATOR_MEMORY_COUNTERS_H_
#define STAX_RUNTIME_EMULATOR_MEMORY_COUNTERS_H_

#include <cstdint>

namespace stax::emulator {

// STAX_COUNTER(name). Requests are warp instructions with at least one active lane, sectors have 32
// bytes, transactions 128, bytes are what the lanes asked for, atomics are counted by lane. A lane
// whose access is a fault adds nothing but to the request.
#define STAX_EMULATOR_MEMORY_COUNTERS(STAX_COUNTER) \
  STAX_COUNTER(global_load_requests)                \
  STAX_COUNTER(global_load_sectors)                 \
  STAX_COUNTER(global_load_transactions)            \
  STAX_COUNTER(global_load_bytes)                   \
  STAX_COUNTER(global_store_requests)               \
  STAX_COUNTER(global_store_sectors)                \
  STAX_COUNTER(global_store_transactions)           \
  STAX_COUNTER(global_store_bytes)                  \
  STAX_COUNTER(global_atomic_requests)              \
  STAX_COUNTER(global_atomic_sectors)               \
  STAX_COUNTER(global_atomics)                      \
  STAX_COUNTER(shared_load_requests)                \
  STAX_COUNTER(shared_load_wavefronts)              \
  STAX_COUNTER(shared_load_bank_conflicts)          \
  STAX_COUNTER(shared_load_bytes)                   \
  STAX_COUNTER(shared_store_requests)               \
  STAX_COUNTER(shared_store_wavefronts)             \
  STAX_COUNTER(shared_store_bank_conflicts)         \
  STAX_COUNTER(shared_store_bytes)                  \
  STAX_COUNTER(shared_atomic_requests)              \
  STAX_COUNTER(shared_atomics)                      \
  STAX_COUNTER(local_load_requests)                 \
  STAX_COUNTER(local_load_bytes)                    \
  STAX_COUNTER(local_store_requests)                \
  STAX_COUNTER(local_store_bytes)

struct MemoryCounters {
#define STAX_COUNTER(name) int64_t name = 0;
  STAX_EMULATOR_MEMORY_COUNTERS(STAX_COUNTER)
#undef STAX_COUNTER

  MemoryCounters& operator+=(const MemoryCounters& other) {
#define STAX_COUNTER(name) name += other.name;
    STAX_EMULATOR_MEMORY_COUNTERS(STAX_COUNTER)
#undef STAX_COUNTER
    return *this;
  }
  bool operator==(const MemoryCounters& other) const {
    bool same = true;
#define STAX_COUNTER(name) same &= name == other.name;
    STAX_EMULATOR_MEMORY_COUNTERS(STAX_COUNTER)
#undef STAX_COUNTER
    return same;
  }
};

// Distinct sectors of global memory that a launch read, wrote (atomics do both), or either.
struct TouchedSectors {
  int64_t read = 0;
  int64_t written = 0;
  int64_t either = 0;
};

}  // namespace stax::emulator

#endif  // STAX_RUNTIME_EMULATOR_MEMORY_COUNTERS_H_
