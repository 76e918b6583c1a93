#include "runtime/emulator/launch/load_waits.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "runtime/emulator/ptx/module.h"
#include "runtime/emulator/translate/control_flow.h"

namespace stax::emulator {

int64_t LoadWaits(const TranslatedKernel& kernel, const LaunchResult& result) {
  const std::vector<ptx::Instruction>& instructions = kernel.flat.instructions;
  int64_t waits = 0;
  std::vector<bool> loading(kernel.flat.registers.size(), false);
  bool copying = false;
  std::vector<int> registers;
  for (size_t i = 0; i < result.executed.size(); ++i) {
    const ptx::Instruction& instruction = instructions[i];
    const auto ran = static_cast<int64_t>(result.executed[i].warps);
    const MemoryCounters& memory = result.memory[i];
    registers.clear();
    RegistersRead(instruction, registers);
    if (std::any_of(registers.begin(), registers.end(), [&](int r) { return loading[r]; })) {
      waits += ran;
      std::fill(loading.begin(), loading.end(), false);
    }
    const bool is_copy = instruction.opcode == "cp";
    if (is_copy && copying && (instruction.Has("wait_group") || instruction.Has("wait_all"))) {
      waits += ran;
      copying = false;
    }
    if (memory.global_load_requests + memory.global_atomic_requests == 0) continue;
    if (is_copy && instruction.Has("reduce")) continue;  // nothing comes back
    if (is_copy && instruction.Has("bulk")) {
      waits += ran;
    } else if (is_copy) {
      copying = true;
    } else {
      registers.clear();
      RegistersWritten(instruction, registers);
      for (int r : registers) loading[r] = true;
    }
  }
  return waits;
}

}  // namespace stax::emulator
