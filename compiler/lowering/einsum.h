// What lowering needs to know of a kEinsum op: labels, their extents, which are summed.
#ifndef STAX_COMPILER_LOWERING_EINSUM_H_
#define STAX_COMPILER_LOWERING_EINSUM_H_

#include <string>

#include "ir/einsum.h"
#include "ir/graph.h"

namespace stax {

struct Contraction {
  EinsumEquation equation;
  std::string summed;  // labels the result lacks, in order of appearance
  Dims result_dims;    // a label of the result each
  Dims summed_dims;    // a label of `summed` each
};

// `op` is a kEinsum of a verified graph: "bmk,bkn->bmn" sums over "k".
Contraction DescribeEinsum(const Graph& graph, const GraphOp& op);

// Type in which products and sums accumulate: f32 for halves, else the type itself.
DType AccumulatorType(DType dtype);

}  // namespace stax

#endif  // STAX_COMPILER_LOWERING_EINSUM_H_
