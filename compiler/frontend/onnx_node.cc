#include "compiler/frontend/onnx_node.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_join.h"
#include "compiler/frontend/onnx_status.h"
#include "ir/graph_rules.h"
#include "ir/scalar.h"

namespace stax {
namespace {

using onnx::AttributeProto;

// Constants up to this size are kept also after they entered the graph, since later nodes may look
// at their values.
constexpr size_t kKeptBytes = 16384;

std::vector<double> DoublesOf(const OnnxValue& value) {
  const int bytes = DTypeBytes(value.dtype);
  std::vector<double> result;
  for (size_t at = 0; at + bytes <= value.bytes.size(); at += bytes) {
    const Scalar s = LoadScalar(value.dtype, value.bytes.data() + at);
    result.push_back(IsFloat(value.dtype) ? s.f : static_cast<double>(s.i));
  }
  return result;
}

Dims DimsOf(const std::vector<int64_t>& dims) { return Dims(dims.begin(), dims.end()); }

std::string AttributeTypeName(int type) {
  const std::string name =
      AttributeProto::AttributeType_Name(static_cast<AttributeProto::AttributeType>(type));
  return name.empty() ? OnnxText("type ", type) : name;
}

}  // namespace

std::string InputText(int i, std::string_view what) {
  return OnnxText("input ", i, " (", what, ")");
}

OnnxTensor Materialise(GraphBuilder& b, OnnxOperand& operand) {
  if (operand.tensor.has_value()) return *operand.tensor;
  if (operand.index != nullptr && operand.constant == nullptr) {
    const IndexTensor& t = *operand.index;
    const bool is_const = std::all_of(t.values.begin(), t.values.end(),
                                      [](const IndexExpr& e) { return e.IsConst(); });
    operand.tensor = is_const ? b.Constant(operand.dtype, operand.dims, BytesOf(t, operand.dtype))
                              : b.Cast(b.ShapeValue(t.values, operand.dims), operand.dtype);
  } else if (operand.constant != nullptr) {
    std::vector<std::byte>& bytes = operand.constant->bytes;
    const bool keep = bytes.size() <= kKeptBytes;
    operand.tensor = b.Constant(operand.dtype, operand.dims, keep ? bytes : std::move(bytes));
    if (!keep) operand.constant = nullptr;
  } else {
    b.SetError(absl::InternalError("an operand has no contents"));
    operand.tensor = OnnxTensor{};
  }
  return *operand.tensor;
}

OnnxNode::OnnxNode(const onnx::NodeProto& proto, int opset, OnnxAttributes attributes,
                   std::vector<OnnxOperandPtr> inputs, Context context)
    : proto_(proto),
      opset_(opset),
      attributes_(std::move(attributes)),
      inputs_(std::move(inputs)),
      outputs_(proto.output_size()),
      context_(std::move(context)) {}

OnnxTensor OnnxNode::In(int i) { return Materialise(b(), *inputs_[i]); }

std::optional<OnnxTensor> OnnxNode::OptionalIn(int i) {
  if (!Has(i)) return std::nullopt;
  return In(i);
}

absl::Status OnnxNode::Unknown(int i, std::string_view what) const {
  const OnnxOperand& operand = *inputs_[i];
  const std::string text =
      OnnxText(InputText(i, what), " '", proto_.input(i), "' must be known while compiling");
  const std::string names = absl::StrJoin(operand.sources, "', '");
  if (!operand.input.empty())
    return absl::FailedPreconditionError(
        OnnxText(text, "; give the value of the model's input '", names,
                 "': make it an initializer, or set OnnxOptions::known_inputs"));
  if (operand.sources.empty())
    return absl::FailedPreconditionError(OnnxText(text, ", but is computed"));
  return absl::FailedPreconditionError(
      OnnxText(text, ", but is computed from the model's input '", names,
               "'; if it holds sizes, give its value: make it an initializer, or set "
               "OnnxOptions::known_inputs"));
}

absl::StatusOr<IndexTensor> OnnxNode::KnownIndex(int i, std::string_view what, bool floats_too) {
  if (!Has(i)) return OnnxError(InputText(i, what), " is missing");
  if (IsFloat(dtype(i)) && !floats_too)
    return OnnxError(InputText(i, what), " is ", DTypeName(dtype(i)), "; it must be int64");
  if (rank(i) > 1)
    return OnnxError(InputText(i, what), " has shape ", ShapeText(dims(i)),
                     "; it must be of rank 0 or 1");
  std::optional<IndexTensor> t;
  if (Index(i) != nullptr) {
    t = *Index(i);
  } else if (Operand(i)->constant != nullptr) {
    t = ClampedIndexTensor(*Operand(i)->constant);
  } else if (Operand(i)->known != nullptr) {
    t = ClampedIndexTensor(*Operand(i)->known);
    if (t.has_value()) t->assumes = {Operand(i)->input};
  }
  if (!t.has_value()) return Unknown(i, what);
  for (const std::string& input : t->assumes) context_.specialise(input);
  return *std::move(t);
}

absl::StatusOr<std::vector<IndexExpr>> OnnxNode::IndexInput(int i, std::string_view what,
                                                            bool floats_too) {
  ONNX_ASSIGN_OR_RETURN(IndexTensor t, KnownIndex(i, what, floats_too));
  return std::move(t.values);
}

absl::StatusOr<std::vector<int64_t>> OnnxNode::IntInput(int i, std::string_view what) {
  ONNX_ASSIGN_OR_RETURN(const IndexTensor t, KnownIndex(i, what, /*floats_too=*/false));
  std::vector<int64_t> result;
  for (const IndexExpr& e : t.values) {
    if (!e.IsConst())
      return OnnxError(InputText(i, what), " has the symbolic value ", e.ToString(),
                       "; only numbers are possible here");
    result.push_back(e.ConstOrDie());
  }
  return result;
}

absl::StatusOr<int64_t> OnnxNode::IntScalarInput(int i, std::string_view what) {
  ONNX_ASSIGN_OR_RETURN(const std::vector<int64_t> values, IntInput(i, what));
  if (values.size() != 1)
    return OnnxError(InputText(i, what), " has ", values.size(), " elements; it must have one");
  return values[0];
}

absl::StatusOr<std::vector<double>> OnnxNode::DoubleInput(int i, std::string_view what) {
  if (!Has(i)) return OnnxError(InputText(i, what), " is missing");
  if (!IsFloat(dtype(i))) {
    ONNX_ASSIGN_OR_RETURN(const std::vector<int64_t> ints, IntInput(i, what));
    return std::vector<double>(ints.begin(), ints.end());
  }
  const OnnxOperand& operand = *inputs_[i];
  if (operand.constant != nullptr) return DoublesOf(*operand.constant);
  if (const IndexTensor* t = operand.index.get(); t != nullptr) {
    std::vector<double> result;
    for (const IndexExpr& e : t->values) {
      if (!e.IsConst())
        return OnnxError(InputText(i, what), " has the symbolic value ", e.ToString(),
                         "; only numbers are possible here");
      result.push_back(static_cast<double>(e.ConstOrDie()));
    }
    for (const std::string& input : t->assumes) context_.specialise(input);
    return result;
  }
  if (operand.known == nullptr) return Unknown(i, what);
  context_.specialise(operand.input);
  return DoublesOf(*operand.known);
}

const AttributeProto* OnnxNode::Attr(std::string_view name, int type) {
  const auto at = attributes_.find(name);
  if (at == attributes_.end()) return nullptr;
  // Models of IR version 1 may leave the type out; the field then tells it.
  if (at->second->type() == type || !at->second->has_type()) return at->second;
  attribute_status_.Update(OnnxError("attribute '", name, "' is of type ",
                                     AttributeTypeName(at->second->type()), "; it must be ",
                                     AttributeTypeName(type)));
  return nullptr;
}

int64_t OnnxNode::Int(std::string_view name, int64_t otherwise) {
  const AttributeProto* a = Attr(name, AttributeProto::INT);
  return a == nullptr ? otherwise : a->i();
}

double OnnxNode::Float(std::string_view name, double otherwise) {
  const AttributeProto* a = Attr(name, AttributeProto::FLOAT);
  return a == nullptr ? otherwise : a->f();
}

std::string OnnxNode::Str(std::string_view name, std::string_view otherwise) {
  const AttributeProto* a = Attr(name, AttributeProto::STRING);
  return a == nullptr ? std::string(otherwise) : a->s();
}

std::vector<int64_t> OnnxNode::Ints(std::string_view name) {
  const AttributeProto* a = Attr(name, AttributeProto::INTS);
  if (a == nullptr) return {};
  return {a->ints().begin(), a->ints().end()};
}

std::vector<double> OnnxNode::Floats(std::string_view name) {
  const AttributeProto* a = Attr(name, AttributeProto::FLOATS);
  if (a == nullptr) return {};
  return {a->floats().begin(), a->floats().end()};
}

void OnnxNode::Set(int i, OnnxTensor tensor) {
  auto operand = std::make_shared<OnnxOperand>();
  operand->dtype = b().dtype(tensor);
  operand->dims = b().dims(tensor);
  operand->tensor = tensor;
  Set(i, std::move(operand));
}

void OnnxNode::Set(int i, OnnxOperandPtr operand) {
  if (i < num_outputs()) outputs_[i] = std::move(operand);
}

void OnnxNode::SetIndex(int i, DType dtype, IndexTensor value) {
  auto operand = std::make_shared<OnnxOperand>();
  operand->dtype = dtype;
  operand->dims = DimsOf(value.dims);
  operand->index = std::make_shared<const IndexTensor>(std::move(value));
  Set(i, std::move(operand));
}

void OnnxNode::SetConstant(int i, OnnxValue value) {
  auto operand = std::make_shared<OnnxOperand>();
  operand->dtype = value.dtype;
  operand->dims = DimsOf(value.dims);
  if (std::optional<IndexTensor> index = IndexTensorFromValue(value); index.has_value())
    operand->index = std::make_shared<const IndexTensor>(*std::move(index));
  operand->constant = std::make_shared<OnnxValue>(std::move(value));
  Set(i, std::move(operand));
}

void OnnxNode::AttachIndex(int i, IndexTensor value) {
  if (i >= num_outputs() || outputs_[i] == nullptr) return;
  outputs_[i]->index = std::make_shared<const IndexTensor>(std::move(value));
}

// NOLINTBEGIN(readability-convert-member-functions-to-static): asked of the node like all else.
absl::StatusOr<int> OnnxNode::Axis(int64_t axis, int rank) const {
  if (axis < -rank || axis >= rank)
    return OnnxError("axis ", axis, " is outside of [", -rank, ", ", rank - 1,
                     "] for a tensor of rank ", rank);
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

absl::StatusOr<std::vector<int>> OnnxNode::Axes(const std::vector<int64_t>& axes, int rank) const {
  std::vector<int> result;
  for (int64_t axis : axes) {
    ONNX_ASSIGN_OR_RETURN(const int from_front, Axis(axis, rank));
    result.push_back(from_front);
  }
  std::sort(result.begin(), result.end());
  const auto twice = std::adjacent_find(result.begin(), result.end());
  if (twice != result.end()) return OnnxError("axis ", *twice, " is given twice");
  return result;
}
// NOLINTEND(readability-convert-member-functions-to-static)

IndexExpr OnnxNode::Dim(OnnxTensor x, int axis) const {
  const Dims& all = b().dims(x);
  return axis >= 0 && axis < static_cast<int>(all.size()) ? all[axis] : IndexExpr(1);
}

OnnxTensor OnnxNode::SizeTensor(const IndexExpr& size, DType dtype) const {
  if (size.IsConst()) return b().Scalar(dtype, static_cast<double>(size.ConstOrDie()));
  return b().Cast(b().ShapeValue({size}, {}), dtype);
}

}  // namespace stax
