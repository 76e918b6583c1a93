// Verify(Graph): the executable specification of a well-formed graph, op by op.
#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "absl/strings/str_cat.h"
#include "ir/einsum.h"
#include "ir/graph.h"
#include "ir/graph_rules.h"

namespace stax {
namespace {

std::string KindText(const GraphOp& op) {
  std::string text(GraphOpName(op.kind));
  if (op.kind == GraphOpKind::kElementwise)
    absl::StrAppend(&text, " ", std::string(OpName(op.code)));
  return text;
}

class Verifier {
 public:
  explicit Verifier(const Graph& graph) : graph_(graph), ranges_(graph.Ranges()) {}

  absl::Status Run() {
    if (absl::Status s = CheckTensors(); !s.ok()) return s;
    std::vector<bool> defined(graph_.tensors.size(), false);
    for (size_t k = 0; k < graph_.ops.size(); ++k) {
      const std::string problem = CheckOp(graph_.ops[k], defined);
      if (problem.empty()) continue;
      return absl::InternalError(absl::StrCat("graph ", graph_.name, ", op ", k, " (",
                                              KindText(graph_.ops[k]), "): ", problem));
    }
    return CheckInterface(defined);
  }

 private:
  static absl::Status Error(const std::string& graph, const std::string& problem) {
    return absl::InternalError(absl::StrCat("graph ", graph, ": ", problem));
  }

