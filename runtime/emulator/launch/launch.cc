#include "runtime/emulator/launch/launch.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "runtime/cpu/thread_pool.h"
#include "runtime/emulator/launch/block_order.h"
#include "runtime/emulator/launch/chip.h"
#include "runtime/emulator/launch/cluster_runner.h"
#include "runtime/host_memory.h"

namespace stax::emulator {
namespace {

// CUDA C++ Programming Guide, "Compute Capabilities".
constexpr uint64_t kMaxBlockThreads = 1024;
constexpr uint64_t kMaxClusterBlocks =
    16;  // 8 without cudaFuncAttributeNonPortableClusterSizeAllowed
constexpr uint64_t kMaxGridYz = 65535;
constexpr uint64_t kMaxGridX = 2147483647;
constexpr uint64_t kMaxBlockZ = 64;
constexpr int64_t kMaxLocalBytes = 512 << 10;  // of a thread
constexpr auto kPoll = std::chrono::microseconds(100);

uint64_t MaxSharedBytes(const std::string& target) {
  return absl::StartsWith(target, "sm_90") ? 227 << 10 : 163 << 10;
}

// Why the device would refuse the launch; empty: it would not.
std::string WhyRefused(const ptx::Module& module, const CompiledKernel& kernel,
                       const LaunchRequest& request, Dim3 cluster) {
  const Dim3& block = request.block;
  const ptx::Function& entry = *kernel.entry;
  const uint64_t threads = block.count();
  if (threads > kMaxBlockThreads || block.z > kMaxBlockZ)
    return absl::StrCat("a block of ", block.x, " x ", block.y, " x ", block.z,
                        " threads; at most ", kMaxBlockThreads, " and ", kMaxBlockZ, " in z");
  const auto limit = static_cast<uint64_t>(entry.max_threads[0]) *
                     static_cast<uint64_t>(entry.max_threads[1]) *
                     static_cast<uint64_t>(entry.max_threads[2]);
  if (limit > 0 && threads > limit)
    return absl::StrCat("a block of ", threads, " threads; the kernel's .maxntid allows ", limit);
  const int64_t* required = entry.required_threads;
  if (required[0] > 0 &&
      (block.x != required[0] || block.y != required[1] || block.z != required[2]))
    return absl::StrCat("a block of ", block.x, " x ", block.y, " x ", block.z,
                        " threads; the kernel's .reqntid is ", required[0], " x ", required[1],
                        " x ", required[2]);
  const uint64_t shared =
      static_cast<uint64_t>(kernel.translated.flat.shared_bytes) + request.dynamic_shared_bytes;
  if (shared > MaxSharedBytes(module.target))
    return absl::StrCat(shared, " bytes of shared memory a block; ", module.target, " has ",
                        MaxSharedBytes(module.target));
  if (kernel.translated.flat.stack_bytes > kMaxLocalBytes)
    return absl::StrCat(kernel.translated.flat.stack_bytes,
                        " bytes of local memory a thread; at most ", kMaxLocalBytes);
  if (request.grid.x > kMaxGridX || request.grid.y > kMaxGridYz || request.grid.z > kMaxGridYz)
    return absl::StrCat("a grid of ", request.grid.x, " x ", request.grid.y, " x ", request.grid.z,
                        " blocks; at most 2^31-1 x 65535 x 65535");
  if (cluster.count() > kMaxClusterBlocks)
    return absl::StrCat("a cluster of ", cluster.count(), " blocks; at most ", kMaxClusterBlocks);
  if (request.grid.x % cluster.x != 0 || request.grid.y % cluster.y != 0 ||
      request.grid.z % cluster.z != 0)
    return absl::StrCat("a grid of ", request.grid.x, " x ", request.grid.y, " x ", request.grid.z,
                        " blocks is no multiple of the cluster, ", cluster.x, " x ", cluster.y,
                        " x ", cluster.z);
  return "";
}

// The clusters of a launch, given out to workers.
class Grid {
 public:
  // `resident`: clusters that the device runs at the same time.
  Grid(LaunchState* state, uint64_t clusters, uint64_t resident, int workers)
      : state_(*state), clusters_(clusters), resident_(resident), stuck_at_(workers) {
    for (auto& at : stuck_at_) at = 0;
  }

