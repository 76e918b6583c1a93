// Directives that may stand in a module as well as in a function: .loc, .file, .pragma, .section
// (sections 11.5 and 11.6).
#ifndef STAX_RUNTIME_EMULATOR_PTX_DIRECTIVES_H_
#define STAX_RUNTIME_EMULATOR_PTX_DIRECTIVES_H_

#include <string>
#include <vector>

#include "runtime/emulator/ptx/cursor.h"

namespace stax::ptx {

// A place in a source file; 0: none.
struct SourceLine {
  int file = 0;
  int line = 0;
};

// These begin behind their first word.
bool ParseLoc(Cursor& cursor, SourceLine* place);
bool ParseFile(Cursor& cursor, std::vector<std::string>* files);
// What it says is for the assembler only.
bool SkipPragma(Cursor& cursor);
// Debug sections. Others are an error.
bool SkipSection(Cursor& cursor);

}  // namespace stax::ptx

#endif  // STAX_RUNTIME_EMULATOR_PTX_DIRECTIVES_H_
