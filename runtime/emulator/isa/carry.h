// add.cc, addc, sub.cc, subc, mad.cc, madc: integers with the carry flag.
#ifndef STAX_RUNTIME_EMULATOR_ISA_CARRY_H_
#define STAX_RUNTIME_EMULATOR_ISA_CARRY_H_

#include <optional>

#include "absl/strings/string_view.h"
#include "runtime/emulator/isa/warp_operation.h"

namespace stax::isa {

// "addc.cc.u32", "madc.hi.u64". nullopt: not one of these.
std::optional<CarryOperation> FindCarryOperation(absl::string_view text);

}  // namespace stax::isa

#endif  // STAX_RUNTIME_EMULATOR_ISA_CARRY_H_