  // Adds how often each counter of the translated code was passed.
  void Work(int worker, std::vector<uint64_t>& counts) {
    std::vector<std::unique_ptr<ClusterRunner>> running;
    std::vector<std::unique_ptr<ClusterRunner>> idle;
    while (!state_.stopped) {
      // As many again as there are: who waits for all of them is not run once for each.
      const size_t more = std::max<size_t>(running.size(), 1);
      for (size_t i = 0; i < more; ++i) {
        const uint64_t next = Next(/*has_some=*/!running.empty());
        if (next >= clusters_) break;
        if (idle.empty()) idle.push_back(std::make_unique<ClusterRunner>(&state_, counts.data()));
        running.push_back(std::move(idle.back()));
        idle.pop_back();
        running.back()->Start(next);
      }
      if (running.empty()) break;
      bool all_stuck = true;
      for (auto& runner : running) {
        const ClusterRunner::Outcome outcome = runner->Run();
        all_stuck &= outcome == ClusterRunner::Outcome::kStuck;
        if (outcome != ClusterRunner::Outcome::kDone) continue;
        idle.push_back(std::move(runner));
        in_flight_.fetch_sub(1);
      }
      running.erase(std::remove(running.begin(), running.end(), nullptr), running.end());
      const bool none_left = next_.load() >= clusters_;
      const bool none_starts = none_left || in_flight_.load() >= resident_;
      if (running.empty() || !all_stuck || !none_starts) continue;
      if (!WaitForOthers(worker)) continue;
      const std::string why =
          none_left ? "no thread is left to do"
                    : absl::StrCat(
                          "only a block can do that has not begun: the device has room "
                          "for ",
                          resident_, " at a time, and all of them wait");
      for (auto& runner : running) {
        runner->GiveUp(why);
        idle.push_back(std::move(runner));
        in_flight_.fetch_sub(1);
      }
      running.clear();
    }
    stuck_at_[worker] = kFinished;
    if (state_.stopped) {
      for (auto& runner : running) runner->TellWhere();
    }
    for (auto& runner : idle) runner->CountSteps();
    for (auto& runner : idle) runner->AddCounters();
    for (auto& runner : running) runner->AddCounters();
  }

 private:
  static constexpr uint64_t kFinished = ~uint64_t{0};

  // The next cluster that begins; none does when the device is full, but for a worker that has none
  // to run.
  uint64_t Next(bool has_some) {
    if (next_.load() >= clusters_) return clusters_;
    if (in_flight_.fetch_add(1) >= resident_ && has_some) {
      in_flight_.fetch_sub(1);
      return clusters_;
    }
    const uint64_t next = next_.fetch_add(1);
    if (next >= clusters_) in_flight_.fetch_sub(1);
    return next;
  }

  // Until something has changed (false), or all workers wait for something to change (true).
  bool WaitForOthers(int worker) {
    const uint64_t progress = state_.progress.load();
    stuck_at_[worker] = progress + 1;
    while (!state_.stopped) {
      if (state_.progress.load() != progress) break;
      bool all = true;
      for (const auto& at : stuck_at_) all &= at == progress + 1 || at == kFinished;
      if (all) return true;
      std::this_thread::sleep_for(kPoll);
    }
    stuck_at_[worker] = 0;
    return false;
  }

