#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "profiler/calibration/probes.h"
#include "runtime/cpu/thread_pool.h"

namespace stax {
namespace {

constexpr int64_t kStreamBytes = int64_t{256} << 20;
constexpr int64_t kPieces = 256;  // shares of a stream
constexpr int64_t kCacheLine = 64;
constexpr int64_t kChaseBytes = int64_t{128} << 20;
constexpr int64_t kChaseLoads = 1 << 16;
constexpr int64_t kFmaSteps = 1 << 14;  // a piece
constexpr int kFmaChains = 16;          // independent vectors: latency 4, two a cycle, and slack

using Vector = float __attribute__((vector_size(32)));

constexpr int64_t kWordBytes = sizeof(int64_t);

// Kept from being removed.
volatile float sink;

__attribute__((target("avx2,fma"))) float FmaPiece() {
  Vector chains[kFmaChains] = {};
  const Vector factor = {0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f};
  for (int64_t step = 0; step < kFmaSteps; ++step) {
#pragma clang loop unroll(full)
    for (Vector& chain : chains) {
#pragma clang fp contract(fast)
      chain = chain * factor + factor;
    }
  }
  float sum = 0;
  for (const Vector& chain : chains) sum += chain[0];
  return sum;
}

class CpuProbes : public Probes {
 public:
  explicit CpuProbes(int threads)
      : pool_(threads), from_(kStreamBytes, 1), to_(kStreamBytes, 2), next_(MakeCycle()) {}

  int64_t stream_bytes() const override { return kStreamBytes; }

  absl::Status Read() override {
    std::atomic<int64_t> total = 0;
    ForPieces([&](int64_t begin, int64_t bytes) {
      const auto* words = reinterpret_cast<const int64_t*>(from_.data() + begin);
      total += std::accumulate(words, words + bytes / kWordBytes, int64_t{0});
    });
    sink = static_cast<float>(total);
    return absl::OkStatus();
  }
  absl::Status Write() override {
    ForPieces([&](int64_t begin, int64_t bytes) { std::memset(to_.data() + begin, 3, bytes); });
    return absl::OkStatus();
  }
  absl::Status Copy() override {
    ForPieces([&](int64_t begin, int64_t bytes) {
      std::memcpy(to_.data() + begin, from_.data() + begin, bytes);
    });
    return absl::OkStatus();
  }

  int64_t chase_loads() const override { return kChaseLoads; }
  absl::Status Chase() override {
    for (int64_t i = 0; i < kChaseLoads; ++i) position_ = next_[position_];
    sink = static_cast<float>(position_);
    return absl::OkStatus();
  }

  double fma_flops() const override {
    return 2.0 * sizeof(Vector) / sizeof(float) * kFmaChains * kFmaSteps * kPieces;
  }
  absl::Status Fma() override {
    pool_.ParallelFor(kPieces, [](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) sink = FmaPiece();
    });
    return absl::OkStatus();
  }
  absl::Status Empty() override {
    pool_.ParallelFor(pool_.threads(), [](int64_t, int64_t) {});
    return absl::OkStatus();
  }

 private:
  template <typename Body>
  void ForPieces(Body body) {
    constexpr int64_t kBytes = kStreamBytes / kPieces;
    pool_.ParallelFor(
        kPieces, [&](int64_t begin, int64_t end) { body(begin * kBytes, (end - begin) * kBytes); });
  }

  // One random cycle through all cache lines: element i of each line holds the next line's first
  // element (Sattolo's algorithm).
  static std::vector<int32_t> MakeCycle() {
    constexpr int64_t kStride = kCacheLine / sizeof(int32_t);
    std::vector<int32_t> order(kChaseBytes / kCacheLine);
    std::iota(order.begin(), order.end(), 0);
    std::mt19937 rng(1);
    for (size_t i = order.size() - 1; i > 0; --i) std::swap(order[i], order[rng() % i]);
    std::vector<int32_t> next(order.size() * kStride);
    for (size_t i = 0; i < order.size(); ++i)
      next[i * kStride] = static_cast<int32_t>(order[i] * kStride);
    return next;
  }

  ThreadPool pool_;
  std::vector<char> from_;
  std::vector<char> to_;
  std::vector<int32_t> next_;
  int32_t position_ = 0;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Probes>> MakeCpuProbes(Device& device) {
  return std::make_unique<CpuProbes>(device.info().multiprocessors);
}

}  // namespace stax
