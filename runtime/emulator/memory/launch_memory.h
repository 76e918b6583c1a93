// What all blocks of a launch share: allocations, constants and parameters, sums of counters.
#ifndef STAX_RUNTIME_EMULATOR_MEMORY_LAUNCH_MEMORY_H_
#define STAX_RUNTIME_EMULATOR_MEMORY_LAUNCH_MEMORY_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "runtime/emulator/memory/access.h"
#include "runtime/emulator/memory/atomic_bits.h"
#include "runtime/emulator/memory/counters.h"
#include "runtime/emulator/memory/fault.h"
#include "runtime/emulator/memory/global_memory.h"
#include "runtime/emulator/memory/release.h"

namespace stax::emulator {

struct LaunchOptions {
  Dim3 grid;
  Dim3 block;  // at most 1024 threads
  int cluster_blocks = 1;
  int instructions = 0;       // of the kernel: AccessSite::instruction is less
  uint64_t shared_bytes = 0;  // of a block, static and dynamic
  uint64_t local_bytes = 0;   // of a thread
  // Must outlive the launch. All of it counts as written.
  const void* constants = nullptr;
  uint64_t constant_bytes = 0;
  const void* parameters = nullptr;
  uint64_t parameter_bytes = 0;
  // Reports out_of_bounds, misaligned and uninitialized. Without, an access out of bounds or not
  // aligned is left out all the same (a load reads 0), since it would end the emulator.
  bool check_memory = true;
  bool check_races = true;  // shared_race and global_race
};

// One launch at a time works on a GlobalMemory. What is allocated after the constructor is not
// seen.
class LaunchMemory {
 public:
  // Sectors of one allocation that the launch touched.
  struct Touched {
    AtomicBits read;
    AtomicBits written;
  };

  LaunchMemory(GlobalMemory* memory, const LaunchOptions& options, FaultSink* faults);

  const LaunchOptions& options() const { return options_; }
  FaultSink& faults() const { return *faults_; }
  const AllocationList& allocations() const { return *allocations_; }
  Touched& touched(int64_t allocation) { return touched_[allocation]; }
  ReleaseTable& releases() { return releases_; }
  // Of strong accesses, by instruction: those of a narrow scope, once one was done.
  std::vector<std::atomic<Scope>>& scopes() { return scopes_; }
  uint64_t launch() const { return launch_; }
  absl::Mutex& wide_atomics() { return wide_atomics_; }  // held for atomics of 16 bytes

  // By instruction; from any thread.
  void AddCounters(const std::vector<MemoryCounters>& counters) ABSL_LOCKS_EXCLUDED(mutex_);

  // When no block runs any more.
  std::vector<MemoryCounters> counters() const ABSL_LOCKS_EXCLUDED(mutex_);
  MemoryCounters total() const ABSL_LOCKS_EXCLUDED(mutex_);
  TouchedSectors touched_sectors() const;

 private:
  LaunchOptions options_;
  FaultSink* faults_;
  std::shared_ptr<const AllocationList> allocations_;
  uint64_t launch_;
  std::vector<Touched> touched_;  // by position in allocations_
  ReleaseTable releases_;
  std::vector<std::atomic<Scope>> scopes_;
  absl::Mutex wide_atomics_;
  mutable absl::Mutex mutex_;
  std::vector<MemoryCounters> counters_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace stax::emulator

#endif  // STAX_RUNTIME_EMULATOR_MEMORY_LAUNCH_MEMORY_H_
