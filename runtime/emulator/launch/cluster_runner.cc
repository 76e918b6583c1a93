#include "runtime/emulator/launch/cluster_runner.h"

#include <algorithm>
#include <new>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/emulator/launch/chip.h"

namespace stax::emulator {
namespace {

constexpr uint64_t kBarrierKey = uint64_t{0xba} << 48;  // of ids in ClusterClocks
constexpr uint64_t kClusterKey = uint64_t{0xbc} << 48;  // of phases
constexpr uint64_t kRoundsBetweenChecks = 1 << 10;      // of max_steps

struct Freer {
  void operator()(void* memory) const { operator delete(memory, std::align_val_t(kRegisterAlign)); }
};

int Bits(uint32_t word) { return __builtin_popcount(word); }

}  // namespace

struct ClusterRunner::Barrier {
  uint32_t expected = 0;  // threads; 0: all of the block
  bool some_only_arrive = false;
  // By warp.
  std::vector<uint32_t> arrived;
  std::vector<uint32_t> waiting;     // of those, the lanes that wait
  std::vector<int> instruction;      // where they arrived; -1: none
  std::vector<uint32_t> differ;      // lanes that arrived at another instruction
  std::vector<uint32_t> predicates;  // bar.red

  explicit Barrier(int warps)
      : arrived(warps, 0),
        waiting(warps, 0),
        instruction(warps, -1),
        differ(warps, 0),
        predicates(warps, 0) {}
};

struct ClusterRunner::Block {
  ClusterRunner* runner = nullptr;
  BlockMemory* memory = nullptr;
  std::unique_ptr<uint8_t, Freer> registers;
  std::vector<WarpScheduler> warps;
  std::vector<uint64_t> fingerprints;  // at each warp's last yield; 0: it has not
  std::map<uint32_t, Barrier> barriers;
  int64_t threads = 0;
  uint64_t writes = 0;
  // Of the cluster's barrier, by thread: how often it arrived, and whether it waits.
  std::vector<uint32_t> arrivals;
  std::vector<bool> waits;
};

ClusterRunner::ClusterRunner(LaunchState* launch, uint64_t* counts)
    : launch_(*launch), counts_(counts), memory_(launch->memory) {
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
  cluster_completed_ = 0;
  stuck_ = false;
  for (int rank = 0; rank < memory_.blocks(); ++rank) {
    Block& block = *blocks_[rank];
    block.memory = &memory_.block(rank);
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
      context.smid = numbers[rank] % kMultiprocessors;
      context.nsmid = kMultiprocessors;
    }
  }
}

