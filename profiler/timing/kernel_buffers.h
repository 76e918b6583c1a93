// Device memory for one kernel on its own: random inputs, poisoned outputs, guard zones around
// every buffer.
#ifndef STAX_PROFILER_TIMING_KERNEL_BUFFERS_H_
#define STAX_PROFILER_TIMING_KERNEL_BUFFERS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir/artifact/program.pb.h"
#include "ir/loop_nest.h"
#include "runtime/device.h"

namespace stax {

class KernelBuffers {
 public:
  // Makes the buffers of `kernel`'s nest for these sizes. `device` must outlive the object. The
  // content of inputs depends only on dtype, size and position: equal on every device.
  // InvalidArgument for sizes at which a buffer has no or too many elements, ResourceExhausted when
  // there is no memory for them.
  static absl::StatusOr<std::unique_ptr<KernelBuffers>> Make(
      const Kernel& kernel, const std::map<std::string, int64_t>& sizes, Device* device);
  ~KernelBuffers();

  // Sets every output to all bits one: NaN in every float type.
  absl::Status Poison();
  // DataLoss naming the buffer when a byte around it was overwritten.
  absl::Status CheckGuards() const;
  absl::StatusOr<std::vector<std::byte>> Read(int buffer) const;

  // Runs `code`, a variant of the kernel, on them.
  absl::Status Launch(LoadedKernel& code, int64_t grid) const;
  // InvalidArgument when the kernel has nothing to do at these sizes.
  absl::StatusOr<int64_t> Grid(const Variant& variant) const;

  const LoopNest& nest() const { return nest_; }

 private:
  explicit KernelBuffers(Device* device) : device_(device) {}
  absl::Status Init(const Kernel& kernel, const std::map<std::string, int64_t>& sizes);
  absl::Status Add(const NestBuffer& buffer);

  Device* device_;
  LoopNest nest_;
  std::map<std::string, int64_t> sizes_;
  std::vector<int64_t> size_values_;  // in the nest's symbol order
  std::vector<int64_t> bytes_;        // of each buffer, without guards
  std::vector<void*> blocks_;         // guard, data, guard
  std::vector<void*> pointers_;       // the data
};

}  // namespace stax

#endif  // STAX_PROFILER_TIMING_KERNEL_BUFFERS_H_
