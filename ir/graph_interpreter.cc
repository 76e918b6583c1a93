#include "ir/graph_interpreter.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ir/einsum.h"
#include "ir/reducer.h"

namespace stax {
namespace {

using Index = std::vector<int64_t>;

// Largest tensor that is computed: 2^28 elements are 4 GiB of Numbers.
constexpr int64_t kMaxInterpretedElements = int64_t{1} << 28;

int64_t Count(const Index& dims) {
  int64_t n = 1;
  for (int64_t dim : dims) n *= dim;
  return n;
}

struct Array {
  Index dims;
  std::vector<Number> elements;  // row-major

  Number& at(const Index& index) {
    int64_t position = 0;
    for (size_t d = 0; d < dims.size(); ++d) position = position * dims[d] + index[d];
    return elements[position];
  }
  const Number& at(const Index& index) const { return const_cast<Array*>(this)->at(index); }
};

// Calls f(index) for every index inside `dims`, in row-major order.
template <typename F>
void ForEachIndex(const Index& dims, F f) {
  Index index(dims.size(), 0);
  for (int64_t left = Count(dims); left > 0; --left) {
    f(static_cast<const Index&>(index));
    for (size_t d = dims.size(); d-- > 0;) {
      if (++index[d] < dims[d]) break;
      index[d] = 0;
    }
  }
}

class GraphInterpreter {
 public:
  GraphInterpreter(const Graph& graph, const std::map<std::string, int64_t>& sizes,
                   Precision precision)
      : graph_(graph), sizes_(sizes), precision_(precision), arrays_(graph.tensors.size()) {}

  absl::Status Run(const std::map<std::string, Bytes>& inputs);
  std::map<std::string, Bytes> Outputs() const;

 private:
  absl::Status CheckSizes() const;
  absl::Status CheckInput(TensorId id, const std::map<std::string, Bytes>& inputs) const;
  absl::Status Allocate(TensorId id);
  void Load(TensorId id, const Bytes& bytes);

  absl::Status Execute(const GraphOp& op);
  absl::Status ShapeValue(const GraphOp& op);
  void Iota(const GraphOp& op);
  void Elementwise(const GraphOp& op);
  void Cast(const GraphOp& op);
  void Select(const GraphOp& op);
  void Reduce(const GraphOp& op);
  void Cumulative(const GraphOp& op);
  void Einsum(const GraphOp& op);
  void Transpose(const GraphOp& op);
  void Expand(const GraphOp& op);
  absl::Status Slice(const GraphOp& op);
  absl::Status Pad(const GraphOp& op);
  void Concat(const GraphOp& op);
  void Gather(const GraphOp& op);
  void GatherElements(const GraphOp& op);

  const Array& Operand(const GraphOp& op, int k) const { return arrays_[op.operands[k]]; }
  Array& Result(const GraphOp& op) { return arrays_[op.result]; }
  DType OperandType(const GraphOp& op, int k) const { return graph_.tensors[op.operands[k]].dtype; }
  DType ResultType(const GraphOp& op) const { return graph_.tensors[op.result].dtype; }

