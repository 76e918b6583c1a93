#include "ir/interpreter_plan.h"

#include <algorithm>

namespace stax {

std::vector<InterpreterStage> PlanStages(const LoopNest& nest) {
  const int num_ops = static_cast<int>(nest.body.size());
  const std::vector<bool> is_inner = InnerValues(nest);
  const std::vector<std::vector<ValueId>> uses = Dependencies(nest);
  // The stage of each op, and the first stage that may use its value.
  std::vector<int> stage(num_ops, 0), ready(num_ops, 0);
  int num_stages = 1;
  for (ValueId id = 0; id < num_ops; ++id) {
    for (ValueId v : uses[id]) stage[id] = std::max(stage[id], ready[v]);
    ready[id] = stage[id] + (nest.body[id].code == OpCode::kReduce ? 1 : 0);
    num_stages = std::max(num_stages, ready[id] + 1);
  }

  std::vector<InterpreterStage> stages(num_stages);
  // needed[s][id]: the pass of stage s executes inner op `id`. Users come after what they use.
  std::vector<std::vector<bool>> needed(num_stages, std::vector<bool>(num_ops, false));
  for (ValueId id = num_ops - 1; id >= 0; --id) {
    const OpCode code = nest.body[id].code;
    if (code == OpCode::kReduce || (code == OpCode::kStore && is_inner[id]))
      needed[stage[id]][id] = true;
    for (int s = 0; s < num_stages; ++s) {
      if (!needed[s][id]) continue;
      for (ValueId v : uses[id])
        if (is_inner[v]) needed[s][v] = true;
    }
  }
  for (ValueId id = 0; id < num_ops; ++id) {
    const bool reduce = nest.body[id].code == OpCode::kReduce;
    if (reduce) {
      stages[stage[id]].reduces.push_back(id);
    } else if (!is_inner[id]) {
      stages[stage[id]].outer.push_back(id);
    }
    for (int s = 0; s < num_stages; ++s)
      if (needed[s][id] && !reduce) stages[s].inner.push_back(id);
  }
  return stages;
}

}  // namespace stax
