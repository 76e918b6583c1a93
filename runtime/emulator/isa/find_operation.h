// From an instruction's name as PTX writes it to the function that does it for a warp.
//
//   std::optional<WarpOperation> convert = FindWarpOperation("cvt.rn.satfinite.bf16.f32");
//   if (!convert.has_value()) ... not an instruction, or one that is not supported
//
// Names are taken apart, opcode and modifiers, in the order of the PTX ISA (7.0 to 9.0; what sm_80
// and sm_90a have). Elsewhere: setp and testp (compare.h), add.cc and its kind (carry.h), shfl,
// vote and match.all (warp_exchange.h), atom (atomic.h), mma (mma.h), wmma (wmma.h), ldmatrix and
// its kind (matrix_tiles.h). Nowhere here: memory, control flow, predicates, video instructions.
#ifndef STAX_RUNTIME_EMULATOR_ISA_FIND_OPERATION_H_
#define STAX_RUNTIME_EMULATOR_ISA_FIND_OPERATION_H_

#include <optional>

#include "absl/strings/string_view.h"
#include "runtime/emulator/isa/warp_operation.h"

namespace stax::isa {

std::optional<WarpOperation> FindWarpOperation(absl::string_view name);

}  // namespace stax::isa

#endif  // STAX_RUNTIME_EMULATOR_ISA_FIND_OPERATION_H_
