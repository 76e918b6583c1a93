// What stax-emu prints about a launch.
#ifndef STAX_TOOLS_EMU_EMU_REPORT_H_
#define STAX_TOOLS_EMU_EMU_REPORT_H_

#include <string>

#include "runtime/emulator/launch/emulator_module.h"
#include "runtime/emulator/launch/launch.h"

namespace stax {

struct EmuReportOptions {
  bool counters = false;      // JSON has them always
  bool instructions = false;  // counters by instruction
};

// {"faults": [...], "fault_count": N, "counters": {...}}, with "instructions": [...] and, for a
// launch that did not end by itself, "error": "..."
std::string EmuJson(const emulator::EmulatorModule& module, const emulator::CompiledKernel& kernel,
                    const emulator::LaunchResult& result, const EmuReportOptions& options);

// Lines for people: the faults, and the counters that are asked for.
std::string EmuText(const emulator::EmulatorModule& module, const emulator::CompiledKernel& kernel,
                    const emulator::LaunchResult& result, const EmuReportOptions& options);

}  // namespace stax

#endif  // STAX_TOOLS_EMU_EMU_REPORT_H_
