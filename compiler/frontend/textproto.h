// The text frontend: a GraphDef (ir/artifact/graph.proto) in protobuf text format -> Graph.
//
//   name: "example_1_1"
//   input { name: "x" dtype: "f32" dims: "64" dims: "128" }
//   input { name: "w" dtype: "f32" dims: "64" dims: "128" }
//   constant { name: "two" dtype: "f32" values: 2 }
//   node { op: "add" input: "x" input: "w" output: "a" }
//   node { op: "relu" input: "a" output: "b" }
//   node { op: "mul" input: "b" input: "two" output: "c" }
//   node { op: "sum" input: "c" output: "y" axes: -1 }
//   output: "y"
//
// docs/graph.md lists the operators. Nodes may come in any order.
#ifndef STAX_COMPILER_FRONTEND_TEXTPROTO_H_
#define STAX_COMPILER_FRONTEND_TEXTPROTO_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "ir/graph.h"

namespace stax {

// InvalidArgument for text that is no GraphDef (with line and column) and for a graph that means
// nothing: names the node (or input, constant, output), what is wrong and what would be right.
absl::StatusOr<Graph> GraphFromTextProto(std::string_view text);

}  // namespace stax

#endif  // STAX_COMPILER_FRONTEND_TEXTPROTO_H_
