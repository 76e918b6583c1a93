// GraphBuilder: the C++ frontend, and what the other frontends are made of.
//
//   GraphBuilder b("example_1_1");
//   auto x = b.Input("x", DType::kF32, {64, 128});
//   auto w = b.Input("w", DType::kF32, {64, 128});
//   auto y = b.Sum(b.Mul(b.Relu(b.Add(x, w)), b.Scalar(DType::kF32, 2.0)), {-1});
//   b.Output("y", y);
//   absl::StatusOr<Graph> graph = b.Build();
//
// Binary operators broadcast like NumPy and want equal dtypes. Axes may be negative. The first
// error is kept (later calls do nothing) and returned by Build(); it names the operator, its
// origin, and the shapes and dtypes involved.
//
// Two dims are taken as equal when they are provably equal. When one is a symbol and the other
// anything else not provably different, the frontend's declared broadcasting rule applies: size 1
// must be literal, as symbols are at least 2 (DESIGN: right for every size from 2 up); otherwise an
// equality of sizes is an error that names both.
#ifndef STAX_IR_GRAPH_BUILDER_H_
#define STAX_IR_GRAPH_BUILDER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ir/graph.h"

namespace stax {

class GraphBuilder {
 public:
  struct Tensor {
    TensorId id = -1;
  };

  explicit GraphBuilder(const std::string& name);

  void Symbol(const SizeSymbol& symbol);
  // Origin recorded on the ops that follow, e.g. an ONNX node's name and type. Bytes in it that are
  // no UTF-8 are escaped, as in the graph's name; names of inputs and outputs with such are errors.
  void SetOrigin(const std::string& origin);

  Tensor Input(std::string name, DType dtype, Dims dims);
  Tensor Constant(DType dtype, Dims dims, std::vector<std::byte> data);
  Tensor Scalar(DType dtype, double value);  // rank 0
  Tensor ShapeValue(std::vector<IndexExpr> values, Dims dims);
  Tensor Iota(DType dtype, Dims dims, int axis);

  // Elementwise, by op code; and named ones that read well in C++.
  Tensor Unary(OpCode code, Tensor x);
  Tensor Binary(OpCode code, Tensor a, Tensor b);
  Tensor Cast(Tensor x, DType dtype);
  Tensor Where(Tensor c, Tensor a, Tensor b);
  Tensor Add(Tensor a, Tensor b) { return Binary(OpCode::kAdd, a, b); }
  Tensor Sub(Tensor a, Tensor b) { return Binary(OpCode::kSub, a, b); }
  Tensor Mul(Tensor a, Tensor b) { return Binary(OpCode::kMul, a, b); }
  Tensor Div(Tensor a, Tensor b) { return Binary(OpCode::kDiv, a, b); }
  Tensor Relu(Tensor x);
  Tensor Gelu(Tensor x);  // erf form
  Tensor Silu(Tensor x);

  // Reductions. No axes given: `axes` empty means none, use AllAxes(x) for all. Halves accumulate
  // in f32 and round once.
  Tensor Reduce(ReduceKind kind, Tensor x, const std::vector<int>& axes, bool keep_dims = false);
  Tensor Sum(Tensor x, const std::vector<int>& axes, bool keep_dims = false);
  Tensor Mean(Tensor x, const std::vector<int>& axes, bool keep_dims = false);
  Tensor Max(Tensor x, const std::vector<int>& axes, bool keep_dims = false);
  Tensor Cumulative(ReduceKind kind, Tensor x, int axis, bool exclusive, bool reverse);
  std::vector<int> AllAxes(Tensor x) const;

  // Composites; halves are computed in f32 throughout and rounded once.
  Tensor Softmax(Tensor x, int axis);
  Tensor LogSoftmax(Tensor x, int axis);
  Tensor LogSumExp(Tensor x, const std::vector<int>& axes, bool keep_dims = false);
  // Over the dims from `axis` on; scale and bias (optional) broadcast to x.
  Tensor LayerNorm(Tensor x, int axis, std::optional<Tensor> scale, std::optional<Tensor> bias,
                   double epsilon);

  // Contractions.
  Tensor Einsum(std::string_view equation, std::vector<Tensor> operands);  // 1 or more operands
  Tensor MatMul(Tensor a, Tensor b);                                       // NumPy's matmul

