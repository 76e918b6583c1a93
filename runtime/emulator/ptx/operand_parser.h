// Operands of instructions (chapter 6).
//
//   %r1   !%p1   7   0f3F800000   [%rd1+-4]   [x+8]   {%r1, %r2}   %v.x   %r1|%p1   _   %tid.x
//   [%rd1, {%r1, %r2}]   table+4
#ifndef STAX_RUNTIME_EMULATOR_PTX_OPERAND_PARSER_H_
#define STAX_RUNTIME_EMULATOR_PTX_OPERAND_PARSER_H_

#include "absl/strings/string_view.h"
#include "runtime/emulator/ptx/cursor.h"
#include "runtime/emulator/ptx/module.h"
#include "runtime/emulator/ptx/names.h"

namespace stax::ptx {

class OperandParser {
 public:
  OperandParser(Cursor& cursor, Names& names) : cursor_(cursor), names_(names) {}

  // Whose operands follow.
  void SetFunction(const Function* function) { function_ = function; }

  // Any operand but a label.
  bool Parse(Operand* operand);
  // A predicate register, as behind '@'.
  bool ParseGuard(int* reg, bool* negated);
  // "(a, b)" of a call, also "()".
  bool ParseList(Operand* list);

 private:
  bool ParseOne(Operand* operand);
  bool ParseName(Operand* operand);
  bool ParseRegister(const Meaning& meaning, absl::string_view name, Operand* operand);
  bool ParseSpecial(absl::string_view name, Place place, Operand* operand);
  bool ParseNegated(Operand* operand);
  bool ParseNumber(Operand* operand);
  bool ParseVector(Operand* operand);
  bool ParseMemory(Operand* operand);
  bool ParseAddress(Operand* operand);
  bool Undeclared(absl::string_view name, Place place);
  void SetSymbol(const Meaning& meaning, absl::string_view name, Operand* operand) const;

  Cursor& cursor_;
  Names& names_;
  const Function* function_ = nullptr;
};

}  // namespace stax::ptx

#endif  // STAX_RUNTIME_EMULATOR_PTX_OPERAND_PARSER_H_
