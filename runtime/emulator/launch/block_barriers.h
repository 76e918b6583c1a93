// The barriers of one block, bar and barrier: who has come, who waits, and whom it lets go.
#ifndef STAX_RUNTIME_EMULATOR_LAUNCH_BLOCK_BARRIERS_H_
#define STAX_RUNTIME_EMULATOR_LAUNCH_BLOCK_BARRIERS_H_

#include <cstdint>
#include <map>
#include <vector>

#include "runtime/emulator/launch/warp_scheduler.h"
#include "runtime/emulator/memory/block_memory.h"
#include "runtime/emulator/memory/fault.h"
#include "runtime/emulator/translate/translate.h"

namespace stax::emulator {

class BlockBarriers {
 public:
  // All outlive the barriers. `warps`: of the block.
  BlockBarriers(const TranslatedKernel* kernel, FaultSink* faults,
                std::vector<WarpScheduler>* warps)
      : kernel_(*kernel), faults_(*faults), warps_(*warps) {}

  // A block of so many threads begins.
  void Start(BlockMemory* memory, int64_t threads);
  // The warp is at a barrier (WarpEvent::kBarrier).
  void Arrive(int warp);
  // Threads have ended: nobody waits for them any more.
  void Check();
  // Reports those that wait: nobody will come.
  void ReportBlocked() const;

  // Threads that have not ended.
  int64_t LiveThreads() const;

 private:
  struct Barrier {
    uint32_t expected = 0;     // threads; 0: all of the block
    uint32_t count = 0;        // the same, with the block's number for all
    uint32_t only_arrive = 0;  // lanes that do not wait, of any warp
    // By warp.
    std::vector<uint32_t> arrived;
    std::vector<uint32_t> waiting;     // of those, the lanes that wait
    std::vector<uint32_t> elsewhere;   // lanes that came to other barriers meanwhile
    std::vector<int> instruction;      // where they arrived; -1: none
    std::vector<uint32_t> differ;      // lanes that arrived at another instruction
    std::vector<uint32_t> predicates;  // bar.red

    explicit Barrier(size_t warps)
        : arrived(warps, 0),
          waiting(warps, 0),
          elsewhere(warps, 0),
          instruction(warps, -1),
          differ(warps, 0),
          predicates(warps, 0) {}
  };

  // A lane's number of threads; 0: all of the block. Of numbers that PTX does not allow the next
  // one that it does.
  uint32_t CheckedCount(int warp, int lane);
  void CheckIds(int warp);
  void CheckCounts(Barrier& barrier, uint32_t id, int warp, int lane, uint32_t count);
  void Complete(uint32_t id, const Barrier& barrier);
  void ReportDivergence(const Barrier& barrier, int warp, int64_t exited);
  int64_t Arrived(const Barrier& barrier) const;
  int64_t Expected(const Barrier& barrier) const;
  // Threads that all warps count as, full or not.
  uint32_t Capacity() const { return static_cast<uint32_t>(warps_.size()) * kWarpLanes; }
  const ptx::Instruction& At(int instruction) const {
    return kernel_.flat.instructions[static_cast<size_t>(instruction)];
  }
  template <typename Message>
  void Report(FaultKind kind, int instruction, int warp, int lane, Message message) const {
    faults_.Add(kind, instruction, memory_->block(),
                static_cast<uint32_t>(warp * kWarpLanes + lane), 0, message);
  }

  const TranslatedKernel& kernel_;
  FaultSink& faults_;
  std::vector<WarpScheduler>& warps_;
  BlockMemory* memory_ = nullptr;
  int64_t threads_ = 0;
  std::map<uint32_t, Barrier> barriers_;  // by their numbers
};

}  // namespace stax::emulator

#endif  // STAX_RUNTIME_EMULATOR_LAUNCH_BLOCK_BARRIERS_H_
