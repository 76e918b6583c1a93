// ONNX backend-test folders: model.onnx with test_data_set_N/input_K.pb and output_K.pb, and
// optionally case.json with "rtol" and "atol".
#ifndef STAX_TOOLS_RUN_ONNX_TEST_H_
#define STAX_TOOLS_RUN_ONNX_TEST_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/device.h"

namespace stax {

// The folders with a model.onnx among `roots` and everything below them, sorted. NotFound when
// there is none, PermissionDenied when a folder below cannot be read.
absl::StatusOr<std::vector<std::string>> FindOnnxTests(const std::vector<std::string>& roots);

struct OnnxTestResult {
  enum class Verdict { kPassed, kFailed, kSkipped };
  Verdict verdict = Verdict::kPassed;
  std::string reason;  // what is wrong, or the operator that is missing
};

// Compiles the model for `target` and runs every data set on `device`. Operands that set shapes
// are specialised on their values. Never throws away a failure: only what the frontend reports as
// unimplemented is skipped.
OnnxTestResult RunOnnxTest(const std::string& folder, const std::string& target, Device& device);

}  // namespace stax

#endif  // STAX_TOOLS_RUN_ONNX_TEST_H_
