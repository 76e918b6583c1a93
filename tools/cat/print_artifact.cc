#include "tools/cat/print_artifact.h"

#include "absl/strings/str_cat.h"
#include "google/protobuf/text_format.h"
#include "google/protobuf/util/json_util.h"
#include "ir/artifact/artifact_io.h"

namespace stax {
namespace {

bool IsCode(ArtifactView view) { return view == ArtifactView::kPtx || view == ArtifactView::kLlvm; }

absl::StatusOr<std::string> ToJson(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions print;
  print.add_whitespace = true;
  std::string text;
  auto status = google::protobuf::util::MessageToJsonString(message, &text, print);
  if (!status.ok()) return absl::InternalError(std::string(status.message()));
  return text;
}

absl::StatusOr<std::string> Code(const Program& program, ArtifactView view) {
  const bool ptx = view == ArtifactView::kPtx;
  std::string text;
  for (const Kernel& kernel : program.kernels())
    absl::StrAppend(&text, ptx ? kernel.variant().ptx() : kernel.variant().llvm_ir());
  if (!text.empty()) return text;
  if (ptx)
    return absl::InvalidArgumentError(
        absl::StrCat("is compiled for ", program.target().kind(), ":", program.target().arch(),
                     " and has no PTX; compile it with --target=cuda:sm_90a"));
  return absl::InvalidArgumentError(
      "was stored without LLVM IR; compile it with --dump=llvm -o FILE");
}

template <typename Message>
absl::StatusOr<std::string> Print(const absl::StatusOr<Message>& message, ArtifactView view) {
  if (!message.ok()) return message.status();
  if (IsCode(view)) return absl::InvalidArgumentError("holds no code; only programs do");
  if (view == ArtifactView::kJson) return ToJson(*message);
  std::string text;
  google::protobuf::TextFormat::PrintToString(*message, &text);
  return text;
}

}  // namespace

absl::StatusOr<std::string> PrintArtifact(std::string_view file_bytes, ArtifactView view) {
  absl::StatusOr<ArtifactKind> kind = ArtifactKindOf(file_bytes);
  if (!kind.ok()) return kind.status();
  switch (*kind) {
    case ArtifactKind::kReport:
      return Print(DecodeReport(file_bytes), view);
    case ArtifactKind::kDevice:
      return Print(DecodeDevice(file_bytes), view);
    case ArtifactKind::kProgram:
      break;
  }
  absl::StatusOr<Program> program = DecodeProgram(file_bytes);
  if (program.ok() && IsCode(view)) return Code(*program, view);
  return Print(program, view);
}

}  // namespace stax
