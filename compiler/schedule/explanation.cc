#include "compiler/schedule/explanation.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/lowering/access_pattern.h"

namespace stax {
namespace {

std::string ExplainFusion(const FusedNest& fused) {
  if (fused.parts.size() == 1) return absl::StrCat(fused.parts[0], " alone");
  std::string text = absl::StrCat("fuses ", absl::StrJoin(fused.parts, ", "));
  if (!fused.kept.empty())
    absl::StrAppend(&text, " (", absl::StrJoin(fused.kept, ", "), " not stored)");
  return text;
}

std::string ExplainAxis(const LoopNest& nest, const TileAxis& axis) {
  std::vector<std::string> dims;
  for (int d : axis.dims)
    dims.push_back(absl::StrCat(nest.dims[d].name, "<", nest.dims[d].extent.ToString()));
  return absl::StrCat(axis.name, "(", absl::StrJoin(dims, ", "), ")");
}

std::string ExplainTile(const KernelSpec& kernel, const TileChoice& tile) {
  std::vector<std::string> axes;
  for (const TileAxis& axis : kernel.tile) axes.push_back(ExplainAxis(kernel.nest, axis));
  std::string text = absl::StrCat("tile ", absl::StrJoin(axes, " x "));
  if (tile.contraction) absl::StrAppend(&text, ", two loop axes to reuse both operands");
  if (tile.bytes > 0)
    absl::StrAppend(&text, ", ", 100 * tile.coalesced_bytes / tile.bytes,
                    "% of the bytes coalesced");
  return text;
}

std::string ExplainForm(const KernelSpec& kernel) {
  const LoopNest& nest = kernel.nest;
  if (kernel.form == KernelForm::kPointwise) return "pointwise";
  const std::string direction = ReducesContiguous(nest) ? "contiguous" : "strided";
  const IndexExpr length = nest.ReduceNumel();
  std::string text = absl::StrCat(kernel.form == KernelForm::kPersistent ? "persistent" : "looped",
                                  ": ", direction, " reduction of ", length.ToString());
  if (!length.IsConst()) absl::StrAppend(&text, ", at most ", nest.Ranges().Bounds(length).hi);
  return text;
}

}  // namespace

std::string ExplainKernel(const KernelSpec& kernel, const FusedNest& fused,
                          const TileChoice& tile) {
  return absl::StrCat(ExplainFusion(fused), "; ", ExplainTile(kernel, tile), "; ",
                      ExplainForm(kernel));
}

}  // namespace stax
