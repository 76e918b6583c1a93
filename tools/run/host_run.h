// Runs a Program on tensors in host memory: copies in, runs, copies out.
#ifndef STAX_TOOLS_RUN_HOST_RUN_H_
#define STAX_TOOLS_RUN_HOST_RUN_H_

#include <vector>

#include "absl/status/statusor.h"
#include "ir/host_tensor.h"
#include "runtime/device.h"
#include "runtime/executor.h"

namespace stax {

// Inputs and outputs in the program's order. Outputs are poisoned before the run (all bits set:
// NaN for floats), so that an element no kernel writes is seen.
absl::StatusOr<std::vector<HostTensor>> RunOnHost(Executor& executor, Device& device,
                                                  const std::vector<HostTensor>& inputs);

}  // namespace stax

#endif  // STAX_TOOLS_RUN_HOST_RUN_H_
