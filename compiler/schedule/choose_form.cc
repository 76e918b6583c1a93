#include "compiler/schedule/choose_form.h"

#include "compiler/lowering/access_pattern.h"

namespace stax {

int64_t PowerOfTwoAtLeast(int64_t n) {
  int64_t power = 1;
  while (power < n && power < (int64_t{1} << 62)) power *= 2;
  return power;
}

KernelForm ChooseForm(const LoopNest& nest, bool contraction) {
  if (!nest.HasReduction()) return KernelForm::kPointwise;
  if (contraction) return KernelForm::kLooped;
  const Interval length = nest.Ranges().Bounds(nest.ReduceNumel());
  if (ReducesContiguous(nest) && length.hi <= kMaxInnerPersistent) return KernelForm::kPersistent;
  const bool one_block = PowerOfTwoAtLeast(length.lo) == PowerOfTwoAtLeast(length.hi);
  if (length.hi <= kMaxOuterPersistent && one_block) return KernelForm::kPersistent;
  return KernelForm::kLooped;
}

}  // namespace stax
