#include "autotuner/tuner.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "autotuner/strategy/strategy.h"
#include "ir/artifact/content_hash.h"

namespace stax {
namespace {

constexpr char kOk[] = "ok";

Measurement Failed(const TuningConfig& config, std::string status, std::string message) {
  Measurement measurement;
  *measurement.mutable_config() = ToProto(config);
  measurement.set_status(std::move(status));
  measurement.set_message(std::move(message));
  return measurement;
}

// Tunes one kernel.
class KernelTuner {
 public:
  KernelTuner(const TunerOptions& options, const TunerSeams& seams, absl::Time deadline,
              TuningIdentity identity, const Kernel& kernel)
      : options_(options),
        seams_(seams),
        deadline_(deadline),
        identity_(std::move(identity)),
        kernel_(kernel) {}

  absl::StatusOr<TuningRecord> Run();
  // The code of the winner, when this run compiled it.
  const std::optional<Variant>& best_variant() const { return best_variant_; }

 private:
  absl::StatusOr<Measurement> MeasureOrRecall(const TuningConfig& config);
  absl::StatusOr<Measurement> BuildAndMeasure(const TuningConfig& config);
  bool OutOfBudget() const {
    return absl::Now() >= deadline_ || static_cast<int64_t>(measured_.size()) >= options_.trials;
  }

  const TunerOptions& options_;
  const TunerSeams& seams_;
  absl::Time deadline_;
  TuningIdentity identity_;
  const Kernel& kernel_;
  std::unique_ptr<KernelBench> bench_;  // made when the first measurement is needed
  std::vector<Measurement> measured_;
  double best_ns_ = 0;
  std::optional<Variant> best_variant_;
};

absl::StatusOr<Measurement> KernelTuner::BuildAndMeasure(const TuningConfig& config) {
  absl::StatusOr<Variant> variant = seams_.builder->Build(kernel_, config);
  if (absl::IsUnavailable(variant.status())) return variant.status();
  if (!variant.ok())
    return Failed(config, "compile_failed", std::string(variant.status().message()));
  // Algorithm 9.1, line 5: a spill costs far more than candidates differ.
  if (variant->spill_bytes() > 0)
    return Failed(config, "spill", absl::StrCat(variant->spill_bytes(), " bytes of registers"));
  if (bench_ == nullptr) {
    absl::StatusOr<std::unique_ptr<KernelBench>> bench =
        seams_.runner->Prepare(kernel_, identity_.sizes);
    if (!bench.ok()) return bench.status();
    bench_ = *std::move(bench);
  }
  Measurement measurement = bench_->Measure(*variant);
  *measurement.mutable_config() = ToProto(config);
  if (measurement.status() == kOk &&
      (!best_variant_.has_value() || measurement.median_ns() < best_ns_)) {
    best_ns_ = measurement.median_ns();
    best_variant_ = *std::move(variant);
  }
  return measurement;
}

absl::StatusOr<Measurement> KernelTuner::MeasureOrRecall(const TuningConfig& config) {
  absl::StatusOr<std::optional<Measurement>> known = seams_.store->Find(identity_, config);
  if (!known.ok()) return known.status();
  if (known->has_value()) return **std::move(known);
  absl::StatusOr<Measurement> measurement = BuildAndMeasure(config);
  if (!measurement.ok()) return measurement;
  if (absl::Status status = seams_.store->Put(identity_, *measurement); !status.ok()) return status;
  if (bench_ == nullptr || measurement->status() == kOk) return measurement;
  if (absl::Status lost = bench_->Healthy(); !lost.ok())
    return absl::InternalError(absl::StrCat(
        kernel_.name(), " with ", ToText(config), " broke the device for this process: ",
        lost.message(), "; with --store=FILE the next run leaves this configuration out"));
  return measurement;
}

absl::StatusOr<TuningRecord> KernelTuner::Run() {
  absl::StatusOr<std::unique_ptr<Strategy>> strategy = MakeStrategy(options_.strategy, kernel_);
  if (!strategy.ok()) return strategy.status();
  for (std::vector<TuningConfig> next = (*strategy)->Next(measured_); !next.empty();
       next = (*strategy)->Next(measured_)) {
    int known = static_cast<int>(measured_.size() + next.size());
    for (const TuningConfig& config : next) {
      if (OutOfBudget()) break;
      absl::StatusOr<Measurement> measurement = MeasureOrRecall(config);
      if (!measurement.ok()) return measurement.status();
      measured_.push_back(*std::move(measurement));
      if (options_.progress)
        options_.progress(kernel_, static_cast<int>(measured_.size()), known, measured_.back());
    }
    if (OutOfBudget()) break;
  }
  TuningRecord record;
  record.set_kernel_hash(identity_.kernel_hash);
  record.set_device(identity_.device);
  record.set_driver_version(identity_.driver_version);
  record.set_compiler_version(identity_.compiler_version);
  record.set_timing(identity_.timing);
  record.set_strategy(options_.strategy);
  record.mutable_sizes()->insert(identity_.sizes.begin(), identity_.sizes.end());
  const Measurement* winner = nullptr;
  for (const Measurement& measurement : measured_) {
    *record.add_measurements() = measurement;
    if (measurement.status() == kOk &&
        (winner == nullptr || measurement.median_ns() < winner->median_ns()))
      winner = &measurement;
  }
  if (winner != nullptr) *record.mutable_winner() = winner->config();
  return record;
}

std::map<std::string, int64_t> Sizes(const TunerOptions& options, const Program& program) {
  std::map<std::string, int64_t> sizes;
  for (const SizeSymbolProto& symbol : program.symbols()) {
    auto given = options.sizes.find(symbol.name());
    sizes[symbol.name()] = given == options.sizes.end() ? symbol.hint() : given->second;
  }
  return sizes;
}

absl::Status UseWinner(const TunerSeams& seams, const KernelTuner& tuner,
                       const TuningRecord& record, Kernel& kernel) {
  if (!record.has_winner()) return absl::OkStatus();
  // What was measured, rather than what the program came with: that may be of another compiler.
  if (tuner.best_variant().has_value() &&
      FromProto(tuner.best_variant()->config()) == FromProto(record.winner())) {
    *kernel.mutable_variant() = *tuner.best_variant();
    return absl::OkStatus();
  }
  if (FromProto(kernel.variant().config()) == FromProto(record.winner())) return absl::OkStatus();
  absl::StatusOr<Variant> variant = seams.builder->Build(kernel, FromProto(record.winner()));
  if (!variant.ok()) return variant.status();
  *kernel.mutable_variant() = *std::move(variant);
  return absl::OkStatus();
}

}  // namespace

absl::Status TuneProgram(const TunerOptions& options, const TunerSeams& seams, Program& program) {
  absl::Time deadline = absl::Now() + options.budget;
  std::map<std::string, int64_t> sizes = Sizes(options, program);
  program.clear_tuning();
  const std::string target = absl::StrCat(program.target().kind(), ":", program.target().arch());
  for (int k = 0; k < program.kernels_size(); ++k) {
    Kernel& kernel = *program.mutable_kernels(k);
    TuningIdentity identity = {kernel.hash(),    target,       seams.device, seams.driver_version,
                               kCompilerVersion, seams.timing, sizes};
    KernelTuner tuner(options, seams, deadline, identity, kernel);
    absl::StatusOr<TuningRecord> record = tuner.Run();
    if (!record.ok()) return record.status();
    if (absl::Status status = UseWinner(seams, tuner, *record, kernel); !status.ok()) return status;
    record->set_kernel(k);
    *program.add_tuning() = *std::move(record);
  }
  return absl::OkStatus();
}

}  // namespace stax