  const Graph& graph_;
  const std::map<std::string, int64_t>& sizes_;
  const Precision precision_;
  std::vector<Array> arrays_;  // by TensorId; emptied after the last use
};

absl::Status GraphInterpreter::CheckSizes() const {
  for (const SizeSymbol& s : graph_.symbols) {
    const auto at = sizes_.find(s.name);
    if (at == sizes_.end()) {
      return absl::InvalidArgumentError(absl::StrCat("no value for symbol '", s.name, "'"));
    }
    if (at->second < s.lower || at->second > s.upper) {
      return absl::InvalidArgumentError(absl::StrCat("symbol '", s.name, "' = ", at->second,
                                                     " is outside ", s.lower, " to ", s.upper));
    }
  }
  return absl::OkStatus();
}

absl::Status GraphInterpreter::CheckInput(TensorId id,
                                          const std::map<std::string, Bytes>& inputs) const {
  const GraphTensor& tensor = graph_.tensors[id];
  const auto at = inputs.find(tensor.name);
  if (at == inputs.end()) {
    return absl::InvalidArgumentError(absl::StrCat("no input '", tensor.name, "'"));
  }
  const size_t want = arrays_[id].elements.size() * DTypeBytes(tensor.dtype);
  if (at->second.size() != want) {
    return absl::InvalidArgumentError(absl::StrCat("input '", tensor.name, "' has ",
                                                   at->second.size(), " bytes instead of ", want));
  }
  for (const SpecialisedInput& s : graph_.specialised) {
    if (s.tensor == id && *s.data != at->second) {
      return absl::InvalidArgumentError(
          absl::StrCat("input '", tensor.name, "' is not the value the graph is specialised on"));
    }
  }
  return absl::OkStatus();
}

absl::Status GraphInterpreter::Allocate(TensorId id) {
  Array& array = arrays_[id];
  int64_t elements = 1;
  for (const IndexExpr& dim : graph_.tensors[id].dims) {
    const absl::StatusOr<int64_t> size = dim.Evaluate(sizes_);
    if (!size.ok()) return size.status();
    array.dims.push_back(*size);
    if (__builtin_mul_overflow(elements, *size, &elements)) elements = INT64_MAX;
  }
  if (elements < 0 || elements > kMaxInterpretedElements) {
    return absl::InvalidArgumentError(absl::StrCat("tensor '", graph_.tensors[id].name, "' of ",
                                                   elements, " elements is too large"));
  }
  array.elements.resize(elements);
  return absl::OkStatus();
}

void GraphInterpreter::Load(TensorId id, const Bytes& bytes) {
  const DType type = graph_.tensors[id].dtype;
  const std::byte* at = bytes.data();
  for (Number& element : arrays_[id].elements) {
    element = ToNumber(LoadScalar(type, at));
    at += DTypeBytes(type);
  }
}

absl::Status GraphInterpreter::Run(const std::map<std::string, Bytes>& inputs) {
  if (absl::Status s = CheckSizes(); !s.ok()) return s;
  const size_t end = graph_.ops.size();
  std::vector<size_t> last_use(arrays_.size(), 0);
  for (size_t k = 0; k < end; ++k) {
    last_use[graph_.ops[k].result] = k;
    for (TensorId id : graph_.ops[k].operands) last_use[id] = k;
  }
  for (TensorId id : graph_.outputs) last_use[id] = end;
  for (size_t k = 0; k < end; ++k) {
    const GraphOp& op = graph_.ops[k];
    if (absl::Status s = Allocate(op.result); !s.ok()) return s;
    if (op.kind == GraphOpKind::kInput) {
      if (absl::Status s = CheckInput(op.result, inputs); !s.ok()) return s;
      Load(op.result, inputs.at(graph_.tensors[op.result].name));
    } else if (absl::Status s = Execute(op); !s.ok()) {
      return s;
    }
    for (TensorId id : op.operands) {
      if (last_use[id] == k) arrays_[id] = {};
    }
    if (last_use[op.result] == k) arrays_[op.result] = {};
  }
  return absl::OkStatus();
}

std::map<std::string, Bytes> GraphInterpreter::Outputs() const {
  std::map<std::string, Bytes> outputs;
  for (size_t k = 0; k < graph_.outputs.size(); ++k) {
    const DType type = graph_.tensors[graph_.outputs[k]].dtype;
    const std::vector<Number>& elements = arrays_[graph_.outputs[k]].elements;
    Bytes bytes(elements.size() * DTypeBytes(type));
    for (size_t i = 0; i < elements.size(); ++i) {
      StoreScalar(ToScalar(type, elements[i]), bytes.data() + i * DTypeBytes(type));
    }
    outputs[graph_.output_names[k]] = std::move(bytes);
  }
  return outputs;
}

absl::Status GraphInterpreter::Execute(const GraphOp& op) {
  switch (op.kind) {
    case GraphOpKind::kInput:
      break;
    case GraphOpKind::kConstant:
      Load(op.result, *op.data);
      break;
    case GraphOpKind::kShapeValue:
      return ShapeValue(op);
    case GraphOpKind::kIota:
      Iota(op);
      break;
    case GraphOpKind::kElementwise:
      Elementwise(op);
      break;
    case GraphOpKind::kCast:
      Cast(op);
      break;
    case GraphOpKind::kSelect:
      Select(op);
      break;
    case GraphOpKind::kReduce:
      Reduce(op);
      break;
    case GraphOpKind::kCumulative:
      Cumulative(op);
      break;
    case GraphOpKind::kEinsum:
      Einsum(op);
      break;
    case GraphOpKind::kReshape:
      Result(op).elements = Operand(op, 0).elements;
      break;
    case GraphOpKind::kTranspose:
      Transpose(op);
      break;
    case GraphOpKind::kExpand:
      Expand(op);
      break;
    case GraphOpKind::kSlice:
      return Slice(op);
    case GraphOpKind::kPad:
      return Pad(op);
    case GraphOpKind::kConcat:
      Concat(op);
      break;
    case GraphOpKind::kGather:
      Gather(op);
      break;
    case GraphOpKind::kGatherElements:
      GatherElements(op);
      break;
  }
  return absl::OkStatus();
}

absl::Status GraphInterpreter::ShapeValue(const GraphOp& op) {
  for (size_t i = 0; i < op.values.size(); ++i) {
    const absl::StatusOr<int64_t> value = op.values[i].Evaluate(sizes_);
    if (!value.ok()) return value.status();
    Result(op).elements[i] = {0.0, *value};
  }
  return absl::OkStatus();
}

void GraphInterpreter::Iota(const GraphOp& op) {
  Array& result = Result(op);
  ForEachIndex(result.dims, [&](const Index& i) { result.at(i) = {0.0, i[op.axis]}; });
}

void GraphInterpreter::Elementwise(const GraphOp& op) {
  const DType type = OperandType(op, 0);
  const std::vector<Number>& a = Operand(op, 0).elements;
  const std::vector<Number>& b = Operand(op, static_cast<int>(op.operands.size()) - 1).elements;
  std::vector<Number>& result = Result(op).elements;
  for (size_t i = 0; i < result.size(); ++i) {
    result[i] = EvalScalarOp(op.code, type, a[i], b[i], precision_);
  }
}

void GraphInterpreter::Cast(const GraphOp& op) {
  const std::vector<Number>& x = Operand(op, 0).elements;
  std::vector<Number>& result = Result(op).elements;
  for (size_t i = 0; i < result.size(); ++i) {
    result[i] = EvalCast(OperandType(op, 0), ResultType(op), x[i], precision_);
  }
}

void GraphInterpreter::Select(const GraphOp& op) {
  std::vector<Number>& result = Result(op).elements;
  for (size_t i = 0; i < result.size(); ++i) {
    const bool condition = Operand(op, 0).elements[i].i != 0;
    result[i] = Operand(op, condition ? 1 : 2).elements[i];
  }
}

void GraphInterpreter::Reduce(const GraphOp& op) {
  const Array& x = Operand(op, 0);
  Array& result = Result(op);
  const auto is_reduced = [&](int d) {
    return std::find(op.axes.begin(), op.axes.end(), d) != op.axes.end();
  };
  Index reduced;
  for (int axis : op.axes) reduced.push_back(x.dims[axis]);
  ForEachIndex(result.dims, [&](const Index& outer) {
    Reducer reducer(op.reduce, OperandType(op, 0), precision_);
    ForEachIndex(reduced, [&](const Index& inner) {
      Index index;
      auto next_outer = outer.begin(), next_inner = inner.begin();
      for (int d = 0; d < static_cast<int>(x.dims.size()); ++d) {
        index.push_back(is_reduced(d) ? *next_inner++ : *next_outer++);
      }
      reducer.Add(x.at(index));
    });
    result.at(outer) = reducer.Result();
  });
}

void GraphInterpreter::Cumulative(const GraphOp& op) {
  const Array& x = Operand(op, 0);
  Array& result = Result(op);
  const int64_t length = x.dims[op.axis];
  Index lines = x.dims;
  lines[op.axis] = 1;
  ForEachIndex(lines, [&](const Index& first) {
    Reducer reducer(op.reduce, OperandType(op, 0), precision_);
    for (int64_t step = 0; step < length; ++step) {
      Index index = first;
      index[op.axis] = op.reverse ? length - 1 - step : step;
      if (op.exclusive) result.at(index) = reducer.Result();
      reducer.Add(x.at(index));
      if (!op.exclusive) result.at(index) = reducer.Result();
    }
  });
}

void GraphInterpreter::Einsum(const GraphOp& op) {
  const Array &a = Operand(op, 0), &b = Operand(op, 1);
  Array& result = Result(op);
  const EinsumEquation equation =
      *ParseEinsum(op.equation, {static_cast<int>(a.dims.size()), static_cast<int>(b.dims.size())});
  // All labels, those of the result first, then the summed ones.
  std::string labels = equation.result;
  std::map<char, int64_t> sizes;
  for (int k = 0; k < 2; ++k) {
    for (size_t d = 0; d < equation.operands[k].size(); ++d) {
      const char label = equation.operands[k][d];
      if (labels.find(label) == std::string::npos) labels += label;
      sizes[label] = Operand(op, k).dims[d];
    }
  }
  const DType type = ResultType(op);
  Index summed;
  for (size_t d = result.dims.size(); d < labels.size(); ++d) summed.push_back(sizes[labels[d]]);
  const auto element = [&](int k, const Index& point) {
    Index index;
    for (char label : equation.operands[k]) index.push_back(point[labels.find(label)]);
    return Operand(op, k).at(index);
  };
  ForEachIndex(result.dims, [&](const Index& outer) {
    Number sum;
    ForEachIndex(summed, [&](const Index& inner) {
      Index point = outer;
      point.insert(point.end(), inner.begin(), inner.end());
      const Number x = element(0, point), y = element(1, point);
      if (IsFloat(type)) {
        sum.f += x.f * y.f;
      } else {
        const Number product = EvalScalarOp(OpCode::kMul, type, x, y, precision_);
        sum = EvalScalarOp(OpCode::kAdd, type, sum, product, precision_);
      }
    });
    if (IsFloat(type)) sum.f = RoundResult(type, sum.f, precision_);
    result.at(outer) = sum;
  });
}

void GraphInterpreter::Transpose(const GraphOp& op) {
  const Array& x = Operand(op, 0);
  Array& result = Result(op);
  ForEachIndex(result.dims, [&](const Index& to) {
    Index from(to.size());
    for (size_t d = 0; d < to.size(); ++d) from[op.axes[d]] = to[d];
    result.at(to) = x.at(from);
  });
}

void GraphInterpreter::Expand(const GraphOp& op) {
  const Array& x = Operand(op, 0);
  Array& result = Result(op);
  ForEachIndex(result.dims, [&](const Index& to) {
    Index from = to;
    for (size_t d = 0; d < to.size(); ++d) from[d] = x.dims[d] == 1 ? 0 : to[d];
    result.at(to) = x.at(from);
  });
}

absl::Status GraphInterpreter::Slice(const GraphOp& op) {
  const Array& x = Operand(op, 0);
  Array& result = Result(op);
  const absl::StatusOr<int64_t> start = op.start.Evaluate(sizes_), step = op.step.Evaluate(sizes_);
  if (!start.ok()) return start.status();
  if (!step.ok()) return step.status();
  ForEachIndex(result.dims, [&](const Index& to) {
    Index from = to;
    from[op.axis] = *start + *step * to[op.axis];
    result.at(to) = x.at(from);
  });
  return absl::OkStatus();
}

// Where element `i` of a padded dim comes from; -1: from nowhere.
int64_t PadSource(PadMode mode, int64_t i, int64_t extent) {
  if (i >= 0 && i < extent) return i;
  switch (mode) {
    case PadMode::kConstant:
      return -1;
    case PadMode::kReflect:
      return i < 0 ? -i : 2 * (extent - 1) - i;
    case PadMode::kEdge:
      return i < 0 ? 0 : extent - 1;
  }
  return -1;
}

absl::Status GraphInterpreter::Pad(const GraphOp& op) {
  const Array& x = Operand(op, 0);
  Array& result = Result(op);
  Index before;
  for (const IndexExpr& pad : op.pads_before) {
    const absl::StatusOr<int64_t> size = pad.Evaluate(sizes_);
    if (!size.ok()) return size.status();
    before.push_back(*size);
  }
  const Number value = op.operands.size() == 2 ? Operand(op, 1).elements[0] : Number{};
  ForEachIndex(result.dims, [&](const Index& to) {
    Index from = to;
    bool inside = true;
    for (size_t d = 0; d < to.size(); ++d) {
      from[d] = PadSource(op.pad_mode, to[d] - before[d], x.dims[d]);
      inside = inside && from[d] >= 0;
    }
    result.at(to) = inside ? x.at(from) : value;
  });
  return absl::OkStatus();
}

void GraphInterpreter::Concat(const GraphOp& op) {
  Array& result = Result(op);
  int64_t offset = 0;
  for (TensorId id : op.operands) {
    const Array& x = arrays_[id];
    ForEachIndex(x.dims, [&](const Index& from) {
      Index to = from;
      to[op.axis] += offset;
      result.at(to) = x.at(from);
    });
    offset += x.dims[op.axis];
  }
}

void GraphInterpreter::Gather(const GraphOp& op) {
  const Array &data = Operand(op, 0), &indices = Operand(op, 1);
  Array& result = Result(op);
  const auto axis = static_cast<int64_t>(op.axis);
  const auto index_rank = static_cast<int64_t>(indices.dims.size());
  if (data.dims[axis] == 0) return;  // all zero: no index is valid
  ForEachIndex(result.dims, [&](const Index& to) {
    const Index at(to.begin() + axis, to.begin() + axis + index_rank);
    Index from(to.begin(), to.begin() + axis);
    from.push_back(ClampIndirect(OperandType(op, 1), indices.at(at).i, data.dims[axis]));
    from.insert(from.end(), to.begin() + axis + index_rank, to.end());
    result.at(to) = data.at(from);
  });
}

void GraphInterpreter::GatherElements(const GraphOp& op) {
  const Array &data = Operand(op, 0), &indices = Operand(op, 1);
  Array& result = Result(op);
  if (data.dims[op.axis] == 0) return;  // all zero: no index is valid
  ForEachIndex(result.dims, [&](const Index& to) {
    Index from = to;
    from[op.axis] = ClampIndirect(OperandType(op, 1), indices.at(to).i, data.dims[op.axis]);
    result.at(to) = data.at(from);
  });
}

}  // namespace

absl::StatusOr<std::map<std::string, Bytes>> InterpretGraph(
    const Graph& graph, const std::map<std::string, int64_t>& sizes,
    const std::map<std::string, Bytes>& inputs, Precision precision) {
  GraphInterpreter interpreter(graph, sizes, precision);
  if (absl::Status s = interpreter.Run(inputs); !s.ok()) return s;
  return interpreter.Outputs();
}

}  // namespace stax
