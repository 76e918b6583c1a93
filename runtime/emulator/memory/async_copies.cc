#include "runtime/emulator/memory/async_copies.h"

#include <algorithm>

namespace stax::emulator {
namespace {

constexpr uint32_t kAllLanes = ~uint32_t{0};

Stamp OfLane(Stamp stamp, int lane) { return stamp | static_cast<Stamp>(lane) << kStampLaneShift; }

// The lanes of a run.
uint32_t LanesOf(const RaceRun& run, uint64_t bytes) {
  if (run.same_lanes != 0) return run.same_lanes;
  const uint64_t count = std::max<uint64_t>(bytes >> run.lane_shift, 1);
  return (kAllLanes >> (kWarpSize - count)) << run.lane;
}

}  // namespace

AsyncCopies::AsyncCopies(const ClusterClocks* clocks, int selves)
    : clocks_(*clocks), groups_(static_cast<size_t>(2) * selves) {}

void AsyncCopies::Start() {
  batches_.resize(1);
  free_.clear();
  used_ = 0;
  std::fill(groups_.begin(), groups_.end(), Groups());
  mbarriers_.clear();
}

uint32_t AsyncCopies::NewBatch(int self, CopyKind kind) {
  uint32_t made = static_cast<uint32_t>(batches_.size());
  if (free_.empty()) {
    batches_.emplace_back();
  } else {
    made = free_.back();
    free_.pop_back();
  }
  ++used_;
  Batch& batch = batches_[made];
  batch = Batch();
  batch.self = self;
  batch.kind = kind;
  batch.lists = 1;
  return made;
}

void AsyncCopies::Release(uint32_t batch) {
  if (batches_[batch].cells > 0 || batches_[batch].lists > 0) return;
  batches_[batch].waited.clear();
  free_.push_back(batch);
  --used_;
}

void AsyncCopies::Leave(CopyCell& cell) {
  const uint32_t batch = cell.batch;
  if (batch == 0) return;
  cell.batch = 0;
  if (--batches_[batch].cells == 0) Release(batch);
}

void AsyncCopies::Unlist(uint32_t batch) {
  --batches_[batch].lists;
  Release(batch);
}

// Of batches whose bytes are all somebody else's by now.
void AsyncCopies::DropUnused(std::vector<Tracked>& list) {
  auto unused = std::remove_if(list.begin(), list.end(), [&](const Tracked& one) {
    if (batches_[one.batch].cells > 0) return false;
    Unlist(one.batch);
    return true;
  });
  list.erase(unused, list.end());
}

uint32_t AsyncCopies::GroupBatch(int self, int lane, CopyKind kind) {
  Groups& groups = GroupsOf(self, kind);
  const uint32_t group = groups.committed[lane] + 1;
  const uint32_t bit = uint32_t{1} << lane;
  uint32_t found = 0;
  for (size_t i = groups.open.size(); i-- > 0 && found == 0;) {
    const Batch& batch = batches_[groups.open[i]];
    if (batch.group == group && !batch.closed) found = groups.open[i];
  }
  if (found == 0) {
    auto unused = std::remove_if(groups.open.begin(), groups.open.end(), [&](uint32_t batch) {
      if (batches_[batch].cells > 0) return false;
      Unlist(batch);
      return true;
    });
    groups.open.erase(unused, groups.open.end());
    found = NewBatch(self, kind);
    batches_[found].group = group;
    groups.open.push_back(found);
  }
  batches_[found].copiers |= bit;
  batches_[found].unwaited |= bit;
  return found;
}

uint32_t AsyncCopies::PhaseBatch(int self, int lane, uint64_t mbarrier) {
  std::vector<Tracked>& list = mbarriers_[mbarrier].under_way;
  auto place = std::find_if(list.begin(), list.end(), [&](const Tracked& one) {
    return batches_[one.batch].self == self && batches_[one.batch].kind == CopyKind::kBulk;
  });
  uint32_t found = place == list.end() ? NewBatch(self, CopyKind::kBulk) : place->batch;
  if (place == list.end()) list.push_back({found, kAllLanes});
  batches_[found].tracked = true;
  batches_[found].copiers |= uint32_t{1} << lane;
  return found;
}

void AsyncCopies::Begin(std::vector<CopyCell>& cells, uint64_t all, uint64_t offset, uint64_t bytes,
                        int lane, int instruction, uint32_t batch) {
  if (cells.empty()) cells.resize(all / kCellBytes + 1);
  CopyCell made{batch, CopyCell::kUnknownInstruction, static_cast<uint16_t>(lane)};
  if (instruction < CopyCell::kUnknownInstruction) {
    made.instruction = static_cast<uint16_t>(instruction);
  }
  for (uint64_t i = offset / kCellBytes; i <= (offset + bytes - 1) / kCellBytes; ++i) {
    Leave(cells[i]);
    cells[i] = made;
    ++batches_[batch].cells;
  }
}

void AsyncCopies::Commit(int self, uint32_t lanes, CopyKind kind) {
  Groups& groups = GroupsOf(self, kind);
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    ++groups.committed[__builtin_ctz(left)];
  }
}

