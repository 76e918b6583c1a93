#include "compiler/schedule/match_dims.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/lowering/access_pattern.h"
#include "compiler/lowering/index_map.h"

namespace stax {
namespace {

// Dims of a nest in the order in which they are to be matched: positions in nest.dims.
using DimOrder = std::vector<int>;

// A dim of the common refinement: a factor of a dim of each nest (-1: of none).
struct Part {
  IndexExpr extent;
  int first = -1, second = -1;
};

// The common refinement of two lists of dims, outermost first; nullopt when they do not divide.
std::optional<std::vector<Part>> Refine(const LoopNest& first, const DimOrder& first_order,
                                        const LoopNest& second, const DimOrder& second_order,
                                        const RangeContext& ranges) {
  std::vector<Part> parts;
  size_t a = first_order.size(), b = second_order.size();
  IndexExpr rest_a = 1, rest_b = 1;
  while (true) {  // from the innermost dim on
    if (rest_a == IndexExpr(1) && a > 0) rest_a = first.dims[first_order[--a]].extent;
    if (rest_b == IndexExpr(1) && b > 0) rest_b = second.dims[second_order[--b]].extent;
    const bool one_a = rest_a == IndexExpr(1), one_b = rest_b == IndexExpr(1);
    if (one_a && one_b) {
      if (a == 0 && b == 0) break;
      continue;
    }
    if (one_a || one_b) {
      if ((one_a && a > 0) || (one_b && b > 0)) continue;
      return std::nullopt;
    }
    Part part;
    part.first = first_order[a];
    part.second = second_order[b];
    if (rest_a == rest_b || ranges.ProveEq(rest_a, rest_b)) {
      part.extent = rest_a;
      rest_a = rest_b = 1;
    } else if (const auto q = DivideExactly(rest_a, rest_b); q.has_value()) {
      part.extent = rest_b;
      rest_a = *q;
      rest_b = 1;
    } else if (const auto p = DivideExactly(rest_b, rest_a); p.has_value()) {
      part.extent = rest_a;
      rest_b = *p;
      rest_a = 1;
    } else {
      return std::nullopt;
    }
    parts.push_back(std::move(part));
  }
  std::reverse(parts.begin(), parts.end());
  return parts;
}

// Puts the dims of `nest` that were not matched (its reduction) between the parts of the others,
// where they are in the nest.
std::vector<Part> WithUnmatched(const LoopNest& nest, bool nest_is_first,
                                std::vector<Part> matched) {
  std::vector<Part> all;
  size_t next = 0;
  const auto take = [&](int d) {
    while (next < matched.size() &&
           (nest_is_first ? matched[next].first : matched[next].second) == d)
      all.push_back(matched[next++]);
  };
  for (int d = 0; d < static_cast<int>(nest.dims.size()); ++d) {
    if (!nest.dims[d].reduce) {
      take(d);
      continue;
    }
    all.push_back({nest.dims[d].extent, nest_is_first ? d : -1, nest_is_first ? -1 : d});
  }
  all.insert(all.end(), matched.begin() + next, matched.end());
  return all;
}

// Reduction dims of a nest with arg-reductions, in the order of the parts, must be in their own
// order, since positions are row-major over them.
bool KeepsPositions(const LoopNest& nest, bool is_first, const std::vector<Part>& parts) {
  const bool has_arg = std::any_of(nest.body.begin(), nest.body.end(), [](const LoopOp& op) {
    return op.code == OpCode::kReduce && IsArgReduce(op.reduce);
  });
  if (!has_arg) return true;
  int last = -1;
  for (const Part& part : parts) {
    const int d = is_first ? part.first : part.second;
    if (d < 0 || !nest.dims[d].reduce) continue;
    if (d < last) return false;
    last = d;
  }
  return true;
}

std::optional<DimMatch> MakeMatch(const LoopNest& first, const LoopNest& second,
                                  const std::vector<Part>& parts) {
  const bool first_reduces = first.HasReduction(), second_reduces = second.HasReduction();
  DimMatch match;
  int loops = 0, reductions = 0;
  for (const LoopDim& d : first.dims) match.first_vars[d.name] = 0;
  for (const LoopDim& d : second.dims) match.second_vars[d.name] = 0;
  for (const Part& part : parts) {
    const bool reduce_1 = part.first >= 0 && first.dims[part.first].reduce;
    const bool reduce_2 = part.second >= 0 && second.dims[part.second].reduce;
    if (first_reduces && second_reduces && reduce_1 != reduce_2) return std::nullopt;
    const bool reduce = reduce_1 || reduce_2;
    const std::string name = reduce ? absl::StrCat("r", reductions++) : absl::StrCat("i", loops++);
    match.dims.push_back({name, part.extent, reduce});
    const auto extend = [&](std::map<std::string, IndexExpr>& vars, const std::string& var) {
      vars[var] = vars[var] * part.extent + IndexExpr::Var(name);
    };
    if (part.first >= 0) extend(match.first_vars, first.dims[part.first].name);
    if (part.second >= 0) extend(match.second_vars, second.dims[part.second].name);
  }
  if (!KeepsPositions(first, true, parts) || !KeepsPositions(second, false, parts))
    return std::nullopt;
  return match;
}

DimOrder AllDims(const LoopNest& nest) {
  DimOrder order;
  for (int d = 0; d < static_cast<int>(nest.dims.size()); ++d) order.push_back(d);
  return order;
}

// What one nest does with a buffer: its dims by descending stride. Empty when the index is not
// linear in them with different strides.
DimOrder StrideOrder(const LoopNest& nest, const LoopOp& access) {
  std::vector<std::pair<int64_t, int>> strides;
  for (int d = 0; d < static_cast<int>(nest.dims.size()); ++d) {
    if (!access.index.Mentions(nest.dims[d].name)) continue;
    const std::optional<IndexExpr> stride = access.index.StrideOf(nest.dims[d].name);
    if (!stride.has_value()) return {};
    strides.emplace_back(-AtHint(*stride, nest.symbols), d);
  }
  std::sort(strides.begin(), strides.end());
  DimOrder order;
  for (const auto& [stride, d] : strides) order.push_back(d);
  return order;
}

const LoopOp* FindAccess(const LoopNest& nest, const std::string& buffer) {
  for (const LoopOp& op : nest.body) {
    const bool access = op.code == OpCode::kLoad || op.code == OpCode::kStore;
    if (access && nest.buffers[op.buffer].name == buffer) return &op;
  }
  return nullptr;
}

// Pairs of orders to try.
std::vector<std::pair<DimOrder, DimOrder>> Orders(const LoopNest& first, const DimOrder& all_first,
                                                  const LoopNest& second,
                                                  const DimOrder& all_second) {
  // More buffers than this tell nothing new.
  constexpr size_t kMaxOrders = 5;
  std::vector<std::pair<DimOrder, DimOrder>> orders = {{all_first, all_second}};
  const auto is_permutation = [](DimOrder order, const DimOrder& all) {
    std::sort(order.begin(), order.end());
    return order == all;
  };
  for (const NestBuffer& b : first.buffers) {
    if (orders.size() >= kMaxOrders) break;
    const LoopOp *in_first = FindAccess(first, b.name), *in_second = FindAccess(second, b.name);
    if (in_first == nullptr || in_second == nullptr) continue;
    std::pair<DimOrder, DimOrder> order = {StrideOrder(first, *in_first),
                                           StrideOrder(second, *in_second)};
    if (!is_permutation(order.first, all_first) || !is_permutation(order.second, all_second))
      continue;
    if (std::find(orders.begin(), orders.end(), order) == orders.end())
      orders.push_back(std::move(order));
  }
  return orders;
}

}  // namespace

std::vector<DimMatch> MatchDims(const LoopNest& first, const LoopNest& second) {
  RangeContext ranges;  // of the sizes
  for (const LoopNest* nest : {&first, &second})
    for (const SizeSymbol& s : nest->symbols) ranges.AddSize(s.name, s.lower, s.upper);
  std::vector<DimMatch> matches;
  const bool one_reduces = first.HasReduction() != second.HasReduction();
  // All dims of both; then, for a pointwise nest that runs once a row, only the other's loops.
  for (bool only_loops : {false, true}) {
    if (only_loops && !one_reduces) break;
    const DimOrder of_first =
        only_loops && first.HasReduction() ? first.LoopDims() : AllDims(first);
    const DimOrder of_second =
        only_loops && second.HasReduction() ? second.LoopDims() : AllDims(second);
    for (const auto& [order_1, order_2] : Orders(first, of_first, second, of_second)) {
      std::optional<std::vector<Part>> parts = Refine(first, order_1, second, order_2, ranges);
      if (!parts.has_value()) continue;
      if (only_loops)
        parts = WithUnmatched(first.HasReduction() ? first : second, first.HasReduction(),
                              std::move(*parts));
      std::optional<DimMatch> match = MakeMatch(first, second, *parts);
      if (match.has_value()) matches.push_back(std::move(*match));
    }
  }
  return matches;
}

}  // namespace stax
