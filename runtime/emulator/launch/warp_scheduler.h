// One warp: which of its lanes run next, and which wait for which.
//
// Lanes that are at the same block of code form a group. Of several groups that can run the one
// whose block comes first in the order of the control flow does, so that lanes meet again where
// their paths join. A group that goes round a loop for long gives way to the others: a lane may
// wait for what another lane of its warp does.
#ifndef STAX_RUNTIME_EMULATOR_LAUNCH_WARP_SCHEDULER_H_
#define STAX_RUNTIME_EMULATOR_LAUNCH_WARP_SCHEDULER_H_

#include <cstdint>
#include <vector>

#include "runtime/emulator/translate/translate.h"
#include "runtime/emulator/translate/warp_context.h"

namespace stax::emulator {

// What a warp came to.
enum class WarpEvent : uint8_t {
  kBlocked,  // no group can run: all lanes wait or have exited
  kBarrier,  // a group is at a barrier: see barrier_*
  kYield,    // every group that can run has been going round a loop
  kTrap,
};

class WarpScheduler {
 public:
  // `registers`: of at least kernel.register_bytes, aligned to 64. Both outlive the scheduler.
  WarpScheduler(const TranslatedKernel* kernel, RunFunction run, void* registers)
      : kernel_(kernel), run_(run), registers_(static_cast<uint8_t*>(registers)) {}

  WarpContext& context() { return context_; }

  // All lanes of `lanes` at the beginning of the kernel.
  void Start(uint32_t lanes);
  // Runs until something happens that concerns the block.
  WarpEvent Run();

  // After kBarrier and kTrap: these lanes are at this instruction.
  uint32_t barrier_lanes() const { return context_.taken & arrived_; }
  int barrier_instruction() const { return static_cast<int>(context_.barrier_instruction); }
  // Lanes that wait at a barrier go on.
  void Release(uint32_t lanes);
  // What a bar.red gives to lanes.
  void SetBarrierResult(int instruction, uint32_t lanes, uint32_t value);

  uint32_t live() const { return context_.live; }
  uint32_t at_barrier() const;
  // Lanes that wait for other lanes of the warp, and the instruction at which the first of them
  // does.
  uint32_t waiting() const;
  int waiting_instruction() const;
  // The first group that can run, and its next instruction: the beginning of a loop's block, at a
  // yield. -1: none.
  struct Spot {
    int instruction = -1;
    uint32_t lanes = 0;
  };
  Spot Spinning() const;
  // No lane runs any more.
  void Kill();

  // Changes when registers or the clock do; of two equal ones at yields nothing has happened in
  // between.
  uint64_t Fingerprint() const;

 private:
  enum class State : uint8_t { kReady, kComplete, kYielded, kWaiting, kAtBarrier };
  struct Group {
    uint32_t block = 0;
    uint32_t lanes = 0;
    State state = State::kReady;
    uint32_t members[kWarpLanes] = {};  // kWaiting: the lanes each waits for
    uint32_t met = 0;  // kComplete: those that have met, where some of them are in other places
    bool is_first = false;  // of these places
  };

  // The group that runs next, taken out; false: none can.
  bool Take(Group& group);
  void Add(uint32_t block, uint32_t lanes, State state);
  void Wait(const Group& group, uint32_t block);
  // Makes ready the waiting lanes whose companions are all there.
  void CheckWaiting();
  // Whether lanes that wait at these blocks may wait for each other.
  bool MayMeet(uint32_t block, uint32_t other) const;
  // Of a group that waits: the lanes that wait for these.
  uint32_t WaitFor(const Group& group, uint32_t members) const;

  const TranslatedKernel* kernel_;
  RunFunction run_;
  uint8_t* registers_;
  WarpContext context_;
  std::vector<Group> groups_;
  uint32_t arrived_ = 0;
};

}  // namespace stax::emulator

#endif  // STAX_RUNTIME_EMULATOR_LAUNCH_WARP_SCHEDULER_H_
