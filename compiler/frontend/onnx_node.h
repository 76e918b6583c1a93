// What the translation of one ONNX node sees: its inputs, attributes and operator set, and where
// its outputs go. Operators are functions over it, listed in tables (onnx_ops.h):
//
//   absl::Status Sign(OnnxNode& n) {
//     n.Set(0, n.b().Unary(OpCode::kSign, n.In(0)));
//     return absl::OkStatus();
//   }
//
// Errors. What GraphBuilder finds wrong it keeps itself, and its later calls do nothing; handlers
// only return what they find. The caller adds the node's name to both.
#ifndef STAX_COMPILER_FRONTEND_ONNX_NODE_H_
#define STAX_COMPILER_FRONTEND_ONNX_NODE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "compiler/frontend/onnx_index_tensor.h"
#include "compiler/frontend/onnx_tensor.h"
#include "ir/graph_builder.h"
#include "third_party/onnx/onnx.pb.h"

namespace stax {

using OnnxTensor = GraphBuilder::Tensor;

// What a name of the model stands for. It enters the graph when it is first used as data; shapes
// and constants that are only looked at while translating never do.
struct OnnxOperand {
  DType dtype = DType::kF32;
  Dims dims;
  std::optional<OnnxTensor> tensor;          // in the graph, if it is there already
  std::shared_ptr<const IndexTensor> index;  // its contents, if known and small
  std::shared_ptr<OnnxValue> constant;       // initialiser; bytes move into the graph when large
  // For inputs of the model: the name, and the value if the caller gave it.
  std::string input;
  const OnnxValue* known = nullptr;
  // A few of the model's inputs that the contents are computed from, for messages.
  std::vector<std::string> sources;
  // Why no operator can take it (an element type that Stax lacks); empty for all others.
  std::string unsupported;
};
using OnnxOperandPtr = std::shared_ptr<OnnxOperand>;

using OnnxAttributes = std::map<std::string, const onnx::AttributeProto*, std::less<>>;

class OnnxNode {
 public:
  struct Context {
    GraphBuilder* builder = nullptr;
    // Called with the names of inputs whose given values a shape now depends on.
    std::function<void(const std::string& input)> specialise;
  };

  OnnxNode(const onnx::NodeProto& proto, int opset, OnnxAttributes attributes,
           std::vector<OnnxOperandPtr> inputs, Context context);

  const onnx::NodeProto& proto() const { return proto_; }
  const std::string& op_type() const { return proto_.op_type(); }
  int opset() const { return opset_; }
  GraphBuilder& b() const { return *context_.builder; }
  RangeContext ranges() const { return context_.builder->ranges(); }

  // Inputs. An optional input that is left out is absent.
  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  bool Has(int i) const { return i < num_inputs() && inputs_[i] != nullptr; }
  const OnnxOperandPtr& Operand(int i) const { return inputs_[i]; }
  OnnxTensor In(int i);
  std::optional<OnnxTensor> OptionalIn(int i);
  const Dims& dims(int i) const { return inputs_[i]->dims; }
  int rank(int i) const { return static_cast<int>(inputs_[i]->dims.size()); }
  DType dtype(int i) const { return inputs_[i]->dtype; }
  const IndexTensor* Index(int i) const { return Has(i) ? inputs_[i]->index.get() : nullptr; }

  // Contents of an input that shapes depend on; rank 0 or 1, `what` names it in messages.
  absl::StatusOr<std::vector<IndexExpr>> IndexInput(int i, std::string_view what,
                                                    bool floats_too = false);
  absl::StatusOr<std::vector<int64_t>> IntInput(int i, std::string_view what);
  absl::StatusOr<int64_t> IntScalarInput(int i, std::string_view what);
  absl::StatusOr<std::vector<double>> DoubleInput(int i, std::string_view what);

