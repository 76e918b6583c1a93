#include "runtime/emulator/launch/block_order.h"

#include <algorithm>
#include <string>

#include "absl/strings/match.h"
#include "runtime/emulator/ptx/module.h"

namespace stax::emulator {
namespace {

bool IsOfBlockOrThread(const ptx::Instruction& i) {
  return std::any_of(i.modifiers.begin(), i.modifiers.end(), [](const std::string& name) {
    return name == "local" || name == "const" || absl::StartsWith(name, "shared") ||
           absl::StartsWith(name, "param");
  });
}

bool IsSumOfFloats(const ptx::Instruction& i) {
  if (!i.Has("add") || i.modifiers.empty()) return false;
  const std::string& type = i.modifiers.back();
  return absl::StartsWith(type, "f") || absl::StartsWith(type, "bf");
}

bool Depends(const ptx::Instruction& i) {
  if (i.opcode == "cp") return i.Has("reduce") && IsSumOfFloats(i);
  if (IsOfBlockOrThread(i)) return false;
  if (i.opcode == "atom") return true;
  if (i.opcode == "red") return IsSumOfFloats(i) || i.Has("inc") || i.Has("dec");
  return i.opcode == "ld" &&
         (i.Has("volatile") || i.Has("relaxed") || i.Has("acquire") || i.Has("mmio"));
}

}  // namespace

bool DependsOnBlockOrder(const FlatKernel& kernel) {
  return std::any_of(kernel.instructions.begin(), kernel.instructions.end(), Depends);
}

}  // namespace stax::emulator
