// The part of Verify() that makes a nest safe to walk: everything but the proofs about indices.
#ifndef STAX_IR_LOOP_NEST_VERIFY_H_
#define STAX_IR_LOOP_NEST_VERIFY_H_

#include "absl/status/status.h"
#include "ir/loop_nest.h"

namespace stax {

// Names, sizes, SSA order, arities, dtypes, levels, buffer directions. Internal error naming the
// nest and the op otherwise. The interpreter asks for this much and checks indices as it runs.
absl::Status VerifyStructure(const LoopNest& nest);

}  // namespace stax

#endif  // STAX_IR_LOOP_NEST_VERIFY_H_
