// Copies of BlockMemory: bulk ones, and what is said of those that are in flight.
#include <cstdint>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/emulator/memory/async_copies.h"
#include "runtime/emulator/memory/block_memory.h"
#include "runtime/emulator/memory/coalescing.h"
#include "runtime/emulator/memory/device_bytes.h"

namespace stax::emulator {
namespace {

// Of bulk copies (PTX ISA, cp.async.bulk): addresses and size.
constexpr int kCopyAlignment = 16;

const char* Verb(AccessKind kind) {
  switch (kind) {
    case AccessKind::kLoad:
      return "reads";
    case AccessKind::kStore:
      return "overwrites";
    case AccessKind::kAtomic:
      return "changes";
  }
  return "accesses";
}

// What must come before an access to the bytes of a copy.
const char* Remedy(CopyKind kind, bool tracked, bool copy_reads) {
  if (tracked) {
    return kind == CopyKind::kBulk ? "a wait for its mbarrier"
                                   : "a wait for its mbarrier or cp.async.wait_group";
  }
  if (kind == CopyKind::kSmall) return "cp.async.wait_group";
  return copy_reads ? "cp.async.bulk.wait_group.read" : "cp.async.bulk.wait_group";
}

}  // namespace

void BlockMemory::Copy(int warp, int lane, const AccessSite& from_site, uint64_t from,
                       const AccessSite& to_site, uint64_t to, uint64_t bytes, const BulkEnd& end) {
  if (bytes == 0) return;
  const Access load = OneLane(warp, lane, from_site, &from);
  const Access store = OneLane(warp, lane, to_site, &to);
  CheckBulkSize(load, lane, bytes);
  if (!CopyWhole(load, store, lane, bytes, end)) CopyPieces(load, store, lane, bytes);

  if (end.counts_source) CountBulk(load, bytes);
  CountBulk(store, bytes);
}

void BlockMemory::CheckBulkSize(const Access& access, int lane, uint64_t bytes) {
  if (bytes % kCopyAlignment == 0) return;
  const int thread = access.warp * kWarpSize + lane;
  launch_.faults().Add(FaultKind::kMisaligned, access.site.instruction, block_,
                       static_cast<uint32_t>(thread), access.window + *access.addresses, [&] {
                         return absl::StrCat("the size of a bulk copy, ", bytes,
                                             " bytes, is no multiple of ", kCopyAlignment);
                       });
}

void BlockMemory::CountBulk(const Access& access, uint64_t bytes) {
  if (access.space != Space::kGlobal) return;
  MemoryCounters& c = counters_[access.site.instruction];
  const Coalescing pieces = CoalescingOf(*access.addresses, bytes);
  switch (access.site.kind) {
    case AccessKind::kLoad:
      ++c.global_load_requests;
      c.global_load_sectors += pieces.sectors;
      c.global_load_transactions += pieces.lines;
      c.global_load_bytes += static_cast<int64_t>(bytes);
      break;
    case AccessKind::kStore:
      ++c.global_store_requests;
      c.global_store_sectors += pieces.sectors;
      c.global_store_transactions += pieces.lines;
      c.global_store_bytes += static_cast<int64_t>(bytes);
      break;
    case AccessKind::kAtomic:
      ++c.global_atomic_requests;
      c.global_atomics += static_cast<int64_t>(bytes) / access.site.bytes();
      c.global_atomic_sectors += pieces.sectors;
      break;
  }
}

// Its target is not marked as in flight: others may reduce into it at the same time.
void BlockMemory::Reduce(int warp, int lane, const AccessSite& from_site, uint64_t from,
                         const AccessSite& to_site, uint64_t to, uint64_t bytes,
                         AtomicFunction function, const BulkEnd& end) {
  if (bytes == 0) return;
  uint64_t from_place = from;
  uint64_t to_place = to;
  AccessSite whole_load = from_site;
  AccessSite whole_store = to_site;
  whole_load.element_bytes = whole_store.element_bytes = kCopyAlignment;
  const Access load = OneLane(warp, lane, whole_load, &from_place);
  const Access store = OneLane(warp, lane, whole_store, &to_place);
  if (bytes % kCopyAlignment != 0) return CheckBulkSize(load, lane, bytes);
  if ((from | to) % kCopyAlignment != 0) {
    const Access& bad = from % kCopyAlignment != 0 ? load : store;
    uint64_t addresses[kWarpSize];
    addresses[lane] = *bad.addresses;
    return ReportBad({warp, bad.site, bad.space, bad.lanes, addresses, bad.window}, lane, nullptr);
  }

  const MemoryCounters before = counters_[from_site.instruction];
  uint64_t addresses[kWarpSize];
  uint64_t values[kWarpSize];
  for (uint64_t done = 0; done < bytes; done += static_cast<uint64_t>(from_site.bytes())) {
    addresses[lane] = from + done;
    Load(warp, from_site, load.lanes, addresses, values);
    addresses[lane] = to + done;
    Atomic(warp, to_site, store.lanes, addresses, function, values, nullptr, nullptr);
  }
  counters_[from_site.instruction] = before;
  CountBulk({warp, from_site, load.space, load.lanes, &from_place, 0}, bytes);
  CountBulk({warp, to_site, store.space, store.lanes, &to_place, 0}, bytes);

  const Region* source = FindRegion(load.space, from_place, warp * kWarpSize + lane);
  if (source == nullptr || from_place - source->begin > source->bytes ||
      bytes > source->bytes - (from_place - source->begin)) {
    return;
  }
  BeginBulk(*source, from_place - source->begin, bytes, BulkRun(load, lane), /*reads=*/true, end);
}

// `address` becomes one within the space.
BlockMemory::Access BlockMemory::OneLane(int warp, int lane, const AccessSite& site,
                                         uint64_t* address) {
  Space space = site.space;
  uint64_t window = 0;
  if (space == Space::kGeneric) {
    space = SpaceOf(*address);
    if (space != Space::kGlobal) {
      window = *address & ~kWindowOffsetMask;
      *address &= kWindowOffsetMask;
    }
  }
  return {warp, site, space, uint32_t{1} << lane, address, window};
}

RaceRun BlockMemory::BulkRun(const Access& access, int lane) const {
  RaceRun run = RaceRunOf(access, Run{lane, 1, false, *access.addresses});
  run.lane_shift = RaceRun::kOneLane;
  return run;
}

bool BlockMemory::CopyWhole(const Access& load, const Access& store, int lane, uint64_t bytes,
                            const BulkEnd& end) {
  const uint64_t from = *load.addresses;
  const uint64_t to = *store.addresses;
  const int thread = load.warp * kWarpSize + lane;
  auto whole = [&](const Region* region, uint64_t address) {
    if (region == nullptr) return false;
    uint64_t offset = address - region->begin;
    return offset <= region->bytes && bytes <= region->bytes - offset;
  };
  if ((from | to | bytes) % kCopyAlignment != 0) return false;
  if (store.space == Space::kConst || store.space == Space::kParam) return false;
  const Region* found = FindRegion(load.space, from, thread);
  if (!whole(found, from)) return false;
  const Region source = *found;
  found = FindRegion(store.space, to, thread);
  if (!whole(found, to)) return false;
  const Region target = *found;
  const uint64_t source_offset = from - source.begin;
  const uint64_t target_offset = to - target.begin;
  if (source.written != nullptr &&
      !source.written->AllSet(source.written_begin + source_offset, bytes)) {
    return false;
  }

  copied_.resize(bytes);
  CopyFromDevice(copied_.data(), source.data + source_offset, bytes);
  CheckCopiesOfLoad(source, source_offset, bytes, BulkRun(load, lane));
  if (source.shadow != nullptr) {
    races_.Loads(*source.shadow, source_offset, bytes, BulkRun(load, lane));
  }
  uint8_t* data = target.data + target_offset;
  auto write = [&](uint64_t first, uint64_t count) {
    CopyToDevice(data + first, copied_.data() + first, count);
  };
  if (target.shadow == nullptr) {
    write(0, bytes);
  } else {
    auto same = [&](uint64_t first, uint64_t count) {
      uint8_t old[kCopyAlignment];
      CopyFromDevice(old, data + first, count);
      return memcmp(old, copied_.data() + first, count) == 0;
    };
    CheckCopiesOfStore(target, target_offset, bytes, BulkRun(store, lane), same);
    races_.Stores(*target.shadow, target_offset, bytes, BulkRun(store, lane), write, same);
  }
  if (target.written != nullptr) {
    target.written->Set(target.written_begin + target_offset, bytes);
  }
  // The target in global memory is not watched.
  BeginBulk(source, source_offset, bytes, BulkRun(load, lane), /*reads=*/true, end);
  if (end.mbarrier.has_value()) {
    BeginBulk(target, target_offset, bytes, BulkRun(store, lane), /*reads=*/false, end);
  }
  // Aligned to less than a sector: from the first one touched to the last.
  if (source.touched != nullptr) {
    uint64_t first = source_offset / kSectorBytes;
    source.touched->read.Set(first, (source_offset + bytes - 1) / kSectorBytes - first + 1);
  }
  if (target.touched != nullptr) {
    uint64_t first = target_offset / kSectorBytes;
    target.touched->written.Set(first, (target_offset + bytes - 1) / kSectorBytes - first + 1);
  }
  return true;
}

// What is wrong is found and told in pieces, each as an access of the lane.
void BlockMemory::CopyPieces(const Access& load, const Access& store, int lane, uint64_t bytes) {
  const MemoryCounters load_before = counters_[load.site.instruction];
  const MemoryCounters store_before = counters_[store.site.instruction];
  AccessSite load_site = load.site;
  AccessSite store_site = store.site;
  uint64_t addresses[kWarpSize];
  uint8_t values[static_cast<size_t>(kWarpSize) * kCopyAlignment];
  load_site.elements = store_site.elements = 1;
  for (uint64_t done = 0; done < bytes;) {
    int piece = kCopyAlignment;
    while (static_cast<uint64_t>(piece) > bytes - done) piece /= 2;
    load_site.element_bytes = store_site.element_bytes = piece;
    addresses[lane] = (*load.addresses | load.window) + done;
    Load(load.warp, load_site, load.lanes, addresses, values);
    addresses[lane] = (*store.addresses | store.window) + done;
    Store(store.warp, store_site, store.lanes, addresses, values);
    done += piece;
  }
  counters_[load.site.instruction] = load_before;
  counters_[store.site.instruction] = store_before;
}

void BlockMemory::BeginBulk(const Region& region, uint64_t offset, uint64_t bytes,
                            const RaceRun& run, bool reads, const BulkEnd& end) {
  if (region.copied == nullptr) return;
  const uint32_t batch = end.mbarrier.has_value()
                             ? copies_.PhaseBatch(run.self, run.lane, *end.mbarrier)
                             : copies_.GroupBatch(run.self, run.lane, CopyKind::kBulk);
  copies_.Begin(reads ? region.copied->read : region.copied->written, region.bytes, offset, bytes,
                run.lane, run.site->instruction, batch);
}

void BlockMemory::BeginSmall(const Access& access, const Run& run, const Region& region) {
  const auto bytes = static_cast<uint64_t>(access.site.bytes());
  const int self = SelfOf(access.warp);
  for (int i = 0; i < run.count; ++i) {
    const int lane = run.lane + i;
    copies_.Begin(region.copied->written, region.bytes, run.address - region.begin + i * bytes,
                  bytes, lane, access.site.instruction,
                  copies_.GroupBatch(self, lane, CopyKind::kSmall));
  }
}

void BlockMemory::CheckCopiesOfLoad(const Region& region, uint64_t offset, uint64_t bytes,
                                    const RaceRun& run) {
  if (region.copied == nullptr || !copies_.any()) return;
  copies_.CheckLoad(region.copied->written, offset, bytes, run,
                    [&](const CopyCell& cell, int lane, uint64_t first) {
                      ReportCopy(run, lane, first, cell, /*copy_reads=*/false);
                    });
}

void BlockMemory::CheckCopiesOfStore(const Region& region, uint64_t offset, uint64_t bytes,
                                     const RaceRun& run, AsyncCopies::Same same) {
  if (region.copied == nullptr || !copies_.any()) return;
  copies_.CheckStore(region.copied->written, offset, bytes, run, same,
                     [&](const CopyCell& cell, int lane, uint64_t first) {
                       ReportCopy(run, lane, first, cell, /*copy_reads=*/false);
                     });
  copies_.CheckStore(
      region.copied->read, offset, bytes, run, [](uint64_t, uint64_t) { return false; },
      [&](const CopyCell& cell, int lane, uint64_t first) {
        ReportCopy(run, lane, first, cell, /*copy_reads=*/true);
      });
}

void BlockMemory::ReportCopy(const RaceRun& run, int lane, uint64_t first, const CopyCell& cell,
                             bool copy_reads) {
  const bool known = cell.instruction != CopyCell::kUnknownInstruction;
  const int instruction = known ? cell.instruction : -1;
  const uint64_t address = run.address + first;
  auto message = [&] {
    const int other = copies_.SelfOf(cell);
    const Dim3 at = launch_.options().block.At(clocks_.thread(other, cell.lane));
    const bool same_block = clocks_.block(other) == clocks_.block(run.self);
    const CopyKind kind = copies_.KindOf(cell);
    const std::string what =
        absl::StrFormat("%d-byte %s at 0x%x %s bytes that the %s%s by thread (%d,%d,%d)%s",
                        run.site->bytes(), KindName(run.site->kind), address, Verb(run.site->kind),
                        kind == CopyKind::kBulk ? "bulk copy" : "cp.async",
                        known ? absl::StrCat(" of instruction ", instruction) : "", at.x, at.y,
                        at.z, same_block ? "" : " of another block of the cluster");
    if (!copies_.IsWaitedFor(cell)) {
      return absl::StrCat(what, copy_reads ? " is still reading; " : " is still writing; ",
                          Remedy(kind, copies_.IsTracked(cell), copy_reads), " must come first");
    }
    return absl::StrCat(what, copy_reads ? " reads" : " writes",
                        "; it was waited for, but nothing orders this access after the wait, such "
                        "as a barrier between them");
  };
  launch_.faults().Add(FaultKind::kSharedRace, run.site->instruction, clocks_.block(run.self),
                       clocks_.thread(run.self, lane), address, message, instruction);
}

void BlockMemory::CommitCopies(int warp, uint32_t lanes, CopyKind kind) {
  if (check_races_) copies_.Commit(SelfOf(warp), lanes, kind);
}

void BlockMemory::WaitForCopies(int warp, uint32_t lanes, CopyKind kind, uint32_t pending) {
  if (check_races_) copies_.Wait(SelfOf(warp), lanes, kind, pending);
}

void BlockMemory::TrackCopies(int warp, uint32_t lanes, uint64_t mbarrier) {
  if (check_races_) copies_.Track(SelfOf(warp), lanes, mbarrier);
}

void BlockMemory::EndPhase(uint64_t mbarrier) {
  if (copies_.any()) copies_.EndPhase(mbarrier);
}

void BlockMemory::WaitForPhase(int warp, uint32_t lanes, uint64_t mbarrier) {
  if (copies_.any()) copies_.WaitForPhase(SelfOf(warp), lanes, mbarrier);
}

void BlockMemory::ForgetPhases(uint64_t mbarrier) {
  if (copies_.any()) copies_.Forget(mbarrier);
}

}  // namespace stax::emulator
