// Runs the blocks of one cluster (without clusters: one block) on one thread of the host.
//
// Warps run in turn, each until all its lanes wait. Barriers are counted here.
#ifndef STAX_RUNTIME_EMULATOR_LAUNCH_CLUSTER_RUNNER_H_
#define STAX_RUNTIME_EMULATOR_LAUNCH_CLUSTER_RUNNER_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "runtime/emulator/launch/warp_scheduler.h"
#include "runtime/emulator/memory/block_memory.h"
#include "runtime/emulator/memory/launch_memory.h"
#include "runtime/emulator/translate/translate.h"

namespace stax::emulator {

// What all blocks of a launch share.
struct LaunchState {
  const TranslatedKernel* kernel = nullptr;
  RunFunction run = nullptr;
  LaunchMemory* memory = nullptr;
  Dim3 cluster;
  bool explicit_cluster = false;
  uint64_t dynamic_shared_bytes = 0;
  // Moves on when a block ends or a thread changes memory: nothing that spins can see anything new
  // while it stands.
  std::atomic<uint64_t> progress = 0;
  std::atomic<bool> trapped = false;
};

class ClusterRunner {
 public:
  enum class Outcome : uint8_t {
    kDone,
    kSpinning,  // all that can run has gone round loops for long
    kStuck,     // as before, and as the last time: only other blocks can change anything
  };

  // `counts`: of the translated code, of the thread that runs this.
  ClusterRunner(LaunchState* launch, uint64_t* counts);
  ~ClusterRunner();

  // The cluster with this number begins.
  void Start(uint64_t cluster);
  Outcome Run();
  // Reports that it will never end, and ends it.
  void GiveUp();
  void AddCounters() { memory_.AddCounters(); }

  // For the functions that translated code calls.
  struct Block;
  static BlockMemory& MemoryOf(const WarpContext& warp);
  static void CountWrite(const WarpContext& warp);
  static FaultSink& FaultsOf(const WarpContext& warp);

 private:
  struct Barrier;

  void StartBlock(Block& block, uint64_t number, Dim3 position);
  void Arrive(Block& block, int warp);
  void ArriveAtCluster(Block& block, int warp, const ptx::Instruction& instruction);
  void CheckBarriers(Block& block);
  void Complete(Block& block, uint32_t id, const Barrier& barrier) const;
  void CheckCluster();
  void ReportBlocked();
  void Trap(Block& block, int warp);
  static int64_t LiveThreads(const Block& block);
  bool Done() const;

  LaunchState& launch_;
  uint64_t* counts_;
  ClusterMemory memory_;
  int warps_;  // of a block
  std::vector<std::unique_ptr<Block>> blocks_;
  uint64_t cluster_completed_ = 0;  // phases of the cluster's barrier
  uint64_t last_progress_ = 0;
};

}  // namespace stax::emulator

#endif  // STAX_RUNTIME_EMULATOR_LAUNCH_CLUSTER_RUNNER_H_
