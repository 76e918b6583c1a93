// The candidates on NVIDIA GPUs (S9.6), from measurements on an H200.
#ifndef STAX_COMPILER_SCHEDULE_CUDA_CANDIDATES_H_
#define STAX_COMPILER_SCHEDULE_CUDA_CANDIDATES_H_

#include "compiler/kernel_spec.h"
#include "compiler/schedule/tile_proposals.h"

namespace stax {

void ProposeForCuda(const TileShape& shape, KernelForm form, bool contraction, TileProposals* out);

}  // namespace stax

#endif  // STAX_COMPILER_SCHEDULE_CUDA_CANDIDATES_H_
