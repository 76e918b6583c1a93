// Runs a Program on tensors in host memory: copies in, runs, copies out.
#ifndef STAX_TOOLS_RUN_HOST_RUN_H_
#define STAX_TOOLS_RUN_HOST_RUN_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/host_tensor.h"
#include "runtime/device.h"
#include "runtime/executor.h"

namespace stax {

// Inputs and outputs in the program's order. Outputs are poisoned before the run (all bits set:
// NaN for floats), so that an element no kernel writes is seen.
// The program runs `repeats` times on the same memory, without waiting in between; `microseconds`,
// where given, receives the time of one by the host's clock, the first two runs (they plan and
// record) left out.
absl::StatusOr<std::vector<HostTensor>> RunOnHost(Executor& executor, Device& device,
                                                  const std::vector<HostTensor>& inputs,
                                                  int64_t repeats = 1,
                                                  double* microseconds = nullptr);

}  // namespace stax

#endif  // STAX_TOOLS_RUN_HOST_RUN_H_
