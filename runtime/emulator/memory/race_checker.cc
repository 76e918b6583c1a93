#include "runtime/emulator/memory/race_checker.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace stax::emulator {
namespace {

// Reads of one cell that are kept when none is ordered: in shared memory all there can be in sane
// programs, in global memory the first in the order of blocks and the latest ones. A write that
// races with a read that is not kept is a race with one that is, unless the writer has made sure
// of just those.
constexpr int kMostSharedReaders = 64;
constexpr int kMostGlobalReaders = 8;

bool IsStrong(const AccessSite& site) { return site.strong || site.kind == AccessKind::kAtomic; }

Tag TagOf(const AccessSite& site) {
  return MakeTag(site.instruction, IsStrong(site), site.kind == AccessKind::kAtomic);
}

// Of the largest pieces that the run, its lanes and the cells of shadow memory consist of.
int PieceShift(const RaceRun& run, uint64_t offset, uint64_t bytes) {
  int aligned = __builtin_ctzll(offset | bytes | uint64_t{1} << ShadowPage::kCoarsest);
  return std::min(run.lane_shift, aligned);
}

const char* Noun(bool read, bool atomic) {
  if (atomic) return "atomic";
  return read ? "load" : "store";
}

std::string Place(int instruction) {
  return instruction < 0 ? "" : absl::StrCat(" of instruction ", instruction);
}

}  // namespace

void RaceChecker::Loads(ShadowTable& shadow, uint64_t offset, uint64_t bytes, const RaceRun& run) {
  Stamp now = clocks_.Now(run.self);
  if (now == 0) return;
  NoteScope(run);
  for (uint64_t first = 0; first < bytes;) {
    ShadowPage& page = shadow.PageOf(offset + first);
    uint64_t in_page = (offset + first) % ShadowPage::kBytes;
    uint64_t count = std::min(bytes - first, ShadowPage::kBytes - in_page);
    page.Lock();
    page.Prepare(launch_, PieceShift(run, offset, bytes));
    LoadPiece({page, in_page >> page.shift, count >> page.shift, first}, run, now);
    page.Unlock();
    first += count;
  }
}

void RaceChecker::Stores(ShadowTable& shadow, uint64_t offset, uint64_t bytes, const RaceRun& run,
                         Store store, Same same) {
  Stamp now = clocks_.Now(run.self);
  if (now == 0) return store(0, bytes);
  NoteScope(run);
  for (uint64_t first = 0; first < bytes;) {
    ShadowPage& page = shadow.PageOf(offset + first);
    uint64_t in_page = (offset + first) % ShadowPage::kBytes;
    uint64_t count = std::min(bytes - first, ShadowPage::kBytes - in_page);
    page.Lock();
    page.Prepare(launch_, PieceShift(run, offset, bytes));
    StorePiece({page, in_page >> page.shift, count >> page.shift, first}, run, now, same);
    store(first, count);
    page.Unlock();
    first += count;
  }
}

// Before the access has a stamp, under the lock of whose page others read it.
void RaceChecker::NoteScope(const RaceRun& run) {
  const AccessSite& site = *run.site;
  if (run.shared || site.scope >= Scope::kDevice || !IsStrong(site)) return;
  scopes_[site.instruction].store(site.scope, std::memory_order_relaxed);
}

bool RaceChecker::MorallyStrong(const RaceRun& run, Stamp other, Tag other_tag) const {
  if ((other_tag & kTagStrong) == 0 || !IsStrong(*run.site)) return false;
  if (run.shared) return true;
  const int instruction = TagInstruction(other_tag);
  Scope scope = run.site->scope;
  if (instruction >= 0) {
    scope = std::min(scope, scopes_[instruction].load(std::memory_order_relaxed));
  }
  return clocks_.InScope(scope, run.self, other);
}

bool RaceChecker::OrderedAlike(const Piece& piece, const RaceRun& run) const {
  const Cell* cells = &piece.page.cells[piece.cell];
  const Stamp write = cells[0].write & ~kStampLaneMask;
  const Stamp read = cells[0].read;
  Stamp different = 0;
  Tag tags = 0;
  for (uint64_t i = 0; i < piece.cells; ++i) {
    different |= ((cells[i].write ^ write) & ~kStampLaneMask) | (cells[i].read ^ read);
    tags |= cells[i].read_tag;
  }
  return different == 0 && (tags & kTagList) == 0 &&
         clocks_.BeforeWarp(run.self, write, run.shared) &&
         (read == 0 || clocks_.BeforeWarp(run.self, read, run.shared));
}

