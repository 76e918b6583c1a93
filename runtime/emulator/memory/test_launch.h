// A launch for tests: accesses of warps written down one by one, as a kernel would make them.
#ifndef STAX_RUNTIME_EMULATOR_MEMORY_TEST_LAUNCH_H_
#define STAX_RUNTIME_EMULATOR_MEMORY_TEST_LAUNCH_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "runtime/emulator/memory/access.h"
#include "runtime/emulator/memory/block_memory.h"
#include "runtime/emulator/memory/fault.h"
#include "runtime/emulator/memory/global_memory.h"
#include "runtime/emulator/memory/launch_memory.h"

namespace stax::emulator {

inline constexpr uint32_t kAll = ~uint32_t{0};
inline constexpr int kInstructions = 64;

// Lane by lane: base + step * lane.
inline std::array<uint64_t, kWarpSize> Lanes(uint64_t base, uint64_t step) {
  std::array<uint64_t, kWarpSize> addresses;
  for (int lane = 0; lane < kWarpSize; ++lane) addresses[lane] = base + step * lane;
  return addresses;
}

inline AccessSite Site(int instruction, Space space, AccessKind kind, int element_bytes = 4,
                       int elements = 1) {
  AccessSite site;
  site.instruction = instruction;
  site.space = space;
  site.kind = kind;
  site.element_bytes = element_bytes;
  site.elements = elements;
  return site;
}

// One global buffer of `bytes` bytes, written or not, and a launch on it.
struct TestLaunch {
  explicit TestLaunch(LaunchOptions given, uint64_t bytes = 4096, bool written = true)
      : options(given), faults(given.grid, given.block) {
    options.instructions = kInstructions;
    buffer = reinterpret_cast<uint64_t>(memory.Allocate(bytes).value());
    if (written) memory.MarkWritten(reinterpret_cast<void*>(buffer), bytes);
    launch = std::make_unique<LaunchMemory>(&memory, options, &faults);
  }

  // A cluster (of one block) that has begun.
  std::unique_ptr<ClusterMemory> Block(uint32_t block) {
    auto cluster = std::make_unique<ClusterMemory>(launch.get());
    cluster->Start({block});
    return cluster;
  }

  // "out_of_bounds #3 block 0 thread 5 @+4096", addresses from the start of the buffer where they
  // are global.
  std::vector<std::string> Found(bool addresses = true) const {
    std::vector<std::string> found;
    for (const Fault& fault : faults.Faults()) {
      std::string text = absl::StrFormat("%s #%d block %d thread %d", FaultKindName(fault.kind),
                                         fault.instruction, fault.block, fault.thread);
      if (addresses) {
        uint64_t offset = fault.address >= buffer ? fault.address - buffer : fault.address;
        absl::StrAppendFormat(&text, " @%d", offset);
      }
      found.push_back(text);
    }
    return found;
  }

  LaunchOptions options;
  GlobalMemory memory;
  FaultSink faults;
  uint64_t buffer;
  std::unique_ptr<LaunchMemory> launch;
};

inline LaunchOptions Threads(uint32_t blocks, uint32_t threads, uint64_t shared_bytes = 0,
                             uint64_t local_bytes = 0) {
  LaunchOptions options;
  options.grid.x = blocks;
  options.block.x = threads;
  options.shared_bytes = shared_bytes;
  options.local_bytes = local_bytes;
  return options;
}

inline uint64_t AddFunction(uint64_t old, uint64_t operand, uint64_t) { return old + operand; }

}  // namespace stax::emulator

#endif  // STAX_RUNTIME_EMULATOR_MEMORY_TEST_LAUNCH_H_
