#include "runtime/emulator/translate/flat_kernel.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace stax::emulator {
namespace {

using ptx::Function;
using ptx::Instruction;
using ptx::Operand;
using ptx::Space;
using ptx::Variable;

// A call tree that is written out may grow exponentially.
constexpr size_t kMaxInstructions = 1 << 20;
constexpr size_t kMaxNesting = 500;  // of calls
constexpr int64_t kMaxLocalBytes = int64_t{1} << 40;

int64_t AlignUp(int64_t offset, int64_t align) { return (offset + align - 1) / align * align; }

class Flattener {
 public:
  Flattener(const ptx::Module& module, const Places& globals) : module_(module) {
    flat_.places = globals;
  }

  absl::StatusOr<FlatKernel> Flatten(const Function& entry) {
    flat_.name = entry.name;
    PlaceModuleShared();
    std::map<std::string, std::string> names;
    for (const Variable& parameter : entry.parameters) {
      const int64_t offset = AlignUp(flat_.parameter_bytes, parameter.align_bytes);
      flat_.parameter_offsets.push_back(offset);
      flat_.parameter_sizes.push_back(parameter.size_bytes);
      flat_.parameter_bytes = offset + parameter.size_bytes;
      names[parameter.name] =
          AddPlace(parameter.name, {Space::kParam, static_cast<uint64_t>(offset)});
    }
    absl::Status status = Inline(entry, std::move(names));
    if (!status.ok()) return status;
    PlaceDynamicShared();
    return std::move(flat_);
  }

 private:
  std::string AddPlace(const std::string& name, Place place) {
    std::string unique = absl::StrCat(name, "#", flat_.places.size());
    flat_.places[unique] = place;
    return unique;
  }

  static uint64_t Reserve(int64_t& used, const Variable& variable) {
    const int64_t offset = AlignUp(used, variable.align_bytes);
    used = offset + variable.size_bytes;
    return static_cast<uint64_t>(offset);
  }

  void PlaceModuleShared() {
    for (const Variable& variable : module_.variables) {
      if (variable.space != Space::kShared) continue;
      if (variable.IsExtern()) {
        dynamic_.push_back(variable.name);
        dynamic_align_ = std::max(dynamic_align_, variable.align_bytes);
      } else {
        flat_.places[variable.name] = {Space::kShared, Reserve(flat_.shared_bytes, variable)};
      }
    }
  }
  // All dynamic arrays begin where the static ones end.
  void PlaceDynamicShared() {
    if (dynamic_.empty()) return;
    flat_.shared_bytes = AlignUp(flat_.shared_bytes, std::max<int64_t>(dynamic_align_, 16));
    for (const std::string& name : dynamic_)
      flat_.places[name] = {Space::kShared, static_cast<uint64_t>(flat_.shared_bytes)};
  }

  // Appends the instructions of a function. `names`: of its parameters and returned values.
  absl::Status Inline(const Function& function, std::map<std::string, std::string> names) {
    if (!active_.insert(function.name).second)
      return absl::InvalidArgumentError(absl::StrCat("line ", function.line, ": ", function.name,
                                                     " calls itself; recursion is not supported"));
    if (active_.size() > kMaxNesting + 1)  // the kernel is no call
      return absl::InvalidArgumentError(absl::StrCat("line ", function.line, ": ", function.name,
                                                     ": calls are nested deeper than ",
                                                     kMaxNesting));
    const int64_t stack = stack_bytes_;
    for (const Variable& variable : function.variables) {
      absl::Status status = PlaceVariable(function, variable, names);
      if (!status.ok()) return status;
    }
    flat_.stack_bytes = std::max(flat_.stack_bytes, stack_bytes_);
    const int first_register = static_cast<int>(flat_.registers.size());
    flat_.registers.insert(flat_.registers.end(), function.registers.begin(),
                           function.registers.end());
    Body body{function, names, first_register, {}};
    absl::Status status = AppendBody(body);
    active_.erase(function.name);
    stack_bytes_ = stack;
    return status;
  }

  absl::Status PlaceVariable(const Function& function, const Variable& variable,
                             std::map<std::string, std::string>& names) {
    std::string& name = names[variable.name];
    switch (variable.space) {
      case Space::kLocal:
      case Space::kParam:  // arguments of calls
        Reserve(stack_bytes_, variable);
        name = AddPlace(variable.name, {Space::kLocal, Reserve(flat_.local_bytes, variable)});
        if (flat_.local_bytes > kMaxLocalBytes)
          return absl::InvalidArgumentError(
              absl::StrCat("line ", variable.line, ": ", variable.name,
                           " does not fit: a thread's local variables have more than 2^40 bytes"));
        return absl::OkStatus();
      case Space::kShared:
        if (variable.IsExtern()) {
          name = variable.name;
          dynamic_.push_back(variable.name);
          dynamic_align_ = std::max(dynamic_align_, variable.align_bytes);
          return absl::OkStatus();
        }
        // Once, however often the function is called.
        if (shared_.count(&variable) == 0)
          shared_[&variable] =
              AddPlace(variable.name, {Space::kShared, Reserve(flat_.shared_bytes, variable)});
        name = shared_[&variable];
        return absl::OkStatus();
      default:
        name = emulator::NameInModule(function, variable);
        return absl::OkStatus();
    }
  }

