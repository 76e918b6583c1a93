// Nests of one reduction: one, or a cascade of them where it is split.
#ifndef STAX_COMPILER_LOWERING_REDUCTION_NESTS_H_
#define STAX_COMPILER_LOWERING_REDUCTION_NESTS_H_

#include <functional>
#include <string>
#include <vector>

#include "compiler/lowering/describe_reduction.h"
#include "compiler/lowering/emitter.h"
#include "compiler/target.h"
#include "ir/graph.h"
#include "ir/loop_nest.h"

namespace stax {

struct NestContext {
  const Graph& graph;
  const std::vector<const GraphOp*>& defs;
  const Storage& storage;
  const TargetSpec& target;
  // Makes a temporary buffer and returns it.
  std::function<StoredTensor(DType dtype, const Dims& dims)> new_temporary;
};

// Adds loop or reduction dims for `dims` to the nest and returns their index; the literal 1 gets
// none. Dims are named by what they are and how many of the kind there are.
Index AddDims(const Dims& dims, const std::vector<bool>& reduced, LoopNest* nest);

// In execution order. Names are left empty.
std::vector<LoopNest> ReductionNests(const Reduction& reduction, const NestContext& context);

}  // namespace stax

#endif  // STAX_COMPILER_LOWERING_REDUCTION_NESTS_H_
