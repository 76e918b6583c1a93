// The operators of ONNX that Stax translates, in tables by family. The table of a family stands at
// the end of its file.
#ifndef STAX_COMPILER_FRONTEND_ONNX_OPS_H_
#define STAX_COMPILER_FRONTEND_ONNX_OPS_H_

#include <climits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "compiler/frontend/onnx_node.h"

namespace stax {

using OnnxHandler = absl::Status (*)(OnnxNode& node);

struct OnnxOp {
  const char* name;
  int since;                   // first operator set that has it
  int min_inputs, max_inputs;  // the first min_inputs may not be left out
  OnnxHandler translate;
};
inline constexpr int kVariadic = INT_MAX;

absl::Span<const OnnxOp> OnnxElementwiseOps();  // arithmetic, comparison, logic, casts
absl::Span<const OnnxOp> OnnxActivationOps();   // Relu to Mish
absl::Span<const OnnxOp> OnnxReduceOps();       // Reduce*, ArgMax, CumSum
absl::Span<const OnnxOp> OnnxNormaliseOps();    // Softmax, LayerNormalization ...
absl::Span<const OnnxOp> OnnxLossOps();
absl::Span<const OnnxOp> OnnxViewOps();   // Reshape, Transpose, Expand, Tile ...
absl::Span<const OnnxOp> OnnxSliceOps();  // Slice, Split, Concat, Pad
absl::Span<const OnnxOp> OnnxGatherOps();
absl::Span<const OnnxOp> OnnxGenerateOps();  // Constant, Shape, Range, EyeLike ...
absl::Span<const OnnxOp> OnnxMatMulOps();
absl::Span<const OnnxOp> OnnxQuantizeOps();
absl::Span<const OnnxOp> OnnxPoolOps();
absl::Span<const OnnxOp> OnnxConvOps();
absl::Span<const OnnxOp> OnnxResizeOps();
absl::Span<const OnnxOp> OnnxScatterOps();  // also TopK and Compress

// The operator of domain ai.onnx with that name, nullptr if Stax has none.
const OnnxOp* FindOnnxOp(std::string_view name);
// All names, sorted.
std::vector<std::string> OnnxOpNames();

// Shape arithmetic: outputs of a node whose inputs have known contents; nullopt when the operator
// is not one shapes are computed with, or a value cannot be told.
struct FoldedOutput {
  DType dtype;
  IndexTensor value;
};
std::optional<std::vector<FoldedOutput>> FoldOnnxNode(OnnxNode& node);

// Arguments of operators that both shape arithmetic and the graph need.
struct SliceRange {
  int axis = 0;
  IndexExpr start, step, size;  // elements start + step * i, i < size
};
absl::StatusOr<std::vector<SliceRange>> SliceArguments(OnnxNode& node);
absl::StatusOr<std::vector<IndexExpr>> SplitSizes(OnnxNode& node, int axis);
absl::StatusOr<Dims> ReshapeDims(OnnxNode& node);
absl::StatusOr<Dims> ExpandDims(OnnxNode& node);
// The given axes, from the attribute `axes` or, from operator set `input_since` on, from input 1;
// nullopt when there are none.
absl::StatusOr<std::optional<std::vector<int64_t>>> AxesArgument(OnnxNode& node, int input_since);
absl::StatusOr<Dims> SqueezeDims(OnnxNode& node);
absl::StatusOr<Dims> UnsqueezeDims(OnnxNode& node);
// The type to cast to: attribute `to`, or the type of input 1 of CastLike.
absl::StatusOr<DType> CastTarget(OnnxNode& node);

// [.., n, ..] -> [.., out, kernel, ..] along `axis`: element (o, k) is x[stride * o + dilation *
// k].
OnnxTensor OnnxWindows(GraphBuilder& b, OnnxTensor x, int axis, const IndexExpr& out,
                       int64_t kernel, int64_t stride, int64_t dilation);

}  // namespace stax

#endif  // STAX_COMPILER_FRONTEND_ONNX_OPS_H_
