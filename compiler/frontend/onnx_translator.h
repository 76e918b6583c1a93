// Walks an ONNX graph in order and calls each operator's translation (onnx_ops.h).
//
// Also what is not an operator: initialisers, inputs with their size symbols, model-local functions
// (translated in place, by their bodies) and If with a condition known while compiling.
#ifndef STAX_COMPILER_FRONTEND_ONNX_TRANSLATOR_H_
#define STAX_COMPILER_FRONTEND_ONNX_TRANSLATOR_H_

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/frontend/onnx.h"
#include "compiler/frontend/onnx_node.h"

namespace stax {

class OnnxTranslator {
 public:
  OnnxTranslator(const onnx::ModelProto& model, const OnnxOptions& options);

  absl::StatusOr<Graph> Translate();

 private:
  // Names of a graph or of a function's body. A name with a null operand is an optional input that
  // the caller of the function left out.
  struct Scope {
    const Scope* parent = nullptr;  // of a subgraph: the graph around it
    std::map<std::string, OnnxOperandPtr, std::less<>> values;
    std::map<std::string, int> opsets;           // by domain; "" for ai.onnx
    const OnnxAttributes* attributes = nullptr;  // of the call, in a function's body
    std::string path;  // origin of what is translated, "" outside of functions
    int depth = 0;
  };

  absl::StatusOr<std::map<std::string, int>> Opsets(
      const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>& imports) const;

  static absl::Status AddInitialisers(const onnx::GraphProto& graph, Scope& scope);
  absl::Status AddInputs(const onnx::GraphProto& graph, Scope& scope);
  absl::StatusOr<Dims> InputDims(const onnx::ValueInfoProto& input);
  absl::Status AddInput(const onnx::ValueInfoProto& input, Scope& scope);
  absl::Status CheckKnownInput(const std::string& name, const OnnxOperand& operand) const;
  absl::Status AddOutputs(const onnx::GraphProto& graph, const Scope& scope);

  // Size symbols of the inputs.
  absl::Status DeclareSymbols(const onnx::GraphProto& graph, const Scope& scope);
  absl::Status DeclareSymbol(const std::string& name, const std::string& param, int num_symbols,
                             int64_t example);
  IndexExpr DimSymbol(const std::string& input, int axis, const std::string& param) const;

  absl::Status CheckOperators(const onnx::GraphProto& graph, const Scope& scope) const;
  absl::Status TranslateNodes(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes,
                              Scope& scope);
  absl::Status TranslateNode(const onnx::NodeProto& proto, Scope& scope);
  absl::Status Dispatch(OnnxNode& node, Scope& scope);
  static absl::Status CallOperator(OnnxNode& node);
  absl::Status CallFunction(const onnx::FunctionProto& function, OnnxNode& node,
                            const Scope& caller);
  absl::Status InlineIf(OnnxNode& node, const Scope& scope);
  absl::Status Finish(OnnxNode& node, Scope& scope);

  const onnx::FunctionProto* FindFunction(const onnx::NodeProto& node) const;
  // False if the name is unknown; a null operand is an input left out.
  static bool Find(const Scope& scope, std::string_view name, OnnxOperandPtr* operand);
  static absl::Status Define(Scope& scope, const std::string& name, OnnxOperandPtr operand);
  void Specialise(const std::string& input);

  const onnx::ModelProto& model_;
  const OnnxOptions& options_;
  GraphBuilder builder_;
  std::map<std::pair<std::string, std::string>, const onnx::FunctionProto*> functions_;
  std::map<std::string, std::string> symbol_of_param_;
  std::map<std::string, int64_t> fixed_params_;  // dim_params that input_dims gives a size
  std::map<std::pair<std::string, int>, std::string> symbol_of_axis_;  // unnamed dims
  std::map<std::string, OnnxOperandPtr> inputs_;
  int64_t nodes_translated_ = 0;
};

// "node 'add_3' (Add)", or "node making 'y' (Add)" for one without a name.
std::string DescribeOnnxNode(const onnx::NodeProto& node);

}  // namespace stax

#endif  // STAX_COMPILER_FRONTEND_ONNX_TRANSLATOR_H_
