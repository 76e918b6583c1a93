// Constants and constant expressions (sections 4.5 and 4.6): 64-bit integers, signed or not,
// singles and doubles.
//
//   (7 + 8) * 2     1 << 20     0xFFFFFFFF     .5 is written 0.5     -0d3FF0000000000000
#ifndef STAX_RUNTIME_EMULATOR_PTX_CONSTANT_H_
#define STAX_RUNTIME_EMULATOR_PTX_CONSTANT_H_

#include <cstdint>

#include "runtime/emulator/ptx/cursor.h"

namespace stax::ptx {

struct Constant {
  enum class Kind : uint8_t { kSigned, kUnsigned, kSingle, kDouble };
  Kind kind = Kind::kSigned;
  uint64_t bits = 0;

  bool IsInteger() const { return kind == Kind::kSigned || kind == Kind::kUnsigned; }
};

// Whether a constant may begin at the token.
bool StartsConstant(const Token& token);

// A whole expression.
bool ParseConstant(Cursor& cursor, Constant* constant);

// An integer offset, as far as it goes: "+4", "+-4", "-4", "+4*2+1", or nothing. Adds to `offset`.
bool ParseOffset(Cursor& cursor, int64_t* offset);

}  // namespace stax::ptx

#endif  // STAX_RUNTIME_EMULATOR_PTX_CONSTANT_H_
