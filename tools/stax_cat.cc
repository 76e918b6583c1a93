// stax-cat: prints an artifact.
#include <iostream>
#include <string>

#include "absl/strings/str_cat.h"
#include "google/protobuf/text_format.h"
#include "google/protobuf/util/json_util.h"
#include "ir/artifact/artifact_io.h"
#include "tools/cli/command_line.h"

namespace stax {
namespace {

struct Options {
  bool json = false;
  bool text = false;
  bool ptx = false;
  bool llvm = false;
};

absl::StatusOr<std::string> ToJson(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions print;
  print.add_whitespace = true;
  std::string text;
  auto status = google::protobuf::util::MessageToJsonString(message, &text, print);
  if (!status.ok()) return absl::InternalError(std::string(status.message()));
  return text;
}

absl::StatusOr<std::string> Code(const Program& program, bool ptx) {
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

absl::StatusOr<std::string> Print(const google::protobuf::Message& message,
                                  const Options& options) {
  if (options.ptx || options.llvm)
    return absl::InvalidArgumentError("holds no code; only programs do");
  if (options.json) return ToJson(message);
  std::string text;
  google::protobuf::TextFormat::PrintToString(message, &text);
  return text;
}

template <typename Message>
absl::StatusOr<std::string> Print(const absl::StatusOr<Message>& message, const Options& options) {
  if (!message.ok()) return message.status();
  return Print(static_cast<const google::protobuf::Message&>(*message), options);
}

absl::StatusOr<std::string> PrintBytes(const std::string& bytes, const Options& options) {
  absl::StatusOr<ArtifactKind> kind = ArtifactKindOf(bytes);
  if (!kind.ok()) return kind.status();
  switch (*kind) {
    case ArtifactKind::kReport:
      return Print(DecodeReport(bytes), options);
    case ArtifactKind::kDevice:
      return Print(DecodeDevice(bytes), options);
    case ArtifactKind::kProgram:
      break;
  }
  absl::StatusOr<Program> program = DecodeProgram(bytes);
  if (!program.ok()) return program.status();
  if (options.ptx || options.llvm) return Code(*program, options.ptx);
  return Print(static_cast<const google::protobuf::Message&>(*program), options);
}

// Reads the file once: it may be a pipe.
absl::StatusOr<std::string> PrintFile(const std::string& path, const Options& options) {
  absl::StatusOr<std::string> bytes = ReadFile(path);
  if (!bytes.ok()) return bytes.status();
  absl::StatusOr<std::string> text = PrintBytes(*bytes, options);
  if (text.ok()) return text;
  return absl::Status(text.status().code(), absl::StrCat(path, " ", text.status().message()));
}

int Main(int argc, char** argv) {
  Options options;
  CommandLine cli("stax-cat", "ARTIFACT [--json | --text | --ptx | --llvm]",
                  "Prints a program, profile report or device description.");
  cli.Flag("json", "as protobuf JSON", &options.json);
  cli.Flag("text", "as protobuf text (the default)", &options.text);
  cli.Flag("ptx", "the PTX of all kernels", &options.ptx);
  cli.Flag("llvm", "the LLVM IR of all kernels", &options.llvm);
  absl::StatusOr<std::vector<std::string>> files = cli.Parse(argc, argv);
  if (!files.ok()) return cli.Fail(files.status());
  if (options.json + options.text + options.ptx + options.llvm > 1)
    return cli.Fail(absl::InvalidArgumentError("give one of --json, --text, --ptx, --llvm"));
  if (files->size() != 1)
    return cli.Fail(absl::InvalidArgumentError(
        absl::StrCat("expected one artifact, got ", files->size(), " (--help explains)")));
  absl::StatusOr<std::string> text = PrintFile(files->front(), options);
  if (!text.ok()) return cli.Fail(text.status());
  std::cout << *text;
  return cli.Done();
}

}  // namespace
}  // namespace stax

int main(int argc, char** argv) { return stax::Main(argc, argv); }
