// Executes a Graph op by op on concrete inputs: the oracle that lowering and generated code are
// checked against.
//
//   auto outputs = InterpretGraph(graph, {{"n", 7}}, {{"x", x_bytes}});
//   (*outputs)["y"]  // row-major bytes of the output named "y"
//
// Loops are as naive as in a definition and share nothing with the lowering. What a scalar op, a
// cast and a step of a reduction compute is ir/op_semantics.h and ir/reducer.h, as in
// ir/interpreter.h, and `precision` means what it means there: by default f32 is computed in f64
// and rounded where it is stored, in an output. Half results are rounded after every op; sums of an
// einsum are taken in f64 and rounded once.
#ifndef STAX_IR_GRAPH_INTERPRETER_H_
#define STAX_IR_GRAPH_INTERPRETER_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "ir/graph.h"
#include "ir/interpreter.h"
#include "ir/op_semantics.h"

namespace stax {

// The outputs by output name. `inputs` holds the bytes of every input by tensor name, `sizes` a
// value of every symbol. InvalidArgument for a missing, wrongly sized or (where the graph is
// specialised) wrong input, for a size outside its symbol's range, and for a tensor of more than
// 2^28 elements. The graph is well-formed (Verify).
absl::StatusOr<std::map<std::string, Bytes>> InterpretGraph(
    const Graph& graph, const std::map<std::string, int64_t>& sizes,
    const std::map<std::string, Bytes>& inputs, Precision precision = Precision::kDouble);

}  // namespace stax

#endif  // STAX_IR_GRAPH_INTERPRETER_H_
