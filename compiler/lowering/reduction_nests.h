// Nests of one reduction: one, or a cascade of them where it is split.
#ifndef STAX_COMPILER_LOWERING_REDUCTION_NESTS_H_
#define STAX_COMPILER_LOWERING_REDUCTION_NESTS_H_

#include <functional>
#include <string>
#include <vector>

#include "compiler/lowering/emitter.h"
#include "compiler/target.h"
#include "ir/graph.h"
#include "ir/loop_nest.h"

namespace stax {

// What is reduced: `element` at an index over `dims`, of type `accumulator`, over the dims flagged.
struct Reduction {
  Dims dims;
  std::vector<bool> reduced;
  std::function<ValueId(Emitter&, const Index&)> element;
  ReduceKind kind = ReduceKind::kSum;
  DType accumulator = DType::kF32;
  bool contraction = false;
  // Where the result goes: the dims not reduced, row-major, as `result_type`.
  StoredTensor result;
  DType result_type = DType::kF32;
};

// The reduction that a graph op stands for; IsReduction(op) holds.
Reduction DescribeReduction(const Graph& graph, const GraphOp& op, const StoredTensor& result);

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
