// What a launch would cost on the emulated chip: a model over the emulator's counters, so that the
// same launch has the same cost always. docs/emulator.md has it with its reasons and limits.
#ifndef STAX_PROFILER_TIMING_EMULATED_COST_H_
#define STAX_PROFILER_TIMING_EMULATED_COST_H_

#include <cstdint>

#include "runtime/device.h"
#include "runtime/emulator/emulator_device.h"

namespace stax {

// Each term is the time that one resource is busy. They overlap perfectly: the cost is the largest
// one after the launch. Each grows, or stays, with each counter it is made of.
struct EmulatedCost {
  double launch_ns = 0;
  double dram_ns = 0;     // distinct sectors once, and again the share that L2 cannot keep
  double l2_ns = 0;       // all sectors, on the SM with the most blocks
  double l1_ns = 0;       // wavefronts of shared memory and lines of global memory there
  double issue_ns = 0;    // warp instructions there
  double tensor_ns = 0;   // operations of mma there
  double latency_ns = 0;  // waits for loads that resident warps do not overlap
  double total_ns = 0;

  // "DRAM", "L2", "L1", "issue", "tensor" or "latency": the largest, the first of equals.
  const char* largest() const;
};

EmulatedCost CostOf(const EmulatedLaunch& launch, const DeviceInfo& chip);

// Blocks that one SM holds at a time, at least 1.
int64_t ResidentBlocks(const EmulatedLaunch& launch);

}  // namespace stax

#endif  // STAX_PROFILER_TIMING_EMULATED_COST_H_