void ClusterRunner::StartBlock(Block& block, Dim3 position) {
  const LaunchOptions& options = launch_.memory->options();
  block.barriers.clear();
  block.fingerprints.assign(warps_, 0);
  block.arrivals.assign(block.threads, 0);
  block.waits.assign(block.threads, false);
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
    if (launch_.stopped) return Outcome::kDone;
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
          CheckBarriers(*block);
          CheckCluster();
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

int64_t ClusterRunner::LiveThreads(const Block& block) {
  int64_t live = 0;
  for (const WarpScheduler& warp : block.warps) live += Bits(warp.live());
  return live;
}

// A whole warp counts as 32 threads, also when it has fewer ("the arrival count is incremented by
// the warp size").
int64_t ClusterRunner::Arrived(const Block& block, const Barrier& barrier) const {
  int64_t sum = 0;
  for (int w = 0; w < warps_; ++w) {
    const uint32_t arrived = barrier.arrived[w];
    const bool whole =
        barrier.expected > 0 && arrived != 0 && (block.warps[w].live() & ~arrived) == 0;
    sum += whole ? kWarpLanes : Bits(arrived);
  }
  return sum;
}

void ClusterRunner::CountSteps() {
  if (launch_.max_steps == 0) return;
  uint64_t steps = 0;
  for (size_t counter = 0; counter < launch_.steps_of.size(); ++counter)
    steps += launch_.steps_of[counter] * counts_[2 * counter + 1];
  // `counts_` are of all blocks that this thread of the host runs.
  uint64_t& counted = counts_[2 * launch_.steps_of.size()];
  const uint64_t more = steps - counted;
  counted = steps;
  if (launch_.steps.fetch_add(more) + more > launch_.max_steps) launch_.stopped = true;
}

void ClusterRunner::Arrive(Block& block, int w) {
  WarpScheduler& warp = block.warps[w];
  const int at = warp.barrier_instruction();
  const ptx::Instruction& instruction = launch_.kernel->flat.instructions[at];
  if (instruction.Has("cluster")) {
    ArriveAtCluster(block, w, instruction);
    return;
  }
  const bool waits = !instruction.Has("arrive");
  for (uint32_t left = warp.barrier_lanes(); left != 0; left &= left - 1) {
    const int lane = __builtin_ctz(left);
    const uint32_t id = warp.context().barrier_id[lane];
    auto [entry, added] = block.barriers.try_emplace(id, warps_);
    Barrier& barrier = entry->second;
    const uint32_t bit = 1U << lane;
    barrier.expected = std::max(barrier.expected, warp.context().barrier_count[lane]);
    barrier.arrived[w] |= bit;
    if (barrier.instruction[w] < 0) barrier.instruction[w] = at;
    if (barrier.instruction[w] != at) barrier.differ[w] |= bit;
    if (waits) {
      barrier.waiting[w] |= bit;
    } else {
      barrier.some_only_arrive = true;
    }
    if (warp.context().barrier_predicate & bit) barrier.predicates[w] |= bit;
  }
  if (!waits) {
    block.memory->Arrive(w, kBarrierKey + warp.context().barrier_id[0]);
    warp.Release(warp.barrier_lanes());
  }
  CheckBarriers(block);
}

void ClusterRunner::CheckBarriers(Block& block) {
  for (auto entry = block.barriers.begin(); entry != block.barriers.end();) {
    Barrier& barrier = entry->second;
    const int64_t arrived = Arrived(block, barrier);
    const int64_t expected = barrier.expected > 0 ? barrier.expected : LiveThreads(block);
    if (arrived == 0 || arrived < expected) {
      ++entry;
      continue;
    }
    const Barrier done = std::move(barrier);
    const uint32_t id = entry->first;
    entry = block.barriers.erase(entry);
    Complete(block, id, done);
  }
}

void ClusterRunner::Complete(Block& block, uint32_t id, const Barrier& barrier) const {
  FaultSink& faults = launch_.memory->faults();
  const int64_t exited = block.threads - LiveThreads(block);
  uint32_t bits = 0;
  int votes = 0;
  for (int w = 0; w < warps_; ++w) {
    if (barrier.arrived[w] == 0) continue;
    bits |= 1U << w;
    votes += Bits(barrier.predicates[w]);
    const int at = barrier.instruction[w];
    const auto thread = static_cast<uint32_t>(w * kWarpLanes);
    if (exited > 0 && barrier.expected == 0) {
      faults.Add(FaultKind::kBarrierDivergence, at, block.memory->block(),
                 thread + __builtin_ctz(barrier.arrived[w]), 0, [&] {
                   return absl::StrCat("waits for all ", block.threads, " threads of the block; ",
                                       exited, " of them have ended without arriving");
                 });
    }
    const ptx::Instruction& instruction = launch_.kernel->flat.instructions[at];
    const bool aligned = instruction.opcode == "bar" || instruction.Has("aligned");
    if (barrier.differ[w] != 0 && aligned) {
      const int lane = __builtin_ctz(barrier.differ[w]);
      faults.Add(FaultKind::kBarrierDivergence, at, block.memory->block(), thread + lane, 0, [&] {
        return absl::StrCat(
            "lanes of one warp meet here and at another barrier instruction; an "
            "aligned barrier must be the same for the whole warp");
      });
    }
  }
  if (!barrier.some_only_arrive) {
    block.memory->BlockBarrier(bits);
  } else {
    for (int w = 0; w < warps_; ++w) {
      if (barrier.waiting[w] != 0) block.memory->Arrive(w, kBarrierKey + id);
    }
    for (int w = 0; w < warps_; ++w) {
      if (barrier.waiting[w] != 0) block.memory->Wait(w, kBarrierKey + id);
    }
  }
  int all = 0;
  for (uint32_t lanes : barrier.arrived) all += Bits(lanes);
  for (int w = 0; w < warps_; ++w) {
    if (barrier.waiting[w] == 0) continue;
    const int at = barrier.instruction[w];
    const ptx::Instruction& instruction = launch_.kernel->flat.instructions[at];
    if (instruction.Has("red")) {
      const int value = instruction.Has("popc")  ? votes
                        : instruction.Has("and") ? (votes == all ? 1 : 0)
                                                 : (votes > 0 ? 1 : 0);
      block.warps[w].SetBarrierResult(at, barrier.waiting[w], static_cast<uint32_t>(value));
    }
    block.warps[w].Release(barrier.waiting[w]);
  }
}

// Arriving does not wait; waiting is for the phase in which the thread arrived last.
void ClusterRunner::ArriveAtCluster(Block& block, int w, const ptx::Instruction& instruction) {
  WarpScheduler& warp = block.warps[w];
  const uint32_t lanes = warp.barrier_lanes();
  const bool waits = instruction.Has("wait");
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    const int thread = w * kWarpLanes + __builtin_ctz(left);
    if (waits) {
      block.waits[thread] = true;
    } else {
      ++block.arrivals[thread];
    }
  }
  if (!waits) {
    block.memory->Arrive(w, kClusterKey + block.arrivals[w * kWarpLanes + __builtin_ctz(lanes)]);
    warp.Release(lanes);
  }
  CheckCluster();
}

