// What lanes of a warp tell each other: shfl.sync, vote.sync, match.sync, redux.sync.
//
// Pure functions of registers and of `lanes`, the lanes that execute the instruction together:
// those of the membermask. That all of them arrive, and agree on the mask, is the caller's affair.
#ifndef STAX_RUNTIME_EMULATOR_ISA_WARP_EXCHANGE_H_
#define STAX_RUNTIME_EMULATOR_ISA_WARP_EXCHANGE_H_

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "runtime/emulator/isa/instruction_name.h"
#include "runtime/emulator/isa/warp_operation.h"

namespace stax::isa {

enum class ShuffleMode { kUp, kDown, kBfly, kIdx };

struct ShuffleResult {
  uint32_t predicates = 0;  // lanes whose source lane is in range: predicate p
  // Lanes that read one which does not take part. Their value is undefined: here, what the register
  // of that lane holds.
  uint32_t inactive_sources = 0;
};

// "shfl.sync.up.b32". nullopt: not one of these.
std::optional<ShuffleMode> FindShuffle(absl::string_view text);

// d = a of the lane that `b` and the clamp and segment mask `c` say. Arrays of 32 lanes; `d` may be
// one of the others.
ShuffleResult Shuffle(ShuffleMode mode, uint32_t lanes, const uint32_t* a, const uint32_t* b,
                      const uint32_t* c, uint32_t* d);

enum class VoteMode { kAll, kAny, kUni, kBallot };

// "vote.sync.any.pred", "vote.sync.ballot.b32". nullopt: not one of these.
std::optional<VoteMode> FindVote(absl::string_view text);

// `predicates` a bit a lane. Of kBallot the value that each lane gets; of the others the resulting
// predicates: all of `lanes`, or none.
uint32_t Vote(VoteMode mode, uint32_t lanes, uint32_t predicates);

// match.all.sync, of b32 (bytes = 4) or b64 (8): whether all of `lanes` have the same value, which
// is predicate p of all. d of all is `lanes` if so, otherwise 0.
bool MatchAll(uint32_t lanes, int bytes, const void* a, uint32_t* d);

// redux.sync of one source, and match.any.sync. The membermask is no source: it is `lanes`.
std::optional<WarpOperation> FindExchange(InstructionName name);

}  // namespace stax::isa

#endif  // STAX_RUNTIME_EMULATOR_ISA_WARP_EXCHANGE_H_
