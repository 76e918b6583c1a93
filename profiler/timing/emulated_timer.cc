#include "profiler/timing/emulated_timer.h"

#include "profiler/timing/emulated_cost.h"
#include "runtime/emulator/emulator_device.h"

namespace stax {
namespace {

class EmulatedTimer : public KernelTimer {
 public:
  explicit EmulatedTimer(const Device& device) : device_(device) {}

  // The number changes when the model does: times of two models do not compare.
  std::string_view method() const override {
    return "cost model 1 of an H200 over the emulator's counters, not measured";
  }

  absl::StatusOr<std::vector<double>> Time(const LaunchFunction& launch, int repeats) override {
    if (absl::Status status = launch(); !status.ok()) return status;
    const EmulatedLaunch* last = LastLaunch(device_);
    if (last == nullptr)
      return absl::FailedPreconditionError("nothing was launched on the emulator");
    return std::vector<double>(repeats, CostOf(*last, device_.info()).total_ns);
  }

 private:
  const Device& device_;
};

}  // namespace

std::unique_ptr<KernelTimer> MakeEmulatedTimer(const Device& device) {
  return std::make_unique<EmulatedTimer>(device);
}

}  // namespace stax
