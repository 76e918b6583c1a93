#include "profiler/timing/emulated_cost.h"

#include <algorithm>
#include <array>
#include <utility>

#include "profiler/timing/emulated_chip.h"

namespace stax {
namespace {

using emulator::MemoryCounters;

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

int64_t Warps(const EmulatedLaunch& launch) {
  return std::max<int64_t>(CeilDiv(launch.block_threads, emulated_chip::kWarpThreads), 1);
}

// Bytes between DRAM and L2.
double DramBytes(const EmulatedLaunch& launch, const DeviceInfo& chip) {
  const MemoryCounters& m = launch.totals.memory;
  const emulator::TouchedSectors& touched = launch.totals.touched;
  const double distinct = static_cast<double>(touched.read + touched.written);
  const double asked = static_cast<double>(m.global_load_sectors + m.global_store_sectors +
                                           2 * m.global_atomic_sectors);
  const double footprint = static_cast<double>(emulated_chip::kSectorBytes * touched.either);
  const double kept =
      footprint > 0 ? std::min(1.0, static_cast<double>(chip.l2_bytes) / footprint) : 1;
  return emulated_chip::kSectorBytes * (distinct + std::max(0.0, asked - distinct) * (1 - kept));
}

// Cycles of one SM's L1 for all accesses of the launch.
double L1Cycles(const MemoryCounters& m) {
  return static_cast<double>(
      m.shared_load_wavefronts + m.shared_store_wavefronts + m.shared_atomic_requests +
      m.global_load_transactions + m.global_store_transactions +
      CeilDiv(m.local_load_bytes + m.local_store_bytes, emulated_chip::kL1BytesPerCycle));
}

std::array<std::pair<const char*, double>, 6> Terms(const EmulatedCost& cost) {
  return {{{"DRAM", cost.dram_ns},
           {"L2", cost.l2_ns},
           {"L1", cost.l1_ns},
           {"issue", cost.issue_ns},
           {"tensor", cost.tensor_ns},
           {"latency", cost.latency_ns}}};
}

bool Smaller(const std::pair<const char*, double>& a, const std::pair<const char*, double>& b) {
  return a.second < b.second;
}

}  // namespace

const char* EmulatedCost::largest() const {
  const auto terms = Terms(*this);
  return std::max_element(terms.begin(), terms.end(), Smaller)->first;
}

int64_t ResidentBlocks(const EmulatedLaunch& launch) {
  const int64_t warps = Warps(launch);
  int64_t blocks = std::min(emulated_chip::kMaxBlocks, emulated_chip::kMaxWarps / warps);
  blocks = std::min(blocks, emulated_chip::kSharedBytes /
                                (launch.shared_bytes + emulated_chip::kReservedSharedBytes));
  if (launch.registers > 0) {
    const int64_t unit = emulated_chip::kRegisterUnit;
    const int64_t of_warp = CeilDiv(launch.registers * emulated_chip::kWarpThreads, unit) * unit;
    blocks = std::min(blocks, emulated_chip::kRegisters / (of_warp * warps));
  }
  return std::max<int64_t>(blocks, 1);
}

EmulatedCost CostOf(const EmulatedLaunch& launch, const DeviceInfo& chip) {
  const emulator::LaunchTotals& totals = launch.totals;
  const MemoryCounters& m = totals.memory;
  const int64_t blocks = std::max<int64_t>(launch.blocks, 1);
  // What the SM with the most blocks does of the whole: 1 / SMs when they divide the grid, else
  // more (the tail).
  const double busiest =
      static_cast<double>(CeilDiv(blocks, chip.multiprocessors)) / static_cast<double>(blocks);
  const double cycle_ns = 1e9 / emulated_chip::kClockHz;

  EmulatedCost cost;
  cost.launch_ns = emulated_chip::kLaunchNs;
  cost.dram_ns = DramBytes(launch, chip) / emulated_chip::kDramCopyBytesPerS * 1e9;
  const auto read_sectors = static_cast<double>(m.global_load_sectors + m.global_atomic_sectors);
  const auto write_sectors = static_cast<double>(m.global_store_sectors + m.global_atomic_sectors);
  // An SM has its share of L2's bandwidth.
  cost.l2_ns = emulated_chip::kSectorBytes *
               (read_sectors / emulated_chip::kL2ReadBytesPerS +
                write_sectors / emulated_chip::kL2WriteBytesPerS) *
               1e9 * busiest * chip.multiprocessors;
  cost.l1_ns = L1Cycles(m) * busiest * cycle_ns;
  cost.issue_ns = static_cast<double>(totals.warp_instructions) * busiest /
                  emulated_chip::kSchedulers * cycle_ns;
  cost.tensor_ns = static_cast<double>(totals.flops_tensor) / emulated_chip::kTensorFlopsPerS *
                   1e9 * busiest * chip.multiprocessors;
  // Little's law, warp by warp: what is resident waits at the same time, one wave after another.
  const int64_t waves = CeilDiv(blocks, chip.multiprocessors * ResidentBlocks(launch));
  const double waits_of_warp =
      static_cast<double>(totals.load_waits) / static_cast<double>(blocks * Warps(launch));
  cost.latency_ns = static_cast<double>(waves) * waits_of_warp * emulated_chip::kLoadedLatencyNs;
  const auto terms = Terms(cost);
  cost.total_ns = cost.launch_ns + std::max_element(terms.begin(), terms.end(), Smaller)->second;
  return cost;
}

}  // namespace stax
