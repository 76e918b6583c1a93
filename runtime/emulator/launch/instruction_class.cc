#include "runtime/emulator/launch/instruction_class.h"

#include <map>
#include <string>

#include "absl/strings/match.h"

namespace stax::emulator {
namespace {

// Opcodes whose class does not depend on a type.
const std::map<std::string, InstructionClass>& ClassOfOpcode() {
  using Class = InstructionClass;
  static const auto* const classes = new std::map<std::string, Class>{
      {"mma", Class::kTensor},
      {"cvt", Class::kConvert},
      {"mov", Class::kMove},
      {"cvta", Class::kMove},
      {"mapa", Class::kMove},
      {"isspacep", Class::kMove},
      {"getctarank", Class::kMove},
      {"ld", Class::kLoadStore},
      {"ldu", Class::kLoadStore},
      {"st", Class::kLoadStore},
      {"ldmatrix", Class::kLoadStore},
      {"stmatrix", Class::kLoadStore},
      {"prefetch", Class::kLoadStore},
      {"prefetchu", Class::kLoadStore},
      {"discard", Class::kLoadStore},
      {"applypriority", Class::kLoadStore},
      {"atom", Class::kAtomic},
      {"red", Class::kAtomic},
      {"shfl", Class::kInterThread},
      {"vote", Class::kInterThread},
      {"match", Class::kInterThread},
      {"redux", Class::kInterThread},
      {"elect", Class::kInterThread},
      {"activemask", Class::kInterThread},
      {"movmatrix", Class::kInterThread},
      {"bar", Class::kSynchronization},
      {"barrier", Class::kSynchronization},
      {"mbarrier", Class::kSynchronization},
      {"fence", Class::kSynchronization},
      {"membar", Class::kSynchronization},
      {"griddepcontrol", Class::kSynchronization},
      {"setmaxnreg", Class::kControl},
      {"nanosleep", Class::kControl},
      {"pmevent", Class::kControl},
      {"bra", Class::kControl},
      {"brx", Class::kControl},
      {"call", Class::kControl},
      {"ret", Class::kControl},
      {"exit", Class::kControl},
      {"trap", Class::kControl},
  };
  return *classes;
}

bool IsSpecial(const ptx::Instruction& instruction) {
  const std::string& op = instruction.opcode;
  return op == "ex2" || op == "lg2" || op == "rcp" || op == "rsqrt" || op == "sqrt" ||
         op == "sin" || op == "cos" || op == "tanh";
}

}  // namespace

const char* InstructionClassName(InstructionClass instruction_class) {
  switch (instruction_class) {
    case InstructionClass::kInteger:
      return "integer";
    case InstructionClass::kFp16:
      return "fp16";
    case InstructionClass::kFp32:
      return "fp32";
    case InstructionClass::kFp64:
      return "fp64";
    case InstructionClass::kSpecial:
      return "special";
    case InstructionClass::kTensor:
      return "tensor";
    case InstructionClass::kConvert:
      return "convert";
    case InstructionClass::kMove:
      return "move";
    case InstructionClass::kLoadStore:
      return "load_store";
    case InstructionClass::kAtomic:
      return "atomic";
    case InstructionClass::kInterThread:
      return "inter_thread";
    case InstructionClass::kSynchronization:
      return "synchronization";
    case InstructionClass::kControl:
      return "control";
  }
  return "unknown";
}

InstructionClass InstructionClassOf(const ptx::Instruction& instruction) {
  using Class = InstructionClass;
  auto of_opcode = ClassOfOpcode().find(instruction.opcode);
  if (of_opcode != ClassOfOpcode().end()) return of_opcode->second;
  if (instruction.opcode == "wmma")
    return instruction.Has("mma") ? Class::kTensor : Class::kLoadStore;
  if (instruction.opcode == "cp") {
    if (instruction.Has("reduce")) return Class::kAtomic;
    const bool copies = !instruction.Has("commit_group") && !instruction.Has("wait_group") &&
                        !instruction.Has("wait_all") && !instruction.Has("arrive");
    return copies ? Class::kLoadStore : Class::kSynchronization;
  }
  if (IsSpecial(instruction)) return Class::kSpecial;
  const std::string type = instruction.modifiers.empty() ? "" : instruction.modifiers.back();
  if (absl::StartsWith(type, "f16") || absl::StartsWith(type, "bf16")) return Class::kFp16;
  if (absl::StartsWith(type, "f32")) return Class::kFp32;
  if (type == "f64") return Class::kFp64;
  return Class::kInteger;
}

}  // namespace stax::emulator
