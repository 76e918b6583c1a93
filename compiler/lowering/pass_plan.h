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
//
// Online sums. The sum of exp(x - max(x)) does not have to wait for the maximum: pairs (m, d) of a
// maximum and a sum relative to it merge, (m, d) + (m', d') = (M, d e^(m-M) + d' e^(m'-M)), with
// identity (-inf, 0). So softmax needs two passes and a log-sum-exp one. The pair's terms are at
// most 1 at any time, so nothing overflows that would not in the two-pass form.
#ifndef STAX_COMPILER_LOWERING_PASS_PLAN_H_
#define STAX_COMPILER_LOWERING_PASS_PLAN_H_

#include <vector>

#include "ir/loop_nest.h"

namespace stax {

// reduce.sum of exp(value - shift), to be computed together with reduce.max of the same value.
struct OnlineSum {
  ValueId max = -1;
  ValueId sum = -1;
  // The shift is 0 where the maximum is infinite; otherwise it is the maximum itself, and an
  // infinite one makes the sum NaN.
  bool guarded = false;
};

struct PassPlan {
  struct Pass {
    std::vector<ValueId> before;  // outer ops to be computed first, once per loop point
    std::vector<ValueId> inner;   // ops at every point of the row, stores included
    std::vector<ValueId>
        reduces;  // reductions of this pass, their operands are in `inner` or outer
    std::vector<OnlineSum> online;  // sums that go with a maximum in `reduces`
  };
  std::vector<Pass> passes;
  std::vector<ValueId> after;  // outer ops after the last pass
};

// Every store of the nest is in exactly one place, as early as its operand is there. Ops that no
// store needs are left out. Within a list, loads come as early as their operands allow, so that
// many are in flight before the first use. `online`: use online sums where they save a pass.
PassPlan MakePassPlan(const LoopNest& nest, bool online);

}  // namespace stax

#endif  // STAX_COMPILER_LOWERING_PASS_PLAN_H_
