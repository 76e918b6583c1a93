// The compiler's table of contents: Graph -> Program, as a list of named passes.
#ifndef STAX_COMPILER_PIPELINE_H_
#define STAX_COMPILER_PIPELINE_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "compiler/target.h"
#include "ir/artifact/program.pb.h"
#include "ir/graph.h"

namespace stax {

struct CompileOptions {
  TargetSpec target;
  bool keep_llvm_ir = false;
  bool run_ptxas = true;
  // Called after each pass with its name, its time and the text of what it made. May be empty.
  std::function<void(const std::string& pass, absl::Duration time, const std::string& dump)>
      observer;
};

// Deterministic: equal graphs and options give equal bytes (SerializeDeterministically).
absl::StatusOr<Program> CompileGraph(const Graph& graph, const CompileOptions& options);

}  // namespace stax

#endif  // STAX_COMPILER_PIPELINE_H_
