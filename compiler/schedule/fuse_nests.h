// FuseNests: fewer kernels and less traffic.
//
// Input: a LoopProgram in execution order, nests in natural dim order (lowering.h). Output: fused
// nests in an execution order; every buffer that no nest stores any more is removed from
// program.buffers, program.nests and program.origins are emptied.
//
// Pairs of nests that share a buffer are fused in order of the bytes this saves: the reads of a
// producer's result (and its write, when nobody else reads it), or the reads that siblings have in
// common. Small readers of one producer (second stages of split reductions, as a rule) are fused to
// save a launch. A pair is left alone when a third nest lies between the two. Must come before
// merging of dims, which would hide matches. Near linear: each pair is tried once per state of the
// two.
#ifndef STAX_COMPILER_SCHEDULE_FUSE_NESTS_H_
#define STAX_COMPILER_SCHEDULE_FUSE_NESTS_H_

#include <string>
#include <vector>

#include "compiler/lowering/lowering.h"

namespace stax {

struct FusedNest {
  LoopNest nest;
  std::vector<std::string> origins;
  std::vector<std::string> parts;  // names of the nests it was made from
  std::vector<std::string> kept;   // buffers that fusion made unnecessary
};

std::vector<FusedNest> FuseNests(LoopProgram& program);

}  // namespace stax

#endif  // STAX_COMPILER_SCHEDULE_FUSE_NESTS_H_
