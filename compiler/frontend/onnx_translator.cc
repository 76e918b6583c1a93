#include "compiler/frontend/onnx_translator.h"

#include <algorithm>
#include <climits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "compiler/frontend/onnx_ops.h"
#include "compiler/frontend/onnx_status.h"

namespace stax {
namespace {

using google::protobuf::RepeatedPtrField;
using onnx::AttributeProto;
using onnx::NodeProto;

// Up to 17 by ONNX's own tests, the rest by what changed in each operator.
constexpr int kMaxOpset = 20;
// Functions and subgraphs nest; a function that calls itself would never end.
constexpr int kMaxDepth = 32;
// Nodes after functions are expanded. Calls of calls grow exponentially, so the total is bounded.
constexpr int64_t kMaxNodes = int64_t{1} << 18;

std::string DomainOf(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

std::string DomainText(const std::string& domain) { return domain.empty() ? "ai.onnx" : domain; }

// "operator Conv (ai.onnx 11)"
std::string OperatorText(const NodeProto& node, const std::map<std::string, int>& opsets) {
  const std::string domain = DomainOf(node.domain());
  const auto at = opsets.find(domain);
  return OnnxText("operator ", node.op_type(), " (", DomainText(domain),
                  at == opsets.end() ? "" : OnnxText(" ", at->second), ")");
}

// Adds the node's place to an error, and the operator's name to what is not supported.
absl::Status Annotate(const absl::Status& status, const NodeProto& node,
                      const std::map<std::string, int>& opsets) {
  if (status.ok()) return status;
  if (status.code() == absl::StatusCode::kUnimplemented) {
    if (absl::StartsWith(status.message(), "operator ")) return status;  // from a subgraph
    return absl::UnimplementedError(OnnxText(OperatorText(node, opsets), ": ", status.message()));
  }
  return absl::Status(status.code(), OnnxText(DescribeOnnxNode(node), ": ", status.message()));
}

}  // namespace

std::string DescribeOnnxNode(const NodeProto& node) {
  if (!node.name().empty()) return OnnxText("node '", node.name(), "' (", node.op_type(), ")");
  const std::string output = node.output_size() > 0 ? node.output(0) : "nothing";
  return OnnxText("node making '", output, "' (", node.op_type(), ")");
}

OnnxTranslator::OnnxTranslator(const onnx::ModelProto& model, const OnnxOptions& options)
    : model_(model),
      options_(options),
      builder_(model.graph().name().empty() ? "graph" : model.graph().name()) {}

absl::StatusOr<Graph> OnnxTranslator::Translate() {
  if (!model_.has_graph()) return OnnxError("the model has no graph");
  for (const onnx::FunctionProto& f : model_.functions()) {
    // Newer fields, such as default values of attributes, would change what the function means.
    if (!f.unknown_fields().empty())
      return absl::UnimplementedError(
          OnnxText("function '", f.name(), "' has fields of a later IR version than 8"));
    if (!functions_.emplace(std::make_pair(DomainOf(f.domain()), f.name()), &f).second)
      return OnnxError("function '", f.name(), "' of domain '", f.domain(), "' is defined twice");
  }
  Scope scope;
  ONNX_ASSIGN_OR_RETURN(scope.opsets, Opsets(model_.opset_import()));
  ONNX_RETURN_IF_ERROR(CheckOperators(model_.graph(), scope));
  ONNX_RETURN_IF_ERROR(AddInitialisers(model_.graph(), scope));
  ONNX_RETURN_IF_ERROR(AddInputs(model_.graph(), scope));
  ONNX_RETURN_IF_ERROR(TranslateNodes(model_.graph().node(), scope));
  ONNX_RETURN_IF_ERROR(AddOutputs(model_.graph(), scope));
  return builder_.Build();
}

absl::StatusOr<std::map<std::string, int>> OnnxTranslator::Opsets(
    const RepeatedPtrField<onnx::OperatorSetIdProto>& imports) const {
  std::map<std::string, int> opsets;
  for (const onnx::OperatorSetIdProto& import : imports) {
    const std::string domain = DomainOf(import.domain());
    if (import.version() < 1 || import.version() > INT_MAX)
      return OnnxError("operator set version ", import.version(), " of domain ", DomainText(domain),
                       " must be at least 1");
    if (domain.empty() && import.version() > kMaxOpset)
      return absl::UnimplementedError(OnnxText("operator set ai.onnx ", import.version(),
                                               "; sets up to ", kMaxOpset, " are supported"));
    if (!opsets.emplace(domain, static_cast<int>(import.version())).second)
      return OnnxError("domain ", DomainText(domain), " is imported twice");
  }
  // Before IR version 3 models did not say.
  if (opsets.count("") == 0 && model_.ir_version() < 3) opsets[""] = 1;
  return opsets;
}

// All at once and first, so that what is not supported is said before any other trouble.
absl::Status OnnxTranslator::CheckOperators(const onnx::GraphProto& graph,
                                            const Scope& scope) const {
  for (const NodeProto& node : graph.node()) {
    if (FindFunction(node) != nullptr) continue;
    const std::string domain = DomainOf(node.domain());
    const bool known =
        domain.empty() && (node.op_type() == "If" || FindOnnxOp(node.op_type()) != nullptr);
    if (!known) return absl::UnimplementedError(OperatorText(node, scope.opsets));
    // Of an If only the branch taken matters, so both must be out of reach.
    absl::Status branches;
    for (const AttributeProto& a : node.attribute()) {
      if (!a.has_g()) continue;
      branches = CheckOperators(a.g(), scope);
      if (branches.ok()) break;
    }
    ONNX_RETURN_IF_ERROR(branches);
  }
  return absl::OkStatus();
}

absl::Status OnnxTranslator::TranslateNodes(const RepeatedPtrField<NodeProto>& nodes,
                                            Scope& scope) {
  for (const NodeProto& node : nodes) {
    if (++nodes_translated_ > kMaxNodes)
      return OnnxError("the model has more than ", kMaxNodes, " nodes, functions expanded");
    const absl::Status status = TranslateNode(node, scope);
    // GraphBuilder's error came first, and names the node already.
    if (!builder_.status().ok()) return builder_.status();
    ONNX_RETURN_IF_ERROR(Annotate(status, node, scope.opsets));
  }
  return absl::OkStatus();
}

absl::Status OnnxTranslator::TranslateNode(const NodeProto& proto, Scope& scope) {
  OnnxAttributes attributes;
  for (const AttributeProto& a : proto.attribute()) {
    const AttributeProto* value = &a;
    if (!a.ref_attr_name().empty()) {
      if (scope.attributes == nullptr)
        return OnnxError("attribute '", a.name(), "' refers to '", a.ref_attr_name(),
                         "', which only bodies of functions can do");
      const auto at = scope.attributes->find(a.ref_attr_name());
      if (at == scope.attributes->end()) continue;  // the caller left it out
      value = at->second;
    }
    if (!attributes.emplace(a.name(), value).second)
      return OnnxError("attribute '", a.name(), "' is given twice");
  }
  std::vector<OnnxOperandPtr> inputs;
  for (int i = 0; i < proto.input_size(); ++i) {
    inputs.emplace_back();
    if (proto.input(i).empty()) continue;
    if (!Find(scope, proto.input(i), &inputs.back()))
      return OnnxError("input ", i, " '", proto.input(i),
                       "' is not an input of the graph, an initializer or an output of an earlier "
                       "node (nodes must be sorted)");
    if (inputs.back() != nullptr && !inputs.back()->unsupported.empty())
      return absl::UnimplementedError(
          OnnxText(inputs.back()->unsupported, " (input ", i, " '", proto.input(i), "')"));
  }
  const auto opset = scope.opsets.find(DomainOf(proto.domain()));
  if (opset == scope.opsets.end() && FindFunction(proto) == nullptr)
    return OnnxError("the model imports no operator set of domain ", DomainText(proto.domain()));

  builder_.SetOrigin(OnnxText(scope.path, DescribeOnnxNode(proto)));
  const OnnxNode::Context context = {&builder_, [this](const std::string& i) { Specialise(i); }};
  OnnxNode node(proto, opset == scope.opsets.end() ? 1 : opset->second, std::move(attributes),
                std::move(inputs), context);
  ONNX_RETURN_IF_ERROR(Dispatch(node, scope));
  return Finish(node, scope);
}

absl::Status OnnxTranslator::Dispatch(OnnxNode& node, Scope& scope) {
  if (const onnx::FunctionProto* f = FindFunction(node.proto()); f != nullptr)
    return CallFunction(*f, node, scope);
  if (!DomainOf(node.proto().domain()).empty())
    return absl::UnimplementedError(OperatorText(node.proto(), scope.opsets));
  if (node.op_type() == "If") return InlineIf(node, scope);
  return CallOperator(node);
}

absl::Status OnnxTranslator::CallOperator(OnnxNode& node) {
  const OnnxOp* op = FindOnnxOp(node.op_type());
  if (op == nullptr) return absl::UnimplementedError("not supported");
  if (node.opset() < op->since)
    return OnnxError("the operator exists from operator set ", op->since, " on, the model uses ",
                     node.opset());
  const int n = node.num_inputs();
  if (n < op->min_inputs || n > op->max_inputs)
    return OnnxError("there are ", n, " inputs; there must be ",
                     op->min_inputs == op->max_inputs ? ""
                     : n < op->min_inputs             ? "at least "
                                                      : "at most ",
                     n < op->min_inputs ? op->min_inputs : op->max_inputs);
  for (int i = 0; i < op->min_inputs; ++i)
    if (!node.Has(i)) return OnnxError("input ", i, " is left out, but it is required");

  std::optional<std::vector<FoldedOutput>> folded = FoldOnnxNode(node);
  if (folded.has_value()) {
    const bool unconditional =
        std::all_of(folded->begin(), folded->end(),
                    [](const FoldedOutput& f) { return f.value.assumes.empty(); });
    // What relies on the given value of an input may be used as a shape (and specialises then), but
    // its data must come from the input itself.
    if (!unconditional) ONNX_RETURN_IF_ERROR(op->translate(node));
    for (size_t i = 0; i < folded->size(); ++i) {
      FoldedOutput& f = (*folded)[i];
      const int output = static_cast<int>(i);
      unconditional ? node.SetIndex(output, f.dtype, std::move(f.value))
                    : node.AttachIndex(output, std::move(f.value));
    }
  } else {
    ONNX_RETURN_IF_ERROR(op->translate(node));
  }
  return node.attribute_status();
}

absl::Status OnnxTranslator::CallFunction(const onnx::FunctionProto& function, OnnxNode& node,
                                          const Scope& caller) {
  if (caller.depth >= kMaxDepth)
    return OnnxError("functions and subgraphs nest deeper than ", kMaxDepth,
                     "; does the function call itself?");
  if (node.num_inputs() > function.input_size())
    return OnnxError("there are ", node.num_inputs(), " inputs; the function has ",
                     function.input_size());
  Scope body;
  ONNX_ASSIGN_OR_RETURN(body.opsets, Opsets(function.opset_import()));
  for (const auto& [domain, version] : caller.opsets) body.opsets.emplace(domain, version);
  body.attributes = &node.attributes();
  body.path = OnnxText(caller.path, DescribeOnnxNode(node.proto()), " / ");
  body.depth = caller.depth + 1;
  for (int i = 0; i < function.input_size(); ++i)
    ONNX_RETURN_IF_ERROR(Define(body, function.input(i), node.Has(i) ? node.Operand(i) : nullptr));
  ONNX_RETURN_IF_ERROR(TranslateNodes(function.node(), body));
  for (int i = 0; i < function.output_size() && i < node.num_outputs(); ++i) {
    OnnxOperandPtr result;
    if (!Find(body, function.output(i), &result) || result == nullptr)
      return OnnxError("the function's output '", function.output(i), "' is made by no node");
    node.Set(i, std::move(result));
  }
  return absl::OkStatus();
}

absl::Status OnnxTranslator::InlineIf(OnnxNode& node, const Scope& scope) {
  if (node.num_inputs() != 1 || !node.Has(0)) return OnnxError("If has one input, the condition");
  const AttributeProto* branches[2] = {node.Attr("else_branch", AttributeProto::GRAPH),
                                       node.Attr("then_branch", AttributeProto::GRAPH)};
  ONNX_RETURN_IF_ERROR(node.attribute_status());
  if (branches[0] == nullptr || branches[1] == nullptr)
    return OnnxError("attributes then_branch and else_branch are required");
  if (scope.depth >= kMaxDepth) return OnnxError("subgraphs nest deeper than ", kMaxDepth);
  const absl::StatusOr<int64_t> condition = node.IntScalarInput(0, "condition");
  if (!condition.ok()) {
    // Computed from what is known already: then it is data.
    const std::vector<std::string>& sources = node.Operand(0)->sources;
    const bool all_known = std::all_of(
        sources.begin(), sources.end(),
        [&](const std::string& input) { return options_.known_inputs.count(input) > 0; });
    if (!all_known) return condition.status();
    return absl::UnimplementedError("a condition that is computed while the program runs");
  }

  const onnx::GraphProto& graph = branches[*condition != 0]->g();
  Scope body;
  body.parent = &scope;
  body.opsets = scope.opsets;
  body.attributes = scope.attributes;
  body.path = scope.path;
  body.depth = scope.depth + 1;
  ONNX_RETURN_IF_ERROR(AddInitialisers(graph, body));
  ONNX_RETURN_IF_ERROR(TranslateNodes(graph.node(), body));
  if (graph.output_size() != node.num_outputs())
    return OnnxError("the branch has ", graph.output_size(), " outputs, the node ",
                     node.num_outputs());
  for (int i = 0; i < graph.output_size(); ++i) {
    OnnxOperandPtr result;
    if (!Find(body, graph.output(i).name(), &result) || result == nullptr)
      return OnnxError("the branch's output '", graph.output(i).name(), "' is made by no node");
    node.Set(i, std::move(result));
  }
  return absl::OkStatus();
}

absl::Status OnnxTranslator::Finish(OnnxNode& node, Scope& scope) {
  ONNX_RETURN_IF_ERROR(builder_.status());
  std::vector<std::string> sources;
  // Shapes hold whatever the contents are.
  const bool of_shape = node.op_type() == "Shape" || node.op_type() == "Size";
  for (int i = 0; i < node.num_inputs() && !of_shape; ++i) {
    if (!node.Has(i)) continue;
    for (const std::string& name : node.Operand(i)->sources) {
      constexpr size_t kEnoughForAMessage = 4;
      if (sources.size() < kEnoughForAMessage &&
          std::find(sources.begin(), sources.end(), name) == sources.end())
        sources.push_back(name);
    }
  }
  for (int i = 0; i < node.num_outputs(); ++i) {
    if (!node.Wants(i)) continue;
    const OnnxOperandPtr& output = node.outputs()[i];
    if (output == nullptr)
      return absl::UnimplementedError(OnnxText("output ", i, " '", node.proto().output(i), "'"));
    if (output->sources.empty() && output->input.empty()) output->sources = sources;
    ONNX_RETURN_IF_ERROR(Define(scope, node.proto().output(i), output));
  }
  return absl::OkStatus();
}

const onnx::FunctionProto* OnnxTranslator::FindFunction(const NodeProto& node) const {
  const auto at = functions_.find({DomainOf(node.domain()), node.op_type()});
  return at == functions_.end() ? nullptr : at->second;
}

bool OnnxTranslator::Find(const Scope& scope, std::string_view name, OnnxOperandPtr* operand) {
  for (const Scope* s = &scope; s != nullptr; s = s->parent) {
    const auto at = s->values.find(name);
    if (at == s->values.end()) continue;
    *operand = at->second;
    return true;
  }
  return false;
}

absl::Status OnnxTranslator::Define(Scope& scope, const std::string& name, OnnxOperandPtr operand) {
  if (scope.values.emplace(name, std::move(operand)).second) return absl::OkStatus();
  return OnnxError("the name '", name, "' is used for two tensors; each needs its own");
}

void OnnxTranslator::Specialise(const std::string& input) {
  const OnnxOperand& operand = *inputs_.at(input);
  if (!std::all_of(operand.dims.begin(), operand.dims.end(),
                   [](const IndexExpr& d) { return d.IsConst(); })) {
    builder_.SetError(absl::FailedPreconditionError(
        OnnxText("input '", input,
                 "' decides a shape, but its own size is open: fix it "
                 "(input_dims)")));
    return;
  }
  builder_.Specialise(*operand.tensor, operand.known->bytes);
}

}  // namespace stax