  struct Body {
    const Function& function;
    const std::map<std::string, std::string>& names;
    int first_register;
    std::vector<size_t> position_of;  // of each instruction of the function, in the flat
  };

  absl::Status AppendBody(Body& body) {
    const Function& function = body.function;
    std::vector<size_t> returns;
    for (const Instruction& instruction : function.instructions) {
      body.position_of.push_back(flat_.instructions.size());
      if (flat_.instructions.size() > kMaxInstructions)
        return absl::InvalidArgumentError(
            absl::StrCat("line ", instruction.line,
                         ": the kernel is too long: with its calls written out it has more than ",
                         kMaxInstructions, " instructions"));
      absl::Status status = Append(body, instruction, returns);
      if (!status.ok()) return status;
    }
    const size_t end = flat_.instructions.size();
    body.position_of.push_back(end);
    for (size_t position : returns) Operand0(position).integer = static_cast<int64_t>(end);
    ResolveLabels(body);
    return absl::OkStatus();
  }

  Operand& Operand0(size_t position) { return flat_.instructions[position].operands[0]; }

  absl::Status Append(Body& body, const Instruction& instruction, std::vector<size_t>& returns) {
    if (instruction.opcode == "call") return Call(body, instruction);
    Instruction copy = instruction;
    if (copy.guard >= 0 && IsConvergent(copy) && !IsBarrier(copy)) {
      const size_t around = AppendBranchAround(body, instruction);
      copy.guard = -1;
      Operand0(around).integer = static_cast<int64_t>(around) + 2;
    }
    if (copy.guard >= 0) copy.guard += body.first_register;
    for (Operand& operand : copy.operands) {
      absl::Status status = Rename(body, operand, instruction.line);
      if (!status.ok()) return status;
    }
    const bool is_kernel = active_.size() == 1;
    if (instruction.opcode == "ret" && !is_kernel) {
      Operand target;
      target.kind = Operand::Kind::kLabel;
      copy.operands = {target};
      returns.push_back(flat_.instructions.size());
    }
    flat_.instructions.push_back(std::move(copy));
    return absl::OkStatus();
  }

  absl::Status Rename(const Body& body, Operand& operand, int line) {
    if (operand.reg >= 0) operand.reg += body.first_register;
    for (Operand& element : operand.elements) {
      absl::Status status = Rename(body, element, line);
      if (!status.ok()) return status;
    }
    const bool is_variable = operand.symbol == ptx::SymbolKind::kModuleVariable ||
                             operand.symbol == ptx::SymbolKind::kParameter ||
                             operand.symbol == ptx::SymbolKind::kReturned ||
                             operand.symbol == ptx::SymbolKind::kVariable ||
                             operand.symbol == ptx::SymbolKind::kFunction;
    if (!is_variable) return absl::OkStatus();
    auto own = body.names.find(operand.name);
    if (own != body.names.end()) {
      operand.name = own->second;
    } else if (!IsKnown(operand.name)) {
      return absl::InvalidArgumentError(absl::StrCat("line ", line, ": ", operand.name,
                                                     " is no variable whose address can be taken"));
    }
    return absl::OkStatus();
  }
  bool IsKnown(const std::string& name) const {
    return flat_.places.count(name) > 0 ||
           std::find(dynamic_.begin(), dynamic_.end(), name) != dynamic_.end();
  }

  void ResolveLabels(const Body& body) {
    // Callees that were written out have resolved theirs.
    for (size_t i = 0; i < body.function.instructions.size(); ++i) {
      if (body.function.instructions[i].opcode == "call") continue;
      Instruction& instruction = flat_.instructions[body.position_of[i]];
      for (Operand& operand : instruction.operands) {
        if (operand.symbol == ptx::SymbolKind::kLabel) {
          operand.integer = PositionOf(body, operand.index);
        } else if (operand.symbol == ptx::SymbolKind::kBranchTargets) {
          operand = TargetsOf(body, body.function.branch_targets[operand.index]);
        }
      }
    }
  }

  static int64_t PositionOf(const Body& body, int label) {
    return static_cast<int64_t>(body.position_of[body.function.labels[label].position]);
  }

