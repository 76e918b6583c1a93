#include "compiler/schedule/choose_form.h"

#include "compiler/lowering/access_pattern.h"
#include "compiler/schedule/kept_row.h"

namespace stax {

int64_t PowerOfTwoAtLeast(int64_t n) {
  int64_t power = 1;
  while (power < n && power < (int64_t{1} << 62)) power *= 2;
  return power;
}

int64_t RowRoomBytes(const TargetSpec& target) {
  constexpr int64_t kMultiprocessorBytes = 128 << 10;
  constexpr int64_t kMaxCluster = 8;  // the portable limit
  if (!target.is_cuda()) return 0;
  return target.has_clusters() ? kMaxCluster * kMultiprocessorBytes : kMultiprocessorBytes;
}

KernelForm ChooseForm(const LoopNest& nest, bool contraction, const TargetSpec& target) {
  if (!nest.HasReduction()) return KernelForm::kPointwise;
  if (contraction) return KernelForm::kLooped;
  const Interval length = nest.Ranges().Bounds(nest.ReduceNumel());
  const bool one_block = PowerOfTwoAtLeast(length.lo) == PowerOfTwoAtLeast(length.hi);
  if (ReducesContiguous(nest)) {
    if (length.hi <= kMaxInnerPersistent) return KernelForm::kPersistent;
    const KeptRow row = FindKeptRow(nest);
    const bool fits =
        row.loads > 0 && PowerOfTwoAtLeast(length.hi) <= RowRoomBytes(target) / row.bytes;
    if (fits && one_block) return KernelForm::kPersistent;
  }
  if (length.hi <= kMaxOuterPersistent && one_block) return KernelForm::kPersistent;
  return KernelForm::kLooped;
}

}  // namespace stax
