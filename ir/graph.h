// Graph: what to compute. Tensors with (possibly symbolic) shapes and primitive operators.
//
// Frontends (ONNX, textproto, C++ GraphBuilder) lower their richer operators to these few while
// they build, so every later stage knows one small set. All shapes are explicit: broadcasting,
// negative axes and defaults are resolved by GraphBuilder.
#ifndef STAX_IR_GRAPH_H_
#define STAX_IR_GRAPH_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "ir/dtype.h"
#include "ir/index_expr.h"
#include "ir/loop_nest.h"
#include "ir/loop_op.h"
#include "ir/scalar.h"

namespace stax {

using TensorId = int;  // position in Graph::tensors
using Dims = std::vector<IndexExpr>;

enum class GraphOpKind : uint8_t {
  kInput,        // no operands
  kConstant,     // `data`: dense row-major bytes
  kShapeValue,   // `values`: row-major IndexExprs over the size symbols (i64)
  kIota,         // value of the index along `axis`; dtype i64 or i32
  kElementwise,  // `code`: a scalar op; operands have the result's dims (after kExpand)
  kCast,         // to the result's dtype
  kSelect,       // bool, a, b; same dims
  kReduce,       // `reduce` over `axes` (sorted, at least one); these dims are removed. Sums and
                 // products, also running ones, are never of halves: those are cast to f32 before
  kCumulative,   // running `reduce` (kSum, kProd, kMax, kMin) along `axis`; `exclusive`, `reverse`
  kEinsum,       // `equation`: sum of products of two operands, e.g. "bmk,bkn->bmn"; accumulates
                 // in f32 for halves (integers wrap in their type), rounds once to the result's
                 // dtype. A label occurs at most once in a term and in two terms at least: what
                 // one operand alone has was summed before. One label at least is summed
  kReshape,      // same elements in row-major order
  kTranspose,    // result dim d is operand dim perm[d]
  kExpand,       // dims of size 1 are repeated; ranks are equal
  kSlice,        // along `axis`: start + step * i for i < result size; step may be negative
  kPad,          // along all axes: `pads_before`, result dims give the rest; `pad_mode`;
                 // negative pads are slices and never get here. Operand 1, if any: scalar value
  kConcat,       // along `axis`; any number of operands
  kGather,       // operand 0 data, 1 integer indices; along `axis`; negative indices wrap. Where a
                 // symbolic axis turns out to be empty no index is valid, and elements are 0
  kGatherElements,  // like NumPy's take_along_axis
};

std::string_view GraphOpName(GraphOpKind kind);  // "input", "gather_elements", ...

enum class PadMode : uint8_t { kConstant, kReflect, kEdge };

std::string_view PadModeName(PadMode mode);  // "constant", "reflect", "edge"

struct GraphOp {
  GraphOpKind kind = GraphOpKind::kInput;
  std::vector<TensorId> operands;
  TensorId result = -1;
  std::string origin;  // node of the model it comes from, for messages and --explain

  OpCode code = OpCode::kAdd;
  ReduceKind reduce = ReduceKind::kSum;
  int axis = 0;
  std::vector<int> axes;  // kReduce; kTranspose: perm
  bool exclusive = false, reverse = false;
  IndexExpr start, step = 1;
  std::vector<IndexExpr> pads_before;
  PadMode pad_mode = PadMode::kConstant;
  std::string equation;
  std::vector<IndexExpr> values;
  std::shared_ptr<const std::vector<std::byte>> data;
};

struct GraphTensor {
  std::string name;  // unique
  DType dtype = DType::kF32;
  Dims dims;
};

// An input whose value was used while the graph was built (a Reshape's shape, a Slice's starts):
// the program is right for this value only and checks it at run time.
struct SpecialisedInput {
  TensorId tensor = -1;
  std::shared_ptr<const std::vector<std::byte>> data;
};

struct Graph {
  std::string name;
  std::vector<SizeSymbol> symbols;   // sorted by name
  std::vector<GraphTensor> tensors;  // tensors[op.result]
  std::vector<GraphOp> ops;          // operands before users
  std::vector<TensorId> inputs;      // in the model's order; each has a kInput op
  std::vector<TensorId> outputs;     // in the model's order; may repeat, or be inputs or constants
  std::vector<std::string> output_names;
  std::vector<SpecialisedInput> specialised;

  RangeContext Ranges() const;  // of the size symbols
};

std::string ToText(const Graph& graph);  // one line an op, for --dump and golden tests

// Well-formedness: operand order, shapes and dtypes of every op. Internal error naming the op.
absl::Status Verify(const Graph& graph);

IndexExpr NumElements(const Dims& dims);

}  // namespace stax

#endif  // STAX_IR_GRAPH_H_
