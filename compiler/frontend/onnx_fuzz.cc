// Fuzz target of the ONNX frontend: any bytes give a graph that can be executed, or an error of the
// kinds that onnx.h lists; never a crash or an Internal error.
//
// bazel test //compiler/frontend:onnx_fuzz_test runs it on mutations of small models;
// bazel run //compiler/frontend:onnx_fuzzer searches with libFuzzer for as long as you like.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "compiler/frontend/execute_graph.h"
#include "compiler/frontend/onnx.h"
#include "ir/check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto graph = stax::GraphFromOnnx(bytes);
  if (graph.ok()) {
    stax::ExecuteIfSmall(*graph);
    return 0;
  }
  const absl::StatusCode code = graph.status().code();
  STAX_CHECK(code == absl::StatusCode::kInvalidArgument ||
                 code == absl::StatusCode::kUnimplemented ||
                 code == absl::StatusCode::kFailedPrecondition,
             graph.status().ToString());
  return 0;
}
