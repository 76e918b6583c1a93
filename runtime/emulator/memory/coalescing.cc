#include "runtime/emulator/memory/coalescing.h"

#include <algorithm>

#include "runtime/emulator/memory/access.h"

namespace stax::emulator {
namespace {

constexpr int kBanks = 32;
constexpr int kBankBytes = 4;

// Lanes that go at once.
int GroupLanes(int bytes) {
  if (bytes <= 4) return 32;
  return bytes <= 8 ? 16 : 8;
}

// Whether every two active lanes whose numbers differ in this bit alone have the same address.
bool ArePairs(uint32_t lanes, const uint64_t* addresses, int bit) {
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    const int lane = __builtin_ctz(left);
    const int other = lane ^ bit;
    if ((lanes >> other & 1) != 0 && addresses[lane] != addresses[other]) return false;
  }
  return true;
}

uint32_t LanesFrom(int first, int count) {
  return static_cast<uint32_t>(((uint64_t{1} << count) - 1) << first);
}

// A set of at most 64 numbers (2 a lane), without allocation.
class SmallSet {
 public:
  // True if it was not there.
  bool Insert(uint64_t number) {
    for (uint64_t slot = number * kMultiplier >> 57;; slot = (slot + 1) % kSlots) {
      if (slots_[slot] == number + 1) return false;
      if (slots_[slot] == 0) {
        slots_[slot] = number + 1;
        return true;
      }
    }
  }

 private:
  static constexpr int kSlots = 128;
  static constexpr uint64_t kMultiplier = 0x9E3779B97F4A7C15;  // 2^64 over the golden ratio

  uint64_t slots_[kSlots] = {};  // number + 1; 0: free
};

}  // namespace

Coalescing CoalescingOf(uint32_t lanes, const uint64_t* addresses, int bytes) {
  Coalescing result;
  // Sectors and lines in order are counted as they change; most accesses are in order.
  uint64_t last_sector = 0;
  uint64_t last_line = 0;
  bool in_order = true;
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    uint64_t address = addresses[__builtin_ctz(left)];
    uint64_t first = address / kSectorBytes + 1;  // from 1
    uint64_t end = (address + bytes - 1) / kSectorBytes + 1;
    in_order &= first >= last_sector;
    for (uint64_t sector = first; sector <= end; ++sector) {
      uint64_t line = (sector - 1) / (kLineBytes / kSectorBytes) + 1;
      result.sectors += sector != last_sector;
      result.lines += line != last_line;
      last_sector = sector;
      last_line = line;
    }
  }
  if (in_order) return result;

  result = {};
  SmallSet sectors;
  SmallSet lines;
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    uint64_t address = addresses[__builtin_ctz(left)];
    uint64_t end = (address + bytes - 1) / kSectorBytes;
    for (uint64_t sector = address / kSectorBytes; sector <= end; ++sector) {
      if (!sectors.Insert(sector)) continue;
      ++result.sectors;
      result.lines += lines.Insert(sector / (kLineBytes / kSectorBytes));
    }
  }
  return result;
}

Wavefronts LeastWavefrontsOf(uint32_t lanes, int bytes) {
  Wavefronts result;
  int group = GroupLanes(bytes);
  for (int first = 0; first < kWarpSize; first += group) {
    result.least += (lanes & LanesFrom(first, group)) != 0;
  }
  result.wavefronts = result.least;
  return result;
}

Wavefronts WavefrontsOf(uint32_t lanes, const uint64_t* addresses, int bytes, bool is_load) {
  Wavefronts result;
  int group = GroupLanes(bytes);
  if (is_load && group < kWarpSize &&
      (ArePairs(lanes, addresses, 1) || ArePairs(lanes, addresses, 2)))
    group *= 2;
  for (int first = 0; first < kWarpSize; first += group) {
    uint32_t active = lanes & LanesFrom(first, group);
    if (active == 0) continue;
    // A group has at most 32 words (and one more a lane where it is not aligned): all may be in
    // one bank.
    uint64_t words[kBanks][2 * kWarpSize];
    int counts[kBanks] = {};
    int most = 1;
    for (uint32_t left = active; left != 0; left &= left - 1) {
      uint64_t address = addresses[__builtin_ctz(left)];
      uint64_t end = (address + bytes - 1) / kBankBytes;
      for (uint64_t word = address / kBankBytes; word <= end; ++word) {
        uint64_t bank = word % kBanks;
        uint64_t* known = words[bank];
        int& count = counts[bank];
        if (std::find(known, known + count, word) != known + count) continue;
        known[count++] = word;
        most = std::max(most, count);
      }
    }
    result.wavefronts += most;
    ++result.least;
  }
  return result;
}

}  // namespace stax::emulator
