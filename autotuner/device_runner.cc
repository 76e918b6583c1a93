#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "autotuner/random_data.h"
#include "autotuner/runner.h"
#include "ir/index_expr.h"
#include "ir/loop_nest.h"
#include "profiler/timing/statistics.h"
#include "runtime/cpu/cpu_device.h"

namespace stax {
namespace {

constexpr size_t kGuardBytes = 4096;          // before and after each buffer
constexpr std::byte kGuardFill{0xc5};
constexpr std::byte kPoison{0xff};            // NaN in every float type
constexpr StoppingRule kStopping;

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

struct BenchBuffer {
  NestBuffer shape;
  int64_t bytes = 0;
  void* block = nullptr;             // guard, data, guard
  std::vector<std::byte> content;    // inputs: the data; outputs: what is right
  void* data() const { return static_cast<char*>(block) + kGuardBytes; }
};

class DeviceBench : public KernelBench {
 public:
  DeviceBench(Device* device, KernelTimer* timer) : device_(device), timer_(timer) {}
  ~DeviceBench() override {
    for (const BenchBuffer& buffer : buffers_) {
      if (buffer.block != nullptr) device_->Free(buffer.block);
    }
  }

  absl::Status Prepare(const Kernel& kernel, const std::map<std::string, int64_t>& sizes,
                       Builder& reference_builder);
  Measurement Measure(const Variant& variant) override;

 private:
  absl::Status Allocate();
  absl::Status ComputeReference(const Kernel& kernel, Builder& builder);
  absl::Status Poison();
  absl::StatusOr<int64_t> Grid(const Variant& variant) const;
  // Error code Aborted with the measurement's status as message prefix.
  absl::Status CheckOutputs();
  absl::Status CheckGuards(const BenchBuffer& buffer);
  std::vector<void*> Pointers() const;