  absl::Status CheckTensors() const {
    for (size_t k = 1; k < graph_.symbols.size(); ++k) {
      if (graph_.symbols[k - 1].name >= graph_.symbols[k].name) {
        return Error(graph_.name, "symbols are not sorted by name, or one occurs twice");
      }
    }
    std::set<std::string> names;
    for (const GraphTensor& t : graph_.tensors) {
      if (!names.insert(t.name).second) {
        return Error(graph_.name, absl::StrCat("two tensors are named '", t.name, "'"));
      }
      if (absl::Status s = CheckShape(graph_.symbols, ranges_, t.dtype, t.dims); !s.ok()) {
        return Error(graph_.name, absl::StrCat("tensor '", t.name, "': ", s.message()));
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckInterface(const std::vector<bool>& defined) const {
    const auto is_defined = [&](TensorId id) {
      return id >= 0 && id < static_cast<int>(defined.size()) && defined[id];
    };
    if (!std::all_of(defined.begin(), defined.end(), [](bool b) { return b; })) {
      return Error(graph_.name, "a tensor is made by no op");
    }
    if (graph_.outputs.size() != graph_.output_names.size()) {
      return Error(graph_.name, "as many output names as outputs are needed");
    }
    if (!std::all_of(graph_.outputs.begin(), graph_.outputs.end(), is_defined)) {
      return Error(graph_.name, "an output is made by no op");
    }
    std::set<TensorId> inputs(graph_.inputs.begin(), graph_.inputs.end());
    size_t input_ops = 0;
    for (const GraphOp& op : graph_.ops) {
      if (op.kind != GraphOpKind::kInput) continue;
      ++input_ops;
      if (inputs.count(op.result) == 0) return Error(graph_.name, "an input op is not listed");
    }
    if (input_ops != graph_.inputs.size()) {
      return Error(graph_.name, "an input is listed twice or is made by another op");
    }
    for (const SpecialisedInput& s : graph_.specialised) {
      const bool fits = inputs.count(s.tensor) != 0 && s.data != nullptr &&
                        IndexExpr(static_cast<int64_t>(s.data->size())) ==
                            NumElements(Shape(s.tensor)) * DTypeBytes(Type(s.tensor));
      if (!fits) return Error(graph_.name, "a specialised value does not fit its input");
    }
    return absl::OkStatus();
  }

  const Dims& Shape(TensorId id) const { return graph_.tensors[id].dims; }
  DType Type(TensorId id) const { return graph_.tensors[id].dtype; }

  bool SameShape(const Dims& a, const Dims& b) const {
    return a.size() == b.size() && FirstDifference(a, b, ranges_) < 0;
  }

  // The rest returns what is wrong, or nothing.

  std::string CheckOp(const GraphOp& op, std::vector<bool>& defined) const {
    const auto valid = [&](TensorId id) {
      return id >= 0 && id < static_cast<int>(graph_.tensors.size());
    };
    for (TensorId id : op.operands) {
      if (!valid(id) || !defined[id]) return absl::StrCat("operand ", id, " is not defined before");
    }
    if (!valid(op.result) || defined[op.result]) {
      return absl::StrCat("result ", op.result, " is no tensor, or is defined already");
    }
    if (std::string problem = CheckOperandCount(op); !problem.empty()) return problem;
    if (std::string problem = CheckType(op); !problem.empty()) return problem;
    if (std::string problem = CheckDims(op); !problem.empty()) return problem;
    defined[op.result] = true;
    return "";
  }

  static std::string CheckOperandCount(const GraphOp& op) {
    const int count = static_cast<int>(op.operands.size());
    int least = 1, most = 1;
    switch (op.kind) {
      case GraphOpKind::kInput:
      case GraphOpKind::kConstant:
      case GraphOpKind::kShapeValue:
      case GraphOpKind::kIota:
        least = most = 0;
        break;
      case GraphOpKind::kElementwise:
        if (!IsScalarOp(op.code))
          return absl::StrCat(std::string(OpName(op.code)), " is no scalar op");
        least = most = OpArity(op.code);
        break;
      case GraphOpKind::kSelect:
        least = most = 3;
        break;
      case GraphOpKind::kEinsum:
      case GraphOpKind::kGather:
      case GraphOpKind::kGatherElements:
        least = most = 2;
        break;
      case GraphOpKind::kPad:
        most = 2;
        break;
      case GraphOpKind::kConcat:
        most = count;
        break;
      default:
        break;
    }
    if (least <= count && count <= most) return "";
    return absl::StrCat(count, " operands instead of ", least);
  }

  std::string CheckType(const GraphOp& op) const {
    const DType result = Type(op.result);
    const auto operand = [&](int k) { return Type(op.operands[k]); };
    absl::Status status;
    DType want = op.operands.empty() ? result : operand(0);
    switch (op.kind) {
      case GraphOpKind::kElementwise:
        for (TensorId id : op.operands) {
          if (Type(id) != operand(0)) return "operands differ in dtype";
        }
        status = CheckOpDType(op.code, operand(0));
        if (ClassOf(op.code) == OpClass::kCompare) want = DType::kBool;
        break;
      case GraphOpKind::kCast:
        want = result;
        break;
      case GraphOpKind::kSelect:
        if (operand(0) != DType::kBool) return "the condition is not bool";
        if (operand(1) != operand(2)) return "operands differ in dtype";
        want = operand(1);
        break;
      case GraphOpKind::kReduce:
      case GraphOpKind::kCumulative:
        status = CheckReduceDType(op.reduce, operand(0));
        if (IsArgReduce(op.reduce)) {
          if (op.kind == GraphOpKind::kCumulative) return "positions cannot be accumulated";
          want = DType::kI64;
        }
        break;
      case GraphOpKind::kShapeValue:
        want = DType::kI64;
        break;
      case GraphOpKind::kIota:
        if (result != DType::kI32) want = DType::kI64;
        break;
      case GraphOpKind::kEinsum:
        if (want == DType::kBool) return "einsum takes numbers, not bool";
        [[fallthrough]];
      case GraphOpKind::kConcat:
      case GraphOpKind::kPad:
        for (TensorId id : op.operands) {
          if (Type(id) != operand(0)) return "operands differ in dtype";
        }
        break;
      case GraphOpKind::kGather:
      case GraphOpKind::kGatherElements:
        if (!IsInteger(operand(1))) return "indices are not integers";
        break;
      default:
        break;
    }
    if (!status.ok())
      return absl::StrCat("of ", std::string(DTypeName(operand(0))), ": it ", status.message());
    if (result == want) return "";
    return absl::StrCat("the result is ", std::string(DTypeName(result)), " instead of ",
                        std::string(DTypeName(want)));
  }

  std::string CheckDims(const GraphOp& op) const;
  std::string CheckSource(const GraphOp& op) const;
  std::string CheckSlice(const GraphOp& op) const;
  std::string CheckPad(const GraphOp& op) const;
  std::string CheckConcat(const GraphOp& op) const;
  std::string CheckGather(const GraphOp& op) const;
  std::string CheckEinsum(const GraphOp& op) const;
  std::string CheckAxes(const GraphOp& op) const;

  std::string WantShape(const GraphOp& op, const Dims& want) const {
    if (SameShape(Shape(op.result), want)) return "";
    return absl::StrCat("the result is ", ShapeText(Shape(op.result)), " instead of ",
                        ShapeText(want));
  }

  const Graph& graph_;
  const RangeContext ranges_;
};

std::string Verifier::CheckDims(const GraphOp& op) const {
  const Dims& result = Shape(op.result);
  if (std::string problem = CheckAxes(op); !problem.empty()) return problem;
  switch (op.kind) {
    case GraphOpKind::kInput:
    case GraphOpKind::kConstant:
    case GraphOpKind::kShapeValue:
    case GraphOpKind::kIota:
      return CheckSource(op);
    case GraphOpKind::kElementwise:
    case GraphOpKind::kSelect:
    case GraphOpKind::kCast:
    case GraphOpKind::kCumulative:
      for (TensorId id : op.operands) {
        if (std::string problem = WantShape(op, Shape(id)); !problem.empty()) return problem;
      }
      return "";
    case GraphOpKind::kReduce: {
      Dims want;
      for (size_t d = 0; d < Shape(op.operands[0]).size(); ++d) {
        if (!std::binary_search(op.axes.begin(), op.axes.end(), static_cast<int>(d))) {
          want.push_back(Shape(op.operands[0])[d]);
        }
      }
      return WantShape(op, want);
    }
    case GraphOpKind::kReshape:
      if (ranges_.ProveEq(NumElements(Shape(op.operands[0])), NumElements(result))) return "";
      return absl::StrCat(ShapeText(Shape(op.operands[0])), " and ", ShapeText(result),
                          " do not have equally many elements");
    case GraphOpKind::kTranspose: {
      Dims want;
      for (int p : op.axes) want.push_back(Shape(op.operands[0])[p]);
      return WantShape(op, want);
    }
    case GraphOpKind::kExpand: {
      Dims want = Shape(op.operands[0]);
      if (want.size() != result.size()) return "ranks differ";
      for (size_t d = 0; d < want.size(); ++d) {
        if (want[d] == 1) want[d] = result[d];
      }
      return WantShape(op, want);
    }
    case GraphOpKind::kSlice:
      return CheckSlice(op);
    case GraphOpKind::kPad:
      return CheckPad(op);
    case GraphOpKind::kConcat:
      return CheckConcat(op);
    case GraphOpKind::kGather:
    case GraphOpKind::kGatherElements:
      return CheckGather(op);
    case GraphOpKind::kEinsum:
      return CheckEinsum(op);
  }
  return "unknown kind";
}

std::string Verifier::CheckAxes(const GraphOp& op) const {
  int rank = static_cast<int>(Shape(op.operands.empty() ? op.result : op.operands[0]).size());
  switch (op.kind) {
    case GraphOpKind::kIota:
    case GraphOpKind::kCumulative:
    case GraphOpKind::kSlice:
    case GraphOpKind::kConcat:
    case GraphOpKind::kGather:
    case GraphOpKind::kGatherElements:
      if (op.axis >= 0 && op.axis < rank) return "";
      return absl::StrCat("axis ", op.axis, " of rank ", rank);
    case GraphOpKind::kTranspose: {
      std::vector<int> sorted = op.axes, all(rank);
      std::sort(sorted.begin(), sorted.end());
      std::iota(all.begin(), all.end(), 0);
      return sorted == all ? "" : "perm is not a permutation";
    }
    case GraphOpKind::kReduce:
      for (size_t k = 0; k < op.axes.size(); ++k) {
        if (op.axes[k] < 0 || op.axes[k] >= rank || (k > 0 && op.axes[k - 1] >= op.axes[k])) {
          return "axes are not sorted, distinct and inside the rank";
        }
      }
      return op.axes.empty() ? "no axes" : "";
    default:
      return "";
  }
}

std::string Verifier::CheckSource(const GraphOp& op) const {
  const IndexExpr numel = NumElements(Shape(op.result));
  if (op.kind == GraphOpKind::kConstant) {
    if (op.data == nullptr ||
        IndexExpr(static_cast<int64_t>(op.data->size())) != numel * DTypeBytes(Type(op.result))) {
      return "data does not fill the result";
    }
  }
  for (const IndexExpr& value : op.values) {
    if (absl::Status s = CheckFormula(graph_.symbols, ranges_, value); !s.ok()) {
      return std::string(s.message());
    }
  }
  if (op.kind == GraphOpKind::kShapeValue &&
      IndexExpr(static_cast<int64_t>(op.values.size())) != numel) {
    return "values do not fill the result";
  }
  return "";
}

std::string Verifier::CheckSlice(const GraphOp& op) const {
  Dims want = Shape(op.operands[0]);
  const IndexExpr size = Shape(op.result)[op.axis];
  std::string problem = SliceProblem(want[op.axis], op.start, op.step, size, ranges_);
  if (!problem.empty()) return problem;
  want[op.axis] = size;
  return WantShape(op, want);
}

std::string Verifier::CheckPad(const GraphOp& op) const {
  const Dims &from = Shape(op.operands[0]), &to = Shape(op.result);
  if (from.size() != to.size() || op.pads_before.size() != from.size()) return "ranks differ";
  if (op.operands.size() == 2 && !Shape(op.operands[1]).empty()) return "the value is no scalar";
  for (size_t d = 0; d < from.size(); ++d) {
    const std::string problem = PadProblem(
        from[d], op.pads_before[d], to[d] - from[d] - op.pads_before[d], op.pad_mode, ranges_);
    if (!problem.empty()) return absl::StrCat("axis ", d, ": ", problem);
  }
  return "";
}

std::string Verifier::CheckConcat(const GraphOp& op) const {
  Dims want = Shape(op.operands[0]);
  IndexExpr total = 0;
  for (TensorId id : op.operands) {
    Dims dims = Shape(id);
    if (dims.size() != want.size()) return "ranks differ";
    total = total + dims[op.axis];
    dims[op.axis] = want[op.axis];
    if (!SameShape(dims, want)) return "sizes differ off the axis";
  }
  want[op.axis] = total;
  return WantShape(op, want);
}

std::string Verifier::CheckGather(const GraphOp& op) const {
  const Dims &data = Shape(op.operands[0]), &indices = Shape(op.operands[1]);
  if (op.kind == GraphOpKind::kGather) {
    Dims want = data;
    want.erase(want.begin() + op.axis);
    want.insert(want.begin() + op.axis, indices.begin(), indices.end());
    return WantShape(op, want);
  }
  if (data.size() != indices.size()) return "ranks differ";
  for (int d = 0; d < static_cast<int>(data.size()); ++d) {
    if (d != op.axis && !ranges_.ProveLe(indices[d], data[d])) {
      return absl::StrCat("axis ", d, " of the indices may be the larger one");
    }
  }
  return WantShape(op, indices);
}

std::string Verifier::CheckEinsum(const GraphOp& op) const {
  const Dims &a = Shape(op.operands[0]), &b = Shape(op.operands[1]);
  const auto equation =
      ParseEinsum(op.equation, {static_cast<int>(a.size()), static_cast<int>(b.size())});
  if (!equation.ok()) return std::string(equation.status().message());
  if (equation->ToString() != op.equation) return "the equation is not in its explicit form";
  std::map<char, IndexExpr> sizes;
  for (int k = 0; k < 2; ++k) {
    const Dims& dims = k == 0 ? a : b;
    const std::string& labels = equation->operands[k];
    const std::string elsewhere = equation->operands[1 - k] + equation->result;
    for (size_t d = 0; d < labels.size(); ++d) {
      if (labels.find(labels[d], d + 1) != std::string::npos) return "a label is repeated";
      if (elsewhere.find(labels[d]) == std::string::npos) return "a label occurs once only";
      const auto [at, is_new] = sizes.emplace(labels[d], dims[d]);
      if (!is_new && !ranges_.ProveEq(at->second, dims[d])) return "sizes of a label differ";
    }
  }
  Dims want;
  for (char label : equation->result) want.push_back(sizes.at(label));
  return WantShape(op, want);
}

}  // namespace

absl::Status Verify(const Graph& graph) { return Verifier(graph).Run(); }

}  // namespace stax
