#include "profiler/calibration/calibrate.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "ir/artifact/artifact_io.h"
#include "profiler/calibration/probes.h"
#include "profiler/timing/emulated_chip.h"
#include "profiler/timing/statistics.h"

namespace stax {
namespace {

// The streams are long, and medians of fewer samples settle: on a busy CPU 101 took a minute.
constexpr StoppingRule kStopping = {/*warm_up=*/2, /*min_samples=*/7, /*max_samples=*/21};
constexpr int kSteps = 6;

// Runs the probes in turn and keeps the first error.
class Calibrator {
 public:
  Calibrator(KernelTimer& timer, const CalibrationProgress& progress)
      : timer_(timer), progress_(progress) {}

  // Median time of one launch in ns.
  double Time(const std::string& what, const LaunchFunction& launch) {
    std::vector<double> samples = Measure(what, launch);
    if (samples.empty()) return 1;
    const double median = Median(samples);
    const MedianInterval interval = MedianConfidence(samples);
    widest_interval_ = std::max(widest_interval_, (interval.high - interval.low) / median);
    return median;
  }
  // The least time: what it costs when nothing else runs.
  double Least(const std::string& what, const LaunchFunction& launch) {
    std::vector<double> samples = Measure(what, launch);
    return samples.empty() ? 1 : *std::min_element(samples.begin(), samples.end());
  }
  const absl::Status& status() const { return status_; }
  // Of the times so far, relative to the median.
  double widest_interval() const { return widest_interval_; }

 private:
  std::vector<double> Measure(const std::string& what, const LaunchFunction& launch) {
    if (!status_.ok()) return {};
    if (progress_) progress_(what, ++step_, kSteps);
    absl::StatusOr<std::vector<double>> samples = MeasureUntilStable(timer_, launch, kStopping);
    if (!samples.ok()) {
      status_ = samples.status();
      return {};
    }
    return *std::move(samples);
  }

  KernelTimer& timer_;
  const CalibrationProgress& progress_;
  int step_ = 0;
  double widest_interval_ = 0;
  absl::Status status_;
};

DeviceSpec Describe(const DeviceInfo& info) {
  DeviceSpec spec;
  spec.set_schema_version(kSchemaVersion);
  spec.set_name(info.name);
  spec.set_kind(info.kind);
  spec.set_driver_version(info.driver_version);
  spec.set_multiprocessors(info.multiprocessors);
  spec.set_l2_bytes(info.l2_bytes);
  return spec;
}

// Of the chip that the cost model describes: probes would only give the model's own constants back,
// after hours.
DeviceSpec EmulatedSpec(const DeviceInfo& info) {
  DeviceSpec spec = Describe(info);
  spec.set_origin(emulated_chip::kOrigin);
  spec.set_dram_read_bytes_per_s(emulated_chip::kDramReadBytesPerS);
  spec.set_dram_write_bytes_per_s(emulated_chip::kDramWriteBytesPerS);
  spec.set_dram_copy_bytes_per_s(emulated_chip::kDramCopyBytesPerS);
  spec.set_latency_ns(emulated_chip::kIdleLatencyNs);
  spec.set_f32_flops_per_s(emulated_chip::kF32FlopsPerS);
  spec.set_launch_ns(emulated_chip::kLaunchNs);
  return spec;
}

}  // namespace

absl::StatusOr<DeviceSpec> Calibrate(Device& device, KernelTimer& timer,
                                     const CalibrationProgress& progress) {
  const DeviceInfo& info = device.info();
  if (info.kind == "emu") return EmulatedSpec(info);
  absl::StatusOr<std::unique_ptr<Probes>> made =
      info.kind == "cuda" ? MakeCudaProbes(device) : MakeCpuProbes(device);
  if (!made.ok()) return made.status();
  Probes& probes = **made;

  DeviceSpec spec = Describe(info);
  spec.set_date(absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", absl::Now(), absl::UTCTimeZone()));

  Calibrator calibrator(timer, progress);
  const double bytes_e9 = static_cast<double>(probes.stream_bytes()) * 1e9;  // ns -> s
  spec.set_dram_read_bytes_per_s(bytes_e9 /
                                 calibrator.Time("DRAM read", [&] { return probes.Read(); }));
  spec.set_dram_write_bytes_per_s(bytes_e9 /
                                  calibrator.Time("DRAM write", [&] { return probes.Write(); }));
  spec.set_dram_copy_bytes_per_s(2 * bytes_e9 /
                                 calibrator.Time("DRAM copy", [&] { return probes.Copy(); }));
  spec.set_latency_ns(calibrator.Time("latency", [&] { return probes.Chase(); }) /
                      static_cast<double>(probes.chase_loads()));
  spec.set_f32_flops_per_s(probes.fma_flops() * 1e9 /
                           calibrator.Time("f32 FMA rate", [&] { return probes.Fma(); }));
  spec.set_launch_ns(calibrator.Least("launch", [&] { return probes.Empty(); }));
  spec.set_widest_interval(calibrator.widest_interval());
  if (!calibrator.status().ok()) return calibrator.status();
  return spec;
}

}  // namespace stax
