// One description for everything that reduces: kReduce, kEinsum and kCumulative.
#ifndef STAX_COMPILER_LOWERING_DESCRIBE_REDUCTION_H_
#define STAX_COMPILER_LOWERING_DESCRIBE_REDUCTION_H_

#include <functional>
#include <vector>

#include "compiler/lowering/emitter.h"
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
  // Applied to the reduced value at its index, before the cast to `result_type`. May be empty.
  std::function<ValueId(Emitter&, const Index&, ValueId)> finish;
  // Where the result goes: the dims not reduced, row-major, as `result_type`.
  StoredTensor result;
  DType result_type = DType::kF32;
};

// The reduction that a graph op stands for; IsReduction(op) holds.
Reduction DescribeReduction(const Graph& graph, const GraphOp& op, const StoredTensor& result);

}  // namespace stax

#endif  // STAX_COMPILER_LOWERING_DESCRIBE_REDUCTION_H_
