// Runs one grid of a kernel on the CPU: blocks spread over the cores.
#ifndef STAX_RUNTIME_EMULATOR_LAUNCH_LAUNCH_H_
#define STAX_RUNTIME_EMULATOR_LAUNCH_LAUNCH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/emulator/launch/emulator_module.h"
#include "runtime/emulator/memory/counters.h"
#include "runtime/emulator/memory/fault.h"
#include "runtime/emulator/memory/global_memory.h"

namespace stax::emulator {

// Hours: for loops that never end.
inline constexpr uint64_t kDefaultMaxSteps = uint64_t{1} << 40;

struct LaunchRequest {
  Dim3 grid;
  Dim3 block;
  uint64_t dynamic_shared_bytes = 0;
  std::vector<uint8_t> parameters;  // as the kernel's .param memory
  bool check_memory = true;
  bool check_races = true;
  // Of the host; 0: all cores, or one where the blocks' order matters (block_order.h).
  int threads = 0;
  // All blocks are on the device at the same time, and %envreg1 and %envreg2 have the address of a
  // workspace for barriers over the grid (cooperative_groups: grid.sync()).
  bool cooperative = false;
  // The launch ends with an error at about so many instructions x threads; 0: it runs on.
  uint64_t max_steps = kDefaultMaxSteps;
};

// How often an instruction ran.
struct InstructionCount {
  uint64_t warps = 0;  // with at least one active lane
  uint64_t lanes = 0;
};

struct LaunchResult {
  // OK: all threads have ended. Aborted: one ran into `trap`; ResourceExhausted: max_steps are
  // over. What was found and counted until then is below.
  absl::Status ended;
  int threads = 1;  // of the host that ran it; what one alone found is found in every run
  std::vector<Fault> faults;
  int64_t fault_count = 0;                 // all, also those that are left out of `faults`
  std::vector<InstructionCount> executed;  // by instruction of the flat kernel
  std::vector<MemoryCounters> memory;      // by instruction
  MemoryCounters memory_total;
  TouchedSectors touched;
};

// InvalidArgument when the parameters' size is wrong or the grid is empty, ResourceExhausted when
// the host has not the memory. A launch that the device would refuse is a fault of kind
// resource_limit.
absl::StatusOr<LaunchResult> Launch(const EmulatorModule& module, const CompiledKernel& kernel,
                                    const LaunchRequest& request, GlobalMemory* memory);

}  // namespace stax::emulator

#endif  // STAX_RUNTIME_EMULATOR_LAUNCH_LAUNCH_H_
