// For tests: runs folders of ONNX's backend tests (model.onnx, test_data_set_N/input_K.pb and
// output_K.pb) through the ONNX frontend and the graph interpreter.
#ifndef STAX_COMPILER_FRONTEND_ONNX_CASES_H_
#define STAX_COMPILER_FRONTEND_ONNX_CASES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace stax {

struct OnnxTolerance {
  double rtol = 1e-3;  // of ONNX's own runner
  double atol = 1e-7;
};

// The folders that hold a model.onnx directly below `folder`, sorted.
std::vector<std::string> OnnxCasesBelow(const std::string& folder);

// Unimplemented for a case whose model or data Stax does not take; Aborted, saying where, when an
// output is wrong; otherwise what the frontend and the interpreter say.
absl::Status RunOnnxCase(const std::string& folder, const OnnxTolerance& tolerance);

}  // namespace stax

#endif  // STAX_COMPILER_FRONTEND_ONNX_CASES_H_
