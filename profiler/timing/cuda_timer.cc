#include "profiler/timing/cuda_timer.h"

#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "profiler/timing/cupti_activity.h"
#include "runtime/cuda/driver.h"

namespace stax {
namespace {

// A memset of the L2's size evicts it (H200, 2026-11-29); twice that leaves no doubt.
constexpr int kFlushFactor = 2;

// Evicts the L2 before each launch.
class Flusher {
 public:
  Flusher(Device& device, const cuda::Driver& driver) : device_(device), driver_(driver) {}
  ~Flusher() { device_.Free(memory_); }

  absl::Status Init() {
    bytes_ = kFlushFactor * device_.info().l2_bytes;
    absl::StatusOr<void*> memory = device_.Allocate(bytes_);
    if (!memory.ok()) return memory.status();
    memory_ = *memory;
    return absl::OkStatus();
  }
  absl::Status Flush() {
    return cuda::Check(
        driver_,
        driver_.MemsetD8Async(reinterpret_cast<cuda::CUdeviceptr>(memory_), 0, bytes_, nullptr),
        "flush the L2");
  }

 private:
  Device& device_;
  const cuda::Driver& driver_;
  void* memory_ = nullptr;
  int64_t bytes_ = 0;
};

class CuptiTimer : public KernelTimer {
 public:
  CuptiTimer(Device& device, std::unique_ptr<Flusher> flusher)
      : device_(device), flusher_(std::move(flusher)) {}

  std::string_view method() const override { return "CUPTI activity records, L2 flushed"; }

  absl::StatusOr<std::vector<double>> Time(const LaunchFunction& launch, int repeats) override {
    // What ran before is not ours.
    absl::Status status = device_.Synchronize();
    if (!status.ok()) return status;
    absl::StatusOr<std::vector<KernelInterval>> intervals = TakeKernelIntervals();
    if (!intervals.ok()) return intervals.status();
    for (int i = 0; i < repeats; ++i) {
      status = flusher_->Flush();
      if (status.ok()) status = launch();
      if (!status.ok()) return status;
    }
    status = device_.Synchronize();
    if (!status.ok()) return status;
    intervals = TakeKernelIntervals();
    if (!intervals.ok()) return intervals.status();
    std::vector<double> samples;
    for (const KernelInterval& interval : *intervals)
      samples.push_back(static_cast<double>(interval.end_ns - interval.start_ns));
    if (static_cast<int>(samples.size()) != repeats)
      return absl::InternalError(
          absl::StrCat("CUPTI recorded ", samples.size(), " kernels of ", repeats, " launches"));
    return samples;
  }

 private:
  Device& device_;
  std::unique_ptr<Flusher> flusher_;
};

class EventTimer : public KernelTimer {
 public:
  EventTimer(const cuda::Driver& driver, std::unique_ptr<Flusher> flusher, std::string_view why)
      : driver_(driver),
        flusher_(std::move(flusher)),
        method_(absl::StrCat("CUDA events (adds about 3 us to short kernels), L2 flushed; ",
                             std::string(why))) {}
  ~EventTimer() override {
    for (cuda::CUevent event : {start_, end_}) {
      if (event != nullptr) driver_.EventDestroy(event);
    }
  }

  absl::Status Init() {
    for (cuda::CUevent* event : {&start_, &end_}) {
      absl::Status status = cuda::Check(driver_, driver_.EventCreate(event, 0), "make an event");
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }
  std::string_view method() const override { return method_; }

  absl::StatusOr<std::vector<double>> Time(const LaunchFunction& launch, int repeats) override {
    std::vector<double> samples;
    for (int i = 0; i < repeats; ++i) {
      absl::StatusOr<double> sample = TimeOne(launch);
      if (!sample.ok()) return sample.status();
      samples.push_back(*sample);
    }
    return samples;
  }

 private:
  absl::StatusOr<double> TimeOne(const LaunchFunction& launch) {
    absl::Status status = flusher_->Flush();
    if (status.ok()) status = cuda::Check(driver_, driver_.EventRecord(start_, nullptr), "event");
    if (status.ok()) status = launch();
    if (status.ok()) status = cuda::Check(driver_, driver_.EventRecord(end_, nullptr), "event");
    if (status.ok()) status = cuda::Check(driver_, driver_.EventSynchronize(end_), "kernel");
    if (!status.ok()) return status;
    float ms = 0;
    status = cuda::Check(driver_, driver_.EventElapsedTime(&ms, start_, end_), "elapsed time");
    if (!status.ok()) return status;
    return ms * 1e6;
  }

  const cuda::Driver& driver_;
  std::unique_ptr<Flusher> flusher_;
  std::string method_;
  cuda::CUevent start_ = nullptr;
  cuda::CUevent end_ = nullptr;
};

}  // namespace

absl::StatusOr<std::unique_ptr<KernelTimer>> MakeCudaTimer(Device& device) {
  absl::StatusOr<const cuda::Driver*> driver = cuda::GetDriver();
  if (!driver.ok()) return driver.status();
  auto flusher = std::make_unique<Flusher>(device, **driver);
  if (absl::Status status = flusher->Init(); !status.ok()) return status;
  absl::Status cupti = StartCuptiActivity();
  if (cupti.ok()) return std::make_unique<CuptiTimer>(device, std::move(flusher));
  auto timer = std::make_unique<EventTimer>(
      **driver, std::move(flusher),
      std::string_view(cupti.message().data(), cupti.message().size()));
  if (absl::Status status = timer->Init(); !status.ok()) return status;
  return timer;
}

}  // namespace stax
