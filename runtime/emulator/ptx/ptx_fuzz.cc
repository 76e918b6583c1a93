// Fuzz target for PTX. Whatever the text: a module in which every number of a register, label or
// symbol is one, and every initial value lies in its variable; or InvalidArgument with a place.
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "ir/check.h"
#include "runtime/emulator/ptx/module.h"
#include "runtime/emulator/ptx/parser.h"

namespace stax::ptx {
namespace {

void CheckIndex(int index, size_t size, const std::string& what) {
  STAX_CHECK(index >= 0 && static_cast<size_t>(index) < size, what);
}

template <typename T>
void CheckNamed(const std::vector<T>& items, const Operand& operand) {
  CheckIndex(operand.index, items.size(), operand.name);
  STAX_CHECK(items[operand.index].name == operand.name, operand.name);
}

void CheckSymbol(const Module& module, const Function& function, const Operand& operand) {
  switch (operand.symbol) {
    case SymbolKind::kNone:
      break;
    case SymbolKind::kModuleVariable:
      return CheckNamed(module.variables, operand);
    case SymbolKind::kFunction:
      return CheckNamed(module.functions, operand);
    case SymbolKind::kParameter:
      return CheckNamed(function.parameters, operand);
    case SymbolKind::kReturned:
      return CheckNamed(function.returned, operand);
    case SymbolKind::kVariable:
      return CheckNamed(function.variables, operand);
    case SymbolKind::kLabel:
      return CheckNamed(function.labels, operand);
    case SymbolKind::kBranchTargets:
      return CheckNamed(function.branch_targets, operand);
    case SymbolKind::kCallTargets:
      return CheckNamed(function.call_targets, operand);
    case SymbolKind::kPrototype:
      return CheckNamed(function.prototypes, operand);
  }
  STAX_CHECK(operand.kind != Operand::Kind::kSymbol && operand.kind != Operand::Kind::kLabel,
             operand.name);
}

void CheckOperand(const Module& module, const Function& function, const Operand& operand) {
  if (operand.kind == Operand::Kind::kRegister || operand.reg != -1)
    CheckIndex(operand.reg, function.registers.size(), "register");
  CheckSymbol(module, function, operand);
  if (operand.kind == Operand::Kind::kPair) STAX_CHECK(operand.elements.size() == 2, "a pair");
  if (operand.is_memory) {
    STAX_CHECK(operand.elements.size() > 1, "[a, b]");
    STAX_CHECK(operand.elements[0].kind == Operand::Kind::kAddress, "[a, b]");
  }
  for (const Operand& element : operand.elements) CheckOperand(module, function, element);
}

void CheckVariable(const Variable& variable) {
  STAX_CHECK(variable.size_bytes >= 0 && variable.size_bytes <= int64_t{1} << 40, variable.name);
  STAX_CHECK(variable.align_bytes > 0 && (variable.align_bytes & (variable.align_bytes - 1)) == 0,
             variable.name);
  int64_t end = 0;
  for (const Initializer& piece : variable.initial) {
    STAX_CHECK(piece.offset >= end, variable.name);
    STAX_CHECK(piece.bytes.empty() != piece.symbol.empty(), variable.name);
    end = piece.offset +
          (piece.symbol.empty() ? static_cast<int64_t>(piece.bytes.size()) : int64_t{piece.size});
  }
  STAX_CHECK(end <= variable.size_bytes, variable.name);
}

template <typename T>
void CheckUnique(const std::vector<T>& items, std::set<std::string>* names) {
  for (const T& item : items) STAX_CHECK(names->insert(item.name).second, item.name);
}

void CheckFunction(const Module& module, const Function& function) {
  for (const Variable& v : function.parameters) CheckVariable(v);
  for (const Variable& v : function.returned) CheckVariable(v);
  for (const Variable& v : function.variables) CheckVariable(v);
  std::set<std::string> names;
  CheckUnique(function.labels, &names);
  CheckUnique(function.variables, &names);
  CheckUnique(function.branch_targets, &names);
  CheckUnique(function.call_targets, &names);
  CheckUnique(function.prototypes, &names);
  for (const Label& label : function.labels)
    CheckIndex(label.position, function.instructions.size() + 1, label.name);
  for (const BranchTargets& targets : function.branch_targets) {
    for (const int label : targets.labels) CheckIndex(label, function.labels.size(), targets.name);
  }
  for (const CallTargets& targets : function.call_targets) {
    for (const int f : targets.functions) CheckIndex(f, module.functions.size(), targets.name);
  }
  for (const Instruction& instruction : function.instructions) {
    if (instruction.guard != -1)
      CheckIndex(instruction.guard, function.registers.size(), instruction.Name());
    if (instruction.opcode == "call")
      STAX_CHECK(instruction.operands.size() == 3 || instruction.operands.size() == 4, "call");
    for (const Operand& operand : instruction.operands) CheckOperand(module, function, operand);
  }
}

void CheckModule(const Module& module) {
  std::set<std::string> names;
  CheckUnique(module.variables, &names);
  CheckUnique(module.functions, &names);
  for (const Variable& v : module.variables) {
    CheckVariable(v);
    for (const Initializer& piece : v.initial)
      STAX_CHECK(piece.symbol.empty() || names.count(piece.symbol) > 0, piece.symbol);
  }
  for (const Function& f : module.functions) {
    CheckFunction(module, f);
    STAX_CHECK(module.FindFunction(f.name) != nullptr, f.name);
    STAX_CHECK(module.FindFunction(f.name)->alias_of.empty(), f.name);
  }
}

// "f:LINE:COLUMN: what".
void CheckError(const absl::Status& status) {
  STAX_CHECK(absl::IsInvalidArgument(status), status.ToString());
  const std::string message(status.message());
  STAX_CHECK(absl::StartsWith(message, "f:"), message);
  const size_t end = message.find_first_not_of("0123456789", 2);
  STAX_CHECK(end > 2 && end < message.size() && message[end] == ':', message);
  const size_t next = message.find_first_not_of("0123456789", end + 1);
  STAX_CHECK(next > end + 1 && message.substr(next, 2) == ": ", message);
}

}  // namespace
}  // namespace stax::ptx

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::StatusOr<stax::ptx::Module> module =
      stax::ptx::ParsePtx({reinterpret_cast<const char*>(data), size}, "f");
  if (module.ok()) {
    stax::ptx::CheckModule(*module);
  } else {
    stax::ptx::CheckError(module.status());
  }
  return 0;
}
