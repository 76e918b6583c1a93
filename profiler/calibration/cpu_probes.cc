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

using Vector256 = float __attribute__((vector_size(32)));
using Vector512 = float __attribute__((vector_size(64)));

constexpr int64_t kWordBytes = sizeof(uint64_t);

// Kept from being removed.
volatile float sink;

// Chains that start at different values, and at others in each piece: equal ones would be computed
// once.
template <typename Vector>
[[gnu::always_inline]] inline float FmaChains(float start) {
  const Vector factor = Vector{} + 0.5f;
  Vector chains[kFmaChains];
  for (int c = 0; c < kFmaChains; ++c) chains[c] = Vector{} + (start + static_cast<float>(c));
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

__attribute__((target("avx2,fma"))) float FmaPiece256(float start) {
  return FmaChains<Vector256>(start);
}
__attribute__((target("avx512f"))) float FmaPiece512(float start) {
  return FmaChains<Vector512>(start);
}

class CpuProbes : public Probes {
 public:
  // `wide`: 512-bit vectors, as kernels for x86-64-v4 have them.
  CpuProbes(int threads, bool wide)
      : wide_(wide),
        pool_(threads),
        from_(kStreamBytes, 1),
        to_(kStreamBytes, 2),
        next_(MakeCycle()) {}

  int64_t stream_bytes() const override { return kStreamBytes; }

  absl::Status Read() override {
    std::atomic<uint64_t> total = 0;
    ForPieces([&](int64_t begin, int64_t bytes) {
      const auto* words = reinterpret_cast<const uint64_t*>(from_.data() + begin);
      total += std::accumulate(words, words + bytes / kWordBytes, uint64_t{0});
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
    const size_t width = wide_ ? sizeof(Vector512) : sizeof(Vector256);
    return 2.0 * width / sizeof(float) * kFmaChains * kFmaSteps * kPieces;
  }
  absl::Status Fma() override {
    auto piece = wide_ ? FmaPiece512 : FmaPiece256;
    pool_.ParallelFor(kPieces, [piece](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) sink = piece(static_cast<float>(p));
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

  bool wide_;
  ThreadPool pool_;
  std::vector<char> from_;
  std::vector<char> to_;
  std::vector<int32_t> next_;
  int32_t position_ = 0;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Probes>> MakeCpuProbes(Device& device) {
  return std::make_unique<CpuProbes>(device.info().multiprocessors,
                                     device.info().best_target == "cpu:x86-64-v4");
}

}  // namespace stax