void RaceChecker::LoadPiece(const Piece& piece, const RaceRun& run, Stamp now) {
  ShadowPage& page = piece.page;
  const Tag tag = TagOf(*run.site);
  const int lane_cells_shift = run.lane_shift - page.shift;
  const uint64_t first_cell = piece.first >> page.shift;
  if (OrderedAlike(piece, run)) {
    for (uint64_t i = 0; i < piece.cells; ++i) {
      Cell& cell = page.cells[piece.cell + i];
      cell.read = now;
      cell.read_lanes = run.same_lanes != 0
                            ? run.same_lanes
                            : uint32_t{1} << (run.lane + ((first_cell + i) >> lane_cells_shift));
      cell.read_tag = tag;
    }
    return;
  }
  // Stamps that are known to happen before what any lane does now: neighbours have the same.
  Stamp ordered_write = 0;
  Stamp ordered_read = 0;
  for (uint64_t i = 0; i < piece.cells; ++i) {
    Cell& cell = page.cells[piece.cell + i];
    int lane = run.lane;
    uint32_t lanes = run.same_lanes;
    if (lanes == 0) {
      lane += static_cast<int>((first_cell + i) >> lane_cells_shift);
      lanes = uint32_t{1} << lane;
    }

    Stamp write = cell.write & ~kStampLaneMask;
    if (write != ordered_write) {
      if (clocks_.BeforeWarp(run.self, write, run.shared)) {
        ordered_write = write;
      } else if (lanes != uint32_t{1} << lane ||
                 (cell.write ^ now) >> kStampLaneShift != static_cast<Stamp>(lane)) {
        for (uint32_t left = lanes; left != 0; left &= left - 1) {
          CheckWrite(cell, 1 << page.shift, run, __builtin_ctz(left),
                     piece.first + (i << page.shift), nullptr);
        }
      }
    }

    if ((cell.read_tag & kTagList) == 0) {
      if (cell.read == now && ((cell.read_tag ^ tag) & kTagStrong) == 0) {
        cell.read_lanes |= lanes;
        cell.read_tag = tag;
        continue;
      }
      bool replace = cell.read == ordered_read || cell.read == 0;
      if (!replace && clocks_.BeforeWarp(run.self, cell.read, run.shared)) {
        ordered_read = cell.read;
        replace = true;
      }
      if (replace) {
        cell.read = now;
        cell.read_lanes = lanes;
        cell.read_tag = tag;
        continue;
      }
    }
    AddReader(page, cell, run, {now, lanes, tag, 0});
  }
}

void RaceChecker::StorePiece(const Piece& piece, const RaceRun& run, Stamp now, Same same) {
  ShadowPage& page = piece.page;
  const Tag tag = TagOf(*run.site);
  const int lane_cells_shift = run.lane_shift - page.shift;
  const uint64_t first_cell = piece.first >> page.shift;
  if (OrderedAlike(piece, run)) {
    for (uint64_t i = 0; i < piece.cells; ++i) {
      uint64_t lane = run.lane + ((first_cell + i) >> lane_cells_shift);
      page.cells[piece.cell + i] = {now | lane << kStampLaneShift, 0, 0, tag, 0};
    }
    return;
  }
  Stamp ordered_write = 0;
  Stamp ordered_read = 0;
  for (uint64_t i = 0; i < piece.cells; ++i) {
    Cell& cell = page.cells[piece.cell + i];
    int lane = run.lane + static_cast<int>((first_cell + i) >> lane_cells_shift);
    uint64_t first = piece.first + (i << page.shift);

    Stamp write = cell.write & ~kStampLaneMask;
    if (write != ordered_write) {
      if (clocks_.BeforeWarp(run.self, write, run.shared)) {
        ordered_write = write;
      } else if ((cell.write ^ now) >> kStampLaneShift != static_cast<Stamp>(lane)) {
        CheckWrite(cell, 1 << page.shift, run, lane, first, &same);
      }
    }
    if ((cell.read_tag & kTagList) != 0) {
      CheckReads(page, cell, run, lane, first);
      page.FreeReaders(static_cast<uint32_t>(cell.read));
    } else if (cell.read != ordered_read && cell.read != 0) {
      if (clocks_.BeforeWarp(run.self, cell.read, run.shared)) {
        ordered_read = cell.read;
      } else if (cell.read != now || cell.read_lanes != uint32_t{1} << lane) {
        CheckReads(page, cell, run, lane, first);
      }
    }
    cell.write = now | static_cast<Stamp>(lane) << kStampLaneShift;
    cell.write_tag = tag;
    cell.read = 0;
    cell.read_lanes = 0;
    cell.read_tag = 0;
  }
}

void RaceChecker::CheckWrite(const Cell& cell, int cell_bytes, const RaceRun& run, int lane,
                             uint64_t first, const Same* same) {
  if (clocks_.Before(run.self, lane, cell.write, run.shared)) return;
  if (MorallyStrong(run, cell.write, cell.write_tag)) return;
  bool both_store = (cell.write_tag & kTagAtomic) == 0 && run.site->kind == AccessKind::kStore;
  if (both_store && same != nullptr && (*same)(first, cell_bytes)) return;
  uint32_t other_lane = uint32_t{1} << StampLane(cell.write);
  Report(run, lane, first, {cell.write, other_lane, cell.write_tag, false});
}

