// Comparison of a result with an expected tensor.
#ifndef STAX_TOOLS_RUN_COMPARE_H_
#define STAX_TOOLS_RUN_COMPARE_H_

#include "absl/status/status.h"
#include "ir/host_tensor.h"

namespace stax {

struct Tolerance {
  double rtol = 1e-3;  // ONNX's own backend tests
  double atol = 1e-7;
};

// OK when dtype and dims are equal and |got - want| <= atol + rtol |want| everywhere; NaN equals
// NaN, infinities equal themselves, integers and bools are compared exactly unless the tolerance
// allows more. Aborted otherwise, with the number of wrong elements and the worst one.
absl::Status CompareTensors(const HostTensor& got, const HostTensor& want,
                            const Tolerance& tolerance);

}  // namespace stax

#endif  // STAX_TOOLS_RUN_COMPARE_H_
