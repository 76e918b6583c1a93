// The source line of an instruction, from .loc and .file.
#ifndef STAX_RUNTIME_EMULATOR_PTX_SOURCE_LINE_H_
#define STAX_RUNTIME_EMULATOR_PTX_SOURCE_LINE_H_

#include <string>

#include "runtime/emulator/ptx/module.h"

namespace stax::ptx {

// "kernel.cu"; "file 3" when it has no name; empty when the instruction has no source line.
std::string SourceFile(const Module& module, const Instruction& instruction);
// "kernel.cu:12"; empty when the instruction has no source line.
std::string SourceLine(const Module& module, const Instruction& instruction);

}  // namespace stax::ptx

#endif  // STAX_RUNTIME_EMULATOR_PTX_SOURCE_LINE_H_
