// What stax-emu prints about a launch.
#ifndef STAX_TOOLS_EMU_EMU_REPORT_H_
#define STAX_TOOLS_EMU_EMU_REPORT_H_

#include <string>

#include "runtime/emulator/launch/emulator_module.h"
#include "runtime/emulator/launch/launch.h"

namespace stax {

// {"faults": [...], "fault_count": N, "counters": {...}}
std::string EmuJson(const emulator::EmulatorModule& module, const emulator::CompiledKernel& kernel,
                    const emulator::LaunchResult& result);

// Lines for people: the faults, and with `counters` those.
std::string EmuText(const emulator::EmulatorModule& module, const emulator::CompiledKernel& kernel,
                    const emulator::LaunchResult& result, bool counters);

}  // namespace stax

#endif  // STAX_TOOLS_EMU_EMU_REPORT_H_
