// setp, set and testp.
//
// setp gives a predicate for each lane: a mask. Of x2 types the lower halves give predicate p, the
// upper ones q (CompareOperation::high). What a third source, a predicate, is combined with it by
// is left to the caller: CompareOperation::combine.
#ifndef STAX_RUNTIME_EMULATOR_ISA_COMPARE_H_
#define STAX_RUNTIME_EMULATOR_ISA_COMPARE_H_

#include <optional>

#include "absl/strings/string_view.h"
#include "runtime/emulator/isa/instruction_name.h"
#include "runtime/emulator/isa/warp_operation.h"

namespace stax::isa {

// "setp.lt.ftz.f32", "setp.eq.and.s32", "testp.finite.f64". nullopt: not supported.
std::optional<CompareOperation> FindCompareOperation(absl::string_view text);

// "set.gt.u32.f32": all ones or 1.0 where it holds, else 0; without a third source.
std::optional<WarpOperation> FindSet(InstructionName name);

}  // namespace stax::isa

#endif  // STAX_RUNTIME_EMULATOR_ISA_COMPARE_H_
