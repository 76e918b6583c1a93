#include "compiler/service/compiler.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "compiler/codegen/codegen.h"
#include "compiler/frontend/onnx.h"
#include "compiler/frontend/textproto.h"
#include "compiler/kernel_proto.h"
#include "compiler/pipeline.h"
#include "compiler/target.h"

namespace stax {

absl::StatusOr<Graph> GraphFromModel(const std::string& model, const std::string& format) {
  if (format == "onnx") return GraphFromOnnx(model, OnnxOptions());
  if (format == "textproto") return GraphFromTextProto(model);
  return absl::InvalidArgumentError(
      absl::StrCat("unknown model format '", format, "'; known are onnx, textproto"));
}

absl::StatusOr<Program> CompileModel(const std::string& model, const std::string& format,
                                     const std::string& target) {
  CompileOptions options;
  absl::StatusOr<TargetSpec> spec = ParseTarget(target);
  if (!spec.ok()) return spec.status();
  options.target = *spec;
  absl::StatusOr<Graph> graph = GraphFromModel(model, format);
  if (!graph.ok()) return graph.status();
  return CompileGraph(*graph, options);
}

absl::StatusOr<Variant> CompileKernelVariant(const Kernel& kernel, const ConfigProto& config,
                                             const std::string& target) {
  absl::StatusOr<TargetSpec> spec = ParseTarget(target);
  if (!spec.ok()) return spec.status();
  absl::StatusOr<KernelSpec> kernel_spec = KernelFromProto(kernel);
  if (!kernel_spec.ok()) return kernel_spec.status();
  absl::StatusOr<Variant> variant =
      CompileVariant(*kernel_spec, Config(config.values().begin(), config.values().end()), *spec,
                     CodegenOptions());
  if (variant.ok()) variant->set_kernel_hash(kernel.hash());
  return variant;
}

}  // namespace stax
