// What a scalar op costs, for heuristics: in units of an addition, roughly the ratio of throughputs
// on a GPU (and of the lengths of the code, since math functions are inlined).
#ifndef STAX_COMPILER_LOWERING_OP_WEIGHT_H_
#define STAX_COMPILER_LOWERING_OP_WEIGHT_H_

#include "ir/loop_nest.h"
#include "ir/loop_op.h"

namespace stax {

inline constexpr int kCheapWeight = 1, kDivisionWeight = 4, kTranscendentalWeight = 10;

int OpWeight(OpCode code);

// Sum over a body; loads, stores and constants are 1 each.
int BodyWeight(const LoopNest& nest);

}  // namespace stax

#endif  // STAX_COMPILER_LOWERING_OP_WEIGHT_H_
