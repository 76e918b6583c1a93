// Fuzz target of the text frontend: any text gives a graph or an InvalidArgument, never a crash, an
// Internal error, or a graph that cannot be executed.
//
// bazel test //compiler/frontend:textproto_fuzz_test runs it on mutations of a few graphs;
// bazel run //compiler/frontend:textproto_fuzzer searches with libFuzzer for as long as you like.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "compiler/frontend/execute_graph.h"
#include "compiler/frontend/textproto.h"
#include "ir/check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto graph =
      stax::GraphFromTextProto(std::string_view(reinterpret_cast<const char*>(data), size));
  if (graph.ok()) {
    stax::ExecuteIfSmall(*graph);
  } else {
    STAX_CHECK(graph.status().code() == absl::StatusCode::kInvalidArgument,
               graph.status().ToString());
  }
  return 0;
}
