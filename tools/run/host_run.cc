#include "tools/run/host_run.h"

#include <chrono>
#include <map>
#include <string>
#include <utility>

#include "runtime/host_memory.h"
#include "runtime/shapes.h"

namespace stax {
namespace {

// Tensors in device memory, freed together.
class DeviceTensors {
 public:
  explicit DeviceTensors(Device& device) : device_(device) {}
  ~DeviceTensors() {
    for (const TensorRef& ref : refs_) device_.Free(ref.data);
  }

  absl::Status Add(DType dtype, const std::vector<int64_t>& dims,
                   const std::vector<std::byte>& content) {
    absl::StatusOr<void*> memory = device_.Allocate(content.size());
    if (!memory.ok()) return memory.status();
    refs_.push_back({*memory, dtype, dims, {}});
    return device_.CopyIn(*memory, content.data(), content.size());
  }
  const std::vector<TensorRef>& refs() const { return refs_; }

 private:
  Device& device_;
  std::vector<TensorRef> refs_;
};

// Microseconds a run; all have ended.
absl::StatusOr<double> TimeRuns(Executor& executor, Device& device,
                                const std::vector<TensorRef>& in, const std::vector<TensorRef>& out,
                                int64_t repeats) {
  const int64_t warm_up = repeats > 2 ? 2 : 0;
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  for (int64_t i = 0; i < repeats; ++i) {
    if (i == warm_up) {
      if (absl::Status status = device.Synchronize(); !status.ok()) return status;
      start = std::chrono::steady_clock::now();
    }
    if (absl::Status status = executor.Run(in, out, /*stream=*/nullptr); !status.ok())
      return status;
  }
  if (absl::Status status = device.Synchronize(); !status.ok()) return status;
  const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
  return time.count() / static_cast<double>(repeats - warm_up);
}

}  // namespace

absl::StatusOr<std::vector<HostTensor>> RunOnHost(Executor& executor, Device& device,
                                                  const std::vector<HostTensor>& inputs,
                                                  int64_t repeats, double* microseconds) {
  DeviceTensors in(device);
  for (const HostTensor& input : inputs) {
    absl::Status status = in.Add(input.dtype, input.dims, input.bytes);
    if (!status.ok()) return status;
  }
  absl::StatusOr<std::map<std::string, int64_t>> sizes = executor.BindSizes(in.refs());
  if (!sizes.ok()) return sizes.status();
  absl::StatusOr<std::vector<TensorRef>> shapes = executor.OutputShapes(*sizes);
  if (!shapes.ok()) return shapes.status();
  std::vector<HostTensor> outputs;
  DeviceTensors out(device);
  for (const TensorRef& shape : *shapes) {
    absl::StatusOr<int64_t> bytes = ByteSize(shape.dtype, shape.dims);
    if (!bytes.ok()) return bytes.status();
    if (absl::Status s = CheckFitsHostMemory("an output", *bytes); !s.ok()) return s;
    outputs.push_back({shape.dtype, shape.dims, std::vector<std::byte>(*bytes, std::byte{0xff})});
    absl::Status status = out.Add(shape.dtype, shape.dims, outputs.back().bytes);
    if (!status.ok()) return status;
  }
  absl::StatusOr<double> time = TimeRuns(executor, device, in.refs(), out.refs(), repeats);
  if (!time.ok()) return time.status();
  if (microseconds != nullptr) *microseconds = *time;
  for (size_t o = 0; o < outputs.size(); ++o) {
    absl::Status status =
        device.CopyOut(outputs[o].bytes.data(), out.refs()[o].data, outputs[o].bytes.size());
    if (!status.ok()) return status;
  }
  return outputs;
}

}  // namespace stax
