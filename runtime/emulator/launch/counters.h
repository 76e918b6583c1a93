// The counters of a launch by the names that reports use.
#ifndef STAX_RUNTIME_EMULATOR_LAUNCH_COUNTERS_H_
#define STAX_RUNTIME_EMULATOR_LAUNCH_COUNTERS_H_

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "runtime/emulator/launch/instruction_class.h"
#include "runtime/emulator/launch/launch.h"
#include "runtime/emulator/memory/counters.h"
#include "runtime/emulator/ptx/module.h"
#include "runtime/emulator/translate/translate.h"

namespace stax::emulator {

// Floating operations of one execution by one lane: an addition or multiplication is 1, a fused
// multiply-add 2, packed types count each half. `tensor`: of one execution by a warp.
struct Flops {
  int f16 = 0;  // f16 and bf16
  int f32 = 0;
  int f64 = 0;
  int64_t tensor = 0;
};
Flops FlopsOf(const ptx::Instruction& instruction);

// What the instructions of one name in one line of the PTX did, as a rule one; however often their
// function was written out.
struct InstructionCounters {
  ptx::Instruction instruction;
  int64_t warps = 0;  // that executed it
  int64_t threads = 0;
  MemoryCounters memory;
};
// By line, without those that never ran.
std::vector<InstructionCounters> CountersByInstruction(const TranslatedKernel& kernel,
                                                       const LaunchResult& result);

// By the names of MemoryCounters' members.
std::vector<std::pair<std::string, int64_t>> NamedMemoryCounters(const MemoryCounters& counters);

// Of a whole launch.
struct LaunchTotals {
  MemoryCounters memory;
  TouchedSectors touched;
  int64_t warp_instructions = 0;
  int64_t thread_instructions = 0;
  std::array<int64_t, kInstructionClasses> class_instructions = {};  // of warps
  int64_t barriers = 0;  // of blocks and clusters, by warps that came there
  int64_t flops_f16 = 0;
  int64_t flops_f32 = 0;
  int64_t flops_f64 = 0;
  int64_t flops_tensor = 0;
  int64_t load_waits = 0;  // by warp, see load_waits.h
};
LaunchTotals TotalsOf(const TranslatedKernel& kernel, const LaunchResult& result);

// In the order in which they are printed. "instructions" are those that warps executed.
std::vector<std::pair<std::string, int64_t>> NamedCounters(const TranslatedKernel& kernel,
                                                           const LaunchResult& result);

}  // namespace stax::emulator

#endif  // STAX_RUNTIME_EMULATOR_LAUNCH_COUNTERS_H_
