#include "runtime/emulator/memory/launch_memory.h"

#include <atomic>

#include "runtime/emulator/memory/coalescing.h"

namespace stax::emulator {
namespace {

// Different for all launches of the process: what shadows hold of another launch is void.
uint64_t NextLaunch() {
  static std::atomic<uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

LaunchMemory::LaunchMemory(GlobalMemory* memory, const LaunchOptions& options, FaultSink* faults)
    : options_(options),
      faults_(faults),
      allocations_(memory->Allocations()),
      launch_(NextLaunch()),
      scopes_(options.instructions),
      counters_(options.instructions) {
  for (auto& scope : scopes_) scope.store(Scope::kDevice, std::memory_order_relaxed);
  touched_.reserve(allocations_->size());
  for (const auto& allocation : *allocations_) {
    uint64_t sectors = allocation->bytes / kSectorBytes + 1;
    touched_.push_back({AtomicBits(sectors), AtomicBits(sectors)});
  }
}

void LaunchMemory::AddCounters(const std::vector<MemoryCounters>& counters) {
  absl::MutexLock lock(&mutex_);
  for (size_t i = 0; i < counters.size(); ++i) counters_[i] += counters[i];
}

std::vector<MemoryCounters> LaunchMemory::counters() const {
  absl::MutexLock lock(&mutex_);
  return counters_;
}

MemoryCounters LaunchMemory::total() const {
  absl::MutexLock lock(&mutex_);
  MemoryCounters sum;
  for (const MemoryCounters& counters : counters_) sum += counters;
  return sum;
}

TouchedSectors LaunchMemory::touched_sectors() const {
  TouchedSectors sum;
  for (size_t i = 0; i < touched_.size(); ++i) {
    uint64_t words = ((*allocations_)[i]->bytes / kSectorBytes) / AtomicBits::kWordBits + 1;
    for (uint64_t word = 0; word < words; ++word) {
      uint64_t read = touched_[i].read.Word(word);
      uint64_t written = touched_[i].written.Word(word);
      sum.read += __builtin_popcountll(read);
      sum.written += __builtin_popcountll(written);
      sum.either += __builtin_popcountll(read | written);
    }
  }
  return sum;
}

}  // namespace stax::emulator
