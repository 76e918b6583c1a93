#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "autotuner/runner.h"
#include "profiler/timing/kernel_buffers.h"
#include "profiler/timing/random_data.h"
#include "profiler/timing/statistics.h"
#include "runtime/cpu/cpu_device.h"

namespace stax {
namespace {

constexpr StoppingRule kStopping;

// The reference's code on the CPU: blocks of a vector register's elements or more, in tiles that a
// few dozen registers hold.
constexpr int64_t kReferenceBlock = 16;
constexpr int64_t kReferenceTile = 1024;
// Of kernels' names (S9.4): they say which form a kernel has.
constexpr char kPersistentPrefix[] = "per_";
constexpr char kLoopedPrefix[] = "red_";

// Largest relative error of an output against the reference, by what an operation rounds to; sums
// in another order stay far below.
double Tolerance(DType dtype) {
  switch (dtype) {
    case DType::kF64:
      return 1e-9;
    case DType::kF32:
      return 1e-4;
    case DType::kF16:
      return 5e-3;
    case DType::kBF16:
      return 2e-2;
    default:
      return 0;
  }
}

// The kernel as the reference has it: a row that is too long for the registers of a CPU is not
// kept.
Kernel ReferenceKernel(const Kernel& kernel) {
  Kernel reference = kernel;
  const absl::string_view name = kernel.name();
  for (Parameter& parameter : *reference.mutable_config_space()->mutable_parameters()) {
    const bool too_long = parameter.name() == "RBLOCK" && parameter.values_size() == 1 &&
                          parameter.values(0) > kReferenceTile;
    if (!too_long || !absl::StartsWith(name, kPersistentPrefix)) continue;
    parameter.set_values(0, kReferenceBlock);
    reference.set_name(
        absl::StrCat(kLoopedPrefix, name.substr(absl::string_view(kPersistentPrefix).size())));
  }
  return reference;
}

// For each parameter the smallest value that is not below kReferenceBlock, or its smallest of all
// where that would make the tile too large.
TuningConfig ReferenceConfig(const Kernel& kernel) {
  TuningConfig config = FromProto(kernel.candidates(0));
  int64_t tile = 1;
  // Parameters with one value first: a persistent kernel's RBLOCK is what it is.
  for (bool fixed : {true, false}) {
    for (const Parameter& parameter : kernel.config_space().parameters()) {
      if ((parameter.values_size() == 1) != fixed || parameter.values().empty()) continue;
      int64_t value = parameter.values(0);
      for (int64_t v : parameter.values()) {
        if (value >= kReferenceBlock || tile * v > kReferenceTile) break;
        value = v;
      }
      // How far it is above the limit does not matter, and might not fit in int64.
      tile = std::min(tile * value, kReferenceTile + 1);
      config[parameter.name()] = value;
    }
  }
  return config;
}

Measurement Verdict(std::string status, const absl::Status& why) {
  Measurement measurement;
  measurement.set_status(std::move(status));
  measurement.set_message(std::string(why.message()));
  return measurement;
}

// Of a launch that failed.
const char* LaunchVerdict(const absl::Status& status) {
  return absl::IsAborted(status) ? "fault" : "launch_failed";
}

class DeviceBench : public KernelBench {
 public:
  DeviceBench(Device* device, KernelTimer* timer) : device_(device), timer_(timer) {}

  absl::Status Prepare(const Kernel& kernel, const std::map<std::string, int64_t>& sizes,
                       Builder& reference_builder) {
    absl::StatusOr<std::unique_ptr<KernelBuffers>> buffers =
        KernelBuffers::Make(kernel, sizes, device_);
    if (!buffers.ok()) return buffers.status();
    buffers_ = *std::move(buffers);
    return ComputeReference(kernel, sizes, reference_builder);
  }

  Measurement Measure(const Variant& variant) override;
  // An error that a launch leaves in the device comes back from every later call.
  absl::Status Healthy() override { return device_->Synchronize(); }

 private:
  absl::Status ComputeReference(const Kernel& kernel, const std::map<std::string, int64_t>& sizes,
                                Builder& builder);
  absl::Status CheckOutputs() const;

