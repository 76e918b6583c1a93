// Scheduling: LoopProgram -> KernelSpecs in execution order.
//
// Passes, in this order:
//   1. FuseNests: vertical (producer into consumer) and horizontal (siblings reading the same
//      data) fusion by matched iteration spaces; legality from read/write sets and index
//      equality, benefit in bytes saved. Temporaries nobody else reads disappear.
//   2. MergeDims: adjacent dims that every access walks as one become one
//      (16384*i0 + 8192*i1 = 8192*(2*i0 + i1)).
//   3. ChooseTile: candidate splits of the loop dims scored by coalesced bytes (S9.3).
//   4. ChooseForm: persistent or looped by S9.4's rules.
//   5. Configurations: space, constraints and candidates by form, size hints and direction (S9.6).
// Heuristics choose among legal schedules only.
#ifndef STAX_COMPILER_SCHEDULE_SCHEDULE_H_
#define STAX_COMPILER_SCHEDULE_SCHEDULE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "compiler/kernel_spec.h"
#include "compiler/lowering/lowering.h"
#include "compiler/target.h"

namespace stax {

// Removes from `program` the buffers that fusion made unnecessary and empties program.nests.
absl::StatusOr<std::vector<KernelSpec>> Schedule(LoopProgram& program, const TargetSpec& target);

}  // namespace stax

#endif  // STAX_COMPILER_SCHEDULE_SCHEDULE_H_
