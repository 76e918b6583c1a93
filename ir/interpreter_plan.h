// The order in which the interpreter executes a nest with several reductions.
//
// A nest is cut into stages. Stage 0 has what needs no reduction result; stage k what needs the
// results of stages before it. At each point of the loop dims a stage first executes its outer ops
// once, then makes one pass over the points of the reduction dims, executing the inner ops that the
// pass's consumers (reductions and inner stores) need. An inner op that several passes need is
// executed in each.
#ifndef STAX_IR_INTERPRETER_PLAN_H_
#define STAX_IR_INTERPRETER_PLAN_H_

#include <vector>

#include "ir/loop_nest.h"

namespace stax {

struct InterpreterStage {
  std::vector<ValueId> outer;    // executed once per loop point
  std::vector<ValueId> inner;    // executed per reduction point; with the inner stores
  std::vector<ValueId> reduces;  // take their operand after `inner`, per reduction point
};

// Ops in body order within each list. The nest is well-formed (VerifyStructure).
std::vector<InterpreterStage> PlanStages(const LoopNest& nest);

}  // namespace stax

#endif  // STAX_IR_INTERPRETER_PLAN_H_
