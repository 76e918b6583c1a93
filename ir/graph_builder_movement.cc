// GraphBuilder's views and data movement: reshape, slice, pad, concat, gather ...
#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ir/graph_builder.h"
#include "ir/graph_rules.h"

namespace stax {
namespace {

GraphOp UnaryOp(GraphOpKind kind, GraphBuilder::Tensor x) {
  GraphOp op;
  op.kind = kind;
  op.operands = {x.id};
  return op;
}

std::string PermText(const std::vector<int>& perm) {
  return absl::StrCat("[", absl::StrJoin(perm, ", "), "]");
}

}  // namespace

GraphBuilder::Tensor GraphBuilder::Reshape(Tensor x, Dims dims) {
  if (!Usable("reshape", {x})) return {};
  const RangeContext known = ranges();
  if (absl::Status s = CheckShape(graph_.symbols, known, dtype(x), dims); !s.ok()) {
    return Fail("reshape", std::string(s.message()));
  }
  const IndexExpr from = NumElements(this->dims(x)), to = NumElements(dims);
  if (!known.ProveEq(from, to)) {
    return Fail("reshape",
                absl::StrCat(ShapeText(this->dims(x)), " to ", ShapeText(dims), ": ",
                             from.ToString(), " and ", to.ToString(), " elements",
                             from.IsConst() && to.IsConst() ? "" : " are not known to be equal"));
  }
  if (this->dims(x) == dims) return x;
  return AddOp(UnaryOp(GraphOpKind::kReshape, x), dtype(x), std::move(dims));
}

GraphBuilder::Tensor GraphBuilder::Transpose(Tensor x, std::vector<int> perm) {
  if (!Usable("transpose", {x})) return {};
  std::vector<int> identity(rank(x));
  std::iota(identity.begin(), identity.end(), 0);
  for (int& p : perm) {
    if (p < 0) p += rank(x);
  }
  std::vector<int> sorted = perm;
  std::sort(sorted.begin(), sorted.end());
  if (sorted != identity) {
    return Fail("transpose", absl::StrCat("axes ", PermText(perm), " are not a permutation of the ",
                                          rank(x), " axes of ", Type(x)));
  }
  if (perm == identity) return x;
  Dims result;
  for (int p : perm) result.push_back(dims(x)[p]);
  GraphOp op = UnaryOp(GraphOpKind::kTranspose, x);
  op.axes = std::move(perm);
  return AddOp(std::move(op), dtype(x), std::move(result));
}

GraphBuilder::Tensor GraphBuilder::Expand(Tensor x, Dims dims) {
  if (!Usable("expand", {x})) return {};
  const RangeContext known = ranges();
  Dims aligned = this->dims(x);
  bool fits = aligned.size() <= dims.size();
  if (fits) {
    aligned.insert(aligned.begin(), dims.size() - aligned.size(), IndexExpr(1));
    for (size_t d = 0; d < dims.size(); ++d) {
      // Where sizes are equal keep the operand's formula: kExpand then repeats literal ones only.
      if (known.ProveEq(aligned[d], dims[d])) {
        dims[d] = aligned[d];
      } else {
        fits = fits && aligned[d] == 1;
      }
    }
  }
  if (!fits) {
    return Fail("expand",
                absl::StrCat(ShapeText(this->dims(x)), " does not broadcast to ", ShapeText(dims)));
  }
  x = Reshape(x, aligned);
  if (aligned == dims) return x;
  return AddOp(UnaryOp(GraphOpKind::kExpand, x), dtype(x), std::move(dims));
}

GraphBuilder::Tensor GraphBuilder::Squeeze(Tensor x, const std::vector<int>& axes) {
  if (!Usable("squeeze", {x})) return {};
  const auto drop = Axes("squeeze", axes, rank(x));
  if (!drop.has_value()) return {};
  Dims result;
  for (int d = 0; d < rank(x); ++d) {
    if (!std::binary_search(drop->begin(), drop->end(), d)) {
      result.push_back(dims(x)[d]);
    } else if (dims(x)[d] != 1) {
      return Fail("squeeze", absl::StrCat("axis ", d, " of ", Type(x), " has size ",
                                          dims(x)[d].ToString(), ", not 1"));
    }
  }
  return Reshape(x, std::move(result));
}

GraphBuilder::Tensor GraphBuilder::Unsqueeze(Tensor x, const std::vector<int>& axes) {
  if (!Usable("unsqueeze", {x})) return {};
  const auto add = Axes("unsqueeze", axes, rank(x) + static_cast<int>(axes.size()));
  if (!add.has_value()) return {};
  Dims result = dims(x);
  for (int axis : *add) result.insert(result.begin() + axis, IndexExpr(1));
  return Reshape(x, std::move(result));
}

GraphBuilder::Tensor GraphBuilder::Slice(Tensor x, int axis, IndexExpr start, IndexExpr step,
                                         IndexExpr size) {
  if (!Usable("slice", {x})) return {};
  const std::optional<int> from_front = Axis("slice", axis, rank(x));
  if (!from_front.has_value()) return {};
  // For one element at most any step means the same, also one whose products would overflow.
  if (size.IsConst() && size.ConstOrDie() <= 1) step = 1;
  if (size == 0) start = 0;
  if (!CheckFormula("slice", "start", start) || !CheckFormula("slice", "step", step) ||
      !CheckFormula("slice", "size", size)) {
    return {};
  }
  const IndexExpr extent = dims(x)[*from_front];
  const std::string problem = SliceProblem(extent, start, step, size, ranges());
  if (!problem.empty()) {
    return Fail("slice", absl::StrCat("axis ", *from_front, " of ", Type(x), ": ", problem));
  }
  if (start == 0 && step == 1 && size == extent) return x;
  GraphOp op = UnaryOp(GraphOpKind::kSlice, x);
  op.axis = *from_front;
  op.start = std::move(start);
  op.step = std::move(step);
  Dims result = dims(x);
  result[*from_front] = std::move(size);
  return AddOp(std::move(op), dtype(x), std::move(result));
}

GraphBuilder::Tensor GraphBuilder::Pad(Tensor x, std::vector<IndexExpr> before,
                                       std::vector<IndexExpr> after, PadMode mode,
                                       std::optional<Tensor> value) {
  if (!Usable("pad", {x})) return {};
  if (value.has_value() && !Usable("pad", {*value})) return {};
  if (static_cast<int>(before.size()) != rank(x) || static_cast<int>(after.size()) != rank(x)) {
    return Fail("pad", absl::StrCat(before.size(), " sizes before and ", after.size(),
                                    " after for ", Type(x), ", which has ", rank(x), " axes"));
  }
  const RangeContext known = ranges();
  for (int d = 0; d < rank(x); ++d) {
    IndexExpr start = 0, size = dims(x)[d];
    for (IndexExpr* pad : {&before[d], &after[d]}) {
      if (!CheckFormula("pad", "size", *pad)) return {};
      if (known.ProveLe(0, *pad)) continue;
      if (!known.ProveLe(*pad, 0)) {
        return Fail("pad", absl::StrCat("size ", pad->ToString(), " on axis ", d,
                                        " is not known to be of one sign"));
      }
      if (pad == &before[d]) start = -*pad;  // a negative pad takes elements away
      size = size + *pad;
      *pad = 0;
    }
    x = Slice(x, d, std::move(start), 1, std::move(size));
    if (x.id < 0) return {};
  }
  Dims result = dims(x);
  for (int d = 0; d < rank(x); ++d) result[d] = before[d] + result[d] + after[d];
  if (result == dims(x)) return x;
  return PadNonNegative(x, std::move(before), result, mode, value);
}

GraphBuilder::Tensor GraphBuilder::PadNonNegative(Tensor x, std::vector<IndexExpr> before,
                                                  const Dims& dims, PadMode mode,
                                                  std::optional<Tensor> value) {
  const RangeContext known = ranges();
  GraphOp op = UnaryOp(GraphOpKind::kPad, x);
  op.pad_mode = mode;
  for (int d = 0; d < rank(x); ++d) {
    const IndexExpr& extent = this->dims(x)[d];
    const std::string problem =
        PadProblem(extent, before[d], dims[d] - extent - before[d], mode, known);
    if (problem.empty()) continue;
    return Fail("pad", absl::StrCat("axis ", d, " of ", Type(x), ": ", problem));
  }
  if (value.has_value() && mode == PadMode::kConstant) {
    if (dtype(*value) != dtype(x) || NumElements(this->dims(*value)) != 1) {
      return Fail("pad", absl::StrCat("the value is ", Type(*value), "; it must be one ",
                                      std::string(DTypeName(dtype(x)))));
    }
    op.operands.push_back(Reshape(*value, {}).id);
  }
  op.pads_before = std::move(before);
  return AddOp(std::move(op), dtype(x), dims);
}

GraphBuilder::Tensor GraphBuilder::Concat(std::vector<Tensor> xs, int axis) {
  if (!Usable("concat", xs)) return {};
  if (xs.empty()) return Fail("concat", "there are no operands");
  const Dims first = dims(xs[0]);
  const std::optional<int> along = Axis("concat", axis, rank(xs[0]));
  if (!along.has_value()) return {};
  const RangeContext known = ranges();
  GraphOp op;
  op.kind = GraphOpKind::kConcat;
  op.axis = *along;
  IndexExpr total = 0;
  for (Tensor x : xs) {
    Dims same = dims(x);
    const bool rank_fits = same.size() == first.size();
    if (rank_fits) same[*along] = first[*along];
    if (!rank_fits || dtype(x) != dtype(xs[0]) || FirstDifference(same, first, known) >= 0) {
      return Fail("concat",
                  absl::StrCat("operands ", Type(xs[0]), " and ", Type(x),
                               " must agree in dtype and in all sizes but axis ", *along));
    }
    total = total + dims(x)[*along];
    if (!CheckFormula("concat", "size", total)) return {};
    op.operands.push_back(x.id);
  }
  if (xs.size() == 1) return xs[0];
  Dims result = first;
  result[*along] = std::move(total);
  return AddOp(std::move(op), dtype(xs[0]), std::move(result));
}

GraphBuilder::Tensor GraphBuilder::Gather(Tensor data, Tensor indices, int axis) {
  if (!Usable("gather", {data, indices})) return {};
  const std::optional<int> along = Axis("gather", axis, rank(data));
  if (!along.has_value()) return {};
  if (!IsInteger(dtype(indices))) {
    return Fail("gather", absl::StrCat("indices are ", Type(indices), "; they must be integers"));
  }
  if (dims(data)[*along] == 0 && NumElements(dims(indices)) != 0) {
    return Fail("gather",
                absl::StrCat("axis ", *along, " of ", Type(data), " is empty: no index is valid"));
  }
  Dims result = dims(data);
  result.erase(result.begin() + *along);
  result.insert(result.begin() + *along, dims(indices).begin(), dims(indices).end());
  GraphOp op;
  op.kind = GraphOpKind::kGather;
  op.operands = {data.id, indices.id};
  op.axis = *along;
  return AddOp(std::move(op), dtype(data), std::move(result));
}

GraphBuilder::Tensor GraphBuilder::GatherElements(Tensor data, Tensor indices, int axis) {
  constexpr std::string_view kName = "gather_elements";
  if (!Usable(kName, {data, indices})) return {};
  const std::optional<int> along = Axis(kName, axis, rank(data));
  if (!along.has_value()) return {};
  const std::string types = absl::StrCat("data ", Type(data), " and indices ", Type(indices));
  if (!IsInteger(dtype(indices)) || rank(data) != rank(indices)) {
    return Fail(kName, absl::StrCat(types, ": indices must be integers of the same rank"));
  }
  const RangeContext known = ranges();
  Dims expanded = dims(data);
  for (int d = 0; d < rank(data); ++d) {
    const IndexExpr& wanted = dims(indices)[d];
    if (d == *along || known.ProveLe(wanted, expanded[d])) continue;
    if (expanded[d] != 1) {
      return Fail(kName,
                  absl::StrCat(types, ": axis ", d, " of the indices may be the larger one"));
    }
    expanded[d] = wanted;
  }
  if (expanded[*along] == 0 && NumElements(dims(indices)) != 0) {
    return Fail(kName, absl::StrCat(types, ": axis ", *along, " is empty: no index is valid"));
  }
  GraphOp op;
  op.kind = GraphOpKind::kGatherElements;
  op.operands = {Expand(data, expanded).id, indices.id};
  op.axis = *along;
  return AddOp(std::move(op), dtype(data), dims(indices));
}

}  // namespace stax
