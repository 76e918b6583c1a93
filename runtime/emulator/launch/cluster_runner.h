// Runs the blocks of one cluster (without clusters: one block) on one thread of the host.
//
// Warps run in turn, each until all its lanes wait.
#ifndef STAX_RUNTIME_EMULATOR_LAUNCH_CLUSTER_RUNNER_H_
#define STAX_RUNTIME_EMULATOR_LAUNCH_CLUSTER_RUNNER_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "runtime/emulator/launch/block_barriers.h"
#include "runtime/emulator/launch/cluster_barrier.h"
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
  uint64_t grid_workspace = 0;  // its address, of a cooperative launch
  // Moves on when a block ends or a thread changes memory: nothing that spins can see anything new
  // while it stands.
  std::atomic<uint64_t> progress = 0;
  // No block goes on: a thread ran into trap, or max_steps are over.
  std::atomic<bool> stopped = false;

  // Steps: an instruction run by a thread is one. The launch ends at about max_steps; 0: never.
  uint64_t max_steps = 0;
  std::vector<uint64_t> steps_of;  // by counter of the translated code: instructions that it counts
  std::atomic<uint64_t> steps = 0;

  absl::Mutex mutex;
  std::string trap ABSL_GUARDED_BY(mutex);  // where the first thread ran into trap
  // When max_steps were over: where a thread still ran, mostly in a loop, of the first such block.
  std::string where ABSL_GUARDED_BY(mutex);
  uint32_t where_block ABSL_GUARDED_BY(mutex) = 0;
};

class ClusterRunner {
 public:
  enum class Outcome : uint8_t {
    kDone,
    kSpinning,  // all that can run has gone round loops for long
    kStuck,     // as before, and as the last time: only other blocks can change anything
  };

  // `counts`: of the translated code, of the thread of the host that runs this, and a word for the
  // steps.
  ClusterRunner(LaunchState* launch, uint64_t* counts);
  ~ClusterRunner();

  // The cluster with this number begins.
  void Start(uint64_t cluster);
  Outcome Run();
  // Reports that it will never end, and ends it.
  void GiveUp(const std::string& why);
  // Stops the launch when it has made more than its steps. Run() does now and then.
  void CountSteps();
  // Notes where a thread is that still runs.
  void TellWhere();
  void AddCounters() { memory_.AddCounters(); }

  // For the functions that translated code calls.
  struct Block;
  static BlockMemory& MemoryOf(const WarpContext& warp);
  static void CountWrite(const WarpContext& warp);
  static FaultSink& FaultsOf(const WarpContext& warp);

 private:
  void StartBlock(Block& block, Dim3 position);
  void Arrive(Block& block, int warp);
  void ReportBlocked();
  void Trap(const Block& block, int warp);
  std::string Place(const Block& block, int warp, int lane, int instruction) const;
  bool Done() const;
  LaunchState& launch_;
  uint64_t* counts_;
  ClusterMemory memory_;
  int warps_;  // of a block
  std::vector<std::unique_ptr<Block>> blocks_;
  ClusterBarrier barrier_;
  uint64_t last_progress_ = 0;
  bool stuck_ = false;
  uint64_t rounds_ = 0;
  uint64_t uncounted_steps_ = 0;  // a block is a step for each of its warps, too
};

}  // namespace stax::emulator

#endif  // STAX_RUNTIME_EMULATOR_LAUNCH_CLUSTER_RUNNER_H_
