#include "compiler/frontend/textproto.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/frontend/suggest.h"
#include "compiler/frontend/textproto_ops.h"
#include "google/protobuf/io/tokenizer.h"
#include "google/protobuf/text_format.h"
#include "ir/artifact/graph.pb.h"
#include "ir/graph_builder.h"
#include "ir/scalar.h"

namespace stax {
namespace {

using Tensor = GraphBuilder::Tensor;

absl::Status Error(const std::string& where, const std::string& problem) {
  return absl::InvalidArgumentError(absl::StrCat(where, ": ", problem));
}

// Keeps the first error of the text format parser.
class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, google::protobuf::io::ColumnNumber column,
                const std::string& message) override {
    if (text_.empty())
      text_ = absl::StrCat("line ", line + 1, ", column ", column + 1, ": ", message);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

absl::StatusOr<GraphDef> ParseText(std::string_view text) {
  google::protobuf::TextFormat::Parser parser;
  FirstError error;
  parser.RecordErrorsTo(&error);
  GraphDef def;
  if (parser.ParseFromString(std::string(text), &def)) return def;
  return Error("graph text", error.text());
}

std::string Quoted(const std::string& kind, const std::string& name) {
  return absl::StrCat(kind, " '", name, "'");
}

std::string NodeName(const NodeDef& node) {
  return absl::StrCat(node.output(), " (", node.op(), ")");
}

class TextGraph {
 public:
  explicit TextGraph(const GraphDef& def)
      : def_(def), b_(def.name().empty() ? "graph" : def.name()) {}

  absl::StatusOr<Graph> Build();

 private:
  // Each does nothing after an error, and leaves its error in the builder.
  void AddSymbols();
  void AddInput(const InputDef& input);
  void AddConstant(const ConstantDef& constant);
  void AddNode(const NodeDef& node);
  void AddOutputs();

  // Whether the name is new; an error otherwise.
  bool TakeName(const std::string& kind, const std::string& name);
  absl::Status CheckNode(const NodeDef& node, const TextOp** op) const;
  // Nodes with the makers of their inputs before them; an error names a cycle.
  absl::StatusOr<std::vector<const NodeDef*>> OrderedNodes() const;
  std::vector<std::string> AllNames() const;

  const GraphDef& def_;
  GraphBuilder b_;
  std::map<std::string, Tensor> tensors_;            // built so far
  std::map<std::string, const NodeDef*> node_of_;    // by output
  std::map<std::string, std::string> kind_of_name_;  // "input", "constant" or "node"
};

absl::StatusOr<Graph> TextGraph::Build() {
  AddSymbols();
  for (const InputDef& input : def_.input()) AddInput(input);
  for (const ConstantDef& constant : def_.constant()) AddConstant(constant);
  for (const NodeDef& node : def_.node()) {
    if (TakeName("node", node.output())) node_of_[node.output()] = &node;
  }
  if (!b_.status().ok()) return b_.status();
  for (const NodeDef& node : def_.node()) {
    const TextOp* op = nullptr;
    if (absl::Status s = CheckNode(node, &op); !s.ok()) return s;
  }
  const auto nodes = OrderedNodes();
  if (!nodes.ok()) return nodes.status();
  for (const NodeDef* node : *nodes) AddNode(*node);
  b_.SetOrigin("");
  AddOutputs();
  return b_.Build();
}

void TextGraph::AddSymbols() {
  for (const SizeSymbolProto& proto : def_.symbol()) {
    SizeSymbol symbol;
    symbol.name = proto.name();
    if (proto.lower() != 0) symbol.lower = proto.lower();
    if (proto.upper() != 0) symbol.upper = proto.upper();
    if (proto.hint() != 0) {
      symbol.hint = proto.hint();
    } else if (symbol.lower <= symbol.upper) {
      symbol.hint = std::clamp(symbol.hint, symbol.lower, symbol.upper);
    }
    b_.Symbol(symbol);
  }
}

bool TextGraph::TakeName(const std::string& kind, const std::string& name) {
  if (!b_.status().ok()) return false;
  if (name.empty()) {
    b_.SetError(absl::InvalidArgumentError(
        absl::StrCat("the ", kind, kind == "node" ? " has no output name" : " has no name")));
    return false;
  }
  const auto [at, is_new] = kind_of_name_.emplace(name, kind);
  if (is_new) return true;
  b_.SetError(Error(Quoted(kind, name), absl::StrCat("the name is used twice, here and by ",
                                                     at->second == kind ? "another " : "the ",
                                                     at->second, "; names must be unique")));
  return false;
}

void TextGraph::AddInput(const InputDef& input) {
  if (!TakeName("input", input.name())) return;
  const std::string where = Quoted("input", input.name());
  const absl::StatusOr<DType> type = ParseDType(input.dtype());
  if (!type.ok()) {
    b_.SetError(Error(where, std::string(type.status().message())));
    return;
  }
  Dims dims;
  for (const std::string& text : input.dims()) {
    absl::StatusOr<IndexExpr> dim = IndexExpr::Parse(text);
    if (!dim.ok()) {
      b_.SetError(Error(where, absl::StrCat("dims '", text, "': ", dim.status().message())));
      return;
    }
    dims.push_back(*std::move(dim));
  }
  b_.SetOrigin(where);
  tensors_[input.name()] = b_.Input(input.name(), *type, std::move(dims));
  b_.SetOrigin("");
}

void TextGraph::AddConstant(const ConstantDef& constant) {
  if (!TakeName("constant", constant.name())) return;
  b_.SetOrigin(Quoted("constant", constant.name()));
  const auto fail = [&](const std::string& problem) {
    b_.SetError(absl::InvalidArgumentError(problem));
  };
  const absl::StatusOr<DType> type = ParseDType(constant.dtype());
  if (!type.ok()) return fail(std::string(type.status().message()));
  const bool floats = IsFloat(*type);
  const int count = floats ? constant.values_size() : constant.ints_size();
  if (count == 0 || (floats ? constant.ints_size() : constant.values_size()) != 0) {
    return fail(absl::StrCat(constant.dtype(), " elements are given as ",
                             floats ? "values: 0.5" : "ints: 1"));
  }
  std::vector<std::byte> data(static_cast<size_t>(count) * DTypeBytes(*type));
  for (int i = 0; i < count; ++i) {
    const Scalar element =
        floats ? Scalar::Float(*type, constant.values(i)) : Scalar::Int(*type, constant.ints(i));
    if (!floats && *type != DType::kU64 && element.i != constant.ints(i)) {
      return fail(absl::StrCat(constant.ints(i), " does not fit in ", constant.dtype()));
    }
    StoreScalar(element, data.data() + i * DTypeBytes(*type));
  }
  const Dims dims(constant.dims().begin(), constant.dims().end());
  // One value stays a scalar: a large filled tensor then needs no memory.
  tensors_[constant.name()] = count == 1 ? b_.Expand(b_.Constant(*type, {}, std::move(data)), dims)
                                         : b_.Constant(*type, dims, std::move(data));
  b_.SetOrigin("");
}

// Names of the fields that are set but do not apply to the operator.
std::string StrayAttribute(const NodeDef& node, const TextOp& op) {
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  NodeDef::GetReflection()->ListFields(node, &fields);
  for (const auto* field : fields) {
    const std::string& name = field->name();
    if (name == "op" || name == "input" || name == "output") continue;
    if (std::find(op.attributes.begin(), op.attributes.end(), name) == op.attributes.end()) {
      return name;
    }
  }
  return "";
}

// What is wrong with the number of inputs, with a hint where names are easily mixed up.
std::string InputCountProblem(const NodeDef& node, const TextOp& op) {
  const int count = node.input_size();
  if (count >= op.min_inputs && (op.max_inputs < 0 || count <= op.max_inputs)) return "";
  std::string wanted = absl::StrCat(op.min_inputs);
  if (op.max_inputs < 0) {
    absl::StrAppend(&wanted, " or more");
  } else if (op.max_inputs > op.min_inputs) {
    absl::StrAppend(&wanted, " to ", op.max_inputs);
  }
  const bool reduction = TextOps().count(absl::StrCat("reduce_", node.op())) != 0;
  return absl::StrCat(
      "takes ", wanted, wanted == "1" ? " input" : " inputs", ", not ", count,
      reduction && count == 1 ? absl::StrCat("; to reduce a tensor use reduce_", node.op()) : "");
}

absl::Status TextGraph::CheckNode(const NodeDef& node, const TextOp** op) const {
  const auto at = TextOps().find(node.op());
  if (at == TextOps().end()) {
    std::vector<std::string> known;
    for (const auto& [name, unused] : TextOps()) known.push_back(name);
    return Error(Quoted("node", node.output()),
                 absl::StrCat("unknown op '", node.op(), "', ", Suggest(node.op(), known)));
  }
  *op = &at->second;
  if (const std::string problem = InputCountProblem(node, **op); !problem.empty()) {
    return Error(NodeName(node), problem);
  }
  for (const std::string& input : node.input()) {
    if (kind_of_name_.count(input) != 0) continue;
    return Error(NodeName(node),
                 absl::StrCat("unknown input '", input, "', ", Suggest(input, AllNames())));
  }
  if (const std::string stray = StrayAttribute(node, **op); !stray.empty()) {
    const auto& attributes = (*op)->attributes;
    return Error(NodeName(node),
                 absl::StrCat("attribute '", stray, "' does not apply; ",
                              attributes.empty()
                                  ? "it takes none"
                                  : absl::StrCat("it takes ", absl::StrJoin(attributes, ", "))));
  }
  return absl::OkStatus();
}

std::vector<std::string> TextGraph::AllNames() const {
  std::vector<std::string> names;
  for (const auto& [name, unused] : kind_of_name_) names.push_back(name);
  return names;
}

// Depth first with a stack of its own: a file may hold a chain of any length.
absl::StatusOr<std::vector<const NodeDef*>> TextGraph::OrderedNodes() const {
  std::vector<const NodeDef*> ordered;
  std::set<const NodeDef*> done, active;
  for (const NodeDef& root : def_.node()) {
    std::vector<std::pair<const NodeDef*, int>> path;  // node, inputs looked at
    if (done.count(&root) == 0) path.emplace_back(&root, 0);
    while (!path.empty()) {
      auto& [node, next] = path.back();
      active.insert(node);
      if (next == node->input_size()) {
        ordered.push_back(node);
        active.erase(node);
        done.insert(node);
        path.pop_back();
        continue;
      }
      const auto at = node_of_.find(node->input(next++));
      if (at == node_of_.end() || done.count(at->second) != 0) continue;
      if (active.count(at->second) == 0) {
        path.emplace_back(at->second, 0);
        continue;
      }
      std::vector<std::string> cycle;
      for (const auto& [on_path, unused] : path) {
        if (on_path == at->second || !cycle.empty()) cycle.push_back(on_path->output());
      }
      cycle.push_back(at->second->output());
      return Error(NodeName(*at->second),
                   absl::StrCat("needs its own result: ", absl::StrJoin(cycle, " from ")));
    }
  }
  return ordered;
}

void TextGraph::AddNode(const NodeDef& node) {
  if (!b_.status().ok()) return;
  std::vector<Tensor> inputs;
  for (const std::string& input : node.input()) inputs.push_back(tensors_.at(input));
  b_.SetOrigin(NodeName(node));
  TextNode text_node(&b_, node, std::move(inputs));
  tensors_[node.output()] = TextOps().at(node.op()).build(text_node);
}

void TextGraph::AddOutputs() {
  if (!b_.status().ok()) return;
  if (def_.output().empty()) {
    b_.SetError(absl::InvalidArgumentError("the graph has no output; write output: \"name\""));
  }
  for (const std::string& output : def_.output()) {
    const auto at = tensors_.find(output);
    if (at == tensors_.end()) {
      b_.SetError(Error(Quoted("output", output),
                        absl::StrCat("no tensor has this name, ", Suggest(output, AllNames()))));
      return;
    }
    b_.Output(output, at->second);
  }
}

}  // namespace

absl::StatusOr<Graph> GraphFromTextProto(std::string_view text) {
  const absl::StatusOr<GraphDef> def = ParseText(text);
  if (!def.ok()) return def.status();
  return TextGraph(*def).Build();
}

}  // namespace stax
