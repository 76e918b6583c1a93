// The gRPC server of compile_service.proto.
#ifndef STAX_COMPILER_SERVICE_SERVER_H_
#define STAX_COMPILER_SERVICE_SERVER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace stax {

class CompileServer {
 public:
  virtual ~CompileServer() = default;
  // Blocks until Shutdown() or the process ends.
  virtual void Wait() = 0;
  // Cancels requests after a second, and returns when those that compile have ended.
  virtual void Shutdown() = 0;
  // Where it listens, with the port that was chosen for HOST:0.
  virtual const std::string& address() const = 0;
};

// `address` is "unix:PATH" or "HOST:PORT" with a loopback host. InvalidArgument for another host
// (a service beyond this machine needs TLS, which this server does not have yet) or a taken
// address. The socket that a dead server left is taken over.
absl::StatusOr<std::unique_ptr<CompileServer>> StartCompileServer(const std::string& address);

}  // namespace stax

#endif  // STAX_COMPILER_SERVICE_SERVER_H_
