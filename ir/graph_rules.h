// Rules of shapes and dtypes in a Graph, shared by GraphBuilder, which applies them to what the
// user wrote, and Verify, which checks that every op kept to them.
#ifndef STAX_IR_GRAPH_RULES_H_
#define STAX_IR_GRAPH_RULES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir/graph.h"

namespace stax {

// Largest number of elements of a tensor: 2^40 - 1 (a terabyte even for one-byte types; no device
// holds it, so a larger shape is a mistake in the model).
inline constexpr int64_t kMaxElements = (int64_t{1} << 40) - 1;

// Bound on bytes that keeps all products and sums of a few sizes and strides inside int64.
inline constexpr int64_t kMaxBytes = int64_t{1} << 62;

// "[64, n]" and "f32[64, n]".
std::string ShapeText(const Dims& dims);
std::string TypeText(DType dtype, const Dims& dims);

// Sum of the absolute values of all coefficients, also inside atoms; saturates at int64's maximum.
// Sums and products of expressions stay clear of overflow while sums and products of magnitudes do.
int64_t Magnitude(const IndexExpr& e);

// Whether `e` has a value for all sizes: symbols declared, divisors positive; and whether computing
// with it is safe and cheap: Magnitude at most kMaxElements, at most 64 terms.
absl::Status CheckFormula(const std::vector<SizeSymbol>& symbols, const RangeContext& ranges,
                          const IndexExpr& e);

// Whether `dims` can be the shape of a tensor: formulas that are never negative, not more than
// kMaxElements elements (for symbolic sizes: at their lower bounds; the actual sizes are checked
// when they are known), formula of the size in bytes clear of overflow and not too long.
// InvalidArgument that names the shape and the dim otherwise.
absl::Status CheckShape(const std::vector<SizeSymbol>& symbols, const RangeContext& ranges,
                        DType dtype, const Dims& dims);

// NumPy's rule: dims aligned at the end, equal or one of them the literal 1. InvalidArgument naming
// both shapes and the dim: "shapes [2, 3] and [4, 3] do not broadcast: 2 and 4 differ".
absl::StatusOr<Dims> BroadcastDims(const Dims& a, const Dims& b, const RangeContext& ranges);

// First dim in which shapes of equal rank are not provably equal, -1 if there is none.
int FirstDifference(const Dims& a, const Dims& b, const RangeContext& ranges);

// Why the elements start + step * i, 0 <= i < size, are not known to be inside [0, extent); empty
// when they are.
std::string SliceProblem(const IndexExpr& extent, const IndexExpr& start, const IndexExpr& step,
                         const IndexExpr& size, const RangeContext& ranges);

// Why a dim cannot be padded so; empty when it can.
std::string PadProblem(const IndexExpr& extent, const IndexExpr& before, const IndexExpr& after,
                       PadMode mode, const RangeContext& ranges);

// Whether the scalar op takes operands of the type: InvalidArgument "takes floats" and the like.
absl::Status CheckOpDType(OpCode code, DType dtype);

// The same for kReduce and kCumulative: numbers; no halves for sums and products, which
// GraphBuilder computes in f32.
absl::Status CheckReduceDType(ReduceKind kind, DType dtype);

}  // namespace stax

#endif  // STAX_IR_GRAPH_RULES_H_
