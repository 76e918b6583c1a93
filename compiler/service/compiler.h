// Compiler: what clients of the compiler see, in process or across a socket.
#ifndef STAX_COMPILER_SERVICE_COMPILER_H_
#define STAX_COMPILER_SERVICE_COMPILER_H_


#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "ir/artifact/program.pb.h"
#include "ir/graph.h"

namespace stax {

// `format` is "onnx" or "textproto".
absl::StatusOr<Graph> GraphFromModel(absl::string_view model, absl::string_view format);

absl::StatusOr<Program> CompileModel(absl::string_view model, absl::string_view format,
                                     absl::string_view target);

// One configuration of a Program's kernel.
absl::StatusOr<Variant> CompileKernelVariant(const Kernel& kernel, const ConfigProto& config,
                                             absl::string_view target);

}  // namespace stax

#endif  // STAX_COMPILER_SERVICE_COMPILER_H_
