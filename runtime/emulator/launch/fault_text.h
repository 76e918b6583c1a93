// A fault in words.
#ifndef STAX_RUNTIME_EMULATOR_LAUNCH_FAULT_TEXT_H_
#define STAX_RUNTIME_EMULATOR_LAUNCH_FAULT_TEXT_H_

#include <string>

#include "runtime/emulator/launch/emulator_module.h"
#include "runtime/emulator/memory/fault.h"
#include "runtime/emulator/ptx/module.h"

namespace stax::emulator {

// Where the fault is; null: at none.
const ptx::Instruction* InstructionOf(const CompiledKernel& kernel, const Fault& fault);

// The fault's message, and of a race the line of the other access.
std::string FaultMessage(const CompiledKernel& kernel, const Fault& fault);

// Kernel, kind, place and message: "k: out_of_bounds at line 12 of its PTX (ld.global.f32)
// [k.cu:7], block (0,0,0), thread (5,0,0): ...".
std::string FaultText(const EmulatorModule& module, const CompiledKernel& kernel,
                      const Fault& fault);

}  // namespace stax::emulator

#endif  // STAX_RUNTIME_EMULATOR_LAUNCH_FAULT_TEXT_H_
