#include "compiler/lowering/index_map.h"

namespace stax {
namespace {

// Positions of the dims that are not the literal 1: the others have index 0 and are in no group.
std::vector<int> RealDims(const std::vector<IndexExpr>& dims) {
  std::vector<int> positions;
  for (int d = 0; d < static_cast<int>(dims.size()); ++d)
    if (dims[d] != IndexExpr(1)) positions.push_back(d);
  return positions;
}

// Which side of a group has to grow: -1 `a`, 1 `b`, 0 unknown.
int SmallerSide(const IndexExpr& a, const IndexExpr& b) {
  if (a.IsConst() && b.IsConst()) return a.ConstOrDie() < b.ConstOrDie() ? -1 : 1;
  if (DivideExactly(b, a).has_value()) return -1;
  if (DivideExactly(a, b).has_value()) return 1;
  return 0;
}

}  // namespace

IndexExpr FlatIndex(const Index& index, const std::vector<IndexExpr>& dims) {
  IndexExpr flat = 0;
  for (size_t d = 0; d < dims.size(); ++d) flat = flat * dims[d] + index[d];
  return flat;
}

std::optional<IndexExpr> DivideExactly(const IndexExpr& a, const IndexExpr& b) {
  if (b == IndexExpr(0) || (b.IsConst() && b.ConstOrDie() < 0)) return std::nullopt;
  IndexExpr quotient = FloorDiv(a, b);
  if (quotient * b == a) return quotient;
  return std::nullopt;
}

Index ReshapeIndex(const std::vector<IndexExpr>& from, const std::vector<IndexExpr>& to,
                   const Index& index, const RangeContext& ranges) {
  Index result(from.size(), 0);
  const std::vector<int> from_dims = RealDims(from), to_dims = RealDims(to);
  for (int d : from_dims)
    if (from[d] == IndexExpr(0)) return result;  // no element to find
  size_t f = 0, t = 0;
  while (f < from_dims.size() && t < to_dims.size()) {
    const size_t group_f = f, group_t = t;
    IndexExpr size_f = from[from_dims[f++]], size_t_ = to[to_dims[t++]];
    while (size_f != size_t_ && (f < from_dims.size() || t < to_dims.size())) {
      int grow = SmallerSide(size_f, size_t_);
      if (grow == 0) grow = f < from_dims.size() ? -1 : 1;
      if (grow < 0 ? f == from_dims.size() : t == to_dims.size()) grow = -grow;
      if (grow < 0) {
        size_f = size_f * from[from_dims[f++]];
      } else {
        size_t_ = size_t_ * to[to_dims[t++]];
      }
    }
    IndexExpr flat = 0;
    for (size_t k = group_t; k < t; ++k) flat = flat * to[to_dims[k]] + index[to_dims[k]];
    for (size_t k = f; k-- > group_f;) {
      const IndexExpr& extent = from[from_dims[k]];
      result[from_dims[k]] = Simplify(k == group_f ? flat : Mod(flat, extent), ranges);
      if (k > group_f) flat = Simplify(FloorDiv(flat, extent), ranges);
    }
  }
  return result;
}

}  // namespace stax
