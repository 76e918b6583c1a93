#include "profiler/report/profile.h"

#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "ir/artifact/artifact_io.h"
#include "profiler/roofline/roofline.h"
#include "profiler/timing/emulated_chip.h"
#include "profiler/timing/emulated_cost.h"
#include "profiler/timing/kernel_buffers.h"
#include "profiler/timing/statistics.h"
#include "runtime/emulator/emulator_device.h"

namespace stax {
namespace {

constexpr StoppingRule kStopping;

// A prediction is called right when the measurement is within this of it.
constexpr double kAgreement = 0.15;

std::string VerdictText(const KernelProfile& profile, const RooflinePrediction& p, bool modelled) {
  if (profile.error() < -kAgreement)
    return p.bound == "memory" ? "faster than DRAM allows: the data stays in a cache"
           : modelled
               ? absl::StrCat("faster than its ", p.bound, " bound")
               : absl::StrCat("faster than its ", p.bound, " bound: the calibration was disturbed");
  if (profile.error() <= kAgreement) return absl::StrCat("at the ", p.bound, " bound");
  if (p.bound == "latency")
    return absl::StrFormat("%.1f times the cost of a launch",
                           profile.measured_ns() / p.predicted_ns);
  return absl::StrFormat("%.1f times its %s bound", profile.measured_ns() / p.predicted_ns,
                         p.bound);
}

absl::StatusOr<std::vector<double>> MeasureKernel(const Kernel& kernel, Device& device,
                                                  KernelTimer& timer,
                                                  const std::map<std::string, int64_t>& sizes) {
  absl::StatusOr<std::unique_ptr<LoadedKernel>> code = device.Load(kernel.variant());
  if (!code.ok()) return code.status();
  absl::StatusOr<std::unique_ptr<KernelBuffers>> buffers =
      KernelBuffers::Make(kernel, sizes, &device);
  if (!buffers.ok()) return buffers.status();
  absl::StatusOr<int64_t> grid = (*buffers)->Grid(kernel.variant());
  if (!grid.ok()) return grid.status();
  auto launch = [&] { return (*buffers)->Launch(**code, *grid); };
  return MeasureUntilStable(timer, launch, kStopping);
}

EmulatedCounters CountersOf(const EmulatedLaunch& launch, const DeviceInfo& chip) {
  const emulator::LaunchTotals& totals = launch.totals;
  const emulator::MemoryCounters& memory = totals.memory;
  const int64_t sector = emulated_chip::kSectorBytes;
  EmulatedCounters counters;
  counters.set_load_sector_bytes(sector * memory.global_load_sectors);
  counters.set_store_sector_bytes(sector * memory.global_store_sectors);
  counters.set_atomic_sector_bytes(sector * memory.global_atomic_sectors);
  counters.set_distinct_read_bytes(sector * totals.touched.read);
  counters.set_distinct_write_bytes(sector * totals.touched.written);
  counters.set_flops_f16(totals.flops_f16);
  counters.set_flops_f32(totals.flops_f32);
  counters.set_flops_f64(totals.flops_f64);
  counters.set_flops_tensor(totals.flops_tensor);
  counters.set_shared_wavefronts(memory.shared_load_wavefronts + memory.shared_store_wavefronts);
  counters.set_shared_bank_conflicts(memory.shared_load_bank_conflicts +
                                     memory.shared_store_bank_conflicts);
  counters.set_warp_instructions(totals.warp_instructions);
  counters.set_load_waits(totals.load_waits);
  counters.set_resident_blocks(ResidentBlocks(launch));
  const EmulatedCost cost = CostOf(launch, chip);
  counters.set_launch_ns(cost.launch_ns);
  counters.set_dram_ns(cost.dram_ns);
  counters.set_l2_ns(cost.l2_ns);
  counters.set_l1_ns(cost.l1_ns);
  counters.set_issue_ns(cost.issue_ns);
  counters.set_tensor_ns(cost.tensor_ns);
  counters.set_latency_ns(cost.latency_ns);
  counters.set_largest_term(cost.largest());
  return counters;
}

void FillPrediction(const RooflinePrediction& p, KernelProfile& profile) {
  profile.set_read_bytes(p.read_bytes);
  profile.set_write_bytes(p.write_bytes);
  profile.set_flops(p.flops);
  profile.set_intensity_flops_per_byte(p.intensity);
  profile.set_predicted_ns(p.predicted_ns);
  profile.set_bound(p.bound);
}

void FillMeasurement(const std::vector<double>& samples, KernelProfile& profile) {
  profile.mutable_samples_ns()->Add(samples.begin(), samples.end());
  profile.set_measured_ns(Median(samples));
  MedianInterval interval = MedianConfidence(samples);
  profile.set_interval_low_ns(interval.low);
  profile.set_interval_high_ns(interval.high);
  profile.set_achieved_bytes_per_s((profile.read_bytes() + profile.write_bytes()) /
                                   profile.measured_ns() * 1e9);
  profile.set_error(profile.measured_ns() / profile.predicted_ns() - 1);
}

}  // namespace

absl::StatusOr<ProfileReport> ProfileProgram(const Program& program, Device& device,
                                             KernelTimer& timer, const DeviceSpec& spec,
                                             const std::map<std::string, int64_t>& given_sizes,
                                             const ProfileProgress& progress) {
  std::map<std::string, int64_t> sizes = given_sizes;
  for (const SizeSymbolProto& symbol : program.symbols())
    sizes.insert({symbol.name(), symbol.hint()});
  ProfileReport report;
  report.set_schema_version(kSchemaVersion);
  *report.mutable_program() = program.identity();
  report.set_program_name(program.name());
  *report.mutable_device() = spec;
  report.set_date(absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", absl::Now(), absl::UTCTimeZone()));
  report.set_method(std::string(timer.method()));
  report.mutable_sizes()->insert(sizes.begin(), sizes.end());
  for (int k = 0; k < program.kernels_size(); ++k) {
    const Kernel& kernel = program.kernels(k);
    if (progress) progress(kernel.name(), k + 1, program.kernels_size());
    absl::StatusOr<RooflinePrediction> prediction = PredictRoofline(kernel, sizes, spec);
    if (!prediction.ok()) return prediction.status();
    absl::StatusOr<std::vector<double>> samples = MeasureKernel(kernel, device, timer, sizes);
    if (!samples.ok()) return samples.status();
    KernelProfile& profile = *report.add_kernels();
    profile.set_name(kernel.name());
    *profile.mutable_config() = kernel.variant().config();
    profile.set_hash(kernel.hash());
    FillPrediction(*prediction, profile);
    FillMeasurement(*samples, profile);
    profile.set_verdict(VerdictText(profile, *prediction, device.info().kind == "emu"));
    if (const EmulatedLaunch* launch = LastLaunch(device); launch != nullptr)
      *profile.mutable_emulated() = CountersOf(*launch, device.info());
  }
  return report;
}

}  // namespace stax
