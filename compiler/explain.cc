#include "compiler/explain.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ir/artifact/formula.h"
#include "ir/printable.h"

namespace stax {
namespace {

std::string Formula(const google::protobuf::Value& value) {
  absl::StatusOr<IndexExpr> e = FromValue(value);
  return e.ok() ? e->ToString() : "?";
}

std::string ConfigText(const ConfigProto& config) {
  std::map<std::string, int64_t> sorted(config.values().begin(), config.values().end());
  return absl::StrJoin(sorted, " ", absl::PairFormatter("="));
}

std::string KernelText(const Kernel& kernel) {
  std::string text = absl::StrCat(kernel.name(), "\n");
  if (!kernel.origins().empty())
    absl::StrAppend(&text, "  computes  ", Printable(absl::StrJoin(kernel.origins(), ", ")), "\n");
  if (!kernel.explanation().empty())
    absl::StrAppend(&text, "  why       ", Printable(kernel.explanation()), "\n");
  absl::StrAppend(&text, "  moves     reads ", Formula(kernel.read_bytes()), " bytes, writes ",
                  Formula(kernel.write_bytes()), " bytes\n  computes  ", Formula(kernel.flops()),
                  " floating-point operations\n");
  const Variant& variant = kernel.variant();
  absl::StrAppend(&text, "  runs as   ", ConfigText(variant.config()), " (of ",
                  kernel.candidates_size(), " candidates), grid ", variant.grid_x());
  if (variant.target().kind() == "cuda") {
    absl::StrAppend(&text, ", ", variant.block_threads(), " threads, ", variant.shared_bytes(),
                    " bytes of shared memory");
    if (variant.registers() > 0)
      absl::StrAppend(&text, ", ", variant.registers(), " registers, ", variant.spill_bytes(),
                      " bytes spilled");
  }
  return absl::StrCat(text, "\n");
}

}  // namespace

std::string Explain(const Program& program) {
  std::string text =
      absl::StrCat(Printable(program.name()), " for ", program.target().kind(), ":",
                   program.target().arch(), ": ", program.kernels_size(), " kernels\n\n");
  IndexExpr bytes;
  IndexExpr temporary_bytes;
  for (const Kernel& kernel : program.kernels()) {
    absl::StrAppend(&text, KernelText(kernel), "\n");
    for (const google::protobuf::Value* value : {&kernel.read_bytes(), &kernel.write_bytes()}) {
      absl::StatusOr<IndexExpr> e = FromValue(*value);
      if (e.ok()) bytes = bytes + *e;
    }
  }
  for (const Buffer& buffer : program.buffers()) {
    if (buffer.kind() != Buffer::TEMPORARY) continue;
    absl::StatusOr<IndexExpr> e = FromValue(buffer.size_bytes());
    if (e.ok()) temporary_bytes = temporary_bytes + *e;
  }
  return absl::StrCat(text, "in all: ", bytes.ToString(), " bytes moved, ",
                      temporary_bytes.ToString(), " bytes of temporaries before reuse\n");
}

}  // namespace stax
