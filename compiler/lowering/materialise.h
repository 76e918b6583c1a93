// Which tensors get a buffer of their own, and which are computed again wherever they are read.
//
// Heuristics only: any choice is right. What they weigh: a stored value costs a write and its reads
// (unless fusion makes the buffer unnecessary), an inlined one is computed once a reader.
#ifndef STAX_COMPILER_LOWERING_MATERIALISE_H_
#define STAX_COMPILER_LOWERING_MATERIALISE_H_

#include <vector>

#include "ir/graph.h"

namespace stax {

// Whether the op sums (or otherwise reduces) over more than one element: kReduce, kCumulative and
// kEinsum, unless all dims they reduce are the literal 1.
bool IsReduction(const Graph& graph, const GraphOp& op);

// Tensors that some output depends on, by TensorId.
std::vector<bool> LiveTensors(const Graph& graph, const std::vector<const GraphOp*>& defs);

// Tensors to be stored, by TensorId: those of `forced` (outputs, reductions) and those worth it.
// Inputs and constants, which have buffers anyway, are not among them.
std::vector<bool> ChooseStored(const Graph& graph, const std::vector<const GraphOp*>& defs,
                               const std::vector<bool>& live, const std::vector<bool>& forced);

}  // namespace stax

#endif  // STAX_COMPILER_LOWERING_MATERIALISE_H_
