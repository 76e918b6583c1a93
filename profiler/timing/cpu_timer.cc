#include "profiler/timing/cpu_timer.h"

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace stax {
namespace {

// Shared last-level caches of servers are far larger than what one program gets of them; flushing
// more than this costs more time than it brings truth.
constexpr int64_t kMaxFlushBytes = int64_t{64} << 20;

class CpuTimer : public KernelTimer {
 public:
  // `cache_bytes`: 0 when the machine does not say.
  explicit CpuTimer(int64_t cache_bytes)
      : flush_(cache_bytes > 0 ? std::min(cache_bytes, kMaxFlushBytes) : kMaxFlushBytes) {}

  std::string_view method() const override {
    return "monotonic clock around the launch, caches flushed by a write";
  }

  absl::StatusOr<std::vector<double>> Time(const LaunchFunction& launch, int repeats) override {
    std::vector<double> samples;
    for (int i = 0; i < repeats; ++i) {
      std::fill(flush_.begin(), flush_.end(), static_cast<char>(i));
      auto start = std::chrono::steady_clock::now();
      if (absl::Status status = launch(); !status.ok()) return status;
      auto end = std::chrono::steady_clock::now();
      samples.push_back(std::chrono::duration<double, std::nano>(end - start).count());
    }
    return samples;
  }

 private:
  std::vector<char> flush_;
};

}  // namespace

std::unique_ptr<KernelTimer> MakeCpuTimer(const Device& device) {
  return std::make_unique<CpuTimer>(device.info().l2_bytes);
}

}  // namespace stax
