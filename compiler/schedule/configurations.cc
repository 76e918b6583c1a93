#include "compiler/schedule/configurations.h"

#include <algorithm>
#include <utility>

#include "compiler/lowering/access_pattern.h"
#include "compiler/lowering/op_weight.h"
#include "compiler/schedule/choose_form.h"
#include "compiler/schedule/cuda_candidates.h"
#include "compiler/schedule/kept_row.h"
#include "compiler/schedule/tile_proposals.h"

namespace stax {
namespace {

constexpr int kWarpLanes = 32;

int64_t AxisSize(const LoopNest& nest, const TileAxis& axis) {
  std::vector<IndexExpr> extents;
  for (int d : axis.dims) extents.push_back(nest.dims[d].extent);
  return AtHint(Product(extents), nest.symbols);
}

int64_t AxisUpper(const LoopNest& nest, const TileAxis& axis) {
  std::vector<IndexExpr> extents;
  for (int d : axis.dims) extents.push_back(nest.dims[d].extent);
  return nest.Ranges().Bounds(Product(extents)).hi;
}

// Whether the access is one of the large ones.
bool IsStream(const std::vector<Access>& accesses, const Access& access) {
  int64_t largest = 0;
  for (const Access& a : accesses) largest = std::max(largest, a.elements);
  return access.elements >= largest / 2;
}

// Elements of the smallest type among the streams that make a 16-byte vector.
int64_t VectorElements(const std::vector<Access>& accesses) {
  int64_t bytes = 16;
  for (const Access& a : accesses)
    if (IsStream(accesses, a)) bytes = std::min<int64_t>(bytes, a.element_bytes);
  return std::clamp<int64_t>(16 / bytes, 1, 8);
}

TileShape DescribeShape(const LoopNest& nest, const TileChoice& tile, const TargetSpec& target) {
  TileShape shape;
  const std::vector<Access> accesses = Accesses(nest);
  int y_inner = -1, x_inner = -1, r_inner = -1;
  for (const TileAxis& axis : tile.axes) {
    const int64_t size = AxisSize(nest, axis), upper = AxisUpper(nest, axis);
    const int innermost = axis.dims.empty() ? -1 : axis.dims.back();
    if (axis.name == "y") {
      shape.has_y = true;
      shape.y = size, shape.y_upper = upper, y_inner = innermost;
    } else if (axis.name == "x") {
      shape.x = size, shape.x_upper = upper, x_inner = innermost;
    } else {
      shape.has_r = true;
      shape.r = size, shape.r_upper = upper, r_inner = innermost;
    }
  }
  for (const Access& a : accesses) {
    shape.transposes |= y_inner >= 0 && x_inner >= 0 && a.strides[y_inner] == 1 &&
                        a.strides[x_inner] != 1 && a.strides[x_inner] != 0;
    shape.x_loads |= x_inner >= 0 && !a.store && a.strides[x_inner] == 1;
    shape.shared_rows +=
        r_inner >= 0 && !a.store && a.strides[r_inner] == 1 && !IsStream(accesses, a);
  }
  shape.inner = nest.HasReduction() && ReducesContiguous(nest);
  shape.vector = VectorElements(accesses);
  shape.multiprocessors = target.multiprocessors;
  shape.lanes = target.is_cuda() ? kWarpLanes : target.lanes;
  shape.body_weight = std::max(1, BodyWeight(nest));
  for (const Access& a : accesses) shape.live_values += !a.store && IsStream(accesses, a);
  for (const LoopOp& op : nest.body) shape.live_values += op.code == OpCode::kReduce;
  if (shape.has_r) shape.kept = FindKeptRow(nest);
  return shape;
}

// On CPUs slots are vectors of `lanes` elements; an instance is one iteration of a loop over the
// instances of a thread, so tiles need not be large to be worth starting.

void CpuPointwise(const TileShape& s, TileProposals* out) {
  if (s.transposes) {
    for (const auto& [y, x] : {std::pair{s.lanes, s.lanes},
                               {s.lanes, 2 * s.lanes},
                               {2 * s.lanes, s.lanes},
                               {int64_t{4}, 4 * s.lanes}})
      out->Add(y, x, 1);
    return;
  }
  for (int64_t vectors : {4, 8, 2, 16}) out->Add(1, vectors * s.lanes, 1);
}

void CpuPersistent(const TileShape& s, TileProposals* out) {
  const int64_t r = PowerOfTwoAtLeast(s.r_upper);
  if (s.inner) {
    const int64_t rows = std::max<int64_t>(1, s.lanes / r);
    for (int64_t k : {1, 2, 4}) out->Add(1, rows * k, r);
    return;
  }
  for (int64_t vectors : {2, 1, 4}) out->Add(1, vectors * s.lanes, r);
}

void CpuLooped(const TileShape& s, TileProposals* out) {
  if (s.inner) {
    for (const auto& [x, vectors] : {std::pair{1, 8}, {1, 4}, {1, 16}, {2, 4}, {4, 4}})
      out->Add(1, x, vectors * s.lanes);
    return;
  }
  // Few rows at a time: the accumulators are the columns of the tile.
  for (const auto& [vectors, r] : {std::pair{8, 1}, {4, 2}, {4, 1}, {8, 2}, {2, 4}})
    out->Add(1, vectors * s.lanes, r);
}

void CpuContraction(const TileShape& s, TileProposals* out) {
  const int64_t l = s.lanes;
  if (!s.x_loads) {  // both operands contiguous along the summed dim
    for (const auto& [y, x, r] : {std::tuple{4, 4, l}, {2, 4, l}, {4, 4, 2 * l}, {2, 2, 2 * l}})
      out->Add(y, x, r);
    return;
  }
  // One step of the sum at a time: vectors of one operand times broadcast elements of the other.
  for (const auto& [y, vectors] : {std::pair{4, 2}, {8, 2}, {4, 4}, {2, 4}, {8, 1}})
    out->Add(y, vectors * l, 1);
}

void ProposeForCpu(const TileShape& shape, KernelForm form, bool contraction, TileProposals* out) {
  if (form == KernelForm::kPointwise) return CpuPointwise(shape, out);
  if (contraction) return CpuContraction(shape, out);
  (form == KernelForm::kLooped ? CpuLooped : CpuPersistent)(shape, out);
}

}  // namespace

Configurations ChooseConfigurations(const LoopNest& nest, const TileChoice& tile, KernelForm form,
                                    const TargetSpec& target) {
  const TileShape shape = DescribeShape(nest, tile, target);
  TileProposals proposals(shape, form, target);
  (target.is_cuda() ? ProposeForCuda : ProposeForCpu)(shape, form, tile.contraction, &proposals);
  return proposals.Finish();
}

}  // namespace stax