  LaunchState& state_;
  const uint64_t clusters_;
  const uint64_t resident_;
  std::atomic<uint64_t> next_ = 0;
  std::atomic<uint64_t> in_flight_ = 0;
  // By worker: 0 while it runs, 1 + the progress at which it got stuck, or kFinished.
  std::vector<std::atomic<uint64_t>> stuck_at_;
};

// How many clusters fit on the device.
uint64_t Resident(const ptx::Module& module, const LaunchOptions& options) {
  const uint64_t warps = (options.block.count() + kWarpSize - 1) / kWarpSize;
  const uint64_t shared =
      MaxSharedBytes(module.target) / std::max<uint64_t>(options.shared_bytes, 1);
  const uint64_t blocks =
      kMultiprocessors * std::min({kMaxResidentBlocks, kMaxResidentWarps / warps, shared});
  return std::max<uint64_t>(blocks / static_cast<uint64_t>(options.cluster_blocks), 1);
}

// What the workers need at the same time must be there; more is asked for as blocks spin.
absl::Status CheckFits(const TranslatedKernel& kernel, const LaunchOptions& options, int workers) {
  const uint64_t threads = options.block.count();
  const uint64_t warps = (threads + kWarpSize - 1) / kWarpSize;
  const double block = static_cast<double>(kernel.RegisterStride()) * static_cast<double>(warps) +
                       static_cast<double>(options.local_bytes) * static_cast<double>(threads) +
                       static_cast<double>(options.shared_bytes);
  const double bytes = block * options.cluster_blocks * workers;
  constexpr double kMost = 1e18;
  return CheckFitsHostMemory("the registers and local and shared memory of the blocks that run",
                             static_cast<int64_t>(std::min(bytes, kMost)));
}

// By counter: the instructions that it counts.
std::vector<uint64_t> StepsOf(const TranslatedKernel& kernel) {
  std::vector<uint64_t> steps(static_cast<size_t>(kernel.counters), 0);
  for (const int counter : kernel.counter_of) {
    if (counter >= 0) ++steps[static_cast<size_t>(counter)];
  }
  return steps;
}

absl::Status WhyStopped(LaunchState& state) {
  const std::string& name = state.kernel->flat.name;
  absl::MutexLock lock(&state.mutex);
  const bool lacks_workspace = state.kernel->uses_grid_workspace && state.grid_workspace == 0;
  if (!state.trap.empty())
    return absl::AbortedError(absl::StrCat(name, ": ", state.trap,
                                           lacks_workspace
                                               ? "; it uses grid.sync() (%envreg1), which needs a "
                                                 "cooperative launch (stax-emu --cooperative)"
                                               : ""));
  const std::string limit =
      absl::StrCat(state.max_steps, " steps (instructions x threads), which is the limit");
  if (state.where.empty())
    return absl::ResourceExhaustedError(absl::StrCat(name, " takes more than ", limit));
  return absl::ResourceExhaustedError(
      absl::StrCat(name, " is not done after ", limit, "; ", state.where, " was still running"));
}

int Workers(const FlatKernel& kernel, const LaunchRequest& request, uint64_t clusters) {
  int threads = request.threads;
  if (threads == 0) threads = DependsOnBlockOrder(kernel) ? 1 : UsableCores();
  return static_cast<int>(std::max<uint64_t>(std::min<uint64_t>(threads, clusters), 1));
}

// What cooperative_groups expects: its size and the word of the barrier, both 32 bits.
class GridWorkspace {
 public:
  explicit GridWorkspace(GlobalMemory* memory) : memory_(memory) {}
  ~GridWorkspace() { memory_->Free(words_); }
  GridWorkspace(const GridWorkspace&) = delete;
  GridWorkspace& operator=(const GridWorkspace&) = delete;

  absl::Status Make() {
    constexpr size_t kBytes = 2 * sizeof(uint32_t);
    absl::StatusOr<void*> words = memory_->Allocate(kBytes);
    if (!words.ok()) return words.status();
    words_ = *words;
    static_cast<uint32_t*>(words_)[0] = kBytes;
    memory_->MarkWritten(words_, kBytes);
    return absl::OkStatus();
  }
  uint64_t address() const { return reinterpret_cast<uintptr_t>(words_); }

