// Executor: runs a Program's wrapper plan on a Device (S9.7). Checks sizes, strides, dtypes and
// specialised values of the inputs, binds the size symbols, gives temporaries memory by lifetime,
// and launches the kernels in order on one stream.
#ifndef STAX_RUNTIME_EXECUTOR_H_
#define STAX_RUNTIME_EXECUTOR_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ir/artifact/program.pb.h"
#include "ir/dtype.h"
#include "runtime/device.h"

namespace stax {

// A dense tensor in device memory. Strides in elements; empty means row-major contiguous.
struct TensorRef {
  void* data = nullptr;
  DType dtype = DType::kF32;
  std::vector<int64_t> dims;
  std::vector<int64_t> strides;
};

class Executor {
 public:
  // Loads all kernels and constants. `device` must outlive the executor. InvalidArgument for what
  // VerifyProgram refuses.
  static absl::StatusOr<std::unique_ptr<Executor>> Create(Program program, Device* device);
  ~Executor();

  // Values of the size symbols for these input shapes. InvalidArgument names the input, the
  // dimension, what it is and what it should be (also: two inputs that disagree on a symbol).
  absl::StatusOr<std::map<std::string, int64_t>> BindSizes(
      absl::Span<const TensorRef> inputs) const;

  // Shapes and dtypes of the outputs for bound sizes; data is null.
  absl::StatusOr<std::vector<TensorRef>> OutputShapes(
      const std::map<std::string, int64_t>& sizes) const;

  // Outputs are written in place; none may overlap an input or another output. Asynchronous on
  // `stream`, but for inputs that set shapes: their values are read here. No allocation on the
  // device when called again with sizes seen before. InvalidArgument for tensors that are not as
  // the program wants them, ResourceExhausted when there is no memory: later runs may succeed.
  absl::Status Run(absl::Span<const TensorRef> inputs, absl::Span<const TensorRef> outputs,
                   StreamHandle stream);

  // From now on launches go through graphs of the device where S9.9's conditions hold
  // (runtime/graph_policy.h). Without it each is launched directly.
  void UseGraphs();
  // Runs that were replays of a graph.
  int64_t graph_replays() const;
  // Why no run goes through a graph: a condition of S9.9, or the failure; empty when runs may.
  std::string WhyNoGraphs() const;
  // The peak of the memory plan: bytes of the arena that temporaries share.
  int64_t temporary_bytes() const;

  const Program& program() const;

 private:
  struct State;
  explicit Executor(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace stax

#endif  // STAX_RUNTIME_EXECUTOR_H_
