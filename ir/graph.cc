#include "ir/graph.h"

#include <algorithm>
#include <cctype>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "ir/graph_rules.h"

namespace stax {
namespace {

// Constants are printed in full up to this many elements, longer ones by their first and a hash.
constexpr int64_t kPrintedElements = 8;

std::string NameText(std::string_view name) {
  const bool plain = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) ||
           std::string_view("_.%/:-").find(c) != std::string_view::npos;
  });
  return plain ? std::string(name) : absl::StrCat("\"", absl::CEscape(std::string(name)), "\"");
}

std::string OneLine(std::string text) {
  for (char& c : text) {
    if (std::iscntrl(static_cast<unsigned char>(c))) c = ' ';
  }
  return text;
}

template <typename T>
std::string ListText(const std::vector<T>& values) {
  return absl::StrCat("[", absl::StrJoin(values, ", "), "]");
}

// FNV-1a, 64 bits: tells constants apart in dumps, on every platform alike.
uint64_t Hash(const std::vector<std::byte>& data) {
  uint64_t hash = 0xcbf29ce484222325;
  for (std::byte b : data) hash = (hash ^ std::to_integer<uint64_t>(b)) * 0x100000001b3;
  return hash;
}

std::string DataText(DType dtype, const std::vector<std::byte>& data) {
  const int64_t count = static_cast<int64_t>(data.size()) / DTypeBytes(dtype);
  std::vector<std::string> values;
  for (int64_t i = 0; i < std::min(count, kPrintedElements); ++i) {
    values.push_back(ToText(LoadScalar(dtype, data.data() + i * DTypeBytes(dtype))));
  }
  std::string text = absl::StrJoin(values, ", ");
  if (count > kPrintedElements) {
    absl::StrAppend(&text, ", ... #", absl::StrFormat("%016x", Hash(data)));
  }
  return absl::StrCat("{", text, "}");
}

std::string OpText(const GraphOp& op) {
  if (op.kind == GraphOpKind::kElementwise) return std::string(OpName(op.code));
  std::string text(GraphOpName(op.kind));
  if (op.kind == GraphOpKind::kReduce || op.kind == GraphOpKind::kCumulative) {
    absl::StrAppend(&text, ".", std::string(ReduceName(op.reduce)));
  }
  return text;
}

// ", axis 1" and the like.
std::string AttributeText(const GraphOp& op) {
  switch (op.kind) {
    case GraphOpKind::kReduce:
      return absl::StrCat(", axes ", ListText(op.axes));
    case GraphOpKind::kTranspose:
      return absl::StrCat(", perm ", ListText(op.axes));
    case GraphOpKind::kCumulative:
      return absl::StrCat(", axis ", op.axis, op.exclusive ? ", exclusive" : "",
                          op.reverse ? ", reverse" : "");
    case GraphOpKind::kIota:
    case GraphOpKind::kConcat:
    case GraphOpKind::kGather:
    case GraphOpKind::kGatherElements:
      return absl::StrCat(", axis ", op.axis);
    case GraphOpKind::kEinsum:
      return absl::StrCat(", \"", op.equation, "\"");
    case GraphOpKind::kSlice:
      return absl::StrCat(", axis ", op.axis, ", start ", op.start.ToString(), ", step ",
                          op.step.ToString());
    case GraphOpKind::kPad:
      return absl::StrCat(", before ", ShapeText(op.pads_before), ", ",
                          std::string(PadModeName(op.pad_mode)));
    case GraphOpKind::kShapeValue:
      return absl::StrCat(", values ", ShapeText(op.values));
    default:
      return "";
  }
}

std::string OpLine(const Graph& graph, const GraphOp& op) {
  const GraphTensor& result = graph.tensors[op.result];
  std::string text = absl::StrCat("  ", NameText(result.name), " = ", OpText(op));
  std::string arguments = absl::StrJoin(op.operands, ", ", [&](std::string* out, TensorId id) {
    out->append(NameText(graph.tensors[id].name));
  });
  if (op.data != nullptr) arguments = DataText(result.dtype, *op.data);
  absl::StrAppend(&arguments, AttributeText(op));
  // An op without operands starts with its attributes.
  std::string_view rest = arguments;
  if (rest.substr(0, 2) == ", ") rest.remove_prefix(2);
  if (!rest.empty()) absl::StrAppend(&text, " ", std::string(rest));
  absl::StrAppend(&text, " : ", TypeText(result.dtype, result.dims));
  if (!op.origin.empty()) absl::StrAppend(&text, "  # ", OneLine(op.origin));
  return text;
}

}  // namespace

std::string_view GraphOpName(GraphOpKind kind) {
  switch (kind) {
    case GraphOpKind::kInput:
      return "input";
    case GraphOpKind::kConstant:
      return "constant";
    case GraphOpKind::kShapeValue:
      return "shape_value";
    case GraphOpKind::kIota:
      return "iota";
    case GraphOpKind::kElementwise:
      return "elementwise";
    case GraphOpKind::kCast:
      return "cast";
    case GraphOpKind::kSelect:
      return "select";
    case GraphOpKind::kReduce:
      return "reduce";
    case GraphOpKind::kCumulative:
      return "cumulative";
    case GraphOpKind::kEinsum:
      return "einsum";
    case GraphOpKind::kReshape:
      return "reshape";
    case GraphOpKind::kTranspose:
      return "transpose";
    case GraphOpKind::kExpand:
      return "expand";
    case GraphOpKind::kSlice:
      return "slice";
    case GraphOpKind::kPad:
      return "pad";
    case GraphOpKind::kConcat:
      return "concat";
    case GraphOpKind::kGather:
      return "gather";
    case GraphOpKind::kGatherElements:
      return "gather_elements";
  }
  return "unknown";
}

std::string_view PadModeName(PadMode mode) {
  switch (mode) {
    case PadMode::kConstant:
      return "constant";
    case PadMode::kReflect:
      return "reflect";
    case PadMode::kEdge:
      return "edge";
  }
  return "unknown";
}

RangeContext Graph::Ranges() const {
  RangeContext ranges;
  for (const SizeSymbol& s : symbols) ranges.AddSize(s.name, s.lower, s.upper);
  return ranges;
}

std::string ToText(const Graph& graph) {
  std::string text = absl::StrCat("graph ", NameText(graph.name), " {\n");
  for (const SizeSymbol& s : graph.symbols) {
    absl::StrAppend(&text, "  symbol ", s.name, ": ", s.lower, " to ", s.upper, ", hint ", s.hint,
                    "\n");
  }
  for (const GraphOp& op : graph.ops) absl::StrAppend(&text, OpLine(graph, op), "\n");
  for (const SpecialisedInput& s : graph.specialised) {
    const GraphTensor& input = graph.tensors[s.tensor];
    absl::StrAppend(&text, "  specialised ", NameText(input.name), " = ",
                    DataText(input.dtype, *s.data), "\n");
  }
  for (size_t k = 0; k < graph.outputs.size(); ++k) {
    absl::StrAppend(&text, "  output ", NameText(graph.output_names[k]), " = ",
                    NameText(graph.tensors[graph.outputs[k]].name), "\n");
  }
  return text + "}\n";
}

IndexExpr NumElements(const Dims& dims) { return Product(dims); }

}  // namespace stax
