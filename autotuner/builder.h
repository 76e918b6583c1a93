// Builder: turns a configuration into code. Autotuner and compiler are separate programs: the
// builder asks the compile service.
#ifndef STAX_AUTOTUNER_BUILDER_H_
#define STAX_AUTOTUNER_BUILDER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "autotuner/config.h"
#include "ir/artifact/program.pb.h"

namespace stax {

class Builder {
 public:
  virtual ~Builder() = default;
  // ResourceExhausted when the kernel does not fit the target, InvalidArgument when the
  // configuration breaks a limit, DeadlineExceeded when it took too long, Internal when the
  // compiler crashed, Unavailable when the service cannot be reached.
  virtual absl::StatusOr<Variant> Build(const Kernel& kernel, const TuningConfig& config) = 0;
};

// Far more than any kernel takes; a compiler that loops for ever costs one configuration.
inline constexpr absl::Duration kCompileTimeout = absl::Minutes(2);

// Starts `stax-compile --serve` (found beside the running program, else on PATH) on a local socket
// and starts it anew when it dies or takes longer than kCompileTimeout; ends it when destroyed,
// when a signal ends the process (handlers for SIGTERM, SIGINT and SIGHUP where there are none) and
// when the process is gone. `target` as --target takes it.
absl::StatusOr<std::unique_ptr<Builder>> StartServiceBuilder(const std::string& target);

// Uses a service that is already there, "unix:PATH" or "HOST:PORT".
absl::StatusOr<std::unique_ptr<Builder>> ConnectServiceBuilder(
    const std::string& address, const std::string& target,
    absl::Duration timeout = kCompileTimeout);

}  // namespace stax

#endif  // STAX_AUTOTUNER_BUILDER_H_
