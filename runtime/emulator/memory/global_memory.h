// The memory of an emulated device: host memory, of which it is known where each allocation lies
// and which bytes somebody has written.
//
//   GlobalMemory memory;
//   ASSIGN_OR_RETURN(void* x, memory.Allocate(4096));
//   memcpy(x, host, 4096);
//   memory.MarkWritten(x, 4096);
#ifndef STAX_RUNTIME_EMULATOR_MEMORY_GLOBAL_MEMORY_H_
#define STAX_RUNTIME_EMULATOR_MEMORY_GLOBAL_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "runtime/emulator/memory/atomic_bits.h"
#include "runtime/emulator/memory/shadow.h"

namespace stax::emulator {

struct Unmapper {
  size_t bytes = 0;
  void operator()(void* pages) const;
};
using MappedPages = std::unique_ptr<void, Unmapper>;

struct Allocation {
  explicit Allocation(uint64_t size) : bytes(size), written(size), shadow(size) {}

  uint64_t begin = 0;  // the host's address, and the device's
  uint64_t bytes = 0;
  AtomicBits written;  // a bit a byte
  ShadowTable shadow;

  uint8_t* data() const { return reinterpret_cast<uint8_t*>(begin); }

 private:
  friend class GlobalMemory;
  MappedPages block_;
};

// The allocations at some time, in the order of their addresses.
using AllocationList = std::vector<std::shared_ptr<Allocation>>;

// Thread-safe.
class GlobalMemory {
 public:
  // Aligned to 256 bytes; at least 256 bytes before and after belong to no allocation. The contents
  // are zero, so that even a kernel that reads what nobody wrote does the same in every run. The
  // same allocations in the same order have the same addresses in every process, unless others
  // of the process lie there. ResourceExhausted names the size.
  absl::StatusOr<void*> Allocate(size_t bytes) ABSL_LOCKS_EXCLUDED(mutex_);
  // A launch that runs still has the memory.
  void Free(void* memory) ABSL_LOCKS_EXCLUDED(mutex_);

  // After a copy from the host: reading these bytes is not a fault.
  void MarkWritten(const void* memory, size_t bytes) const ABSL_LOCKS_EXCLUDED(mutex_);
  // After a copy within the device: bytes of `to` become what those of `from` are.
  void CopyWritten(const void* to, const void* from, size_t bytes) const
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Whether the bytes lie in one allocation.
  bool Contains(const void* memory, size_t bytes) const ABSL_LOCKS_EXCLUDED(mutex_);

  // Not changed afterwards: what is allocated later is not in it.
  std::shared_ptr<const AllocationList> Allocations() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  MappedPages Map(size_t bytes) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable absl::Mutex mutex_;
  std::shared_ptr<const AllocationList> allocations_ ABSL_GUARDED_BY(mutex_) =
      std::make_shared<AllocationList>();
};

// Position of the last allocation that begins at or before the address; -1: none.
int64_t FindAllocation(const AllocationList& allocations, uint64_t address);

}  // namespace stax::emulator

#endif  // STAX_RUNTIME_EMULATOR_MEMORY_GLOBAL_MEMORY_H_
