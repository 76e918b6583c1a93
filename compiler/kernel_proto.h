// KernelSpec as text and as protobuf.
#ifndef STAX_COMPILER_KERNEL_PROTO_H_
#define STAX_COMPILER_KERNEL_PROTO_H_

#include <string>

#include "absl/status/statusor.h"
#include "compiler/kernel_spec.h"
#include "ir/artifact/program.pb.h"

namespace stax {

// All but the variant. The hash covers what code generation depends on (nest, form, tile and the
// compiler's version), so that a renamed kernel or another program with it finds its records.
Kernel KernelToProto(const KernelSpec& spec);

// The KernelSpec a Program's kernel was made from, to compile other configurations of it.
// InvalidArgument naming the field when the kernel is damaged.
absl::StatusOr<KernelSpec> KernelFromProto(const Kernel& kernel);

// For dumps: name, tile, candidates and nest.
std::string ToText(const KernelSpec& spec);

// "RBLOCK=1024 WARPS=4 XBLOCK=1"
std::string ToText(const Config& config);

}  // namespace stax

#endif  // STAX_COMPILER_KERNEL_PROTO_H_
