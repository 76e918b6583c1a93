#include "runtime/emulator/memory/fault.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

namespace stax::emulator {

const char* FaultKindName(FaultKind kind) {
  switch (kind) {
    case FaultKind::kOutOfBounds:
      return "out_of_bounds";
    case FaultKind::kMisaligned:
      return "misaligned";
    case FaultKind::kUninitialized:
      return "uninitialized";
    case FaultKind::kSharedRace:
      return "shared_race";
    case FaultKind::kGlobalRace:
      return "global_race";
    case FaultKind::kBarrierDivergence:
      return "barrier_divergence";
    case FaultKind::kDeadlock:
      return "deadlock";
    case FaultKind::kInvalidShuffle:
      return "invalid_shuffle";
    case FaultKind::kResourceLimit:
      return "resource_limit";
    case FaultKind::kUndefinedBehavior:
      return "undefined_behavior";
  }
  return "unknown";
}

void FaultSink::Add(FaultKind kind, int instruction, uint32_t block, uint32_t thread,
                    uint64_t address, absl::FunctionRef<std::string()> message,
                    int other_instruction) {
  absl::MutexLock lock(&mutex_);
  ++count_;
  std::vector<Fault>& kept = faults_[{kind, instruction}];
  auto place =
      std::lower_bound(kept.begin(), kept.end(), std::tie(block, thread),
                       [](const Fault& fault, const std::tuple<uint32_t&, uint32_t&>& wanted) {
                         return std::tie(fault.block, fault.thread) < wanted;
                       });
  bool same_thread = place != kept.end() && place->block == block && place->thread == thread;
  if (same_thread) {
    // A thread's first one in program order; of races between blocks, which come in any order, the
    // one at the lowest address.
    if (kind != FaultKind::kGlobalRace || place->address <= address) return;
  } else {
    if (place == kept.end() && kept.size() == kept_) return;
    place = kept.emplace(place);
  }
  *place = Fault{kind,    instruction,       block,    thread, grid_.At(block), block_.At(thread),
                 address, other_instruction, message()};
  if (kept.size() > kept_) kept.pop_back();
}

std::vector<Fault> FaultSink::Faults() const {
  absl::MutexLock lock(&mutex_);
  std::vector<Fault> all;
  for (const auto& [key, kept] : faults_) all.insert(all.end(), kept.begin(), kept.end());
  return all;
}

int64_t FaultSink::count() const {
  absl::MutexLock lock(&mutex_);
  return count_;
}

}  // namespace stax::emulator
