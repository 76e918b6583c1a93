// Declarations (chapter 5): types, state spaces, variables with their initializers, parameter
// lists.
//
//   .visible .global .align 8 .u64 table[3] = {0, generic(text)+8, f};
//   (.param .u64 .ptr .global .align 16 in, .param .align 8 .b8 by_value[48])
#ifndef STAX_RUNTIME_EMULATOR_PTX_VARIABLE_PARSER_H_
#define STAX_RUNTIME_EMULATOR_PTX_VARIABLE_PARSER_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "runtime/emulator/ptx/cursor.h"
#include "runtime/emulator/ptx/module.h"
#include "runtime/emulator/ptx/names.h"

namespace stax::ptx {

// ".global" ... at the token; stays there. False, and no error, if it is no state space.
bool IsSpace(const Token& token, Space* space);
// ".visible", ".extern", ".weak", ".common" at the token; goes on behind.
Linkage AcceptLinkage(Cursor& cursor);

// ".f32"; goes on behind.
bool ParseType(Cursor& cursor, Type* type);
// ".v2" and ".v4"; 1 if there is none.
uint8_t AcceptVector(Cursor& cursor);

struct DeclaredVariable {
  Variable variable;
  absl::string_view name;  // in the text
  Place place;
};

class VariableParser {
 public:
  // Initializers may name what `names` knows in the module.
  VariableParser(Cursor& cursor, const Names& names) : cursor_(cursor), names_(names) {}

  // From the state space to ';', one or several names.
  bool Parse(Linkage linkage, std::vector<DeclaredVariable>* variables);
  // "( ... )" of a function. The names of prototypes are "_".
  bool ParseParameters(std::vector<DeclaredVariable>* parameters);

 private:
  // What stands before the name.
  bool ParsePrefix(Variable* variable, int* width);
  bool ParseAlign(int64_t* align);
  bool ParseAttributes(Variable* variable);
  bool ParsePointer(Variable* variable);
  // The name, dimensions; sizes are known then but for "[]".
  bool ParseDeclarator(int width, Variable* variable, absl::string_view* name,
                       std::vector<int64_t>* dims);
  bool ParseParameter(std::vector<DeclaredVariable>* parameters);

  Cursor& cursor_;
  const Names& names_;
};

}  // namespace stax::ptx

#endif  // STAX_RUNTIME_EMULATOR_PTX_VARIABLE_PARSER_H_