void AsyncCopies::Wait(int self, uint32_t lanes, CopyKind kind, uint32_t pending) {
  Groups& groups = GroupsOf(self, kind);
  auto done = std::remove_if(groups.open.begin(), groups.open.end(), [&](uint32_t number) {
    Batch& batch = batches_[number];
    uint32_t complete = 0;
    for (uint32_t left = lanes & batch.unwaited; left != 0; left &= left - 1) {
      const int lane = __builtin_ctz(left);
      if (uint64_t{batch.group} + pending <= groups.committed[lane]) complete |= left & -left;
    }
    if (complete == 0) return false;
    AddWait(batch, {complete, self, 0, clocks_.Now(self)});
    batch.unwaited &= ~complete;
    if (batch.unwaited != 0) return false;
    Unlist(number);
    return true;
  });
  groups.open.erase(done, groups.open.end());
}

void AsyncCopies::AddWait(Batch& batch, const Waited& waited) {
  for (Waited& known : batch.waited) {
    if (known.self != waited.self || (known.lanes == 0) != (waited.lanes == 0)) continue;
    const bool same_copiers = (waited.copiers & ~known.copiers) == 0;
    if (same_copiers && (waited.lanes & ~known.lanes) == 0 && waited.lanes != 0) return;
    if (known.stamp != waited.stamp) continue;
    if (known.lanes == waited.lanes || known.copiers == waited.copiers) {
      known.copiers |= waited.copiers;
      known.lanes |= waited.lanes;
      return;
    }
  }
  batch.waited.push_back(waited);
}

void AsyncCopies::Track(int self, uint32_t lanes, uint64_t mbarrier) {
  const Groups& groups = GroupsOf(self, CopyKind::kSmall);
  if (groups.open.empty()) return;
  Mbarrier& tracks = mbarriers_[mbarrier];
  for (uint32_t number : groups.open) {
    Batch& batch = batches_[number];
    uint32_t more = batch.unwaited & lanes;
    // What an earlier phase tells, the later ones need not.
    for (const Tracked& one : tracks.over) more &= one.batch == number ? ~one.copiers : kAllLanes;
    if (more == 0) continue;
    batch.closed = true;
    batch.tracked = true;
    auto place = std::find_if(tracks.under_way.begin(), tracks.under_way.end(),
                              [&](const Tracked& one) { return one.batch == number; });
    if (place != tracks.under_way.end()) {
      place->copiers |= more;
    } else {
      tracks.under_way.push_back({number, more});
      ++batch.lists;
    }
  }
}

void AsyncCopies::EndPhase(uint64_t mbarrier) {
  auto found = mbarriers_.find(mbarrier);
  if (found == mbarriers_.end()) return;
  Mbarrier& tracks = found->second;
  DropUnused(tracks.over);
  tracks.over.insert(tracks.over.end(), tracks.under_way.begin(), tracks.under_way.end());
  tracks.under_way.clear();
}

void AsyncCopies::WaitForPhase(int self, uint32_t lanes, uint64_t mbarrier) {
  auto found = mbarriers_.find(mbarrier);
  if (found == mbarriers_.end()) return;
  DropUnused(found->second.over);
  for (const Tracked& one : found->second.over) {
    AddWait(batches_[one.batch], {one.copiers, self, lanes, clocks_.Now(self)});
  }
}

void AsyncCopies::Forget(uint64_t mbarrier) {
  auto found = mbarriers_.find(mbarrier);
  if (found == mbarriers_.end()) return;
  for (const Tracked& one : found->second.under_way) Unlist(one.batch);
  for (const Tracked& one : found->second.over) Unlist(one.batch);
  mbarriers_.erase(found);
}

