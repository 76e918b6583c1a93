// What a model shows to the outside: initialisers, inputs with their size symbols, outputs.
#include <algorithm>
#include <cctype>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "compiler/frontend/onnx_status.h"
#include "compiler/frontend/onnx_translator.h"
#include "ir/graph_rules.h"

namespace stax {
namespace {

using onnx::GraphProto;
using onnx::TensorShapeProto;
using onnx::TypeProto;
using onnx::ValueInfoProto;

bool IsReserved(const std::string& name) {
  if (name == "floordiv" || name == "mod" || name == "min" || name == "max") return true;
  return name.size() > 1 && (name[0] == 'i' || name[0] == 'r' || name[0] == 't') &&
         std::all_of(name.begin() + 1, name.end(), [](unsigned char c) { return std::isdigit(c); });
}

// A symbol's name from any text: letters, digits and '_', not a digit first, not one in `taken`.
std::string SymbolName(const std::string& text, const std::set<std::string>& taken) {
  std::string base;
  for (unsigned char c : text) base += c < 128 && std::isalnum(c) ? static_cast<char>(c) : '_';
  if (base.empty() || std::isdigit(static_cast<unsigned char>(base[0]))) base = "_" + base;
  if (IsReserved(base)) base += "_";
  std::string name = base;
  for (int k = 2; taken.count(name) > 0; ++k) name = OnnxText(base, "_", k);
  return name;
}

const TypeProto::Tensor* TensorType(const ValueInfoProto& value) {
  return value.type().has_tensor_type() ? &value.type().tensor_type() : nullptr;
}

// Why no operator can take a value of the type; empty when one can.
std::string UnsupportedType(const ValueInfoProto& value, DType* dtype) {
  const TypeProto::Tensor* type = TensorType(value);
  if (type == nullptr) {
    switch (value.type().value_case()) {
      case TypeProto::kSequenceType:
        return "a sequence";
      case TypeProto::kMapType:
        return "a map";
      case TypeProto::kOptionalType:
        return "an optional";
      case TypeProto::kSparseTensorType:
        return "a sparse tensor";
      default:
        return "a value without a type";
    }
  }
  const absl::StatusOr<DType> known = DTypeFromOnnx(type->elem_type());
  if (!known.ok()) return std::string(known.status().message());
  *dtype = *known;
  return "";
}

}  // namespace

absl::Status OnnxTranslator::AddInitialisers(const GraphProto& graph, Scope& scope) {
  const auto add = [&](const std::string& name, absl::StatusOr<OnnxValue> value) -> absl::Status {
    auto operand = std::make_shared<OnnxOperand>();
    if (value.status().code() == absl::StatusCode::kUnimplemented) {
      operand->unsupported = std::string(value.status().message());
      return Define(scope, name, std::move(operand));
    }
    ONNX_RETURN_IF_ERROR(value.status());
    operand->dtype = value->dtype;
    operand->dims = Dims(value->dims.begin(), value->dims.end());
    if (std::optional<IndexTensor> index = IndexTensorFromValue(*value); index.has_value())
      operand->index = std::make_shared<const IndexTensor>(*std::move(index));
    operand->constant = std::make_shared<OnnxValue>(*std::move(value));
    return Define(scope, name, std::move(operand));
  };
  for (const onnx::TensorProto& t : graph.initializer()) {
    if (t.name().empty()) return OnnxError("an initializer has no name");
    ONNX_RETURN_IF_ERROR(add(t.name(), OnnxValueFromProto(t)));
  }
  for (const onnx::SparseTensorProto& t : graph.sparse_initializer())
    ONNX_RETURN_IF_ERROR(add(t.values().name(), OnnxValueFromSparse(t)));
  return absl::OkStatus();
}

absl::Status OnnxTranslator::AddInputs(const GraphProto& graph, Scope& scope) {
  std::set<std::string> names;
  for (const ValueInfoProto& input : graph.input()) {
    if (input.name().empty()) return OnnxError("an input of the graph has no name");
    if (!names.insert(input.name()).second)
      return OnnxError("two inputs of the graph are named '", input.name(), "'");
  }
  for (const auto& [name, value] : options_.known_inputs)
    if (names.count(name) == 0)
      return OnnxError("known_inputs has '", name, "', but the model's inputs are '",
                       absl::StrJoin(names, "', '"), "'");
  for (const auto& [name, dims] : options_.input_dims)
    if (names.count(name) == 0)
      return OnnxError("input_dims has '", name, "', but the model's inputs are '",
                       absl::StrJoin(names, "', '"), "'");
  ONNX_RETURN_IF_ERROR(DeclareSymbols(graph, scope));
  for (const ValueInfoProto& input : graph.input()) {
    // Up to IR version 3 initialisers had to be listed as inputs, too. They are constants.
    if (scope.values.count(input.name()) > 0) continue;
    ONNX_RETURN_IF_ERROR(AddInput(input, scope));
  }
  return absl::OkStatus();
}

absl::StatusOr<Dims> OnnxTranslator::InputDims(const ValueInfoProto& input) {
  const TensorShapeProto& shape = TensorType(input)->shape();
  const bool has_shape = TensorType(input)->has_shape();
  const auto fixed = options_.input_dims.find(input.name());
  Dims dims;
  for (int axis = 0; axis < shape.dim_size(); ++axis) {
    const TensorShapeProto::Dimension& dim = shape.dim(axis);
    dims.push_back(dim.has_dim_value() ? ClampedIndex(dim.dim_value())
                                       : DimSymbol(input.name(), axis, dim.dim_param()));
  }
  if (fixed == options_.input_dims.end()) {
    if (has_shape) return dims;
    return OnnxError("input '", input.name(),
                     "' has no shape in the model; give its dims (input_dims)");
  }
  const std::vector<int64_t>& given = fixed->second;
  bool fits = !has_shape || given.size() == dims.size();
  for (size_t d = 0; fits && d < dims.size(); ++d)
    fits = !dims[d].IsConst() || dims[d] == ClampedIndex(given[d]);
  if (!fits)
    return OnnxError("input_dims gives input '", input.name(), "' the dims [",
                     absl::StrJoin(given, ", "), "], but the model says ", ShapeText(dims));
  Dims result;
  for (int64_t size : given) result.push_back(ClampedIndex(size));
  return result;
}

absl::Status OnnxTranslator::AddInput(const ValueInfoProto& input, Scope& scope) {
  auto operand = std::make_shared<OnnxOperand>();
  operand->unsupported = UnsupportedType(input, &operand->dtype);
  operand->input = input.name();
  operand->sources = {input.name()};
  inputs_[input.name()] = operand;
  ONNX_RETURN_IF_ERROR(Define(scope, input.name(), operand));
  if (!operand->unsupported.empty()) return absl::OkStatus();  // said by the operator that uses it

  ONNX_ASSIGN_OR_RETURN(operand->dims, InputDims(input));
  if (operand->dims.size() > static_cast<size_t>(kMaxOnnxRank))
    return OnnxError("input '", input.name(), "' has rank ", operand->dims.size(), "; up to ",
                     kMaxOnnxRank, " is supported");
  builder_.SetOrigin(OnnxText("input '", input.name(), "'"));
  operand->tensor = builder_.Input(input.name(), operand->dtype, operand->dims);
  ONNX_RETURN_IF_ERROR(builder_.status());

  const auto known = options_.known_inputs.find(input.name());
  if (known == options_.known_inputs.end()) return absl::OkStatus();
  ONNX_RETURN_IF_ERROR(CheckKnownInput(input.name(), *operand));
  if (known->second.dtype != operand->dtype) return absl::OkStatus();  // bits of a bf16
  operand->known = &known->second;
  if (std::optional<IndexTensor> index = IndexTensorFromValue(known->second); index.has_value()) {
    index->assumes = {input.name()};
    operand->index = std::make_shared<const IndexTensor>(*std::move(index));
  }
  return absl::OkStatus();
}

absl::Status OnnxTranslator::CheckKnownInput(const std::string& name,
                                             const OnnxOperand& operand) const {
  const OnnxValue& value = options_.known_inputs.at(name);
  // ONNX's own test data has bf16 as uint16.
  const bool is_bits = value.dtype == DType::kU16 && operand.dtype == DType::kBF16;
  bool fits = (value.dtype == operand.dtype || is_bits) && value.dims.size() == operand.dims.size();
  for (size_t d = 0; fits && d < value.dims.size(); ++d)
    fits = !operand.dims[d].IsConst() || operand.dims[d] == ClampedIndex(value.dims[d]);
  if (!fits)
    return OnnxError("known_inputs gives '", name, "' as ", DTypeName(value.dtype), "[",
                     absl::StrJoin(value.dims, ", "), "], but the model says ",
                     TypeText(operand.dtype, operand.dims));
  ONNX_ASSIGN_OR_RETURN(const int64_t numel, OnnxElements(value.dims));
  if (static_cast<int64_t>(value.bytes.size()) != numel * DTypeBytes(value.dtype))
    return OnnxError("known_inputs has ", value.bytes.size(), " bytes for '", name, "', which has ",
                     numel * DTypeBytes(value.dtype));
  return absl::OkStatus();
}

absl::Status OnnxTranslator::AddOutputs(const GraphProto& graph, const Scope& scope) {
  for (const auto& [name, operand] : inputs_)
    if (!operand->unsupported.empty() && operand->tensor == std::nullopt)
      return absl::UnimplementedError(OnnxText("input '", name, "' is ", operand->unsupported));
  if (graph.output_size() == 0) return OnnxError("the graph has no outputs");
  builder_.SetOrigin("");
  for (const ValueInfoProto& output : graph.output()) {
    OnnxOperandPtr operand;
    if (!Find(scope, output.name(), &operand) || operand == nullptr)
      return OnnxError("output '", output.name(), "' of the graph is made by no node");
    if (!operand->unsupported.empty())
      return absl::UnimplementedError(
          OnnxText("output '", output.name(), "' is ", operand->unsupported));
    DType declared = operand->dtype;
    if (TensorType(output) != nullptr && TensorType(output)->elem_type() != 0 &&
        UnsupportedType(output, &declared).empty() && declared != operand->dtype)
      return OnnxError("output '", output.name(), "' is declared as ", DTypeName(declared),
                       ", but the nodes make ", DTypeName(operand->dtype));
    builder_.Output(output.name(), Materialise(builder_, *operand));
    ONNX_RETURN_IF_ERROR(builder_.status());
  }
  return absl::OkStatus();
}

IndexExpr OnnxTranslator::DimSymbol(const std::string& input, int axis,
                                    const std::string& param) const {
  if (param.empty()) return IndexExpr::Var(symbol_of_axis_.at({input, axis}));
  const auto fixed = fixed_params_.find(param);
  if (fixed != fixed_params_.end()) return ClampedIndex(fixed->second);
  return IndexExpr::Var(symbol_of_param_.at(param));
}

absl::Status OnnxTranslator::DeclareSymbols(const GraphProto& graph, const Scope& scope) {
  struct OpenDim {
    std::string input, param;
    int axis;
    int64_t example;  // the size in the given value of the input, 0 if there is none
  };
  std::vector<OpenDim> open;
  for (const ValueInfoProto& input : graph.input()) {
    const TypeProto::Tensor* type = TensorType(input);
    if (type == nullptr || scope.values.count(input.name()) > 0) continue;
    // Rank of a hostile model; a real one is checked with its input.
    if (type->shape().dim_size() > kMaxOnnxRank) continue;
    const auto known = options_.known_inputs.find(input.name());
    const auto fixed = options_.input_dims.find(input.name());
    for (int axis = 0; axis < type->shape().dim_size(); ++axis) {
      const TensorShapeProto::Dimension& dim = type->shape().dim(axis);
      if (dim.has_dim_value()) continue;
      if (fixed != options_.input_dims.end() && axis < static_cast<int>(fixed->second.size()) &&
          !dim.dim_param().empty()) {
        const int64_t size = fixed->second[axis];
        if (fixed_params_.emplace(dim.dim_param(), size).first->second != size)
          return OnnxError("input_dims gives '", dim.dim_param(), "' the sizes ",
                           fixed_params_[dim.dim_param()], " and ", size);
      }
      const bool has_example = known != options_.known_inputs.end() &&
                               axis < static_cast<int>(known->second.dims.size());
      open.push_back(
          {input.name(), dim.dim_param(), axis, has_example ? known->second.dims[axis] : 0});
    }
  }
  std::set<std::string> taken;
  std::vector<std::pair<std::string, const OpenDim*>> symbols;
  for (bool named : {true, false}) {  // names from the model first: these stay as they are
    for (const OpenDim& dim : open) {
      if (dim.param.empty() == named || symbol_of_param_.count(dim.param) > 0 ||
          fixed_params_.count(dim.param) > 0) {
        continue;
      }
      const std::string text = named ? dim.param : OnnxText(dim.input, "_", dim.axis);
      const std::string name = SymbolName(text, taken);
      taken.insert(name);
      if (named) {
        symbol_of_param_[dim.param] = name;
      } else {
        symbol_of_axis_[{dim.input, dim.axis}] = name;
      }
      // Dims fixed by input_dims leave symbols that nothing uses.
      symbols.emplace_back(name, &dim);
    }
  }
  const int count = static_cast<int>(symbols.size());
  for (const auto& [name, dim] : symbols)
    ONNX_RETURN_IF_ERROR(DeclareSymbol(name, dim->param, count, dim->example));
  for (const auto& [name, hint] : options_.dim_hints)
    if (taken.count(name) == 0 && symbol_of_param_.count(name) == 0)
      return OnnxError("dim_hints has '", name, "', but the model's open sizes are '",
                       absl::StrJoin(taken, "', '"), "'");
  for (const auto& [name, range] : options_.dim_ranges)
    if (taken.count(name) == 0 && symbol_of_param_.count(name) == 0)
      return OnnxError("dim_ranges has '", name, "', but the model's open sizes are '",
                       absl::StrJoin(taken, "', '"), "'");
  return builder_.status();
}

absl::Status OnnxTranslator::DeclareSymbol(const std::string& name, const std::string& param,
                                           int num_symbols, int64_t example) {
  const auto find = [&](const auto& options) {
    const auto at = options.find(name);
    return at != options.end() || param.empty() ? at : options.find(param);
  };
  SizeSymbol symbol;
  symbol.name = name;
  const int defaults = static_cast<int>(std::size(kDefaultDimUpper));
  symbol.upper = kDefaultDimUpper[std::min(num_symbols, defaults) - 1];
  const auto range = find(options_.dim_ranges);
  const bool has_range = range != options_.dim_ranges.end();
  if (has_range) {
    symbol.lower = range->second.lower;
    symbol.upper = range->second.upper;
    if (symbol.lower < 2 || symbol.upper < symbol.lower || symbol.upper > INT32_MAX)
      return OnnxError("dim_ranges gives '", name, "' the range [", symbol.lower, ", ",
                       symbol.upper, "]; it must be 2 <= lower <= upper < 2^31");
  }
  const auto hint = find(options_.dim_hints);
  const bool has_hint = hint != options_.dim_hints.end();
  symbol.hint = has_hint ? hint->second : example >= 2 ? example : kDefaultDimHint;
  if (!has_range) symbol.upper = std::max(symbol.upper, std::min<int64_t>(symbol.hint, INT32_MAX));
  if (has_hint && (symbol.hint < symbol.lower || symbol.hint > symbol.upper))
    return OnnxError("the hint ", symbol.hint, " for '", name, "' is outside of its range [",
                     symbol.lower, ", ", symbol.upper, "]");
  symbol.hint = std::clamp(symbol.hint, symbol.lower, symbol.upper);
  builder_.Symbol(symbol);
  return builder_.status();
}

}  // namespace stax
