// The part of a declaration behind '=' (section 5.4.4).
#ifndef STAX_RUNTIME_EMULATOR_PTX_INITIALIZER_PARSER_H_
#define STAX_RUNTIME_EMULATOR_PTX_INITIALIZER_PARSER_H_

#include <cstdint>
#include <vector>

#include "runtime/emulator/ptx/cursor.h"
#include "runtime/emulator/ptx/module.h"
#include "runtime/emulator/ptx/names.h"

namespace stax::ptx {

// A terabyte: no GPU has as much memory.
constexpr int64_t kMaxVariableBytes = int64_t{1} << 40;

// Reads the value of `variable` into its `initial`. `dims`, outermost first, has the elements of a
// vector type as its last; the first may be 0 and becomes the number of values then.
bool ParseInitializer(Cursor& cursor, const Names& names, std::vector<int64_t>* dims,
                      Variable* variable);

}  // namespace stax::ptx

#endif  // STAX_RUNTIME_EMULATOR_PTX_INITIALIZER_PARSER_H_
