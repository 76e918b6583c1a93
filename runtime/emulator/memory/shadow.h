// Who accessed a byte last: the memory of the race checker, beside the memory it watches.
//
// A page of 1024 bytes has a cell for 4 bytes each, until it is accessed in smaller pieces: then
// all its cells are split, so that every cell is accessed as a whole and what is known of it is
// exact. Pages are made at their first access. A stamp holds the block, so shared memory needs no
// clearing from block to block.
#ifndef STAX_RUNTIME_EMULATOR_MEMORY_SHADOW_H_
#define STAX_RUNTIME_EMULATOR_MEMORY_SHADOW_H_

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

namespace stax::emulator {

// When a lane did something, in one word: block 32 bits, warp in the block 5, lane 5, clock of the
// warp 22. 0 is never: clocks start at 1. A warp whose clock is at its end is not checked any more.
using Stamp = uint64_t;
inline constexpr int kClockBits = 22;
inline constexpr uint32_t kLastClock = (1U << kClockBits) - 1;
inline constexpr int kStampLaneShift = kClockBits;
inline constexpr int kStampWarpShift = kStampLaneShift + 5;
inline constexpr int kStampBlockShift = kStampWarpShift + 5;
inline constexpr Stamp kStampLaneMask = Stamp{31} << kStampLaneShift;

inline constexpr Stamp MakeStamp(uint32_t block, int warp, int lane, uint32_t clock) {
  return static_cast<Stamp>(block) << kStampBlockShift |
         static_cast<Stamp>(warp) << kStampWarpShift | static_cast<Stamp>(lane) << kStampLaneShift |
         clock;
}
inline constexpr uint32_t StampBlock(Stamp stamp) {
  return static_cast<uint32_t>(stamp >> kStampBlockShift);
}
inline constexpr int StampWarp(Stamp stamp) { return stamp >> kStampWarpShift & 31; }
inline constexpr int StampLane(Stamp stamp) { return stamp >> kStampLaneShift & 31; }
inline constexpr uint32_t StampClock(Stamp stamp) { return stamp & kLastClock; }

// What an access was: its instruction and kind in 16 bits.
using Tag = uint16_t;
inline constexpr int kTagInstructionBits = 13;
inline constexpr Tag kTagStrong = 1 << 13;
inline constexpr Tag kTagAtomic = 1 << 14;
inline constexpr Tag kTagList = 1 << 15;  // of a read: Cell::read is an index of Readers
inline constexpr int kTagUnknownInstruction = (1 << kTagInstructionBits) - 1;

inline constexpr Tag MakeTag(int instruction, bool strong, bool atomic) {
  int kept = instruction < 0 || instruction > kTagUnknownInstruction ? kTagUnknownInstruction
                                                                     : instruction;
  return static_cast<Tag>(kept | (strong ? kTagStrong : 0) | (atomic ? kTagAtomic : 0));
}
// -1: unknown, for kernels of more than 8190 instructions.
inline constexpr int TagInstruction(Tag tag) {
  int kept = tag & kTagUnknownInstruction;
  return kept == kTagUnknownInstruction ? -1 : kept;
}

struct Cell {
  Stamp write = 0;
  // The read that comes last, if all before are known to happen before it; else a list of them.
  Stamp read = 0;
  uint32_t read_lanes = 0;  // all lanes of the warp that read at that clock
  Tag write_tag = 0;
  Tag read_tag = 0;
};
static_assert(sizeof(Cell) == 24);

// One of several reads that are not ordered.
struct Reader {
  Stamp read = 0;
  uint32_t lanes = 0;
  Tag tag = 0;
  uint32_t next = 0;  // in ShadowPage::readers; 0: none
};

struct ShadowPage {
  static constexpr int kBytes = 1024;
  static constexpr int kCoarsest = 2;  // cells of 1 << 2 bytes

  std::atomic<bool> locked{false};
  uint64_t launch = 0;             // to which the contents belong
  int shift = kCoarsest;           // a cell has 1 << shift bytes
  std::unique_ptr<Cell[]> cells;   // kBytes >> shift
  std::vector<Reader> readers{1};  // [0] is not used
  uint32_t free_reader = 0;        // list of those free; 0: none

  void Lock();
  void Unlock() { locked.store(false, std::memory_order_release); }

  // Makes it ready for accesses of a launch in pieces of 1 << piece_shift bytes.
  void Prepare(uint64_t for_launch, int piece_shift) {
    if (launch != for_launch) Restart(for_launch);
    if (piece_shift < shift) Split(piece_shift);
  }

  uint32_t NewReader();
  void FreeReaders(uint32_t first);

 private:
  void Restart(uint64_t for_launch);
  void Split(int to_shift);
};

class ShadowTable {
 public:
  ShadowTable() = default;
  explicit ShadowTable(uint64_t bytes);
  ~ShadowTable();
  ShadowTable(const ShadowTable&) = delete;
  ShadowTable& operator=(const ShadowTable&) = delete;

  // Of the byte at this offset. From any thread.
  ShadowPage& PageOf(uint64_t offset) {
    std::atomic<ShadowPage*>& page = pages_[offset / ShadowPage::kBytes];
    ShadowPage* known = page.load(std::memory_order_acquire);
    return known != nullptr ? *known : MakePage(page);
  }

 private:
  static ShadowPage& MakePage(std::atomic<ShadowPage*>& place);

  uint64_t count_ = 0;
  std::atomic<ShadowPage*>* pages_ = nullptr;  // from calloc: unused ones cost nothing
};

}  // namespace stax::emulator

#endif  // STAX_RUNTIME_EMULATOR_MEMORY_SHADOW_H_
