// Copying a nest's body into another nest with its variables replaced: the one mechanism behind
// fusion, merging of dims and removal of dead ops.
#ifndef STAX_COMPILER_LOWERING_REWRITE_BODY_H_
#define STAX_COMPILER_LOWERING_REWRITE_BODY_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/loop_nest.h"

namespace stax {

struct BodyCopy {
  // Loop and reduction variables of the source -> expressions over the destination's.
  std::map<std::string, IndexExpr> vars;
  // Ops that are copied; all when empty.
  std::vector<bool> live;
  // A value that stands for a load (its mask is applied to it), or nullopt to load. The load's
  // index is given in the destination's variables. May be empty.
  std::function<std::optional<ValueId>(const LoopOp& load, const IndexExpr& index)> replace_load;
  // Changes an index after substitution; Simplify() when empty.
  std::function<IndexExpr(const IndexExpr& index)> rewrite_index;
};

// Appends the body of `from` to the nest of `to` and returns the new ids by old position (-1:
// stores and ops that are not live). Buffers are matched by name. Equal values are found again.
std::vector<ValueId> CopyBody(const LoopNest& from, const BodyCopy& how, BodyBuilder* to);

// Ops that a store depends on; `keep_store` chooses the stores (all when empty).
std::vector<bool> LiveOps(const LoopNest& nest,
                          const std::function<bool(const LoopOp&)>& keep_store);

// The nest with the live ops only, and the buffers and symbols they use.
LoopNest KeepOps(const LoopNest& nest, const std::vector<bool>& live);

// The same, with the ops that any store depends on.
LoopNest RemoveDeadOps(const LoopNest& nest);

}  // namespace stax

#endif  // STAX_COMPILER_LOWERING_REWRITE_BODY_H_
