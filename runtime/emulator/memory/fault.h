// What the checkers find, and where it is gathered.
#ifndef STAX_RUNTIME_EMULATOR_MEMORY_FAULT_H_
#define STAX_RUNTIME_EMULATOR_MEMORY_FAULT_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/synchronization/mutex.h"
#include "runtime/emulator/memory/access.h"

namespace stax::emulator {

enum class FaultKind : uint8_t {
  kOutOfBounds,
  kMisaligned,
  kUninitialized,
  kSharedRace,
  kGlobalRace,
  kBarrierDivergence,
  kDeadlock,
  kInvalidShuffle,
  kResourceLimit,
  kUndefinedBehavior,
};

// "out_of_bounds", "misaligned" ...
const char* FaultKindName(FaultKind kind);

struct Fault {
  FaultKind kind = FaultKind::kOutOfBounds;
  int instruction = -1;        // index in the kernel; -1: none
  uint32_t block = 0;          // linear number in the grid
  uint32_t thread = 0;         // linear number in the block
  Dim3 block_position;         // set by the sink
  Dim3 thread_position;        // set by the sink
  uint64_t address = 0;        // as the instruction has it; 0: none
  int other_instruction = -1;  // of a race: the other access
  std::string message;         // names other instructions by index: "of instruction 7"
};

// Thread-safe. Keeps the same faults in every run, whatever the order in which blocks ran: for each
// kind and instruction the first few in the order of blocks and threads, one a thread.
//
// A race between blocks is told for both threads, for it depends on the run which of them came
// second. Even so a run may find some pairs of more than two accesses and another run others: only
// what is first in order is sure to be the same.
class FaultSink {
 public:
  FaultSink(Dim3 grid, Dim3 block, int kept = 4) : grid_(grid), block_(block), kept_(kept) {}

  // Counts the fault; calls `message` only if the fault is to be kept, since a kernel that is wrong
  // is often wrong in every thread.
  void Add(FaultKind kind, int instruction, uint32_t block, uint32_t thread, uint64_t address,
           absl::FunctionRef<std::string()> message, int other_instruction = -1)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // By kind, instruction, block, thread.
  std::vector<Fault> Faults() const ABSL_LOCKS_EXCLUDED(mutex_);
  // All that were told, kept or not.
  int64_t count() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  Dim3 grid_;
  Dim3 block_;
  size_t kept_;
  mutable absl::Mutex mutex_;
  int64_t count_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<std::pair<FaultKind, int>, std::vector<Fault>> faults_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace stax::emulator

#endif  // STAX_RUNTIME_EMULATOR_MEMORY_FAULT_H_
