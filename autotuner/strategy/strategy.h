// Strategy: proposes configurations of one kernel, looking at what was measured so far.
#ifndef STAX_AUTOTUNER_STRATEGY_STRATEGY_H_
#define STAX_AUTOTUNER_STRATEGY_STRATEGY_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "autotuner/config.h"
#include "ir/artifact/program.pb.h"

namespace stax {

class Strategy {
 public:
  virtual ~Strategy() = default;
  // Configurations to measure next, none when the search is over. `measured` holds all
  // measurements in order; those that failed have another status than "ok".
  virtual std::vector<TuningConfig> Next(const std::vector<Measurement>& measured) = 0;
};

// Algorithm 9.1: the heuristic candidates, all of them.
std::unique_ptr<Strategy> MakeCandidatesStrategy(const Kernel& kernel);

// The heuristic candidates, then every other member of the space.
absl::StatusOr<std::unique_ptr<Strategy>> MakeExhaustiveStrategy(const Kernel& kernel);

// By the name that --strategy takes. InvalidArgument lists what there is.
absl::StatusOr<std::unique_ptr<Strategy>> MakeStrategy(absl::string_view name,
                                                       const Kernel& kernel);

}  // namespace stax

#endif  // STAX_AUTOTUNER_STRATEGY_STRATEGY_H_
