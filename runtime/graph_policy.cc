#include "runtime/graph_policy.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace stax {

std::string WhyNoGraph(const Program& program, const Device& device) {
  if (program.symbols_size() > 0)
    return absl::StrCat("condition 1, fixed grids and shapes: the size ", program.symbols(0).name(),
                        " varies");
  for (int b : program.inputs()) {
    if (program.buffers(b).is_specialised())
      return absl::StrCat("condition 1, nothing read back to the host: input '",
                          program.buffers(b).name(), "' sets shapes");
  }
  if (!device.RecordsGraphs())
    return absl::StrCat("condition 3, all work on one GPU: the device is ", device.info().kind);
  if (program.launches_size() < 2) return "fewer than 2 launches: a graph saves nothing";
  return "";
}

absl::Status GraphPolicy::Run(absl::Span<void* const> addresses,
                              absl::FunctionRef<absl::Status(StreamHandle)> launch,
                              StreamHandle stream) {
  if (!why_direct_.empty() || device_->IsRecording(stream)) return launch(stream);
  for (const Recorded& recorded : graphs_) {
    if (addresses == absl::MakeConstSpan(recorded.addresses))
      return Replay(recorded, launch, stream);
  }
  const bool again = !previous_.empty() && addresses == absl::MakeConstSpan(previous_);
  if (!again || graphs_.size() == kMaxGraphs) {
    previous_.assign(addresses.begin(), addresses.end());
    return launch(stream);
  }
  absl::StatusOr<std::unique_ptr<LaunchGraph>> graph = device_->Record(launch);
  if (!graph.ok()) {
    why_direct_ = absl::StrCat("recording failed: ", graph.status().message());
    return launch(stream);
  }
  graphs_.push_back({previous_, *std::move(graph)});
  return Replay(graphs_.back(), launch, stream);
}

absl::Status GraphPolicy::Replay(const Recorded& recorded,
                                 absl::FunctionRef<absl::Status(StreamHandle)> launch,
                                 StreamHandle stream) {
  absl::Status status = recorded.graph->Replay(stream);
  if (status.ok()) {
    ++replays_;
    return status;
  }
  why_direct_ = absl::StrCat("replay failed: ", status.message());
  return launch(stream);
}

}  // namespace stax
