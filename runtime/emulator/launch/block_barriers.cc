#include "runtime/emulator/launch/block_barriers.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/emulator/launch/chip.h"

namespace stax::emulator {
namespace {

constexpr uint64_t kBarrierKey = uint64_t{0xba} << 48;  // of ids in ClusterClocks

int Bits(uint32_t word) { return __builtin_popcount(word); }

bool IsAligned(const ptx::Instruction& instruction) {
  return instruction.opcode == "bar" || instruction.Has("aligned");
}

// Those of `lanes` that are at the same barrier as `lane` and count as many threads.
uint32_t LanesAlike(const WarpContext& context, uint32_t lanes, int lane, bool same_id) {
  uint32_t alike = 0;
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    const int other = __builtin_ctz(left);
    if ((same_id || context.barrier_id[other] == context.barrier_id[lane]) &&
        context.barrier_count[other] == context.barrier_count[lane])
      alike |= 1U << other;
  }
  return alike;
}

}  // namespace

void BlockBarriers::Start(BlockMemory* memory, int64_t threads) {
  memory_ = memory;
  threads_ = threads;
  barriers_.clear();
}

int64_t BlockBarriers::LiveThreads() const {
  int64_t live = 0;
  for (const WarpScheduler& warp : warps_) live += Bits(warp.live());
  return live;
}

// A whole warp counts as 32 threads, also when it has fewer ("the arrival count is incremented by
// the warp size"): who has ended is not missing, unless it came to another barrier before.
int64_t BlockBarriers::Arrived(const Barrier& barrier) const {
  int64_t sum = 0;
  for (size_t w = 0; w < warps_.size(); ++w) {
    const uint32_t arrived = barrier.arrived[w];
    const uint32_t all = warps_[w].live() | barrier.elsewhere[w];
    const bool whole = barrier.expected > 0 && arrived != 0 && (all & ~arrived) == 0;
    sum += whole ? kWarpLanes : Bits(arrived);
  }
  return sum;
}

int64_t BlockBarriers::Expected(const Barrier& barrier) const {
  return barrier.expected > 0 ? barrier.expected : LiveThreads();
}

// PTX ISA, bar: "each CTA instance has sixteen barriers numbered 0..15"; of an aligned one all
// threads execute the same.
void BlockBarriers::CheckIds(int w) {
  WarpScheduler& warp = warps_[w];
  const int at = warp.barrier_instruction();
  const uint32_t* ids = warp.context().barrier_id;
  const uint32_t first = ids[__builtin_ctz(warp.barrier_lanes())];
  for (uint32_t left = warp.barrier_lanes(); left != 0; left &= left - 1) {
    const int lane = __builtin_ctz(left);
    if (ids[lane] >= kBlockBarriers) {
      Report(FaultKind::kUndefinedBehavior, at, w, lane, [&] {
        return absl::StrCat("names barrier ", ids[lane], "; a block has the barriers 0 to ",
                            kBlockBarriers - 1);
      });
      return;
    }
    if (ids[lane] != first && IsAligned(At(at))) {
      Report(FaultKind::kBarrierDivergence, at, w, lane, [&] {
        return absl::StrCat("is at barrier ", ids[lane], " and another lane of its warp at ", first,
                            "; an aligned barrier must be the same for the whole warp");
      });
      return;
    }
  }
}

// PTX ISA, bar: "the value must be a multiple of the warp size", and of bar.arrive not zero.
uint32_t BlockBarriers::CheckedCount(int w, int lane) {
  const uint32_t count = warps_[w].context().barrier_count[lane];
  const int at = warps_[w].barrier_instruction();
  const bool arrives = At(at).Has("arrive");
  if (count % kWarpLanes == 0 && count <= Capacity() && (count > 0 || !arrives)) return count;
  Report(FaultKind::kUndefinedBehavior, at, w, lane, [&] {
    return absl::StrCat("counts ", count, " threads; a barrier of this block counts a multiple of ",
                        kWarpLanes, " up to ", Capacity());
  });
  const uint64_t next = (uint64_t{count} + kWarpLanes - 1) / kWarpLanes * kWarpLanes;
  return next <= Capacity() ? static_cast<uint32_t>(next) : 0;
}

void BlockBarriers::CheckCounts(Barrier& barrier, uint32_t id, int w, int lane, uint32_t count) {
  const uint32_t threads = count > 0 ? count : Capacity();
  if (barrier.count == 0) barrier.count = threads;
  if (barrier.count != threads) {
    Report(FaultKind::kBarrierDivergence, warps_[w].barrier_instruction(), w, lane, [&] {
      return absl::StrCat("counts ", threads, " threads at barrier ", id, "; others count ",
                          barrier.count, " there");
    });
  }
  barrier.expected = std::max(barrier.expected, count);
}

