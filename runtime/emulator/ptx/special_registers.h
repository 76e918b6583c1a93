// Names of the special registers (chapter 10).
#ifndef STAX_RUNTIME_EMULATOR_PTX_SPECIAL_REGISTERS_H_
#define STAX_RUNTIME_EMULATOR_PTX_SPECIAL_REGISTERS_H_

#include "absl/strings/string_view.h"

namespace stax::ptx {

enum class SpecialRegister { kNone, kScalar, kVector };

// Whether "%laneid" is one, and whether it has components: "%tid" is a kVector.
SpecialRegister FindSpecialRegister(absl::string_view name);

}  // namespace stax::ptx

#endif  // STAX_RUNTIME_EMULATOR_PTX_SPECIAL_REGISTERS_H_
