#include "runtime/emulator/launch/warp_scheduler.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace stax::emulator {
namespace {

// Backward jumps before a group gives way: without a return to the scheduler, and with one.
constexpr uint32_t kBudget = 1 << 14;
constexpr int kTurns = 1 << 10;
constexpr int kPollTurns = 1 << 5;  // what a jump counts for after a poll
constexpr uint64_t kResultMask = (1 << kRunBlockShift) - 1;

}  // namespace

void WarpScheduler::Start(uint32_t lanes) {
  std::memset(registers_, 0, static_cast<size_t>(kernel_->register_bytes));
  groups_.clear();
  context_.live = lanes;
  if (lanes != 0) Add(0, lanes, State::kReady);
}

void WarpScheduler::Add(uint32_t block, uint32_t lanes, State state) {
  if (lanes == 0) return;
  if (state == State::kReady || state == State::kYielded) {
    for (Group& group : groups_) {
      if (group.block == block && group.state == state) {
        group.lanes |= lanes;
        return;
      }
    }
  }
  Group group;
  group.block = block;
  group.lanes = lanes;
  group.state = state;
  groups_.push_back(group);
}

bool WarpScheduler::Take(Group& group) {
  auto best = groups_.end();
  for (auto candidate = groups_.begin(); candidate != groups_.end(); ++candidate) {
    if (candidate->state == State::kComplete) {
      best = candidate;
      break;
    }
    if (candidate->state == State::kReady &&
        (best == groups_.end() || candidate->block < best->block))
      best = candidate;
  }
  if (best == groups_.end()) return false;
  group = *best;
  groups_.erase(best);
  return true;
}

void WarpScheduler::Wait(const Group& group, uint32_t block) {
  Group waiting;
  waiting.block = block;
  waiting.lanes = group.lanes;
  waiting.state = State::kWaiting;
  std::copy(context_.targets, context_.targets + kWarpLanes, waiting.members);
  for (Group& other : groups_) {
    if (other.state != State::kWaiting || other.block != block) continue;
    for (int lane = 0; lane < kWarpLanes; ++lane) {
      if (group.lanes >> lane & 1) other.members[lane] = waiting.members[lane];
    }
    other.lanes |= group.lanes;
    CheckWaiting();
    return;
  }
  groups_.push_back(waiting);
  CheckWaiting();
}

bool WarpScheduler::MayMeet(uint32_t block, uint32_t other) const {
  const std::vector<int>& meeting_of = kernel_->meeting_of;
  return block == other || (meeting_of[block] >= 0 && meeting_of[block] == meeting_of[other]);
}

uint32_t WarpScheduler::WaitFor(const Group& group, uint32_t members) const {
  uint32_t lanes = 0;
  for (uint32_t left = group.lanes; left != 0; left &= left - 1) {
    const int lane = __builtin_ctz(left);
    // Others may have exited since it came.
    if ((group.members[lane] & context_.live) == members) lanes |= 1U << lane;
  }
  return lanes;
}

void WarpScheduler::CheckWaiting() {
  std::vector<Group> complete;
  for (size_t first = 0; first < groups_.size(); ++first) {
    if (groups_[first].state != State::kWaiting) continue;
    for (uint32_t left = groups_[first].lanes; left != 0;) {
      const uint32_t members = groups_[first].members[__builtin_ctz(left)] & context_.live;
      left &= ~WaitFor(groups_[first], members);
      // A group that comes before has been looked at, with all that it may meet.
      std::vector<Group*> places;
      uint32_t here = 0;
      for (size_t g = first; g < groups_.size(); ++g) {
        Group& group = groups_[g];
        if (group.state != State::kWaiting || !MayMeet(groups_[first].block, group.block)) continue;
        const uint32_t lanes = WaitFor(group, members);
        if (lanes != 0) places.push_back(&group);
        here |= lanes;
      }
      if (here != members) continue;
      for (Group* place : places) {
        Group ready;
        ready.block = place->block;
        ready.lanes = place->lanes & here;
        ready.state = State::kComplete;
        ready.met = places.size() > 1 ? here : 0;
        ready.is_first = place == places.front();
        place->lanes &= ~here;
        complete.push_back(ready);
      }
    }
  }
  groups_.erase(std::remove_if(groups_.begin(), groups_.end(),
                               [](const Group& group) { return group.lanes == 0; }),
                groups_.end());
  groups_.insert(groups_.end(), complete.begin(), complete.end());
}

