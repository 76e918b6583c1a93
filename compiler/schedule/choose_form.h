// ChooseForm: pointwise, looped or persistent, by S9.4's rules.
#ifndef STAX_COMPILER_SCHEDULE_CHOOSE_FORM_H_
#define STAX_COMPILER_SCHEDULE_CHOOSE_FORM_H_

#include <cstdint>

#include "compiler/kernel_spec.h"
#include "ir/loop_nest.h"

namespace stax {

// Persistent when the reduction runs along contiguous memory and is at most this long ...
inline constexpr int64_t kMaxInnerPersistent = 1024;
// ... or, otherwise, at most this long with both bounds below the same power of two.
inline constexpr int64_t kMaxOuterPersistent = 64;

// Smallest power of two >= n (1 for n <= 1).
int64_t PowerOfTwoAtLeast(int64_t n);

// Symbolic lengths are judged at their upper bound, since a whole row must fit. Contractions are
// looped: their tiles have two loop axes, which leaves no room for a whole row.
// Longer rows in registers of a whole block are a matter of this rule and the configurations alone.
KernelForm ChooseForm(const LoopNest& nest, bool contraction);

}  // namespace stax

#endif  // STAX_COMPILER_SCHEDULE_CHOOSE_FORM_H_
