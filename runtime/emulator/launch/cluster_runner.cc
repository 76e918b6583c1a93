#include "runtime/emulator/launch/cluster_runner.h"

#include <algorithm>
#include <new>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/emulator/launch/chip.h"

namespace stax::emulator {
namespace {

constexpr uint64_t kRoundsBetweenChecks = 1 << 10;  // of max_steps

struct Freer {
  void operator()(void* memory) const { operator delete(memory, std::align_val_t(kRegisterAlign)); }
};

}  // namespace

struct ClusterRunner::Block {
  ClusterRunner* runner = nullptr;
  BlockMemory* memory = nullptr;
  std::unique_ptr<uint8_t, Freer> registers;
  std::vector<WarpScheduler> warps;
  std::vector<uint64_t> fingerprints;  // at each warp's last yield; 0: it has not
  std::unique_ptr<BlockBarriers> barriers;
  int64_t threads = 0;
  uint64_t writes = 0;
};

ClusterRunner::ClusterRunner(LaunchState* launch, uint64_t* counts)
    : launch_(*launch),
      counts_(counts),
      memory_(launch->memory),
      barrier_(&launch->memory->faults()) {
  const LaunchOptions& options = launch->memory->options();
  const auto threads = static_cast<int64_t>(options.block.count());
  warps_ = static_cast<int>((threads + kWarpLanes - 1) / kWarpLanes);
  const size_t stride = launch->kernel->RegisterStride();
  for (int rank = 0; rank < memory_.blocks(); ++rank) {
    auto block = std::make_unique<Block>();
    block->runner = this;
    block->threads = threads;
    block->registers.reset(
        static_cast<uint8_t*>(operator new(stride * warps_, std::align_val_t(kRegisterAlign))));
    for (int warp = 0; warp < warps_; ++warp)
      block->warps.emplace_back(launch->kernel, launch->run,
                                block->registers.get() + warp * stride);
    block->memory = &memory_.block(rank);
    block->barriers =
        std::make_unique<BlockBarriers>(launch->kernel, &launch->memory->faults(), &block->warps);
    barrier_.AddBlock(block->memory, &block->warps);
    blocks_.push_back(std::move(block));
  }
}

ClusterRunner::~ClusterRunner() = default;

BlockMemory& ClusterRunner::MemoryOf(const WarpContext& warp) {
  return *static_cast<Block*>(warp.block)->memory;
}
void ClusterRunner::CountWrite(const WarpContext& warp) {
  ++static_cast<Block*>(warp.block)->writes;
}
FaultSink& ClusterRunner::FaultsOf(const WarpContext& warp) {
  return static_cast<Block*>(warp.block)->runner->launch_.memory->faults();
}

void ClusterRunner::Start(uint64_t cluster) {
  const LaunchOptions& options = launch_.memory->options();
  const Dim3 shape = launch_.cluster;
  const Dim3 clusters = {options.grid.x / shape.x, options.grid.y / shape.y,
                         options.grid.z / shape.z};
  const Dim3 at = clusters.At(cluster);
  std::vector<uint32_t> numbers;
  std::vector<Dim3> positions;
  for (int rank = 0; rank < memory_.blocks(); ++rank) {
    const Dim3 in = shape.At(rank);
    positions.push_back({at.x * shape.x + in.x, at.y * shape.y + in.y, at.z * shape.z + in.z});
    const Dim3& p = positions.back();
    numbers.push_back((p.z * options.grid.y + p.y) * options.grid.x + p.x);
  }
  memory_.Start(numbers);
  barrier_.Start();
  stuck_ = false;
  uncounted_steps_ += static_cast<uint64_t>(warps_) * blocks_.size();
  for (int rank = 0; rank < memory_.blocks(); ++rank) {
    Block& block = *blocks_[rank];
    StartBlock(block, positions[rank]);
    for (WarpScheduler& warp : block.warps) {
      WarpContext& context = warp.context();
      const Dim3 in = shape.At(rank);
      const uint32_t ids[] = {at.x, at.y, at.z, clusters.x, clusters.y, clusters.z,
                              in.x, in.y, in.z, shape.x,    shape.y,    shape.z};
      std::copy(ids, ids + 3, context.clusterid);
      std::copy(ids + 3, ids + 6, context.nclusterid);
      std::copy(ids + 6, ids + 9, context.cluster_ctaid);
      std::copy(ids + 9, ids + 12, context.cluster_nctaid);
      context.cluster_ctarank = static_cast<uint32_t>(rank);
      context.cluster_nctarank = static_cast<uint32_t>(memory_.blocks());
      context.is_explicit_cluster = launch_.explicit_cluster ? 1 : 0;
      context.envreg[1] = static_cast<uint32_t>(launch_.grid_workspace >> 32);
      context.envreg[2] = static_cast<uint32_t>(launch_.grid_workspace);
      context.smid = numbers[rank] % kMultiprocessors;
      context.nsmid = kMultiprocessors;
    }
  }
}

void ClusterRunner::StartBlock(Block& block, Dim3 position) {
  const LaunchOptions& options = launch_.memory->options();
  block.barriers->Start(block.memory, block.threads);
  block.fingerprints.assign(warps_, 0);
  for (int w = 0; w < warps_; ++w) {
    WarpScheduler& warp = block.warps[w];
    WarpContext& context = warp.context();
    context = WarpContext();
    context.parameters = static_cast<const uint8_t*>(options.parameters);
    context.counts = counts_;
    context.block = &block;
    context.warpid = static_cast<uint32_t>(w);
    context.nwarpid = static_cast<uint32_t>(warps_);
    context.total_smem_size = static_cast<uint32_t>(options.shared_bytes);
    context.reserved_smem_offset =
        context.total_smem_size - std::min<uint32_t>(context.total_smem_size, kReservedSharedBytes);
    context.dynamic_smem_size = static_cast<uint32_t>(launch_.dynamic_shared_bytes);
    const uint32_t sizes[] = {options.block.x, options.block.y, options.block.z,
                              position.x,      position.y,      position.z,
                              options.grid.x,  options.grid.y,  options.grid.z};
    std::copy(sizes, sizes + 3, context.ntid);
    std::copy(sizes + 3, sizes + 6, context.ctaid);
    std::copy(sizes + 6, sizes + 9, context.nctaid);
    uint32_t lanes = 0;
    for (int lane = 0; lane < kWarpLanes; ++lane) {
      const int64_t thread = int64_t{w} * kWarpLanes + lane;
      if (thread >= block.threads) break;
      const Dim3 at = options.block.At(static_cast<uint64_t>(thread));
      context.tid_x[lane] = at.x;
      context.tid_y[lane] = at.y;
      context.tid_z[lane] = at.z;
      lanes |= 1U << lane;
    }
    warp.Start(lanes);
  }
}

bool ClusterRunner::Done() const {
  for (const auto& block : blocks_) {
    for (const WarpScheduler& warp : block->warps) {
      if (warp.live() != 0) return false;
    }
  }
  return true;
}

ClusterRunner::Outcome ClusterRunner::Run() {
  if (stuck_ && launch_.progress.load() == last_progress_) return Outcome::kStuck;
  stuck_ = false;
  bool all_same = true;
  for (bool ran = true; ran;) {
    if (++rounds_ % kRoundsBetweenChecks == 0) CountSteps();
    if (launch_.stopped) {
      TellWhere();
      return Outcome::kDone;
    }
    ran = false;
    bool spinning = false;
    for (auto& block : blocks_) {
      for (int w = 0; w < warps_; ++w) {
        WarpScheduler& warp = block->warps[w];
        if (warp.live() == 0) continue;
        const uint32_t before = warp.live();
        const WarpEvent event = warp.Run();
        if (event == WarpEvent::kTrap) {
          Trap(*block, w);
          launch_.stopped = true;
          return Outcome::kDone;
        }
        if (event == WarpEvent::kBarrier) {
          Arrive(*block, w);
          ran = true;
        }
        if (warp.live() != before) {
          ran = true;
          if (block->barriers->LiveThreads() == 0) block->memory->End();
          block->barriers->Check();
          barrier_.Check();
        }
        if (event != WarpEvent::kYield) continue;
        spinning = true;
        const uint64_t fingerprint = warp.Fingerprint() | 1;
        all_same &= fingerprint == block->fingerprints[w];
        block->fingerprints[w] = fingerprint;
      }
    }
    if (ran) {
      all_same = true;  // counted anew in the next round
      for (auto& block : blocks_) block->fingerprints.assign(warps_, 0);
      continue;
    }
    if (!spinning) break;
    uint64_t writes = 0;
    for (auto& block : blocks_) writes += std::exchange(block->writes, 0);
    if (writes > 0) launch_.progress.fetch_add(1);
    const uint64_t progress = launch_.progress.load();
    stuck_ = all_same && progress == last_progress_;
    last_progress_ = progress;
    CountSteps();
    return stuck_ ? Outcome::kStuck : Outcome::kSpinning;
  }
  if (!Done()) ReportBlocked();
  launch_.progress.fetch_add(1);
  return Outcome::kDone;
}

void ClusterRunner::CountSteps() {
  if (launch_.max_steps == 0) return;
  uint64_t steps = 0;
  for (size_t counter = 0; counter < launch_.steps_of.size(); ++counter)
    steps += launch_.steps_of[counter] * counts_[2 * counter + 1];
  // `counts_` are of all blocks that this thread of the host runs.
  uint64_t& counted = counts_[2 * launch_.steps_of.size()];
  const uint64_t more = steps - counted + std::exchange(uncounted_steps_, 0);
  counted = steps;
  if (launch_.steps.fetch_add(more) + more > launch_.max_steps) launch_.stopped = true;
}

void ClusterRunner::Arrive(Block& block, int w) {
  WarpScheduler& warp = block.warps[w];
  const ptx::Instruction& instruction =
      launch_.kernel->flat.instructions[warp.barrier_instruction()];
  if (instruction.Has("cluster")) {
    barrier_.Arrive(static_cast<int>(warp.context().cluster_ctarank), w, instruction.Has("wait"));
  } else {
    block.barriers->Arrive(w);
  }
}

// Every thread that is left waits for another.
void ClusterRunner::ReportBlocked() {
  FaultSink& faults = launch_.memory->faults();
  for (auto& block : blocks_) {
    for (int w = 0; w < warps_; ++w) {
      WarpScheduler& warp = block->warps[w];
      const auto first = static_cast<uint32_t>(w * kWarpLanes);
      if (warp.waiting() != 0) {
        const int at = warp.waiting_instruction();
        const bool split = warp.at_barrier() != 0;
        faults.Add(split ? FaultKind::kBarrierDivergence : FaultKind::kDeadlock, at,
                   block->memory->block(), first + __builtin_ctz(warp.waiting()), 0, [&] {
                     return split
                                ? std::string("waits for lanes of its warp that wait at a barrier")
                                : std::string("waits for lanes that never come here");
                   });
      }
    }
    block->barriers->ReportBlocked();
    for (WarpScheduler& warp : block->warps) warp.Kill();
  }
}

void ClusterRunner::GiveUp(const std::string& why) {
  FaultSink& faults = launch_.memory->faults();
  for (auto& block : blocks_) {
    for (int w = 0; w < warps_; ++w) {
      const WarpScheduler::Spot spot = block->warps[w].Spinning();
      if (spot.lanes == 0) continue;
      faults.Add(FaultKind::kDeadlock, spot.instruction, block->memory->block(),
                 static_cast<uint32_t>(w * kWarpLanes) + __builtin_ctz(spot.lanes), 0,
                 [&] { return absl::StrCat("goes round a loop for something that ", why); });
      break;
    }
    for (WarpScheduler& warp : block->warps) warp.Kill();
  }
}

void ClusterRunner::TellWhere() {
  for (const auto& block : blocks_) {
    for (int w = 0; w < warps_; ++w) {
      const WarpScheduler::Spot spot = block->warps[w].Spinning();
      if (spot.lanes == 0) continue;
      const uint32_t number = block->memory->block();
      absl::MutexLock lock(&launch_.mutex);
      if (!launch_.where.empty() && launch_.where_block <= number) return;
      launch_.where_block = number;
      launch_.where = Place(*block, w, __builtin_ctz(spot.lanes), spot.instruction);
      return;
    }
  }
}

// "line 7: thread (1,0,0) of block (0,0,0)"
std::string ClusterRunner::Place(const Block& block, int w, int lane, int instruction) const {
  const LaunchOptions& options = launch_.memory->options();
  const Dim3 at = options.grid.At(block.memory->block());
  const Dim3 thread = options.block.At(static_cast<uint64_t>(w) * kWarpLanes + lane);
  return absl::StrFormat("line %d: thread (%d,%d,%d) of block (%d,%d,%d)",
                         launch_.kernel->flat.instructions[instruction].line, thread.x, thread.y,
                         thread.z, at.x, at.y, at.z);
}

void ClusterRunner::Trap(const Block& block, int w) {
  const WarpScheduler& warp = block.warps[w];
  absl::MutexLock lock(&launch_.mutex);
  if (!launch_.trap.empty()) return;
  const int lane = __builtin_ctz(warp.barrier_lanes());
  launch_.trap = absl::StrCat(Place(block, w, lane, warp.barrier_instruction()), " ran into trap");
}

}  // namespace stax::emulator
