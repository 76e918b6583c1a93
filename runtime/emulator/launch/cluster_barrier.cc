#include "runtime/emulator/launch/cluster_barrier.h"

#include <algorithm>
#include <string>

namespace stax::emulator {
namespace {

constexpr uint64_t kClusterKey = uint64_t{0xbc} << 48;  // of phases in ClusterClocks

}  // namespace

void ClusterBarrier::Start() {
  if (is_new_) return;
  for (Block& block : blocks_) {
    std::fill(block.arrivals.begin(), block.arrivals.end(), 0);
    std::fill(block.arrived.begin(), block.arrived.end(), false);
    std::fill(block.waits.begin(), block.waits.end(), false);
  }
  completed_ = 0;
  is_new_ = true;
}

void ClusterBarrier::AddBlock(BlockMemory* memory, std::vector<WarpScheduler>* warps) {
  const size_t threads = warps->size() * kWarpLanes;
  blocks_.push_back({memory, warps, std::vector<uint32_t>(threads, 0),
                     std::vector<bool>(threads, false), std::vector<bool>(threads, false)});
}

// PTX ISA, barrier.cluster: "each thread must arrive at the barrier only once before the barrier
// completes", and what it waits for is the preceding arrival.
void ClusterBarrier::Arrive(int rank, int w, bool waits) {
  is_new_ = false;
  Block& block = blocks_[rank];
  WarpScheduler& warp = (*block.warps)[w];
  const uint32_t lanes = warp.barrier_lanes();
  uint32_t wrong = 0;
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    const int lane = __builtin_ctz(left);
    const int thread = w * kWarpLanes + lane;
    if (block.arrived[thread] != waits) wrong |= 1U << lane;
    if (waits) {
      block.waits[thread] = true;
    } else if (!block.arrived[thread]) {
      ++block.arrivals[thread];
    }
    block.arrived[thread] = !waits;
  }
  if (wrong != 0) {
    faults_.Add(FaultKind::kUndefinedBehavior, warp.barrier_instruction(), block.memory->block(),
                static_cast<uint32_t>(w * kWarpLanes + __builtin_ctz(wrong)), 0, [&] {
                  return std::string(
                      waits ? "waits at the barrier of the cluster without having arrived there "
                              "since it waited last"
                            : "arrives at the barrier of the cluster a second time without having "
                              "waited in between");
                });
  }
  if (!waits) {
    block.memory->Arrive(w, lanes,
                         kClusterKey + block.arrivals[w * kWarpLanes + __builtin_ctz(lanes)]);
    warp.Release(lanes);
  }
  Check();
}

void ClusterBarrier::Check() {
  if (is_new_) return;
  // Threads that have ended do not hold the others up.
  uint64_t least = ~uint64_t{0};
  for (const Block& block : blocks_) {
    for (size_t w = 0; w < block.warps->size(); ++w) {
      for (uint32_t left = (*block.warps)[w].live(); left != 0; left &= left - 1)
        least = std::min<uint64_t>(least, block.arrivals[w * kWarpLanes + __builtin_ctz(left)]);
    }
  }
  if (least == ~uint64_t{0}) return;
  completed_ = std::max(completed_, least);
  for (Block& block : blocks_) {
    for (size_t w = 0; w < block.warps->size(); ++w) Release(block, static_cast<int>(w));
  }
}

void ClusterBarrier::Release(Block& block, int w) const {
  uint32_t free = 0;
  uint64_t phase = 0;
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    const int thread = w * kWarpLanes + lane;
    if (!block.waits[thread] || block.arrivals[thread] > completed_) continue;
    block.waits[thread] = false;
    phase = block.arrivals[thread];
    free |= 1U << lane;
  }
  if (free == 0) return;
  block.memory->Wait(w, free, kClusterKey + phase);
  (*block.warps)[w].Release(free);
}

}  // namespace stax::emulator
