#include "runtime/emulator/isa/find_operation.h"

#include <optional>

#include "absl/strings/string_view.h"
#include "runtime/emulator/isa/bit_operations.h"
#include "runtime/emulator/isa/compare.h"
#include "runtime/emulator/isa/convert.h"
#include "runtime/emulator/isa/convert_packed.h"
#include "runtime/emulator/isa/float_arithmetic.h"
#include "runtime/emulator/isa/float_functions.h"
#include "runtime/emulator/isa/instruction_name.h"
#include "runtime/emulator/isa/integer.h"
#include "runtime/emulator/isa/warp_exchange.h"
#include "runtime/emulator/isa/warp_operation.h"

namespace stax::isa {

std::optional<WarpOperation> FindWarpOperation(absl::string_view name) {
  if (name.empty() || name.back() == '.') return std::nullopt;
  const InstructionName parts(name);
  using Family = std::optional<WarpOperation> (*)(InstructionName);
  for (const Family family :
       {&FindFloatArithmetic, &FindFloatFunction, &FindConvert, &FindConvertPacked, &FindInteger,
        &FindBitOperation, &FindSet, &FindExchange}) {
    const std::optional<WarpOperation> operation = family(parts);
    if (operation.has_value()) return operation;
  }
  return std::nullopt;
}

}  // namespace stax::isa
