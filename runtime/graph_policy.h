// When a program's launches go through a graph of the device (S9.9).
#ifndef STAX_RUNTIME_GRAPH_POLICY_H_
#define STAX_RUNTIME_GRAPH_POLICY_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "ir/artifact/program.pb.h"
#include "runtime/device.h"

namespace stax {

// Why the program is not wrapped in graphs on this device, by the condition of S9.9 that fails;
// empty when 1 and 3 hold. 2 (the addresses) is checked at every run.
std::string WhyNoGraph(const Program& program, const Device& device);

// Records the launches when the same addresses come twice in a row, and replays them when they come
// again. After a failure to record or to replay it launches directly for good.
class GraphPolicy {
 public:
  // Graphs kept. Further addresses are launched directly: none is dropped for them, since it may
  // be running.
  static constexpr int kMaxGraphs = 8;

  // `device` must outlive the policy, and the kernels that are recorded, too.
  GraphPolicy(const Program& program, Device* device)
      : device_(device), why_direct_(WhyNoGraph(program, *device)) {}

  // `launch` puts the program's launches for `addresses` on the stream it is given. Within a
  // capture of the host's they go into that one.
  absl::Status Run(absl::Span<void* const> addresses,
                   absl::FunctionRef<absl::Status(StreamHandle)> launch, StreamHandle stream);

  // Why all launches are direct: a condition or the failure; empty when they are not.
  const std::string& why_direct() const { return why_direct_; }
  int64_t replays() const { return replays_; }

 private:
  struct Recorded {
    std::vector<void*> addresses;
    std::unique_ptr<LaunchGraph> graph;
  };
  absl::Status Replay(const Recorded& recorded,
                      absl::FunctionRef<absl::Status(StreamHandle)> launch, StreamHandle stream);

  Device* device_;
  std::string why_direct_;
  std::vector<Recorded> graphs_;
  std::vector<void*> previous_;  // addresses of the last direct run
  int64_t replays_ = 0;
};

}  // namespace stax

#endif  // STAX_RUNTIME_GRAPH_POLICY_H_