void ClusterRunner::CheckCluster() {
  // Threads that have ended do not hold the others up.
  uint64_t least = ~uint64_t{0};
  for (const auto& block : blocks_) {
    for (int w = 0; w < warps_; ++w) {
      for (uint32_t left = block->warps[w].live(); left != 0; left &= left - 1)
        least = std::min<uint64_t>(least, block->arrivals[w * kWarpLanes + __builtin_ctz(left)]);
    }
  }
  if (least == ~uint64_t{0}) return;
  cluster_completed_ = std::max(cluster_completed_, least);
  for (auto& block : blocks_) {
    for (int w = 0; w < warps_; ++w) {
      uint32_t free = 0;
      uint64_t phase = 0;
      for (int lane = 0; lane < kWarpLanes; ++lane) {
        const int64_t thread = int64_t{w} * kWarpLanes + lane;
        if (thread >= block->threads || !block->waits[thread]) continue;
        if (block->arrivals[thread] > cluster_completed_) continue;
        block->waits[thread] = false;
        phase = block->arrivals[thread];
        free |= 1U << lane;
      }
      if (free == 0) continue;
      block->memory->Wait(w, kClusterKey + phase);
      block->warps[w].Release(free);
    }
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
    for (auto& [id, barrier] : block->barriers) {
      for (int w = 0; w < warps_; ++w) {
        if (barrier.waiting[w] == 0) continue;
        const int64_t expected = barrier.expected > 0 ? barrier.expected : LiveThreads(*block);
        const int64_t arrived = Arrived(*block, barrier);
        const uint32_t number = id;
        faults.Add(FaultKind::kDeadlock, barrier.instruction[w], block->memory->block(),
                   static_cast<uint32_t>(w * kWarpLanes) + __builtin_ctz(barrier.waiting[w]), 0,
                   [&] {
                     return absl::StrCat("waits at barrier ", number, " for ", expected,
                                         " threads; ", arrived,
                                         " have arrived and the others wait elsewhere or have "
                                         "ended");
                   });
        break;
      }
    }
    for (WarpScheduler& warp : block->warps) warp.Kill();
  }
}

void ClusterRunner::GiveUp(const std::string& why) {
  FaultSink& faults = launch_.memory->faults();
  for (auto& block : blocks_) {
    for (int w = 0; w < warps_; ++w) {
      WarpScheduler& warp = block->warps[w];
      const uint32_t spins = warp.live() & ~warp.at_barrier() & ~warp.waiting();
      if (spins == 0) continue;
      const int at = warp.spinning_instruction();
      faults.Add(FaultKind::kDeadlock, at, block->memory->block(),
                 static_cast<uint32_t>(w * kWarpLanes) + __builtin_ctz(spins), 0,
                 [&] { return absl::StrCat("goes round a loop for something that ", why); });
      break;
    }
    for (WarpScheduler& warp : block->warps) warp.Kill();
  }
}

void ClusterRunner::Trap(const Block& block, int w) {
  const WarpScheduler& warp = block.warps[w];
  const LaunchOptions& options = launch_.memory->options();
  const Dim3 at = options.grid.At(block.memory->block());
  const Dim3 thread =
      options.block.At(static_cast<uint64_t>(w) * kWarpLanes + __builtin_ctz(warp.barrier_lanes()));
  absl::MutexLock lock(&launch_.mutex);
  if (!launch_.trap.empty()) return;
  launch_.trap = absl::StrFormat("line %d: thread (%d,%d,%d) of block (%d,%d,%d) ran into trap",
                                 launch_.kernel->flat.instructions[warp.barrier_instruction()].line,
                                 thread.x, thread.y, thread.z, at.x, at.y, at.z);
}

}  // namespace stax::emulator
