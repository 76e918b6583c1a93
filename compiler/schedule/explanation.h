// Why a kernel is as it is, in words for --explain.
#ifndef STAX_COMPILER_SCHEDULE_EXPLANATION_H_
#define STAX_COMPILER_SCHEDULE_EXPLANATION_H_

#include <string>

#include "compiler/kernel_spec.h"
#include "compiler/schedule/choose_tile.h"
#include "compiler/schedule/fuse_nests.h"

namespace stax {

// One line: what was fused and what never reaches memory, the axes and how much of the traffic they
// coalesce, and the form with the rule that gave it.
std::string ExplainKernel(const KernelSpec& kernel, const FusedNest& fused, const TileChoice& tile);

}  // namespace stax

#endif  // STAX_COMPILER_SCHEDULE_EXPLANATION_H_
