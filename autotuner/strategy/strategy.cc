#include "autotuner/strategy/strategy.h"

#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace stax {
namespace {

// Larger spaces take hours on a device.
constexpr int64_t kMaxExhaustive = 100000;

// Proposes a fixed list, once.
class ListStrategy : public Strategy {
 public:
  explicit ListStrategy(std::vector<TuningConfig> configs) : configs_(std::move(configs)) {}
  std::vector<TuningConfig> Next(const std::vector<Measurement>&) override {
    return std::exchange(configs_, {});
  }

 private:
  std::vector<TuningConfig> configs_;
};

std::vector<TuningConfig> Candidates(const Kernel& kernel) {
  std::vector<TuningConfig> configs;
  for (const ConfigProto& candidate : kernel.candidates()) configs.push_back(FromProto(candidate));
  return configs;
}

}  // namespace

std::unique_ptr<Strategy> MakeCandidatesStrategy(const Kernel& kernel) {
  return std::make_unique<ListStrategy>(Candidates(kernel));
}

absl::StatusOr<std::unique_ptr<Strategy>> MakeExhaustiveStrategy(const Kernel& kernel) {
  absl::StatusOr<std::vector<TuningConfig>> space =
      EnumerateSpace(kernel.config_space(), kMaxExhaustive);
  if (!space.ok()) return space.status();
  std::vector<TuningConfig> configs = Candidates(kernel);
  const std::set<TuningConfig> first(configs.begin(), configs.end());
  for (TuningConfig& config : *space) {
    if (first.count(config) == 0) configs.push_back(std::move(config));
  }
  return std::make_unique<ListStrategy>(std::move(configs));
}

absl::StatusOr<std::unique_ptr<Strategy>> MakeStrategy(absl::string_view name,
                                                       const Kernel& kernel) {
  if (name == "candidates") return MakeCandidatesStrategy(kernel);
  if (name == "exhaustive") return MakeExhaustiveStrategy(kernel);
  return absl::InvalidArgumentError(absl::StrCat("--strategy=", std::string(name),
                                                 " is not there; this version has candidates "
                                                 "and exhaustive"));
}

}  // namespace stax