  Device* device_;
  KernelTimer* timer_;
  LoopNest nest_;
  std::map<std::string, int64_t> sizes_;
  std::vector<int64_t> size_values_;  // in the nest's symbol order
  std::vector<BenchBuffer> buffers_;
};

std::vector<void*> DeviceBench::Pointers() const {
  std::vector<void*> pointers;
  for (const BenchBuffer& buffer : buffers_) pointers.push_back(buffer.data());
  return pointers;
}

absl::Status DeviceBench::Prepare(const Kernel& kernel,
                                  const std::map<std::string, int64_t>& sizes,
                                  Builder& reference_builder) {
  absl::StatusOr<LoopNest> nest = ParseLoopNest(kernel.loop_nest());
  if (!nest.ok()) return nest.status();
  nest_ = *std::move(nest);
  sizes_ = sizes;
  for (const SizeSymbol& symbol : nest_.symbols) size_values_.push_back(sizes_.at(symbol.name));
  for (size_t b = 0; b < nest_.buffers.size(); ++b) {
    BenchBuffer buffer;
    buffer.shape = nest_.buffers[b];
    absl::StatusOr<int64_t> count = buffer.shape.numel.Evaluate(sizes_);
    if (!count.ok()) return count.status();
    buffer.bytes = *count * DTypeBytes(buffer.shape.dtype);
    if (!buffer.shape.written)
      buffer.content = RandomElements(buffer.shape.dtype, *count, /*seed=*/b + 1);
    buffers_.push_back(std::move(buffer));
  }
  if (absl::Status status = ComputeReference(kernel, reference_builder); !status.ok())
    return status;
  return Allocate();
}

absl::Status DeviceBench::ComputeReference(const Kernel& kernel, Builder& builder) {
  absl::StatusOr<Variant> variant = builder.Build(kernel, FromProto(kernel.candidates(0)));
  if (!variant.ok()) return variant.status();
  absl::StatusOr<std::unique_ptr<Device>> cpu = OpenCpuDevice(/*threads=*/0);
  if (!cpu.ok()) return cpu.status();
  absl::StatusOr<std::unique_ptr<LoadedKernel>> code = (*cpu)->Load(*variant);
  if (!code.ok()) return code.status();
  std::vector<void*> pointers;
  for (BenchBuffer& buffer : buffers_) {
    if (buffer.shape.written) buffer.content.assign(buffer.bytes, kPoison);
    pointers.push_back(buffer.content.data());
  }
  absl::StatusOr<int64_t> grid = Grid(*variant);
  if (!grid.ok()) return grid.status();
  return (*code)->Launch(pointers, size_values_, *grid, nullptr);
}

absl::Status DeviceBench::Allocate() {
  for (BenchBuffer& buffer : buffers_) {
    absl::StatusOr<void*> block = device_->Allocate(buffer.bytes + 2 * kGuardBytes);
    if (!block.ok()) return block.status();
    buffer.block = *block;
    std::vector<std::byte> image(buffer.bytes + 2 * kGuardBytes, kGuardFill);
    if (!buffer.shape.written && buffer.bytes > 0)
      std::memcpy(image.data() + kGuardBytes, buffer.content.data(), buffer.bytes);
    absl::Status status = device_->CopyIn(buffer.block, image.data(), image.size());
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status DeviceBench::Poison() {
  for (const BenchBuffer& buffer : buffers_) {
    if (!buffer.shape.written) continue;
    std::vector<std::byte> image(buffer.bytes, kPoison);
    absl::Status status = device_->CopyIn(buffer.data(), image.data(), image.size());
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> DeviceBench::Grid(const Variant& variant) const {
  absl::StatusOr<IndexExpr> grid = IndexExpr::Parse(variant.grid_x());
  if (!grid.ok()) return grid.status();
  return grid->Evaluate(sizes_);
}

absl::Status DeviceBench::CheckGuards(const BenchBuffer& buffer) {
  std::vector<std::byte> guard(kGuardBytes);
  for (const char* start : {static_cast<const char*>(buffer.block),
                            static_cast<const char*>(buffer.data()) + buffer.bytes}) {
    absl::Status status = device_->CopyOut(guard.data(), start, kGuardBytes);
    if (!status.ok()) return status;
    if (std::any_of(guard.begin(), guard.end(), [](std::byte b) { return b != kGuardFill; }))
      return absl::DataLossError(
          absl::StrCat("bytes outside buffer ", buffer.shape.name, " were overwritten"));
  }
  return absl::OkStatus();
}

absl::Status DeviceBench::CheckOutputs() {
  for (const BenchBuffer& buffer : buffers_) {
    if (absl::Status status = CheckGuards(buffer); !status.ok()) return status;
    if (!buffer.shape.written) continue;
    std::vector<std::byte> got(buffer.bytes);
    absl::Status status = device_->CopyOut(got.data(), buffer.data(), buffer.bytes);
    if (!status.ok()) return status;
    double error = RelativeError(buffer.shape.dtype, got, buffer.content);
    if (error > Tolerance(buffer.shape.dtype))
      return absl::AbortedError(absl::StrFormat("buffer %s: relative error %.3g, at most %.3g",
                                                buffer.shape.name, error,
                                                Tolerance(buffer.shape.dtype)));
  }
  return absl::OkStatus();
}

Measurement Verdict(std::string status, const absl::Status& why) {
  Measurement measurement;
  measurement.set_status(std::move(status));
  measurement.set_message(std::string(why.message()));
  return measurement;
}

Measurement DeviceBench::Measure(const Variant& variant) {
  absl::StatusOr<std::unique_ptr<LoadedKernel>> code = device_->Load(variant);
  if (!code.ok()) return Verdict("load_failed", code.status());
  absl::StatusOr<int64_t> grid = Grid(variant);
  if (!grid.ok()) return Verdict("launch_failed", grid.status());
  std::vector<void*> pointers = Pointers();
  auto launch = [&] { return (*code)->Launch(pointers, size_values_, *grid, nullptr); };
  absl::Status status = Poison();
  if (status.ok()) status = launch();
  if (status.ok()) status = device_->Synchronize();
  if (!status.ok()) return Verdict("launch_failed", status);
  status = CheckOutputs();
  if (absl::IsDataLoss(status)) return Verdict("guard_overwritten", status);
  if (!status.ok()) return Verdict("wrong_output", status);
  absl::StatusOr<std::vector<double>> samples = MeasureUntilStable(*timer_, launch, kStopping);
  if (!samples.ok()) return Verdict("launch_failed", samples.status());
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