WarpEvent WarpScheduler::Run() {
  Group group;
  int turns = kTurns;
  // Lanes that go on at a block. The way back in a loop is what may never end.
  auto go = [&](uint32_t from, uint32_t to, uint32_t lanes) {
    bool tired = false;
    if (lanes != 0 && ControlFlow::IsBackward(static_cast<int>(from), static_cast<int>(to))) {
      turns -= 1 + kPollTurns * static_cast<int>(std::exchange(context_.polls, 0));
      tired = turns <= 0;
    }
    if (tired) turns = kTurns;
    Add(to, lanes, tired ? State::kYielded : State::kReady);
  };
  while (Take(group)) {
    context_.others = context_.live & ~group.lanes;
    context_.budget = kBudget;
    context_.met = group.met;
    context_.met_first = group.is_first ? group.met : 0;
    const auto blocks = static_cast<uint32_t>(kernel_->flow.blocks.size());
    const uint64_t code =
        run_(registers_, &context_, group.block + (group.met != 0 ? blocks : 0), group.lanes);
    const auto block = static_cast<uint32_t>(code >> kRunBlockShift);
    switch (static_cast<RunResult>(code & kResultMask)) {
      case RunResult::kGoto:
        go(group.block, block, group.lanes);
        break;
      case RunResult::kDiverge:
        go(group.block, block, context_.taken);
        go(group.block, context_.other_block, group.lanes & ~context_.taken);
        break;
      case RunResult::kScatter:
        for (uint32_t left = group.lanes; left != 0;) {
          const uint32_t to = context_.targets[__builtin_ctz(left)];
          uint32_t alike = 0;
          for (uint32_t others = left; others != 0; others &= others - 1) {
            const int lane = __builtin_ctz(others);
            if (context_.targets[lane] == to) alike |= 1U << lane;
          }
          left &= ~alike;
          go(group.block, to, alike);
        }
        break;
      case RunResult::kWait:
        Wait(group, block);
        break;
      case RunResult::kBarrier:
        arrived_ = group.lanes;
        Add(block, group.lanes & ~context_.taken, State::kReady);
        Add(block, context_.taken & group.lanes, State::kAtBarrier);
        return WarpEvent::kBarrier;
      case RunResult::kYield:
        Add(block, group.lanes, State::kYielded);
        break;
      case RunResult::kExit:
        context_.live &= ~group.lanes;
        CheckWaiting();
        break;
      case RunResult::kTrap:
        arrived_ = group.lanes;
        return WarpEvent::kTrap;
    }
  }
  bool yielded = false;
  std::vector<Group> again;
  for (Group& group : groups_) {
    if (group.state != State::kYielded) continue;
    yielded = true;
    again.push_back(group);
  }
  if (!yielded) return WarpEvent::kBlocked;
  groups_.erase(std::remove_if(groups_.begin(), groups_.end(),
                               [](const Group& g) { return g.state == State::kYielded; }),
                groups_.end());
  for (const Group& group : again) Add(group.block, group.lanes, State::kReady);
  return WarpEvent::kYield;
}

void WarpScheduler::Release(uint32_t lanes) {
  std::vector<Group> released;
  for (Group& group : groups_) {
    if (group.state != State::kAtBarrier || (group.lanes & lanes) == 0) continue;
    released.push_back(group);
    released.back().lanes &= lanes;
    group.lanes &= ~lanes;
  }
  groups_.erase(std::remove_if(groups_.begin(), groups_.end(),
                               [](const Group& group) { return group.lanes == 0; }),
                groups_.end());
  for (const Group& group : released) Add(group.block, group.lanes, State::kReady);
}

void WarpScheduler::SetBarrierResult(int instruction, uint32_t lanes, uint32_t value) {
  auto result = kernel_->barrier_results.find(instruction);
  if (result == kernel_->barrier_results.end()) return;
  uint8_t* home = registers_ + result->second.offset;
  uint32_t words[kWarpLanes];
  if (result->second.bits == 1) {
    std::memcpy(words, home, sizeof(uint32_t));
    words[0] = value != 0 ? words[0] | lanes : words[0] & ~lanes;
    std::memcpy(home, words, sizeof(uint32_t));
    return;
  }
  std::memcpy(words, home, sizeof(words));
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    if (lanes >> lane & 1) words[lane] = value;
  }
  std::memcpy(home, words, sizeof(words));
}

uint32_t WarpScheduler::at_barrier() const {
  uint32_t lanes = 0;
  for (const Group& group : groups_) {
    if (group.state == State::kAtBarrier) lanes |= group.lanes;
  }
  return lanes;
}

uint32_t WarpScheduler::waiting() const {
  uint32_t lanes = 0;
  for (const Group& group : groups_) {
    if (group.state == State::kWaiting) lanes |= group.lanes;
  }
  return lanes;
}

int WarpScheduler::waiting_instruction() const {
  for (const Group& group : groups_) {
    if (group.state == State::kWaiting) return kernel_->flow.blocks[group.block].begin;
  }
  return -1;
}

WarpScheduler::Spot WarpScheduler::Spinning() const {
  for (const Group& group : groups_) {
    const BasicBlock& block = kernel_->flow.blocks[group.block];
    if (group.state == State::kReady && block.begin != block.end) return {block.begin, group.lanes};
  }
  return {};
}

void WarpScheduler::Kill() {
  groups_.clear();
  context_.live = 0;
}

// FNV-1a over words.
uint64_t WarpScheduler::Fingerprint() const {
  constexpr uint64_t kOffset = 14695981039346656037U;
  constexpr uint64_t kPrime = 1099511628211U;
  uint64_t hash = kOffset;
  auto mix = [&](uint64_t word) { hash = (hash ^ word) * kPrime; };
  for (const Group& group : groups_) {
    mix(group.block);
    mix(uint64_t{group.lanes} << 8 | static_cast<uint64_t>(group.state));
  }
  for (int64_t at = 0; at + 8 <= kernel_->register_bytes; at += 8) {
    uint64_t word;
    std::memcpy(&word, registers_ + at, sizeof(word));
    mix(word);
  }
  mix(context_.clock);  // what it reads next may let a loop end
  return hash;
}

}  // namespace stax::emulator
