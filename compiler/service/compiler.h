// Compiler: what clients of the compiler see, in process or across a socket.
#ifndef STAX_COMPILER_SERVICE_COMPILER_H_
#define STAX_COMPILER_SERVICE_COMPILER_H_

#include <string>

#include "absl/status/statusor.h"
#include "ir/artifact/program.pb.h"
#include "ir/graph.h"

namespace stax {

// `format` is "onnx" or "textproto".
absl::StatusOr<Graph> GraphFromModel(const std::string& model, const std::string& format);

absl::StatusOr<Program> CompileModel(const std::string& model, const std::string& format,
                                     const std::string& target);

// One configuration of a Program's kernel.
absl::StatusOr<Variant> CompileKernelVariant(const Kernel& kernel, const ConfigProto& config,
                                             const std::string& target);

}  // namespace stax

#endif  // STAX_COMPILER_SERVICE_COMPILER_H_
