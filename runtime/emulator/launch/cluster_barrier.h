// The barrier of a cluster, barrier.cluster.arrive and wait.
#ifndef STAX_RUNTIME_EMULATOR_LAUNCH_CLUSTER_BARRIER_H_
#define STAX_RUNTIME_EMULATOR_LAUNCH_CLUSTER_BARRIER_H_

#include <cstdint>
#include <vector>

#include "runtime/emulator/launch/warp_scheduler.h"
#include "runtime/emulator/memory/block_memory.h"
#include "runtime/emulator/memory/fault.h"

namespace stax::emulator {

class ClusterBarrier {
 public:
  explicit ClusterBarrier(FaultSink* faults) : faults_(*faults) {}

  // The next block, by rank. Both outlive the barrier.
  void AddBlock(BlockMemory* memory, std::vector<WarpScheduler>* warps);
  // The cluster begins: nobody has come.
  void Start();
  // The warp of the block with this rank is at the barrier. Arriving does not wait; waiting is for
  // the phase in which the thread arrived last.
  void Arrive(int rank, int warp, bool waits);
  // Threads have ended: nobody waits for them any more.
  void Check();

 private:
  struct Block {
    BlockMemory* memory;
    std::vector<WarpScheduler>* warps;
    // By thread.
    std::vector<uint32_t> arrivals;  // how often it arrived
    std::vector<bool> arrived;       // ... since it waited last
    std::vector<bool> waits;
  };

  void Release(Block& block, int warp) const;

  FaultSink& faults_;
  std::vector<Block> blocks_;
  uint64_t completed_ = 0;  // phases
  bool is_new_ = true;      // nobody has come
};

}  // namespace stax::emulator

#endif  // STAX_RUNTIME_EMULATOR_LAUNCH_CLUSTER_BARRIER_H_