  Device* device_;
  KernelTimer* timer_;
  std::unique_ptr<KernelBuffers> buffers_;
  std::vector<std::vector<std::byte>> reference_;  // one a buffer, empty for inputs
};

absl::Status DeviceBench::ComputeReference(const Kernel& kernel,
                                           const std::map<std::string, int64_t>& sizes,
                                           Builder& builder) {
  const Kernel reference = ReferenceKernel(kernel);
  absl::StatusOr<Variant> variant = builder.Build(reference, ReferenceConfig(reference));
  if (!variant.ok()) return variant.status();
  absl::StatusOr<std::unique_ptr<Device>> cpu = OpenCpuDevice(/*threads=*/0);
  if (!cpu.ok()) return cpu.status();
  absl::StatusOr<std::unique_ptr<LoadedKernel>> code = (*cpu)->Load(*variant);
  if (!code.ok()) return code.status();
  absl::StatusOr<std::unique_ptr<KernelBuffers>> buffers =
      KernelBuffers::Make(kernel, sizes, cpu->get());
  if (!buffers.ok()) return buffers.status();
  absl::StatusOr<int64_t> grid = (*buffers)->Grid(*variant);
  if (!grid.ok()) return grid.status();
  if (absl::Status status = (*buffers)->Launch(**code, *grid); !status.ok()) return status;
  const std::vector<NestBuffer>& shapes = buffers_->nest().buffers;
  reference_.resize(shapes.size());
  for (size_t b = 0; b < shapes.size(); ++b) {
    if (!shapes[b].written) continue;
    absl::StatusOr<std::vector<std::byte>> content = (*buffers)->Read(b);
    if (!content.ok()) return content.status();
    reference_[b] = *std::move(content);
  }
  return absl::OkStatus();
}

absl::Status DeviceBench::CheckOutputs() const {
  if (absl::Status status = buffers_->CheckGuards(); !status.ok()) return status;
  const std::vector<NestBuffer>& shapes = buffers_->nest().buffers;
  for (size_t b = 0; b < shapes.size(); ++b) {
    if (!shapes[b].written) continue;
    absl::StatusOr<std::vector<std::byte>> got = buffers_->Read(b);
    if (!got.ok()) return got.status();
    double error = RelativeError(shapes[b].dtype, *got, reference_[b]);
    if (!(error <= Tolerance(shapes[b].dtype)))
      return absl::AbortedError(absl::StrFormat("buffer %s: relative error %.3g, at most %.3g",
                                                shapes[b].name, error, Tolerance(shapes[b].dtype)));
  }
  return absl::OkStatus();
}

Measurement DeviceBench::Measure(const Variant& variant) {
  absl::StatusOr<std::unique_ptr<LoadedKernel>> code = device_->Load(variant);
  if (!code.ok()) return Verdict("load_failed", code.status());
  absl::StatusOr<int64_t> grid = buffers_->Grid(variant);
  if (!grid.ok()) return Verdict("launch_failed", grid.status());
  auto launch = [&] { return buffers_->Launch(**code, *grid); };
  absl::Status status = buffers_->Poison();
  if (status.ok()) status = launch();
  if (status.ok()) status = device_->Synchronize();
  if (!status.ok()) return Verdict(LaunchVerdict(status), status);
  status = CheckOutputs();
  if (absl::IsDataLoss(status)) return Verdict("guard_overwritten", status);
  if (!status.ok()) return Verdict("wrong_output", status);
  absl::StatusOr<std::vector<double>> samples = MeasureUntilStable(*timer_, launch, kStopping);
  if (!samples.ok()) return Verdict(LaunchVerdict(samples.status()), samples.status());
  Measurement measurement;
  measurement.set_status("ok");
  measurement.set_median_ns(Median(*samples));
  measurement.mutable_samples_ns()->Add(samples->begin(), samples->end());
  return measurement;
}

class DeviceRunner : public Runner {
 public:
  DeviceRunner(Device* device, KernelTimer* timer, Builder* reference_builder)
      : device_(device), timer_(timer), reference_builder_(reference_builder) {}

  absl::StatusOr<std::unique_ptr<KernelBench>> Prepare(
      const Kernel& kernel, const std::map<std::string, int64_t>& sizes) override {
    auto bench = std::make_unique<DeviceBench>(device_, timer_);
    absl::Status status = bench->Prepare(kernel, sizes, *reference_builder_);
    if (!status.ok()) return status;
    return bench;
  }

 private:
  Device* device_;
  KernelTimer* timer_;
  Builder* reference_builder_;
};

}  // namespace

std::unique_ptr<Runner> MakeDeviceRunner(Device* device, KernelTimer* timer,
                                         Builder* reference_builder) {
  return std::make_unique<DeviceRunner>(device, timer, reference_builder);
}

}  // namespace stax
