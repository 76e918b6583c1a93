#include "compiler/schedule/merge_dims.h"

#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/lowering/access_pattern.h"
#include "compiler/lowering/rewrite_body.h"

namespace stax {
namespace {

using AtomKind = IndexExpr::AtomKind;

IndexExpr Rebuild(const IndexExpr::Atom& atom, const IndexExpr& a, const IndexExpr& b) {
  switch (atom.kind) {
    case AtomKind::kFloorDiv:
      return FloorDiv(a, b);
    case AtomKind::kMod:
      return Mod(a, b);
    case AtomKind::kMin:
      return Min(a, b);
    case AtomKind::kMax:
      return Max(a, b);
    case AtomKind::kVar:
      break;
  }
  return IndexExpr::Var(atom.name);
}

// The nest with dims `outer` and `inner` as one, in the place of `inner`.
std::optional<LoopNest> MergePair(const LoopNest& nest, int outer, int inner) {
  const LoopDim &o = nest.dims[outer], &i = nest.dims[inner];
  const std::string merged = absl::StrCat(i.name, "_");  // not taken: dims are renamed afterwards
  std::vector<std::optional<IndexExpr>> indices(nest.body.size());
  for (size_t id = 0; id < nest.body.size(); ++id) {
    const LoopOp& op = nest.body[id];
    if (!HasIndex(op.code)) continue;
    indices[id] = MergeVariables(op.index, o.name, i.name, i.extent, merged);
    if (!indices[id].has_value()) return std::nullopt;
  }
  LoopNest result = nest;
  for (size_t id = 0; id < nest.body.size(); ++id)
    if (indices[id].has_value()) result.body[id].index = *indices[id];
  result.dims[inner] = {merged, o.extent * i.extent, i.reduce};
  result.dims.erase(result.dims.begin() + outer);
  return result;
}

// First pair of neighbours among the loop or the reduction dims that can be merged.
std::optional<LoopNest> MergeAny(const LoopNest& nest) {
  for (const std::vector<int>& dims : {nest.LoopDims(), nest.ReduceDims()}) {
    for (size_t k = 1; k < dims.size(); ++k) {
      std::optional<LoopNest> merged = MergePair(nest, dims[k - 1], dims[k]);
      if (merged.has_value()) return merged;
    }
  }
  return std::nullopt;
}

// Dims of extent 1 replaced by 0 and the others renamed; common subexpressions that merging made
// visible are found.
LoopNest Rename(const LoopNest& nest) {
  LoopNest result;
  result.name = nest.name;
  result.symbols = nest.symbols;
  BodyCopy how;
  int loops = 0, reductions = 0;
  // A reduction needs a dim, even if it has one point.
  const bool keep_reduction = nest.HasReduction() && nest.ReduceNumel() == IndexExpr(1);
  for (const LoopDim& d : nest.dims) {
    if (d.extent == IndexExpr(1) && !(keep_reduction && d.reduce && reductions == 0)) {
      how.vars[d.name] = 0;
      continue;
    }
    const std::string name =
        d.reduce ? absl::StrCat("r", reductions++) : absl::StrCat("i", loops++);
    how.vars[d.name] = IndexExpr::Var(name);
    result.dims.push_back({name, d.extent, d.reduce});
  }
  BodyBuilder body(&result);
  CopyBody(nest, how, &body);
  return RemoveDeadOps(result);
}

}  // namespace

std::optional<IndexExpr> MergeVariables(const IndexExpr& e, const std::string& outer,
                                        const std::string& inner, const IndexExpr& inner_extent,
                                        const std::string& merged) {
  IndexExpr rest = e.constant(), outer_stride = 0, inner_stride = 0;
  for (const IndexExpr::Term& term : e.terms()) {
    IndexExpr product = term.coeff;
    int outers = 0, inners = 0;
    for (const auto& atom : term.atoms) {
      if (atom->kind == AtomKind::kVar) {
        outers += atom->name == outer;
        inners += atom->name == inner;
        if (atom->name != outer && atom->name != inner)
          product = product * IndexExpr::Var(atom->name);
        continue;
      }
      const auto a = MergeVariables(atom->a, outer, inner, inner_extent, merged);
      const auto b = MergeVariables(atom->b, outer, inner, inner_extent, merged);
      if (!a.has_value() || !b.has_value()) return std::nullopt;
      product = product * Rebuild(*atom, *a, *b);
    }
    if (outers + inners > 1) return std::nullopt;
    IndexExpr& sum = outers == 1 ? outer_stride : inners == 1 ? inner_stride : rest;
    sum = sum + product;
  }
  if (outer_stride != inner_stride * inner_extent) return std::nullopt;
  return rest + inner_stride * IndexExpr::Var(merged);
}

LoopNest MergeDims(const LoopNest& nest) {
  LoopNest result = Rename(nest);
  while (std::optional<LoopNest> merged = MergeAny(result)) {
    LoopNest renamed = Rename(*merged);
    if (!IndicesAreProvable(renamed)) break;
    result = std::move(renamed);
  }
  return result;
}

}  // namespace stax
