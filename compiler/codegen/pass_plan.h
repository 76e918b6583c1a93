// Pass plan: in which order a kernel computes the ops of a nest.
//
// A reduction needs all of its row before anything that uses its result can run. So ops have a
// depth, the number of reductions in sequence before them, and the kernel makes one pass over the
// row per depth. Softmax has depths 0 (max), 1 (sum of exp) and 2 (the quotient):
//
//   pass 0: load x; reduce max          pass 1: load x, sub, exp; reduce sum
//   pass 2: load x, sub, exp, div; store
//
// A looped kernel computes again in a later pass the inner values it needs there; a persistent one
// still has them in registers.
#ifndef STAX_COMPILER_CODEGEN_PASS_PLAN_H_
#define STAX_COMPILER_CODEGEN_PASS_PLAN_H_

#include <vector>

#include "ir/loop_nest.h"

namespace stax {

struct PassPlan {
  struct Pass {
    std::vector<ValueId> before;   // outer ops to be computed first, once per loop point
    std::vector<ValueId> inner;    // ops at every point of the row, stores included
    std::vector<ValueId> reduces;  // reductions of this pass, their operands are in `inner` or outer
  };
  std::vector<Pass> passes;
  std::vector<ValueId> after;  // outer ops after the last pass
};

// Every store of the nest is in exactly one place, as early as its operand is there. Ops that no
// store needs are left out. Within a list, loads come as early as their operands allow, so that
// many are in flight before the first use.
PassPlan MakePassPlan(const LoopNest& nest);

}  // namespace stax

#endif  // STAX_COMPILER_CODEGEN_PASS_PLAN_H_
