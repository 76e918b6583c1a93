#include "runtime/emulator/memory/global_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "runtime/host_memory.h"

namespace stax::emulator {
namespace {

constexpr uint64_t kAlignment = 256;
constexpr uint64_t kRedZone = 256;

// Where allocations lie. The system puts nothing there: what it places itself begins above, at
// most 1 TiB below the stack, and grows down. Sanitizers leave it to the program.
constexpr uint64_t kArenaBegin = 0x7e90'0000'0000;
constexpr uint64_t kArenaEnd = 0x7ed0'0000'0000;
constexpr uint64_t kMapAlign = 64 << 10;

void* MapPages(uint64_t address, size_t bytes) {
  const int fixed = address != 0 ? MAP_FIXED_NOREPLACE : 0;
  void* wanted = reinterpret_cast<void*>(address);
  void* pages = mmap(wanted, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | fixed, -1, 0);
  if (pages == MAP_FAILED) return nullptr;
  if (address == 0 || pages == wanted) return pages;
  munmap(pages, bytes);  // a system that does not know the flag
  return nullptr;
}

// The allocation that has all these bytes, or null.
Allocation* Containing(const AllocationList& allocations, uint64_t address, uint64_t bytes) {
  int64_t position = FindAllocation(allocations, address);
  if (position < 0) return nullptr;
  Allocation* allocation = allocations[position].get();
  uint64_t offset = address - allocation->begin;
  bool inside = offset <= allocation->bytes && bytes <= allocation->bytes - offset;
  return inside ? allocation : nullptr;
}

uint64_t AddressOf(const void* memory) { return reinterpret_cast<uint64_t>(memory); }

}  // namespace

void Unmapper::operator()(void* pages) const { munmap(pages, bytes); }

// Behind the last allocation there is; where something else lies, further on; beyond the arena,
// where the system likes.
MappedPages GlobalMemory::Map(size_t bytes) const {
  bytes = (bytes + kMapAlign - 1) / kMapAlign * kMapAlign;
  uint64_t begin = kArenaBegin;
  for (const auto& allocation : *allocations_) {
    const auto block = AddressOf(allocation->block_.get());
    if (block >= kArenaBegin && block < kArenaEnd)
      begin = std::max(begin, block + allocation->block_.get_deleter().bytes);
  }
  void* pages = nullptr;
  for (uint64_t step = kMapAlign; pages == nullptr && begin < kArenaEnd; step *= 2) {
    if (kArenaEnd - begin >= bytes) pages = MapPages(begin, bytes);
    begin += step;
  }
  if (pages == nullptr) pages = MapPages(0, bytes);
  return MappedPages(pages, {bytes});
}

int64_t FindAllocation(const AllocationList& allocations, uint64_t address) {
  auto after = std::upper_bound(
      allocations.begin(), allocations.end(), address,
      [](uint64_t wanted, const std::shared_ptr<Allocation>& a) { return wanted < a->begin; });
  return after - allocations.begin() - 1;
}

absl::StatusOr<void*> GlobalMemory::Allocate(size_t bytes) {
  constexpr uint64_t kAround = 2 * kRedZone + kMapAlign;
  if (bytes > std::numeric_limits<int64_t>::max() - kAround) {
    return absl::ResourceExhaustedError(
        absl::StrFormat("cannot allocate %d bytes of emulated memory", bytes));
  }
  absl::Status fits = CheckFitsHostMemory("emulated memory", static_cast<int64_t>(bytes + kAround));
  if (!fits.ok()) return fits;
  auto allocation = std::make_shared<Allocation>(bytes);
  absl::MutexLock lock(&mutex_);
  allocation->block_ = Map(bytes + 2 * kRedZone);
  if (allocation->block_ == nullptr) {
    return absl::ResourceExhaustedError(
        absl::StrFormat("cannot allocate %d bytes of emulated memory", bytes));
  }
  static_assert(kRedZone % kAlignment == 0);
  allocation->begin = AddressOf(allocation->block_.get()) + kRedZone;
  auto changed = std::make_shared<AllocationList>(*allocations_);
  int64_t position = FindAllocation(*changed, allocation->begin) + 1;
  changed->insert(changed->begin() + position, allocation);
  allocations_ = std::move(changed);
  return allocation->data();
}

void GlobalMemory::Free(void* memory) {
  if (memory == nullptr) return;
  absl::MutexLock lock(&mutex_);
  int64_t position = FindAllocation(*allocations_, AddressOf(memory));
  if (position < 0 || (*allocations_)[position]->data() != memory) return;
  auto changed = std::make_shared<AllocationList>(*allocations_);
  changed->erase(changed->begin() + position);
  allocations_ = std::move(changed);
}

void GlobalMemory::MarkWritten(const void* memory, size_t bytes) const {
  std::shared_ptr<const AllocationList> allocations = Allocations();
  Allocation* allocation = Containing(*allocations, AddressOf(memory), bytes);
  if (allocation == nullptr) return;
  allocation->written.Set(AddressOf(memory) - allocation->begin, bytes);
}

void GlobalMemory::CopyWritten(const void* to, const void* from, size_t bytes) const {
  std::shared_ptr<const AllocationList> allocations = Allocations();
  Allocation* target = Containing(*allocations, AddressOf(to), bytes);
  Allocation* source = Containing(*allocations, AddressOf(from), bytes);
  if (target == nullptr || source == nullptr) return;
  uint64_t target_offset = AddressOf(to) - target->begin;
  uint64_t source_offset = AddressOf(from) - source->begin;
  if (source->written.AllSet(source_offset, bytes)) {
    target->written.Set(target_offset, bytes);
    return;
  }
  // Bits that are set stay so: nothing is reported as unwritten that had a value before.
  for (uint64_t i = 0; i < bytes; ++i) {
    if (source->written.Test(source_offset + i)) target->written.Set(target_offset + i, 1);
  }
}

bool GlobalMemory::Contains(const void* memory, size_t bytes) const {
  return Containing(*Allocations(), AddressOf(memory), bytes) != nullptr;
}

std::shared_ptr<const AllocationList> GlobalMemory::Allocations() const {
  absl::MutexLock lock(&mutex_);
  return allocations_;
}

}  // namespace stax::emulator