// For all the batch's copies and at a glance.
bool AsyncCopies::IsAfterWait(int self, uint32_t lanes, const Batch& batch) const {
  return std::any_of(batch.waited.begin(), batch.waited.end(), [&](const Waited& one) {
    if ((batch.copiers & ~one.copiers) != 0) return false;
    if (one.self == self && one.lanes != 0 && (lanes & ~one.lanes) == 0) return true;
    return clocks_.BeforeWarp(self, one.stamp, /*shared=*/true);
  });
}

bool AsyncCopies::IsAfterWait(int self, int lane, const CopyCell& cell) const {
  const Batch& batch = batches_[cell.batch];
  const bool own = batch.self == self && cell.lane == lane && batch.group > 0;
  if (own && (batch.unwaited >> lane & 1) == 0) return true;
  return std::any_of(batch.waited.begin(), batch.waited.end(), [&](const Waited& one) {
    if ((one.copiers >> cell.lane & 1) == 0) return false;
    const uint32_t waiters = one.lanes != 0 ? one.lanes : uint32_t{1} << cell.lane;
    if (one.self == self && (waiters >> lane & 1) != 0) return true;
    for (uint32_t left = waiters; left != 0; left &= left - 1) {
      const Stamp stamp = OfLane(one.stamp, __builtin_ctz(left));
      if (clocks_.Before(self, lane, stamp, /*shared=*/true)) return true;
    }
    return false;
  });
}

bool AsyncCopies::IsWaitedFor(const CopyCell& cell) const {
  const Batch& batch = batches_[cell.batch];
  return std::any_of(batch.waited.begin(), batch.waited.end(),
                     [&](const Waited& one) { return (one.copiers >> cell.lane & 1) != 0; });
}

int AsyncCopies::FirstConflict(const CopyCell& cell, uint64_t begin, uint64_t end,
                               const RaceRun& run) const {
  uint32_t lanes = run.same_lanes;
  if (lanes == 0) {
    const auto first = static_cast<int>(begin >> run.lane_shift);
    const auto last = static_cast<int>((end - 1) >> run.lane_shift);
    lanes = (kAllLanes >> (kWarpSize - (last - first + 1))) << (run.lane + first);
  }
  for (; lanes != 0; lanes &= lanes - 1) {
    const int lane = __builtin_ctz(lanes);
    if (!IsAfterWait(run.self, lane, cell)) return lane;
  }
  return -1;
}

template <typename Cells, typename Visit>
void AsyncCopies::ForEachCopied(Cells& cells, uint64_t offset, uint64_t bytes, const RaceRun& run,
                                Visit visit) const {
  if (cells.empty()) return;
  const uint32_t lanes = LanesOf(run, bytes);
  uint32_t asked = 0;  // neighbours have the same batch
  bool after_wait = false;
  for (uint64_t i = offset / kCellBytes; i <= (offset + bytes - 1) / kCellBytes; ++i) {
    const uint32_t batch = cells[i].batch;
    if (batch == 0) continue;
    if (batch != asked) after_wait = IsAfterWait(run.self, lanes, batches_[batch]);
    asked = batch;
    const uint64_t begin = std::max(i * kCellBytes, offset) - offset;
    const uint64_t end = std::min((i + 1) * kCellBytes, offset + bytes) - offset;
    const int lane = after_wait ? -1 : FirstConflict(cells[i], begin, end, run);
    visit(cells[i], lane, begin, end - begin);
  }
}

void AsyncCopies::CheckLoad(const std::vector<CopyCell>& cells, uint64_t offset, uint64_t bytes,
                            const RaceRun& run, Conflict conflict) const {
  ForEachCopied(cells, offset, bytes, run,
                [&](const CopyCell& cell, int lane, uint64_t first, uint64_t /*count*/) {
                  if (lane >= 0) conflict(cell, lane, first);
                });
}

void AsyncCopies::CheckStore(std::vector<CopyCell>& cells, uint64_t offset, uint64_t bytes,
                             const RaceRun& run, Same same, Conflict conflict) {
  ForEachCopied(cells, offset, bytes, run,
                [&](CopyCell& cell, int lane, uint64_t first, uint64_t count) {
                  if (lane >= 0) {
                    if (same(first, count)) return;
                    conflict(cell, lane, first);
                  }
                  Leave(cell);
                });
}

}  // namespace stax::emulator
