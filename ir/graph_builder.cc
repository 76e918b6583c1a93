#include "ir/graph_builder.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ir/graph_rules.h"
#include "ir/printable.h"
#include "ir/scalar.h"

namespace stax {
namespace {

// Programs are protobuf messages, whose strings are UTF-8.
constexpr char kNoUtf8[] = "the name is no UTF-8";

// Of a name that only tells where something comes from.
std::string Utf8(const std::string& name) { return IsUtf8(name) ? name : Printable(name); }

bool IsName(std::string_view name) {
  const auto letter = [](char c) {
    return std::isalpha(static_cast<unsigned char>(c)) || c == '_';
  };
  if (name.empty() || !letter(name[0])) return false;
  return std::all_of(name.begin(), name.end(), [&](char c) {
    return letter(c) || std::isdigit(static_cast<unsigned char>(c)) || c == '.';
  });
}

// Loop dims are called i0, r0 and indirect indices t0; functions have names too.
bool IsReservedName(std::string_view name) {
  for (std::string_view function : {"floordiv", "mod", "min", "max"}) {
    if (name == function) return true;
  }
  return name.size() >= 2 && std::string_view("irt").find(name[0]) != std::string_view::npos &&
         std::all_of(name.begin() + 1, name.end(),
                     [](char c) { return std::isdigit(static_cast<unsigned char>(c)); });
}

std::string CheckSymbol(const SizeSymbol& s) {
  if (!IsName(s.name))
    return "a name starts with a letter or '_'; letters, digits, '_', '.' follow";
  if (IsReservedName(s.name)) return "this name is reserved for loop variables and functions";
  if (s.lower < 1) {
    return absl::StrCat("the lower bound is ", s.lower, "; sizes of 0 must be literal");
  }
  if (s.upper > kMaxElements) {
    return absl::StrCat("the upper bound is ", s.upper, "; at most ", kMaxElements,
                        " is supported");
  }
  if (s.lower > s.hint || s.hint > s.upper) {
    return absl::StrCat("lower <= hint <= upper does not hold for ", s.lower, ", ", s.hint, ", ",
                        s.upper);
  }
  return "";
}

}  // namespace

GraphBuilder::GraphBuilder(const std::string& name) { graph_.name = Utf8(name); }

void GraphBuilder::Symbol(const SizeSymbol& symbol) {
  const std::string op = absl::StrCat("symbol '", symbol.name, "'");
  if (const std::string problem = CheckSymbol(symbol); !problem.empty()) {
    Fail(op, problem);
    return;
  }
  auto at =
      std::lower_bound(graph_.symbols.begin(), graph_.symbols.end(), symbol,
                       [](const SizeSymbol& a, const SizeSymbol& b) { return a.name < b.name; });
  if (at != graph_.symbols.end() && at->name == symbol.name) {
    if (at->lower != symbol.lower || at->upper != symbol.upper || at->hint != symbol.hint) {
      Fail(op, "declared twice with different bounds");
    }
    return;
  }
  graph_.symbols.insert(at, symbol);
}

void GraphBuilder::SetOrigin(const std::string& origin) { origin_ = Utf8(origin); }

GraphBuilder::Tensor GraphBuilder::Input(std::string name, DType dtype, Dims dims) {
  if (!status_.ok()) return {};
  if (name.empty()) return Fail("input", "the name is empty");
  if (!IsUtf8(name)) return Fail(absl::StrCat("input '", name, "'"), kNoUtf8);
  if (names_.contains(name)) {
    return Fail(absl::StrCat("input '", name, "'"), "another tensor has this name");
  }
  GraphOp op;
  op.kind = GraphOpKind::kInput;
  const Tensor x = AddNamedOp(std::move(op), std::move(name), dtype, std::move(dims));
  if (x.id >= 0) graph_.inputs.push_back(x.id);
  return x;
}

GraphBuilder::Tensor GraphBuilder::Constant(DType dtype, Dims dims, std::vector<std::byte> data) {
  if (!status_.ok()) return {};
  for (const IndexExpr& dim : dims) {
    if (!dim.IsConst())
      return Fail("constant",
                  absl::StrCat("shape ", ShapeText(dims), " is symbolic; sizes must be literal"));
  }
  if (absl::Status s = CheckShape(graph_.symbols, ranges(), dtype, dims); !s.ok()) {
    return Fail("constant", std::string(s.message()));
  }
  const int64_t want = NumElements(dims).ConstOrDie() * DTypeBytes(dtype);
  if (static_cast<int64_t>(data.size()) != want) {
    return Fail("constant",
                absl::StrCat(data.size(), " bytes of data (", data.size() / DTypeBytes(dtype),
                             " elements) for ", TypeText(dtype, dims), ", which takes ", want));
  }
  GraphOp op;
  op.kind = GraphOpKind::kConstant;
  op.data = std::make_shared<const std::vector<std::byte>>(std::move(data));
  return AddOp(std::move(op), dtype, std::move(dims));
}

GraphBuilder::Tensor GraphBuilder::Scalar(DType dtype, double value) {
  std::vector<std::byte> data(DTypeBytes(dtype));
  StoreScalar(stax::Scalar::FromDouble(dtype, value), data.data());
  return Constant(dtype, {}, std::move(data));
}

GraphBuilder::Tensor GraphBuilder::ShapeValue(std::vector<IndexExpr> values, Dims dims) {
  if (!status_.ok()) return {};
  if (absl::Status s = CheckShape(graph_.symbols, ranges(), DType::kI64, dims); !s.ok()) {
    return Fail("shape value", std::string(s.message()));
  }
  if (NumElements(dims) != IndexExpr(static_cast<int64_t>(values.size()))) {
    return Fail("shape value", absl::StrCat(values.size(), " values for shape ", ShapeText(dims)));
  }
  for (const IndexExpr& value : values) {
    if (!CheckFormula("shape value", "value", value)) return {};
  }
  GraphOp op;
  op.kind = GraphOpKind::kShapeValue;
  op.values = std::move(values);
  return AddOp(std::move(op), DType::kI64, std::move(dims));
}

GraphBuilder::Tensor GraphBuilder::Iota(DType dtype, Dims dims, int axis) {
  if (!status_.ok()) return {};
  const std::optional<int> from_front = Axis("iota", axis, static_cast<int>(dims.size()));
  if (!from_front.has_value()) return {};
  GraphOp op;
  op.kind = GraphOpKind::kIota;
  op.axis = *from_front;
  if (dtype == DType::kI64 || dtype == DType::kI32)
    return AddOp(std::move(op), dtype, std::move(dims));
  return Cast(AddOp(std::move(op), DType::kI64, std::move(dims)), dtype);
}

GraphBuilder::Tensor GraphBuilder::Unary(OpCode code, Tensor x) {
  if (!Usable(OpName(code), {x})) return {};
  if (!IsScalarOp(code) || OpArity(code) != 1) return Fail(OpName(code), "not a unary operator");
  if (absl::Status s = CheckOpDType(code, dtype(x)); !s.ok()) {
    return Fail(OpName(code), absl::StrCat("operand ", Type(x), ": ", s.message()));
  }
  GraphOp op;
  op.kind = GraphOpKind::kElementwise;
  op.code = code;
  op.operands = {x.id};
  return AddOp(std::move(op), dtype(x), dims(x));
}

GraphBuilder::Tensor GraphBuilder::Binary(OpCode code, Tensor a, Tensor b) {
  if (!Usable(OpName(code), {a, b})) return {};
  if (!IsScalarOp(code) || OpArity(code) != 2) return Fail(OpName(code), "not a binary operator");
  const std::string types = absl::StrCat("operands ", Type(a), " and ", Type(b));
  if (dtype(a) != dtype(b)) {
    return Fail(OpName(code), absl::StrCat(types, ": both must have one dtype, cast one of them"));
  }
  if (absl::Status s = CheckOpDType(code, dtype(a)); !s.ok()) {
    return Fail(OpName(code), absl::StrCat(types, ": ", s.message()));
  }
  absl::StatusOr<Dims> result = BroadcastDims(dims(a), dims(b), ranges());
  if (!result.ok()) return Fail(OpName(code), std::string(result.status().message()));
  GraphOp op;
  op.kind = GraphOpKind::kElementwise;
  op.code = code;
  op.operands = {Expand(a, *result).id, Expand(b, *result).id};
  const DType type = ClassOf(code) == OpClass::kCompare ? DType::kBool : dtype(a);
  return AddOp(std::move(op), type, *std::move(result));
}

GraphBuilder::Tensor GraphBuilder::Cast(Tensor x, DType dtype) {
  if (!Usable("cast", {x})) return {};
  if (this->dtype(x) == dtype) return x;
  GraphOp op;
  op.kind = GraphOpKind::kCast;
  op.operands = {x.id};
  return AddOp(std::move(op), dtype, dims(x));
}

GraphBuilder::Tensor GraphBuilder::Where(Tensor c, Tensor a, Tensor b) {
  if (!Usable("where", {c, a, b})) return {};
  if (dtype(c) != DType::kBool) {
    return Fail("where", absl::StrCat("the condition is ", Type(c), "; it must be bool"));
  }
  if (dtype(a) != dtype(b)) {
    return Fail("where", absl::StrCat("operands ", Type(a), " and ", Type(b),
                                      ": both must have one dtype, cast one of them"));
  }
  absl::StatusOr<Dims> result = BroadcastDims(dims(a), dims(b), ranges());
  if (result.ok()) result = BroadcastDims(dims(c), *result, ranges());
  if (!result.ok()) return Fail("where", std::string(result.status().message()));
  GraphOp op;
  op.kind = GraphOpKind::kSelect;
  op.operands = {Expand(c, *result).id, Expand(a, *result).id, Expand(b, *result).id};
  return AddOp(std::move(op), dtype(a), *std::move(result));
}

void GraphBuilder::Output(std::string name, Tensor x) {
  if (!Usable("output", {x})) return;
  if (!IsUtf8(name)) {
    Fail(absl::StrCat("output '", name, "'"), kNoUtf8);
    return;
  }
  if (name.empty() || std::find(graph_.output_names.begin(), graph_.output_names.end(), name) !=
                          graph_.output_names.end()) {
    Fail("output",
         name.empty() ? "the name is empty" : absl::StrCat("two outputs are named '", name, "'"));
    return;
  }
  // A tensor without a name of its own takes the output's: buffers then read as the model does.
  std::string& tensor_name = graph_.tensors[x.id].name;
  const bool is_input = graph_.ops[x.id].kind == GraphOpKind::kInput;
  if (!is_input && tensor_name[0] == '%' && names_.insert(name).second) {
    names_.erase(tensor_name);
    tensor_name = name;
  }
  graph_.outputs.push_back(x.id);
  graph_.output_names.push_back(std::move(name));
}

void GraphBuilder::Specialise(Tensor input, std::vector<std::byte> data) {
  if (!Usable("specialise", {input})) return;
  if (graph_.ops[input.id].kind != GraphOpKind::kInput) {
    Fail("specialise", absl::StrCat("'", graph_.tensors[input.id].name, "' is not an input"));
    return;
  }
  const IndexExpr numel = NumElements(dims(input));
  if (!numel.IsConst() ||
      numel.ConstOrDie() * DTypeBytes(dtype(input)) != static_cast<int64_t>(data.size())) {
    Fail("specialise", absl::StrCat(data.size(), " bytes do not fill ", Type(input)));
    return;
  }
  for (const SpecialisedInput& s : graph_.specialised) {
    if (s.tensor != input.id) continue;
    if (*s.data != data) Fail("specialise", "the input was specialised on another value before");
    return;
  }
  graph_.specialised.push_back(
      {input.id, std::make_shared<const std::vector<std::byte>>(std::move(data))});
}

const Dims& GraphBuilder::dims(Tensor x) const {
  static const Dims& none = *new Dims();
  return x.id < 0 ? none : graph_.tensors[x.id].dims;
}

DType GraphBuilder::dtype(Tensor x) const {
  return x.id < 0 ? DType::kF32 : graph_.tensors[x.id].dtype;
}

void GraphBuilder::SetError(absl::Status status) {
  if (!status_.ok() || status.ok()) return;
  status_ = origin_.empty()
                ? std::move(status)
                : absl::Status(status.code(), absl::StrCat(origin_, ": ", status.message()));
}

absl::StatusOr<Graph> GraphBuilder::Build() {
  if (!status_.ok()) return status_;
  if (absl::Status s = Verify(graph_); !s.ok()) return s;
  return graph_;
}

GraphBuilder::Tensor GraphBuilder::AddOp(GraphOp op, DType dtype, Dims dims) {
  // An input may have been given such a name.
  std::string name = absl::StrCat("%", graph_.tensors.size());
  while (names_.contains(name)) name += "_";
  return AddNamedOp(std::move(op), std::move(name), dtype, std::move(dims));
}

GraphBuilder::Tensor GraphBuilder::AddNamedOp(GraphOp op, std::string tensor_name, DType dtype,
                                              Dims dims) {
  if (!status_.ok()) return {};
  const RangeContext known = ranges();
  if (absl::Status s = CheckShape(graph_.symbols, known, dtype, dims); !s.ok()) {
    return Fail(GraphOpName(op.kind), std::string(s.message()));
  }
  for (IndexExpr& dim : dims) dim = Simplify(dim, known);
  const TensorId id = static_cast<TensorId>(graph_.tensors.size());
  op.result = id;
  op.origin = origin_;
  names_.insert(tensor_name);
  graph_.ops.push_back(std::move(op));
  graph_.tensors.push_back({std::move(tensor_name), dtype, std::move(dims)});
  return {id};
}

GraphBuilder::Tensor GraphBuilder::Fail(std::string_view op, std::string_view problem) {
  SetError(absl::InvalidArgumentError(absl::StrCat(std::string(op), ": ", std::string(problem))));
  return {};
}

bool GraphBuilder::Usable(std::string_view op, absl::Span<const Tensor> operands) {
  if (!status_.ok()) return false;
  for (size_t k = 0; k < operands.size(); ++k) {
    if (operands[k].id >= 0 && operands[k].id < static_cast<int>(graph_.tensors.size())) continue;
    Fail(op, absl::StrCat("operand ", k, " is not a tensor of this graph"));
    return false;
  }
  return true;
}

std::string GraphBuilder::Type(Tensor x) const { return TypeText(dtype(x), dims(x)); }

std::optional<int> GraphBuilder::Axis(std::string_view op, int axis, int rank) {
  if (axis >= -rank && axis < rank) return axis < 0 ? axis + rank : axis;
  Fail(op, rank == 0 ? absl::StrCat("axis ", axis, " of a tensor of rank 0, which has no axes")
                     : absl::StrCat("axis ", axis, " is outside [", -rank, ", ", rank - 1,
                                    "] of a tensor of rank ", rank));
  return std::nullopt;
}

std::optional<std::vector<int>> GraphBuilder::Axes(std::string_view op,
                                                   const std::vector<int>& axes, int rank) {
  std::vector<int> result;
  for (int axis : axes) {
    const std::optional<int> from_front = Axis(op, axis, rank);
    if (!from_front.has_value()) return std::nullopt;
    result.push_back(*from_front);
  }
  std::sort(result.begin(), result.end());
  if (const auto twice = std::adjacent_find(result.begin(), result.end()); twice != result.end()) {
    Fail(op, absl::StrCat("axis ", *twice, " is given twice"));
    return std::nullopt;
  }
  return result;
}

bool GraphBuilder::CheckFormula(std::string_view op, std::string_view what, const IndexExpr& e) {
  const absl::Status s = stax::CheckFormula(graph_.symbols, ranges(), e);
  if (!s.ok()) Fail(op, absl::StrCat(std::string(what), ": ", s.message()));
  return s.ok();
}

}  // namespace stax
