// Kernels and functions (section 11.2 to 11.4): signature, performance directives, body.
//
//   .visible .entry f(.param .u64 p) .maxntid 128 { ret; }
//   .extern .func (.param .b32 r) vprintf(.param .b64 format, .param .b64 arguments);
#ifndef STAX_RUNTIME_EMULATOR_PTX_FUNCTION_PARSER_H_
#define STAX_RUNTIME_EMULATOR_PTX_FUNCTION_PARSER_H_

#include "runtime/emulator/ptx/body_parser.h"
#include "runtime/emulator/ptx/cursor.h"
#include "runtime/emulator/ptx/module.h"
#include "runtime/emulator/ptx/names.h"
#include "runtime/emulator/ptx/variable_parser.h"

namespace stax::ptx {

class FunctionParser {
 public:
  FunctionParser(Cursor& cursor, Names& names, Module& module)
      : cursor_(cursor),
        names_(names),
        module_(module),
        variables_(cursor, names),
        body_(cursor, names, module) {}

  // Behind .entry or .func. Adds it to the module, or completes what was declared there.
  bool Parse(Linkage linkage, bool is_entry);

 private:
  // What stands between the parameters and the body or ';'.
  bool ParseDirectives(Function* function);
  bool ParseDimensions(int64_t dims[3]);
  // The number of the function in the module.
  bool Enter(Function function, absl::string_view name, Place place, int* number);

  Cursor& cursor_;
  Names& names_;
  Module& module_;
  VariableParser variables_;
  BodyParser body_;
};

}  // namespace stax::ptx

#endif  // STAX_RUNTIME_EMULATOR_PTX_FUNCTION_PARSER_H_
