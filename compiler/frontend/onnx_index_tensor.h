// IndexTensor: the contents of a small tensor of whole numbers as expressions over the size
// symbols.
//
// Models compute shapes with tensor operators: Shape, Gather, Mul, Concat, Reshape. These values
// are followed here beside the graph, so that a Reshape sees [batch, 12, 64] and not an opaque
// tensor:
//
//   Shape(x)        -> {dims = [3], values = [batch, seq, 768]}
//   Gather(.., 1)   -> {dims = [],  values = [seq]}
//
// Floats take part where they are whole numbers that their type holds exactly: exporters cast sizes
// to float and back. All arithmetic is sound or refused: a result that may overflow int64 or the
// tensor's element type, or whose value cannot be told for all sizes, is nullopt, and the tensor
// operator stands.
#ifndef STAX_COMPILER_FRONTEND_ONNX_INDEX_TENSOR_H_
#define STAX_COMPILER_FRONTEND_ONNX_INDEX_TENSOR_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/frontend/onnx_tensor.h"
#include "ir/dtype.h"
#include "ir/graph.h"
#include "ir/index_expr.h"

namespace stax {

// Larger tensors are data, not shapes.
inline constexpr int64_t kMaxIndexElements = 1024;

struct IndexTensor {
  std::vector<int64_t> dims;
  std::vector<IndexExpr> values;  // row-major; bools are 0 or 1
  // Inputs of the model whose given values this relies on: using it as a shape specialises the
  // program on them.
  std::set<std::string> assumes;
};

// Whole numbers and bools, at most kMaxIndexElements of them (above -2^63, u64 below 2^63: an
// IndexExpr holds no others). No -0.0, as 0 stands for 0.0.
std::optional<IndexTensor> IndexTensorFromValue(const OnnxValue& value);
// The same of integers, with values outside clamped: enough for bounds that are clamped anyway, as
// in Slice.
std::optional<IndexTensor> ClampedIndexTensor(const OnnxValue& value);
IndexExpr ClampedIndex(int64_t value);

// a * b; InvalidArgument that names both when sizes of this magnitude could overflow.
absl::StatusOr<IndexExpr> SafeProduct(const IndexExpr& a, const IndexExpr& b);
// The bytes of an IndexTensor without symbols.
std::vector<std::byte> BytesOf(const IndexTensor& t, DType dtype);

// Whether every value provably fits the type.
bool FitsDType(const IndexTensor& t, DType dtype, const RangeContext& ranges);

// The scalar operators that shapes are computed with.
enum class IndexOp {
  kAdd,
  kSub,
  kMul,
  kDiv,   // truncates
  kMod,   // sign of the divisor
  kFmod,  // sign of the dividend
  kMax,
  kMin,
  kEq,
  kLt,
  kLe,  // 0 or 1
  kAnd,
  kOr,
  kXor,
};
std::optional<IndexExpr> Apply(IndexOp op, const IndexExpr& a, const IndexExpr& b,
                               const RangeContext& ranges);

// Elementwise with broadcasting; nullopt when shapes do not broadcast or `apply` gives nullopt.
using IndexFunction =
    std::function<std::optional<IndexExpr>(const std::vector<const IndexExpr*>& operands)>;
std::optional<IndexTensor> Elementwise(const std::vector<const IndexTensor*>& operands,
                                       const IndexFunction& apply);

// out[i] = in[source(i)] for all multi-indices i of `dims`; `source` gives a row-major position.
using PositionFunction = std::function<int64_t(const std::vector<int64_t>& index)>;
std::optional<IndexTensor> Remap(const IndexTensor& in, std::vector<int64_t> dims,
                                 const PositionFunction& source);

// Reduction of `axes` (sorted), which stay with size 1 if keep_dims.
std::optional<IndexTensor> ReduceIndex(IndexOp op, const IndexTensor& in,
                                       const std::vector<int>& axes, bool keep_dims,
                                       const RangeContext& ranges);

// Row-major strides.
std::vector<int64_t> StridesOf(const std::vector<int64_t>& dims);
// The dims as numbers; nullopt if one is symbolic or there are more than kMaxIndexElements
// elements.
std::optional<std::vector<int64_t>> SmallConstDims(const Dims& dims);

// numerator / denominator as products of factors, when it is provably exact: equal factors cancel
// first, then common symbols and numbers. FailedPrecondition otherwise; denominator > 0.
absl::StatusOr<IndexExpr> DivideExactly(std::vector<IndexExpr> numerator,
                                        std::vector<IndexExpr> denominator,
                                        const RangeContext& ranges);

}  // namespace stax

#endif  // STAX_COMPILER_FRONTEND_ONNX_INDEX_TENSOR_H_
