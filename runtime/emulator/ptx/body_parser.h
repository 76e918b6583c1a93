// The body of a function: registers, variables, scopes, labels, tables and instructions.
#ifndef STAX_RUNTIME_EMULATOR_PTX_BODY_PARSER_H_
#define STAX_RUNTIME_EMULATOR_PTX_BODY_PARSER_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "runtime/emulator/ptx/cursor.h"
#include "runtime/emulator/ptx/directives.h"
#include "runtime/emulator/ptx/module.h"
#include "runtime/emulator/ptx/names.h"
#include "runtime/emulator/ptx/operand_parser.h"
#include "runtime/emulator/ptx/variable_parser.h"

namespace stax::ptx {

class BodyParser {
 public:
  BodyParser(Cursor& cursor, Names& names, const Module& module)
      : cursor_(cursor),
        names_(names),
        module_(module),
        operands_(cursor, names),
        variables_(cursor, names) {}

  // From '{' to the '}' that belongs to it. The names of the parameters are declared already.
  bool Parse(Function* function);

 private:
  // One statement, label or brace. `done` once the function's own '}' was read.
  bool ParseStatement(bool* done);
  bool ParseDirective();
  bool ParseRegisters();
  bool ParseRegister(Type type, uint8_t width);
  bool ParseVariables();
  bool ParseLabel();
  bool ParseBranchTargets(absl::string_view name, Place place);
  bool ParseCallTargets(absl::string_view name, Place place);
  bool ParsePrototype(absl::string_view name, Place place);

  bool ParseInstruction();
  bool ParseBranch(Instruction* instruction);
  bool ParseCall(Instruction* instruction);
  bool CheckCall(const Instruction& call, Place place);

  Cursor& cursor_;
  Names& names_;
  const Module& module_;
  OperandParser operands_;
  VariableParser variables_;
  Function* function_ = nullptr;
  SourceLine loc_;
  // Reused, so that an instruction allocates exactly what it keeps.
  std::vector<absl::string_view> modifiers_;
  std::vector<Operand> scratch_;
};

}  // namespace stax::ptx

#endif  // STAX_RUNTIME_EMULATOR_PTX_BODY_PARSER_H_