  // brx.idx index, table: the table becomes a vector of labels.
  static Operand TargetsOf(const Body& body, const ptx::BranchTargets& targets) {
    Operand list;
    list.kind = Operand::Kind::kVector;
    for (int label : targets.labels) {
      Operand target;
      target.kind = Operand::Kind::kLabel;
      target.integer = PositionOf(body, label);
      list.elements.push_back(target);
    }
    return list;
  }

  // The position of a branch that threads take whose guard keeps them from the instruction; its
  // target is to be set.
  size_t AppendBranchAround(const Body& body, const Instruction& instruction) {
    Instruction skip;
    skip.opcode = "bra";
    skip.line = instruction.line;
    skip.loc_file = instruction.loc_file;
    skip.loc_line = instruction.loc_line;
    skip.guard = instruction.guard + body.first_register;
    skip.guard_negated = !instruction.guard_negated;
    Operand target;
    target.kind = Operand::Kind::kLabel;
    skip.operands = {target};
    const size_t position = flat_.instructions.size();
    flat_.added_branches.insert(static_cast<int>(position));
    flat_.instructions.push_back(std::move(skip));
    return position;
  }

  absl::Status Call(const Body& body, const Instruction& call) {
    const Operand& callee = call.operands[0];
    if (callee.kind != Operand::Kind::kSymbol)
      return absl::InvalidArgumentError(
          absl::StrCat("line ", call.line, ": calls through a register are not supported"));
    const Function* function = module_.FindFunction(callee.name);
    if (function == nullptr || function->is_declaration)
      return absl::InvalidArgumentError(absl::StrCat("line ", call.line, ": calls ", callee.name,
                                                     ", which this file does not define"));
    std::map<std::string, std::string> names;
    absl::Status status = Bind(body, call, call.operands[1], function->returned, names);
    if (status.ok()) status = Bind(body, call, call.operands[2], function->parameters, names);
    if (!status.ok()) return status;
    // A guarded call is a branch around it.
    const size_t around = call.guard >= 0 ? AppendBranchAround(body, call) : 0;
    Instruction marker = call;  // what counts as the call
    marker.guard = -1;
    marker.operands.clear();
    flat_.instructions.push_back(std::move(marker));
    status = Inline(*function, std::move(names));
    if (call.guard >= 0) Operand0(around).integer = static_cast<int64_t>(flat_.instructions.size());
    return status;
  }

  // Parameters share the places of the arguments.
  static absl::Status Bind(const Body& body, const Instruction& call, const Operand& arguments,
                           const std::vector<Variable>& parameters,
                           std::map<std::string, std::string>& names) {
    if (arguments.elements.size() != parameters.size())
      return absl::InvalidArgumentError(
          absl::StrCat("line ", call.line, ": call passes ", arguments.elements.size(),
                       " values where ", call.operands[0].name, " has ", parameters.size()));
    for (size_t i = 0; i < parameters.size(); ++i) {
      const Operand& argument = arguments.elements[i];
      auto place = body.names.find(argument.name);
      if (argument.kind != Operand::Kind::kSymbol || place == body.names.end())
        return absl::InvalidArgumentError(
            absl::StrCat("line ", call.line, ": arguments of calls must be .param variables"));
      names[parameters[i].name] = place->second;
    }
    return absl::OkStatus();
  }

  const ptx::Module& module_;
  FlatKernel flat_;
  std::set<std::string> active_;  // functions that are being inlined
  std::map<const Variable*, std::string> shared_;
  std::vector<std::string> dynamic_;
  int64_t dynamic_align_ = 1;
  int64_t stack_bytes_ = 0;  // in use where instructions are being appended
};

}  // namespace

bool IsBarrier(const Instruction& instruction) {
  if (instruction.opcode == "bar" || instruction.opcode == "barrier")
    return !instruction.Has("warp");
  return false;
}

bool IsConvergent(const Instruction& i) {
  if (i.opcode == "bar" || i.opcode == "barrier") return true;
  if (i.opcode == "shfl" || i.opcode == "vote" || i.opcode == "match" || i.opcode == "redux" ||
      i.opcode == "elect" || i.opcode == "mma" || i.opcode == "wmma" || i.opcode == "ldmatrix" ||
      i.opcode == "stmatrix" || i.opcode == "movmatrix")
    return true;
  return false;
}

std::string NameInModule(const ptx::Function& function, const ptx::Variable& variable) {
  return absl::StrCat(function.name, "/", variable.name);
}

absl::StatusOr<FlatKernel> Flatten(const ptx::Module& module, const ptx::Function& entry,
                                   const Places& globals) {
  return Flattener(module, globals).Flatten(entry);
}

}  // namespace stax::emulator
