#include "runtime/emulator/ptx/source_line.h"

#include "absl/strings/str_cat.h"

namespace stax::ptx {

std::string SourceFile(const Module& module, const Instruction& instruction) {
  if (instruction.loc_file == 0) return "";
  const auto file = static_cast<size_t>(instruction.loc_file);
  return file < module.files.size() ? module.files[file] : absl::StrCat("file ", file);
}

std::string SourceLine(const Module& module, const Instruction& instruction) {
  if (instruction.loc_file == 0) return "";
  return absl::StrCat(SourceFile(module, instruction), ":", instruction.loc_line);
}

}  // namespace stax::ptx
