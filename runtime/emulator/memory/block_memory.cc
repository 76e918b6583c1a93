#include "runtime/emulator/memory/block_memory.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

// Construction, barriers, where addresses lead and reports; the accesses are in block_access.cc and
// block_copies.cc.

namespace stax::emulator {
namespace {

// Rows of bits of different threads share no word, so that they are cleared and set as a whole.
uint64_t LocalStride(uint64_t bytes) { return (bytes + 63) / 64 * 64; }

uint64_t WordsOf(uint64_t bytes) { return (bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t); }

// What a region's memory is called in a report.
const char* SpaceName(Space space) {
  switch (space) {
    case Space::kShared:
      return "shared";
    case Space::kLocal:
      return "local";
    case Space::kConst:
      return "constant";
    case Space::kParam:
      return "parameter";
    case Space::kGeneric:
    case Space::kGlobal:
      return "global";
  }
  return "global";
}

std::string Plural(uint64_t count, const char* noun) {
  return absl::StrCat(count, " ", noun, count == 1 ? "" : "s");
}

// Where a global address lies that is in no allocation.
std::string NearestAllocation(const AllocationList& allocations, uint64_t address, uint64_t bytes) {
  if (address < 4096) return "is a null pointer or an offset to one";
  int64_t below = FindAllocation(allocations, address);
  int64_t above = below + 1;
  bool has_below = below >= 0;
  bool has_above = above < static_cast<int64_t>(allocations.size());
  if (!has_below && !has_above) return "is in no allocation: there is none";
  auto name = [&](int64_t position) {
    const Allocation& a = *allocations[position];
    return absl::StrFormat("the %d-byte allocation 0x%x-0x%x", a.bytes, a.begin, a.begin + a.bytes);
  };
  uint64_t past = 0;
  if (has_below) {
    uint64_t end = allocations[below]->begin + allocations[below]->bytes;
    if (address < end) {
      return absl::StrCat("reaches ", Plural(address + bytes - end, "byte"), " beyond the end of ",
                          name(below));
    }
    past = address - end;
  }
  uint64_t before = has_above ? allocations[above]->begin - address : 0;
  if (!has_below || (has_above && before < past)) {
    return absl::StrCat("is ", Plural(before, "byte"), " before ", name(above));
  }
  return past == 0 ? absl::StrCat("is just past the end of ", name(below))
                   : absl::StrCat("is ", Plural(past, "byte"), " past the end of ", name(below));
}

}  // namespace

BlockMemory::BlockMemory(LaunchMemory* launch, ClusterMemory* cluster, int rank)
    : launch_(*launch),
      cluster_(*cluster),
      clocks_(cluster->clocks_),
      copies_(cluster->copies_),
      rank_(rank),
      check_memory_(launch->options().check_memory),
      check_races_(launch->options().check_races),
      races_(&clocks_, &launch->faults(), &launch->scopes(), launch->launch(),
             launch->options().block),
      threads_(static_cast<int>(launch->options().block.count())),
      shared_data_(WordsOf(launch->options().shared_bytes) + 1),
      shared_written_(launch->options().shared_bytes),
      shared_shadow_(launch->options().shared_bytes),
      local_stride_(LocalStride(launch->options().local_bytes)),
      counters_(launch->options().instructions) {
  const LaunchOptions& options = launch->options();
  shared_.bytes = options.shared_bytes;
  shared_.data = shared_data();
  if (check_memory_) shared_.written = &shared_written_;
  if (check_races_) {
    shared_.shadow = &shared_shadow_;
    shared_.copied = &copied_cells_;
  }

  uint64_t local_bytes = local_stride_ * threads_;
  local_data_.resize(WordsOf(local_bytes));
  local_written_ = AtomicBits(local_bytes);
  local_.bytes = options.local_bytes;
  if (check_memory_) local_.written = &local_written_;

  // Never stored to: FindRegion gives them for loads only.
  const_.bytes = options.constant_bytes;
  const_.data = const_cast<uint8_t*>(static_cast<const uint8_t*>(options.constants));
  param_.bytes = options.parameter_bytes;
  param_.data = const_cast<uint8_t*>(static_cast<const uint8_t*>(options.parameters));
}

void BlockMemory::Start(uint32_t block) {
  block_ = block;
  ended_ = false;
  // Contents too: what is read though nobody wrote it must not depend on which block ran here
  // before.
  std::fill(shared_data_.begin(), shared_data_.end(), 0);
  std::fill(local_data_.begin(), local_data_.end(), 0);
  shared_written_.ClearAlone(shared_.bytes);
  local_written_.ClearAlone(local_stride_ * threads_);
  if (!copies_.any()) return;
  std::fill(copied_cells_.written.begin(), copied_cells_.written.end(), CopyCell());
  std::fill(copied_cells_.read.begin(), copied_cells_.read.end(), CopyCell());
}

int BlockMemory::SelfOf(int warp) const { return rank_ * clocks_.warps() + warp; }

void BlockMemory::BlockBarrier(uint32_t warps) {
  if (check_races_) clocks_.BlockBarrier(rank_, warps);
}

void BlockMemory::WarpBarrier(int warp, uint32_t lanes) {
  if (check_races_) clocks_.WarpBarrier(SelfOf(warp), lanes);
}

void BlockMemory::Fence(int warp, uint32_t lanes, Scope scope) {
  if (check_races_) clocks_.Fence(SelfOf(warp), lanes, scope);
}

void BlockMemory::Arrive(int warp, uint32_t lanes, uint64_t key) {
  if (check_races_) clocks_.Arrive(SelfOf(warp), lanes, key);
}

void BlockMemory::Wait(int warp, uint32_t lanes, uint64_t key) {
  if (check_races_) clocks_.Wait(SelfOf(warp), lanes, key);
}

const BlockMemory::Region* BlockMemory::FindOtherRegion(Space space, uint64_t address, int thread) {
  switch (space) {
    case Space::kShared: {
      uint64_t rank = address >> kSharedRankShift;
      if (rank == 0) return &shared_;
      if (rank > static_cast<uint64_t>(cluster_.blocks())) return nullptr;
      const BlockMemory& owner = cluster_.block(static_cast<int>(rank - 1));
      if (owner.ended_) return nullptr;
      // At its address in the cluster.
      recent_shared_ = owner.shared_;
      recent_shared_.begin = rank << kSharedRankShift;
      return &recent_shared_;
    }
    case Space::kLocal:
      local_.written_begin = local_stride_ * thread;
      local_.data = reinterpret_cast<uint8_t*>(local_data_.data()) + local_.written_begin;
      return &local_;
    case Space::kConst:
      return &const_;
    case Space::kParam:
      return &param_;
    case Space::kGeneric:
    case Space::kGlobal:
      break;
  }
  return FindGlobal(address);
}

const BlockMemory::Region* BlockMemory::FindGlobal(uint64_t address) {
  for (int i = 1; i < kRecent; ++i) {
    if (address - recent_[i].begin >= recent_[i].bytes) continue;
    std::rotate(recent_, recent_ + i, recent_ + i + 1);
    return &recent_[0];
  }
  int64_t position = FindAllocation(launch_.allocations(), address);
  if (position < 0) return nullptr;
  Allocation& allocation = *launch_.allocations()[position];
  if (address - allocation.begin >= allocation.bytes) return nullptr;
  std::rotate(recent_, recent_ + kRecent - 1, recent_ + kRecent);
  Region& region = recent_[0];
  region.begin = allocation.begin;
  region.bytes = allocation.bytes;
  region.data = allocation.data();
  region.written = check_memory_ ? &allocation.written : nullptr;
  region.shadow = check_races_ ? &allocation.shadow : nullptr;
  region.touched = &launch_.touched(position);
  return &region;
}

void BlockMemory::ReportBad(const Access& access, int lane, const Region* region) {
  if (!check_memory_) return;
  const AccessSite& site = access.site;
  uint64_t address = access.addresses[lane];
  uint64_t shown = address | access.window;
  auto bytes = static_cast<uint64_t>(site.bytes());
  auto thread = static_cast<uint32_t>(access.warp * kWarpSize + lane);
  if (address % bytes != 0) {
    launch_.faults().Add(FaultKind::kMisaligned, site.instruction, block_, thread, shown,
                         [&]() -> std::string {
                           return absl::StrFormat("%d-byte %s at 0x%x is not aligned to %d bytes",
                                                  bytes, KindName(site.kind), shown, bytes);
                         });
    return;
  }
  auto message = [&] {
    std::string what = absl::StrFormat("%d-byte %s at 0x%x ", bytes, KindName(site.kind), shown);
    if (access.space == Space::kGlobal) {
      return what + NearestAllocation(launch_.allocations(), address, bytes);
    }
    if (region == nullptr) {
      const bool ended = address >> kSharedRankShift <= static_cast<uint64_t>(cluster_.blocks());
      return what + (ended ? "is in shared memory of a block of the cluster that has ended"
                           : "is in shared memory of no block of the cluster");
    }
    const char* space = SpaceName(access.space);
    if (access.space == Space::kConst || access.space == Space::kParam) {
      if (site.kind != AccessKind::kLoad) {
        return absl::StrCat(what, "is in ", space, " memory, which is read-only");
      }
    }
    const char* owner = access.space == Space::kLocal ? " of the thread" : " of the block";
    return absl::StrCat(
        what, "is beyond the ", Plural(region->bytes, "byte"), " of ", space, " memory",
        access.space == Space::kShared || access.space == Space::kLocal ? owner : " of the kernel");
  };
  launch_.faults().Add(FaultKind::kOutOfBounds, site.instruction, block_, thread, shown, message);
}

void BlockMemory::CheckWritten(const Access& access, const Run& run, const Region& region) {
  const AccessSite& site = access.site;
  auto bytes = static_cast<uint64_t>(site.bytes());
  for (int i = 0; i < run.count; ++i) {
    uint64_t address = run.address + (run.same ? 0 : i * bytes);
    uint64_t offset = address - region.begin;
    uint64_t bit = region.written_begin + offset;
    if (region.written->AllSet(bit, bytes)) continue;
    uint64_t first = 0;
    while (region.written->Test(bit + first)) ++first;
    uint64_t last = bytes - 1;
    while (region.written->Test(bit + last)) --last;
    uint64_t shown = address | access.window;
    auto message = [&] {
      // Other memory than global is known by its offset.
      uint64_t from = (access.space == Space::kGlobal ? address : offset) + first;
      return absl::StrFormat("%d-byte %s at 0x%x reads %s bytes 0x%x..0x%x that %s has written",
                             bytes, KindName(site.kind), shown, SpaceName(access.space), from,
                             from + last - first,
                             access.space == Space::kLocal ? "the thread never" : "nobody");
    };
    launch_.faults().Add(FaultKind::kUninitialized, site.instruction, block_,
                         static_cast<uint32_t>(access.warp * kWarpSize + run.lane + i), shown,
                         message);
  }
}

ClusterMemory::ClusterMemory(LaunchMemory* launch)
    : launch_(*launch),
      clocks_(&launch->releases(), launch->options().cluster_blocks,
              static_cast<int>(launch->options().block.count())),
      copies_(&clocks_, launch->options().cluster_blocks * clocks_.warps()) {
  for (int rank = 0; rank < launch->options().cluster_blocks; ++rank) {
    blocks_.push_back(std::make_unique<BlockMemory>(launch, this, rank));
  }
}

void ClusterMemory::Start(absl::Span<const uint32_t> blocks) {
  if (launch_.options().check_races) clocks_.Start(blocks);
  for (size_t rank = 0; rank < blocks_.size(); ++rank) blocks_[rank]->Start(blocks[rank]);
  copies_.Start();
}

void ClusterMemory::ClusterBarrier(absl::Span<const uint32_t> warps) {
  if (launch_.options().check_races) clocks_.ClusterBarrier(warps);
}

void ClusterMemory::AddCounters() {
  for (auto& block : blocks_) {
    launch_.AddCounters(block->counters_);
    std::fill(block->counters_.begin(), block->counters_.end(), MemoryCounters());
  }
}

}  // namespace stax::emulator
