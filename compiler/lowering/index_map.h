// Index arithmetic of views: which element of the operand an element of the result is.
#ifndef STAX_COMPILER_LOWERING_INDEX_MAP_H_
#define STAX_COMPILER_LOWERING_INDEX_MAP_H_

#include <optional>
#include <vector>

#include "ir/index_expr.h"

namespace stax {

using Index = std::vector<IndexExpr>;  // one expression a dim

// Row-major position of `index` in a tensor of `dims`.
IndexExpr FlatIndex(const Index& index, const std::vector<IndexExpr>& dims);

// a / b when b divides a as polynomials, nullopt otherwise. b != 0.
std::optional<IndexExpr> DivideExactly(const IndexExpr& a, const IndexExpr& b);

// A reshape keeps the row-major order: the index into `from` of the element that has `index` in
// `to`. Dims are matched in the smallest groups of equal products, so that a group of one dim on
// either side needs no division: [B, S, H] -> [B*S, H] is (i0, i1) -> (i0 / S, i0 % S, i1).
// `ranges` are those of the variables in `index`.
Index ReshapeIndex(const std::vector<IndexExpr>& from, const std::vector<IndexExpr>& to,
                   const Index& index, const RangeContext& ranges);

}  // namespace stax

#endif  // STAX_COMPILER_LOWERING_INDEX_MAP_H_