  // Views and movement.
  Tensor Reshape(Tensor x, Dims dims);  // no -1 and 0 here
  Tensor Transpose(Tensor x, std::vector<int> perm);
  Tensor Expand(Tensor x, Dims dims);  // NumPy's broadcast_to
  Tensor Squeeze(Tensor x, const std::vector<int>& axes);
  Tensor Unsqueeze(Tensor x, const std::vector<int>& axes);
  // Elements start + step * i, i < size; start in range.
  Tensor Slice(Tensor x, int axis, IndexExpr start, IndexExpr step, IndexExpr size);
  Tensor Pad(Tensor x, std::vector<IndexExpr> before, std::vector<IndexExpr> after, PadMode mode,
             std::optional<Tensor> value);
  Tensor Concat(std::vector<Tensor> xs, int axis);
  Tensor Gather(Tensor data, Tensor indices, int axis);
  Tensor GatherElements(Tensor data, Tensor indices, int axis);

  void Output(std::string name, Tensor x);
  void Specialise(Tensor input, std::vector<std::byte> data);

  const Dims& dims(Tensor x) const;
  DType dtype(Tensor x) const;
  int rank(Tensor x) const { return static_cast<int>(dims(x).size()); }
  RangeContext ranges() const { return graph_.Ranges(); }

  // Keeps the first error; its text is prefixed with the current origin.
  void SetError(absl::Status status);
  const absl::Status& status() const { return status_; }

  absl::StatusOr<Graph> Build();

 private:
  // The one place that makes tensors. Checks the shape and names the result "%<id>".
  Tensor AddOp(GraphOp op, DType dtype, Dims dims);
  Tensor AddNamedOp(GraphOp op, std::string tensor_name, DType dtype, Dims dims);

  // Records an InvalidArgument "<op>: <problem>"; the result is no tensor.
  Tensor Fail(std::string_view op, std::string_view problem);
  // False after an error, and when one of the operands is no tensor of this builder (an error).
  bool Usable(std::string_view op, absl::Span<const Tensor> operands);
  std::string Type(Tensor x) const;  // "f32[64, n]"
  // Axis counted from the front; nullopt (with the error recorded) when outside [-rank, rank).
  std::optional<int> Axis(std::string_view op, int axis, int rank);
  // Sorted, distinct axes counted from the front.
  std::optional<std::vector<int>> Axes(std::string_view op, const std::vector<int>& axes, int rank);
  // All axes of `x`, from `axis` on.
  std::vector<int> AxesFrom(Tensor x, int axis) const;
  // False, with the error "<op>: <what>: ...", for a formula that CheckFormula does not take.
  bool CheckFormula(std::string_view op, std::string_view what, const IndexExpr& e);
  // A size as a value of the type: a constant, or a ShapeValue when it is symbolic.
  Tensor SizeValue(const IndexExpr& size, DType dtype);
  // The primitive: `axes` from Axes(), not empty; of a type that the op takes.
  Tensor ReduceNumbers(ReduceKind kind, Tensor x, const std::vector<int>& axes);
  // Puts the reduced dims back with size 1.
  Tensor KeepDims(Tensor reduced, const Dims& original, const std::vector<int>& axes);
  // Runs `compute` on x in f32 when x is of a half type, and rounds the result once.
  template <typename F>
  Tensor InFloat(std::string_view op, Tensor x, F compute);
  // Pad after negative pads were made slices.
  Tensor PadNonNegative(Tensor x, std::vector<IndexExpr> before, const Dims& dims, PadMode mode,
                        std::optional<Tensor> value);
  // A tensor with a label a dim, as in an einsum.
  struct Labelled {
    Tensor tensor;
    std::string labels;
  };
  Labelled TakeDiagonals(Labelled x);
  Labelled SumLabels(Labelled x, std::string_view keep);  // sums the others
  Labelled DropUnitDims(Labelled x, const std::map<char, IndexExpr>& sizes);
  Tensor Arrange(const Labelled& x, std::string_view result);
  // Sum of products over the labels that `result` lacks. No label occurs twice in a or in b.
  Tensor Contract(Labelled a, Labelled b, const std::string& result);

  Graph graph_;
  absl::flat_hash_set<std::string> names_;  // of tensors
  std::string origin_;
  absl::Status status_;
};

}  // namespace stax

#endif  // STAX_IR_GRAPH_BUILDER_H_
