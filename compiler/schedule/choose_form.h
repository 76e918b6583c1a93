// ChooseForm: pointwise, looped or persistent, by S9.4's rules.
#ifndef STAX_COMPILER_SCHEDULE_CHOOSE_FORM_H_
#define STAX_COMPILER_SCHEDULE_CHOOSE_FORM_H_

#include <cstdint>

#include "compiler/kernel_spec.h"
#include "compiler/target.h"
#include "ir/loop_nest.h"

namespace stax {

// Persistent when the reduction runs along contiguous memory and is at most this long ...
inline constexpr int64_t kMaxInnerPersistent = 1024;
// ... or, otherwise, at most this long with both bounds below the same power of two.
inline constexpr int64_t kMaxOuterPersistent = 64;

// Longer rows that a kernel reads in several passes are kept too, if both bounds are below the same
// power of two and the registers have room: half of a multiprocessor's 256 KB, the other half is
// for work; on sm_90 that of a cluster of 8. (A looped kernel reads them again: H200, 2026-11-30,
// softmax of 16384 x 4096 bf16 118 us, kept 71.)
int64_t RowRoomBytes(const TargetSpec& target);

// Smallest power of two >= n (1 for n <= 1).
int64_t PowerOfTwoAtLeast(int64_t n);

// Symbolic lengths are judged at their upper bound, since a whole row must fit. Contractions are
// looped: their tiles have two loop axes, which leaves no room for a whole row.
KernelForm ChooseForm(const LoopNest& nest, bool contraction, const TargetSpec& target);

}  // namespace stax

#endif  // STAX_COMPILER_SCHEDULE_CHOOSE_FORM_H_
