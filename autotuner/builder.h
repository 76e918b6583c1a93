// Builder: turns a configuration into code. Autotuner and compiler are separate programs: the
// builder asks the compile service.
#ifndef STAX_AUTOTUNER_BUILDER_H_
#define STAX_AUTOTUNER_BUILDER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "autotuner/config.h"
#include "ir/artifact/program.pb.h"

namespace stax {

class Builder {
 public:
  virtual ~Builder() = default;
  // ResourceExhausted when the kernel does not fit the target, InvalidArgument when the
  // configuration breaks a limit, Unavailable when the service cannot be reached.
  virtual absl::StatusOr<Variant> Build(const Kernel& kernel, const TuningConfig& config) = 0;
};

// Starts `stax-compile --serve` (found beside the running program, else on PATH) on a local socket
// and starts it anew when it dies; ends it when destroyed. `target` as --target takes it.
absl::StatusOr<std::unique_ptr<Builder>> StartServiceBuilder(const std::string& target);

// Uses a service that is already there, "unix:PATH" or "HOST:PORT".
absl::StatusOr<std::unique_ptr<Builder>> ConnectServiceBuilder(const std::string& address,
                                                               const std::string& target);

}  // namespace stax

#endif  // STAX_AUTOTUNER_BUILDER_H_
