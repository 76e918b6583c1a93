#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "profiler/calibration/cuda_probes_ptx.h"
#include "profiler/calibration/probes.h"

namespace stax {
namespace {

constexpr int64_t kStreamBytes = int64_t{1} << 30;
constexpr int64_t kBytesPerThread = 16;
constexpr int64_t kReadsPerThread = 4;  // independent 16-byte loads
constexpr int kThreads = 256;
constexpr int64_t kCacheLine = 128;
constexpr int64_t kChaseBytes = int64_t{512} << 20;
constexpr int64_t kChaseLoads = 1 << 13;
constexpr int64_t kFmaSteps = 1 << 12;
constexpr int64_t kFmasPerStep = 4 * 8;  // as the PTX has it: rounds times chains
constexpr int kFmaBlocksPerSm = 8;

// One random cycle through all cache lines (Sattolo's algorithm), as byte offsets.
std::vector<uint64_t> MakeCycle() {
  constexpr int64_t kStride = kCacheLine / sizeof(uint64_t);
  std::vector<uint64_t> order(kChaseBytes / kCacheLine);
  std::iota(order.begin(), order.end(), 0);
  std::mt19937_64 rng(1);
  for (size_t i = order.size() - 1; i > 0; --i) std::swap(order[i], order[rng() % i]);
  std::vector<uint64_t> next(order.size() * kStride);
  for (size_t i = 0; i < order.size(); ++i) next[i * kStride] = order[i] * kCacheLine;
  return next;
}

class CudaProbes : public Probes {
 public:
  explicit CudaProbes(Device& device) : device_(device) {}
  ~CudaProbes() override {
    for (void* memory : {from_, to_, cycle_}) {
      if (memory != nullptr) device_.Free(memory);
    }
  }

  absl::Status Init() {
    struct Entry {
      const char* name;
      std::unique_ptr<LoadedKernel>* kernel;
    };
    for (const Entry& entry : {Entry{"read", &read_},
                               {"write", &write_},
                               {"copy", &copy_},
                               {"chase", &chase_},
                               {"fma", &fma_},
                               {"empty", &empty_}}) {
      Variant variant;
      variant.mutable_target()->set_kind("cuda");
      variant.mutable_target()->set_arch("sm_80");
      variant.set_entry(absl::StrCat("stax_probe_", entry.name));
      variant.set_ptx(kCudaProbesPtx);
      variant.set_block_threads(entry.kernel == &chase_ ? 1 : kThreads);
      absl::StatusOr<std::unique_ptr<LoadedKernel>> loaded = device_.Load(variant);
      if (!loaded.ok()) return loaded.status();
      *entry.kernel = *std::move(loaded);
    }
    for (auto [memory, bytes] : {std::pair{&from_, kStreamBytes}, std::pair{&to_, kStreamBytes},
                                 std::pair{&cycle_, kChaseBytes}}) {
      absl::StatusOr<void*> allocated = device_.Allocate(bytes);
      if (!allocated.ok()) return allocated.status();
      *memory = *allocated;
    }
    // Real data, not zeros: the memory of a GPU may be faster on zeros.
    std::vector<uint64_t> cycle = MakeCycle();
    absl::Status status = device_.CopyIn(cycle_, cycle.data(), kChaseBytes);
    for (int64_t at = 0; status.ok() && at < kStreamBytes; at += kChaseBytes)
      status = device_.CopyIn(static_cast<char*>(from_) + at, cycle.data(), kChaseBytes);
    return status;
  }

  int64_t stream_bytes() const override { return kStreamBytes; }
  absl::Status Read() override {
    return Launch(*read_, {from_, to_}, Blocks(kBytesPerThread * kReadsPerThread));
  }
  absl::Status Write() override { return Launch(*write_, {to_}, Blocks(kBytesPerThread)); }
  absl::Status Copy() override { return Launch(*copy_, {to_, from_}, Blocks(kBytesPerThread)); }
  int64_t chase_loads() const override { return kChaseLoads; }
  absl::Status Chase() override { return chase_->Launch({cycle_, to_}, {kChaseLoads}, 1, nullptr); }
  double fma_flops() const override {
    return 2.0 * kFmasPerStep * kFmaSteps * kThreads * FmaBlocks();
  }
  absl::Status Fma() override { return fma_->Launch({to_}, {kFmaSteps}, FmaBlocks(), nullptr); }
  absl::Status Empty() override { return Launch(*empty_, {}, 1); }

 private:
  static int64_t Blocks(int64_t bytes_per_thread) {
    return kStreamBytes / (bytes_per_thread * kThreads);
  }
  int64_t FmaBlocks() const { return int64_t{kFmaBlocksPerSm} * device_.info().multiprocessors; }
  static absl::Status Launch(LoadedKernel& kernel, const std::vector<void*>& buffers,
                             int64_t grid) {
    return kernel.Launch(buffers, {}, grid, nullptr);
  }

  Device& device_;
  std::unique_ptr<LoadedKernel> read_, write_, copy_, chase_, fma_, empty_;
  void* from_ = nullptr;
  void* to_ = nullptr;
  void* cycle_ = nullptr;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Probes>> MakeCudaProbes(Device& device) {
  auto probes = std::make_unique<CudaProbes>(device);
  if (absl::Status status = probes->Init(); !status.ok()) return status;
  return probes;
}

}  // namespace stax