  // Attributes. One of a wrong type is an error kept in attribute_status().
  bool HasAttr(std::string_view name) const { return attributes_.count(name) > 0; }
  int64_t Int(std::string_view name, int64_t otherwise);
  double Float(std::string_view name, double otherwise);
  std::string Str(std::string_view name, std::string_view otherwise);
  std::vector<int64_t> Ints(std::string_view name);
  std::vector<double> Floats(std::string_view name);
  const onnx::AttributeProto* Attr(std::string_view name, int type);
  const OnnxAttributes& attributes() const { return attributes_; }
  const absl::Status& attribute_status() const { return attribute_status_; }

  // Outputs.
  int num_outputs() const { return proto_.output_size(); }
  bool Wants(int i) const { return i < num_outputs() && !proto_.output(i).empty(); }
  void Set(int i, OnnxTensor tensor);
  void Set(int i, OnnxOperandPtr operand);
  // Contents known while translating; in the graph only if used as data.
  void SetIndex(int i, DType dtype, IndexTensor value);
  void SetConstant(int i, OnnxValue value);
  const std::vector<OnnxOperandPtr>& outputs() const { return outputs_; }
  void AttachIndex(int i, IndexTensor value);

  // From the front; InvalidArgument when outside [-rank, rank).
  absl::StatusOr<int> Axis(int64_t axis, int rank) const;
  absl::StatusOr<std::vector<int>> Axes(const std::vector<int64_t>& axes, int rank) const;

  // A constant of rank 0 and the tensor's dtype.
  // Input i, halves in f32: for formulas of several inputs, whose result is rounded once.
  OnnxTensor WideIn(int i) {
    const OnnxTensor x = In(i);
    return IsHalf(b().dtype(x)) ? b().Cast(x, DType::kF32) : x;
  }
  OnnxTensor Like(OnnxTensor x, double value) const { return b().Scalar(b().dtype(x), value); }
  // The size of a tensor's axis; 1 when there is no such axis (after an error).
  IndexExpr Dim(OnnxTensor x, int axis) const;
  // A size as a tensor of rank 0.
  OnnxTensor SizeTensor(const IndexExpr& size, DType dtype) const;

 private:
  absl::StatusOr<IndexTensor> KnownIndex(int i, std::string_view what, bool floats_too);
  absl::Status Unknown(int i, std::string_view what) const;

  const onnx::NodeProto& proto_;
  int opset_;
  OnnxAttributes attributes_;
  std::vector<OnnxOperandPtr> inputs_;
  std::vector<OnnxOperandPtr> outputs_;
  Context context_;
  absl::Status attribute_status_;
};

// The operand as a tensor of the graph; made on first use.
OnnxTensor Materialise(GraphBuilder& b, OnnxOperand& operand);

// "input 1 (shape)"
std::string InputText(int i, std::string_view what);

// absl::StrCat that also takes std::string_view, which the Abseil of distributions does not.
inline absl::string_view OnnxPart(std::string_view text) { return {text.data(), text.size()}; }
template <typename T>
auto OnnxPart(const T& part)
    -> std::enable_if_t<!std::is_convertible_v<const T&, std::string_view>, const T&> {
  return part;  // NOLINT(bugprone-return-const-ref-from-parameter): used within one expression
}
template <typename... Parts>
std::string OnnxText(const Parts&... parts) {
  return absl::StrCat(OnnxPart(parts)...);
}

template <typename... Parts>
absl::Status OnnxError(const Parts&... parts) {
  return absl::InvalidArgumentError(OnnxText(parts...));
}

// Computes in f32 when x is a half and rounds once at the end: formulas of several operations then
// lose no more than their result's own rounding.
template <typename F>
OnnxTensor InF32(GraphBuilder& b, OnnxTensor x, F compute) {
  const DType dtype = b.dtype(x);
  if (!IsHalf(dtype)) return compute(x);
  return b.Cast(compute(b.Cast(x, DType::kF32)), dtype);
}

}  // namespace stax

#endif  // STAX_COMPILER_FRONTEND_ONNX_NODE_H_
