// The operators of the text frontend: for each name the number of inputs, the attributes that
// apply, and the GraphBuilder calls it stands for.
#ifndef STAX_COMPILER_FRONTEND_TEXTPROTO_OPS_H_
#define STAX_COMPILER_FRONTEND_TEXTPROTO_OPS_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "google/protobuf/repeated_field.h"
#include "ir/artifact/graph.pb.h"
#include "ir/graph_builder.h"

namespace stax {

// A node whose inputs have been built. Errors go to the builder.
class TextNode {
 public:
  using Tensor = GraphBuilder::Tensor;

  TextNode(GraphBuilder* builder, const NodeDef& def, std::vector<Tensor> inputs)
      : b(*builder), def(def), inputs(std::move(inputs)) {}

  // Records an InvalidArgument; the result is no tensor.
  Tensor Fail(const std::string& problem);

  // The only axis. Without a default it must be given.
  std::optional<int> Axis(std::optional<int> if_missing = std::nullopt);
  std::vector<int> Axes() const { return {def.axes().begin(), def.axes().end()}; }

  // The formulas of a field called `field`.
  std::optional<std::vector<IndexExpr>> Formulas(
      std::string_view field, const google::protobuf::RepeatedPtrField<std::string>& texts);
  std::optional<DType> Type();

  GraphBuilder& b;
  const NodeDef& def;
  const std::vector<Tensor> inputs;
};

struct TextOp {
  int min_inputs = 1;
  int max_inputs = 1;                   // -1: any number
  std::vector<std::string> attributes;  // fields of NodeDef that apply
  std::function<GraphBuilder::Tensor(TextNode&)> build;
};

// By name.
const std::map<std::string, TextOp>& TextOps();

}  // namespace stax

#endif  // STAX_COMPILER_FRONTEND_TEXTPROTO_OPS_H_
