#include "tools/run/host_run.h"

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

}  // namespace

absl::StatusOr<std::vector<HostTensor>> RunOnHost(Executor& executor, Device& device,
                                                  const std::vector<HostTensor>& inputs) {
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
  absl::Status status = executor.Run(in.refs(), out.refs(), /*stream=*/nullptr);
  if (!status.ok()) return status;
  if (status = device.Synchronize(); !status.ok()) return status;
  for (size_t o = 0; o < outputs.size(); ++o) {
    status = device.CopyOut(outputs[o].bytes.data(), out.refs()[o].data, outputs[o].bytes.size());
    if (!status.ok()) return status;
  }
  return outputs;
}

}  // namespace stax