void BlockBarriers::Arrive(int w) {
  WarpScheduler& warp = warps_[w];
  const int at = warp.barrier_instruction();
  const bool waits = !At(at).Has("arrive");
  const bool aligned = IsAligned(At(at));
  const WarpContext& context = warp.context();
  const uint32_t first = context.barrier_id[__builtin_ctz(warp.barrier_lanes())];
  CheckIds(w);
  for (uint32_t left = warp.barrier_lanes(); left != 0;) {
    const int lane = __builtin_ctz(left);
    const uint32_t lanes = LanesAlike(context, left, lane, aligned);
    left &= ~lanes;
    const uint32_t id = (aligned ? first : context.barrier_id[lane]) % kBlockBarriers;
    Barrier& barrier = barriers_.try_emplace(id, warps_.size()).first->second;
    CheckCounts(barrier, id, w, lane, CheckedCount(w, lane));
    barrier.arrived[w] |= lanes;
    if (barrier.instruction[w] < 0) barrier.instruction[w] = at;
    if (barrier.instruction[w] != at) barrier.differ[w] |= lanes;
    (waits ? barrier.waiting[w] : barrier.only_arrive) |= lanes;
    barrier.predicates[w] |= context.barrier_predicate & lanes;
    if (!waits) memory_->Arrive(w, lanes, kBarrierKey + id);
  }
  for (auto& [id, barrier] : barriers_) {
    for (const auto& [other, pending] : barriers_) {
      if (other != id) barrier.elsewhere[w] |= pending.arrived[w];
    }
  }
  if (!waits) warp.Release(warp.barrier_lanes());
  Check();
}

void BlockBarriers::Check() {
  for (auto entry = barriers_.begin(); entry != barriers_.end();) {
    Barrier& barrier = entry->second;
    const int64_t arrived = Arrived(barrier);
    if (arrived == 0 || arrived < Expected(barrier)) {
      ++entry;
      continue;
    }
    const Barrier done = std::move(barrier);
    const uint32_t id = entry->first;
    entry = barriers_.erase(entry);
    Complete(id, done);
  }
}

void BlockBarriers::ReportDivergence(const Barrier& barrier, int w, int64_t exited) {
  const int at = barrier.instruction[w];
  if (exited > 0 && barrier.expected == 0) {
    Report(FaultKind::kBarrierDivergence, at, w, __builtin_ctz(barrier.arrived[w]), [&] {
      return absl::StrCat("waits for all ", threads_, " threads of the block; ", exited,
                          " of them have ended without arriving");
    });
  }
  if (barrier.differ[w] != 0 && IsAligned(At(at))) {
    Report(FaultKind::kBarrierDivergence, at, w, __builtin_ctz(barrier.differ[w]), [&] {
      return std::string(
          "lanes of one warp meet here and at another barrier instruction; an aligned barrier must "
          "be the same for the whole warp");
    });
  }
}

void BlockBarriers::Complete(uint32_t id, const Barrier& barrier) {
  const int64_t exited = threads_ - LiveThreads();
  const int warps = static_cast<int>(warps_.size());
  uint32_t bits = 0;
  int votes = 0;
  int all = 0;
  for (int w = 0; w < warps; ++w) {
    if (barrier.arrived[w] == 0) continue;
    bits |= 1U << w;
    votes += Bits(barrier.predicates[w]);
    all += Bits(barrier.arrived[w]);
    ReportDivergence(barrier, w, exited);
  }
  if (barrier.only_arrive == 0) {
    memory_->BlockBarrier(bits);
  } else {
    for (int w = 0; w < warps; ++w) {
      if (barrier.waiting[w] != 0) memory_->Arrive(w, barrier.waiting[w], kBarrierKey + id);
    }
    for (int w = 0; w < warps; ++w) {
      if (barrier.waiting[w] != 0) memory_->Wait(w, barrier.waiting[w], kBarrierKey + id);
    }
  }
  for (int w = 0; w < warps; ++w) {
    if (barrier.waiting[w] == 0) continue;
    const int at = barrier.instruction[w];
    if (At(at).Has("red")) {
      const int value = At(at).Has("popc")  ? votes
                        : At(at).Has("and") ? (votes == all ? 1 : 0)
                                            : (votes > 0 ? 1 : 0);
      warps_[w].SetBarrierResult(at, barrier.waiting[w], static_cast<uint32_t>(value));
    }
    warps_[w].Release(barrier.waiting[w]);
  }
}

void BlockBarriers::ReportBlocked() const {
  for (const auto& [id, barrier] : barriers_) {
    for (size_t w = 0; w < warps_.size(); ++w) {
      if (barrier.waiting[w] == 0) continue;
      const uint32_t number = id;
      Report(FaultKind::kDeadlock, barrier.instruction[w], static_cast<int>(w),
             __builtin_ctz(barrier.waiting[w]), [&, &blocked = barrier] {
               return absl::StrCat("waits at barrier ", number, " for ", Expected(blocked),
                                   " threads; ", Arrived(blocked),
                                   " have arrived and the others wait elsewhere or have ended");
             });
      break;
    }
  }
}

}  // namespace stax::emulator
