#include "runtime/emulator/launch/fault_text.h"

#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "ir/printable.h"
#include "runtime/emulator/ptx/source_line.h"

namespace stax::emulator {

const ptx::Instruction* InstructionOf(const CompiledKernel& kernel, const Fault& fault) {
  if (fault.instruction < 0) return nullptr;
  return &kernel.translated.flat.instructions[static_cast<size_t>(fault.instruction)];
}

std::string FaultMessage(const CompiledKernel& kernel, const Fault& fault) {
  if (fault.other_instruction < 0) return fault.message;
  const ptx::Instruction& other =
      kernel.translated.flat.instructions[static_cast<size_t>(fault.other_instruction)];
  return absl::StrCat(fault.message, " (", other.Name(), ", line ", other.line, ")");
}

std::string FaultText(const EmulatorModule& module, const CompiledKernel& kernel,
                      const Fault& fault) {
  std::string text =
      absl::StrCat(Printable(kernel.translated.flat.name), ": ", FaultKindName(fault.kind));
  if (const ptx::Instruction* at = InstructionOf(kernel, fault)) {
    absl::StrAppend(&text, " at line ", at->line, " of its PTX (", at->Name(), ")");
    const std::string source = ptx::SourceLine(module.module(), *at);
    if (!source.empty()) absl::StrAppend(&text, " [", Printable(source), "]");
  }
  absl::StrAppendFormat(&text, ", block (%d,%d,%d), thread (%d,%d,%d): %s", fault.block_position.x,
                        fault.block_position.y, fault.block_position.z, fault.thread_position.x,
                        fault.thread_position.y, fault.thread_position.z,
                        FaultMessage(kernel, fault));
  return text;
}

}  // namespace stax::emulator
