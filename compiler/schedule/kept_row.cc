#include "compiler/schedule/kept_row.h"

#include <map>
#include <vector>

#include "compiler/lowering/access_pattern.h"
#include "compiler/lowering/pass_plan.h"

namespace stax {
namespace {

// Whether the load walks rows: what all rows have in common, such as weights, is in the cache.
bool IsOfRows(const LoopNest& nest, const std::vector<int>& dims) {
  bool loops = false, reduces = false;
  for (int d : dims) (nest.dims[d].reduce ? reduces : loops) = true;
  return loops && reduces;
}

}  // namespace

KeptRow FindKeptRow(const LoopNest& nest) {
  const PassPlan plan = MakePassPlan(nest, /*online=*/true);
  const std::vector<std::vector<int>> dims = DependentDims(nest);
  std::map<ValueId, int> passes_of;
  for (const PassPlan::Pass& pass : plan.passes) {
    for (ValueId id : pass.inner)
      if (nest.body[id].code == OpCode::kLoad && IsOfRows(nest, dims[id])) ++passes_of[id];
  }
  KeptRow row;
  for (const auto& [load, passes] : passes_of) {
    if (passes < 2) continue;
    ++row.loads;
    row.bytes += DTypeBytes(nest.body[load].dtype);
  }
  return row;
}

}  // namespace stax