void RaceChecker::CheckReads(ShadowPage& page, const Cell& cell, const RaceRun& run, int lane,
                             uint64_t first) {
  auto check = [&](Stamp read, uint32_t lanes, Tag tag) {
    if (clocks_.Before(run.self, lane, read, lanes, run.shared)) return false;
    if (MorallyStrong(run, read, tag)) return false;
    Report(run, lane, first, {read, lanes, tag, true});
    return true;
  };
  if ((cell.read_tag & kTagList) == 0) {
    check(cell.read, cell.read_lanes, cell.read_tag);
    return;
  }
  // Which of several is told must not depend on the order of blocks.
  const Reader* told = nullptr;
  for (uint32_t i = static_cast<uint32_t>(cell.read); i != 0; i = page.readers[i].next) {
    const Reader& reader = page.readers[i];
    if (clocks_.Before(run.self, lane, reader.read, reader.lanes, run.shared)) continue;
    if (MorallyStrong(run, reader.read, reader.tag)) continue;
    if (told == nullptr || reader.read < told->read) told = &reader;
  }
  if (told != nullptr) check(told->read, told->lanes, told->tag);
}

void RaceChecker::AddReader(ShadowPage& page, Cell& cell, const RaceRun& run,
                            const Reader& reader) {
  auto ordered = [&](Stamp read, uint32_t lanes) {
    for (uint32_t left = reader.lanes; left != 0; left &= left - 1) {
      if (!clocks_.Before(run.self, __builtin_ctz(left), read, lanes, run.shared)) return false;
    }
    return true;
  };
  if ((cell.read_tag & kTagList) == 0) {
    if (ordered(cell.read, cell.read_lanes)) {
      cell.read = reader.read;
      cell.read_lanes = reader.lanes;
      cell.read_tag = reader.tag;
      return;
    }
    uint32_t only = page.NewReader();
    page.readers[only] = {cell.read, cell.read_lanes, cell.read_tag, 0};
    cell.read = only;
    cell.read_lanes = 0;
    cell.read_tag = kTagList;
  }

  // The first in the order of blocks is never given up: it is the one to be told.
  uint32_t head = static_cast<uint32_t>(cell.read);
  int count = 0;
  uint32_t first = head;
  uint32_t before = 0;  // the entry before `i`
  for (uint32_t i = head; i != 0;) {
    Reader& known = page.readers[i];
    if (known.read == reader.read && ((known.tag ^ reader.tag) & kTagStrong) == 0) {
      known.lanes |= reader.lanes;
      known.tag = reader.tag;
      return;
    }
    uint32_t next = known.next;
    if (ordered(known.read, known.lanes)) {
      (before == 0 ? head : page.readers[before].next) = next;
      if (first == i) first = 0;
      known.next = 0;
      page.FreeReaders(i);
    } else {
      ++count;
      if (first == 0 || known.read < page.readers[first].read) first = i;
      before = i;
    }
    i = next;
  }
  cell.read = head;
  if (count == (run.shared ? kMostSharedReaders : kMostGlobalReaders)) {
    uint32_t given_up = head == first ? page.readers[head].next : head;
    uint32_t next = page.readers[given_up].next;
    page.readers[given_up] = {reader.read, reader.lanes, reader.tag, next};
    return;
  }
  uint32_t added = page.NewReader();
  page.readers[added] = {reader.read, reader.lanes, reader.tag, head};
  cell.read = added;
}

void RaceChecker::Report(const RaceRun& run, int lane, uint64_t first, const Other& other) {
  const AccessSite& site = *run.site;
  int other_lane = __builtin_ctz(other.lanes);
  for (uint32_t left = other.lanes; left != 0; left &= left - 1) {
    Stamp one = (other.stamp & ~kStampLaneMask) | static_cast<Stamp>(__builtin_ctz(left))
                                                      << kStampLaneShift;
    if (clocks_.Before(run.self, lane, one, run.shared)) continue;
    other_lane = __builtin_ctz(left);
    break;
  }
  uint32_t block = clocks_.block(run.self);
  uint32_t thread = clocks_.thread(run.self, lane);
  uint32_t other_block = StampBlock(other.stamp);
  uint32_t other_thread = static_cast<uint32_t>(StampWarp(other.stamp) * kWarpSize + other_lane);
  int other_instruction = TagInstruction(other.tag);
  const char* noun = Noun(site.kind == AccessKind::kLoad, site.kind == AccessKind::kAtomic);
  const char* other_noun = Noun(other.read, (other.tag & kTagAtomic) != 0);
  uint64_t address = run.address + first;
  FaultKind kind = run.shared ? FaultKind::kSharedRace : FaultKind::kGlobalRace;

  auto message = [&] {
    // Which thread of which other block is first, is not the same in every run.
    std::string who = "another block";
    if (other_block == block) {
      Dim3 at = block_.At(other_thread);
      who = absl::StrFormat("thread (%d,%d,%d)", at.x, at.y, at.z);
    }
    return absl::StrFormat("%d-byte %s at 0x%x races with the %s%s by %s", site.bytes(), noun,
                           address, other_noun, Place(other_instruction), who);
  };
  faults_.Add(kind, site.instruction, block, thread, address, message, other_instruction);
  if (other_block == block) return;
  auto other_message = [&] {
    return absl::StrFormat("%s at 0x%x races with the %s%s by another block", other_noun, address,
                           noun, Place(site.instruction));
  };
  faults_.Add(kind, other_instruction, other_block, other_thread, address, other_message,
              site.instruction);
}

}  // namespace stax::emulator
