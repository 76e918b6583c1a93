// Runner: checks and measures one Variant.
#ifndef STAX_AUTOTUNER_RUNNER_H_
#define STAX_AUTOTUNER_RUNNER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "autotuner/builder.h"
#include "ir/artifact/program.pb.h"
#include "profiler/timing/kernel_timer.h"
#include "runtime/device.h"

namespace stax {

// One kernel made ready to measure its variants: random inputs, a reference for its outputs, guard
// zones around every buffer.
class KernelBench {
 public:
  virtual ~KernelBench() = default;
  // status "ok" with samples, or why it may not win: "load_failed", "launch_failed", "fault" (what
  // the emulator's checkers found), "guard_overwritten", "wrong_output".
  virtual Measurement Measure(const Variant& variant) = 0;
  // Not OK when the last variant broke the device for this process, as an illegal address does on a
  // GPU: whatever is measured after it says nothing.
  virtual absl::Status Healthy() = 0;
};

class Runner {
 public:
  virtual ~Runner() = default;
  virtual absl::StatusOr<std::unique_ptr<KernelBench>> Prepare(
      const Kernel& kernel, const std::map<std::string, int64_t>& sizes) = 0;
};

// Measures on `device`. The reference of the outputs is the same loop nest in small tiles, compiled
// for the CPU by `reference_builder` and run there: another code path. All three must outlive the
// runner.
std::unique_ptr<Runner> MakeDeviceRunner(Device* device, KernelTimer* timer,
                                         Builder* reference_builder);

}  // namespace stax

#endif  // STAX_AUTOTUNER_RUNNER_H_
