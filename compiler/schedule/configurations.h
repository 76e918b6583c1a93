// Configurations: the space of launch configurations of a kernel, the constraints on it, and the 1
// to 6 candidates that heuristics propose (S9.6).
//
// Candidates follow the kernel's form, its sizes at the hints and the direction of its reduction.
// Correctness does not depend on them: any point of the space that meets the constraints computes
// the same.
#ifndef STAX_COMPILER_SCHEDULE_CONFIGURATIONS_H_
#define STAX_COMPILER_SCHEDULE_CONFIGURATIONS_H_

#include "compiler/kernel_spec.h"
#include "compiler/schedule/choose_tile.h"
#include "compiler/schedule/tile_proposals.h"
#include "compiler/target.h"

namespace stax {

Configurations ChooseConfigurations(const LoopNest& nest, const TileChoice& tile, KernelForm form,
                                    const TargetSpec& target);

}  // namespace stax

#endif  // STAX_COMPILER_SCHEDULE_CONFIGURATIONS_H_
