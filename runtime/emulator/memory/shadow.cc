#include "runtime/emulator/memory/shadow.h"

#include <algorithm>
#include <thread>
#include <utility>

namespace stax::emulator {
namespace {

// Then the holder has most likely lost its core.
constexpr int kSpinsBeforeYield = 100;

}  // namespace

void ShadowPage::Lock() {
  for (int spins = 0; locked.exchange(true, std::memory_order_acquire); ++spins) {
    if (spins > kSpinsBeforeYield) std::this_thread::yield();
  }
}

void ShadowPage::Restart(uint64_t for_launch) {
  launch = for_launch;
  int count = kBytes >> shift;
  if (cells == nullptr) {
    cells = std::make_unique<Cell[]>(count);
  } else {
    std::fill_n(cells.get(), count, Cell());
  }
  readers.resize(1);
  free_reader = 0;
}

void ShadowPage::Split(int to_shift) {
  int count = kBytes >> to_shift;
  int parts = 1 << (shift - to_shift);
  auto split = std::make_unique<Cell[]>(count);
  for (int i = 0; i < count; ++i) {
    Cell& cell = split[i];
    cell = cells[i / parts];
    if (i % parts == 0 || (cell.read_tag & kTagList) == 0) continue;
    // Each part has a list of its own.
    uint32_t from = static_cast<uint32_t>(cell.read);
    uint32_t copy = 0;
    for (; from != 0; from = readers[from].next) {
      uint32_t reader = NewReader();
      uint32_t next = copy;
      readers[reader] = readers[from];
      readers[reader].next = next;
      copy = reader;
    }
    cell.read = copy;
  }
  cells = std::move(split);
  shift = to_shift;
}

uint32_t ShadowPage::NewReader() {
  if (free_reader == 0) {
    readers.emplace_back();
    return static_cast<uint32_t>(readers.size() - 1);
  }
  uint32_t reader = free_reader;
  free_reader = readers[reader].next;
  return reader;
}

void ShadowPage::FreeReaders(uint32_t first) {
  if (first == 0) return;
  uint32_t last = first;
  while (readers[last].next != 0) last = readers[last].next;
  readers[last].next = free_reader;
  free_reader = first;
}

ShadowTable::ShadowTable(uint64_t bytes)
    : count_(bytes / ShadowPage::kBytes + 1),
      pages_(static_cast<std::atomic<ShadowPage*>*>(calloc(count_, sizeof(*pages_)))) {}

ShadowTable::~ShadowTable() {
  for (uint64_t i = 0; i < count_; ++i) delete pages_[i].load(std::memory_order_relaxed);
  free(pages_);
}

ShadowPage& ShadowTable::MakePage(std::atomic<ShadowPage*>& place) {
  auto* made = new ShadowPage;
  ShadowPage* other = nullptr;
  if (place.compare_exchange_strong(other, made, std::memory_order_acq_rel)) return *made;
  delete made;
  return *other;
}

}  // namespace stax::emulator