 private:
  GlobalMemory* memory_;
  void* words_ = nullptr;
};

Dim3 ClusterOf(const ptx::Function& entry) {
  Dim3 cluster;
  if (entry.cluster[0] <= 0) return cluster;
  cluster.x = static_cast<uint32_t>(entry.cluster[0]);
  cluster.y = static_cast<uint32_t>(std::max<int64_t>(entry.cluster[1], 1));
  cluster.z = static_cast<uint32_t>(std::max<int64_t>(entry.cluster[2], 1));
  return cluster;
}

LaunchOptions OptionsFor(const EmulatorModule& module, const CompiledKernel& kernel,
                         const LaunchRequest& request, const Dim3& cluster) {
  const FlatKernel& flat = kernel.translated.flat;
  LaunchOptions options;
  options.grid = request.grid;
  options.block = request.block;
  options.cluster_blocks = static_cast<int>(cluster.count());
  options.instructions = static_cast<int>(flat.instructions.size());
  options.shared_bytes = static_cast<uint64_t>(flat.shared_bytes) + request.dynamic_shared_bytes;
  if (kernel.translated.uses_reserved_shared)
    options.shared_bytes = (options.shared_bytes + 15) / 16 * 16 + kReservedSharedBytes;
  options.local_bytes = static_cast<uint64_t>(flat.local_bytes);
  options.constants = module.constants().data();
  options.constant_bytes = module.constant_bytes();
  options.parameters = request.parameters.data();
  options.parameter_bytes = request.parameters.size();
  options.check_memory = request.check_memory;
  options.check_races = request.check_races;
  return options;
}

}  // namespace

absl::StatusOr<LaunchResult> Launch(const EmulatorModule& module, const CompiledKernel& kernel,
                                    const LaunchRequest& request, GlobalMemory* memory) {
  const TranslatedKernel& translated = kernel.translated;
  const FlatKernel& flat = translated.flat;
  if (static_cast<int64_t>(request.parameters.size()) != flat.parameter_bytes)
    return absl::InvalidArgumentError(absl::StrCat(flat.name, " takes ", flat.parameter_bytes,
                                                   " bytes of parameters, got ",
                                                   request.parameters.size()));
  if (request.grid.count() == 0 || request.block.count() == 0)
    return absl::InvalidArgumentError("the grid and the block must not be empty");
  LaunchResult result;
  FaultSink faults(request.grid, request.block);
  const Dim3 cluster = ClusterOf(*kernel.entry);
  const LaunchOptions options = OptionsFor(module, kernel, request, cluster);
  // Without an instruction there is nothing to run.
  const uint64_t clusters = flat.instructions.empty() ? 0 : request.grid.count() / cluster.count();
  const uint64_t resident = Resident(module.module(), options);
  std::string refused = WhyRefused(module.module(), kernel, request, cluster);
  if (refused.empty() && request.cooperative && clusters > resident)
    refused =
        absl::StrCat("a cooperative grid of ", request.grid.count(),
                     " blocks; the device has room for ", resident * cluster.count(), " at a time");
  if (!refused.empty()) {
    faults.Add(FaultKind::kResourceLimit, -1, 0, 0, 0, [&] { return std::move(refused); });
    result.faults = faults.Faults();
    result.fault_count = faults.count();
    return result;
  }
  GridWorkspace workspace(memory);
  if (request.cooperative) {
    if (absl::Status made = workspace.Make(); !made.ok()) return made;
  }
  const int workers = Workers(flat, request, clusters);
  if (absl::Status fits = CheckFits(translated, options, workers); !fits.ok()) return fits;
  LaunchMemory launch_memory(memory, options, &faults);

  LaunchState state;
  state.kernel = &translated;
  state.run = kernel.run;
  state.memory = &launch_memory;
  state.cluster = cluster;
  state.explicit_cluster = kernel.entry->cluster[0] > 0 || kernel.entry->explicit_cluster;
  state.dynamic_shared_bytes = request.dynamic_shared_bytes;
  state.grid_workspace = workspace.address();
  state.max_steps = request.max_steps;
  state.steps_of = StepsOf(translated);
  Grid grid(&state, clusters, resident, workers);
  std::vector<std::vector<uint64_t>> counts(
      workers, std::vector<uint64_t>(2 * static_cast<size_t>(translated.counters) + 1, 0));
  std::vector<std::thread> threads;
  for (int worker = 1; worker < workers; ++worker)
    threads.emplace_back([&, worker] { grid.Work(worker, counts[worker]); });
  grid.Work(0, counts[0]);
  for (std::thread& thread : threads) thread.join();
  if (state.stopped) result.ended = WhyStopped(state);
  result.threads = workers;
  result.faults = faults.Faults();
  result.fault_count = faults.count();
  result.executed.resize(flat.instructions.size());
  for (size_t i = 0; i < flat.instructions.size(); ++i) {
    const int counter = translated.counter_of[i];
    if (counter < 0) continue;
    for (const std::vector<uint64_t>& worker : counts) {
      result.executed[i].warps += worker[2 * counter];
      result.executed[i].lanes += worker[2 * counter + 1];
    }
  }
  result.memory = launch_memory.counters();
  result.memory_total = launch_memory.total();
  result.touched = launch_memory.touched_sectors();
  return result;
}

}  // namespace stax::emulator
