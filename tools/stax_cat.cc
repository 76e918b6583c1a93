// stax-cat: prints an artifact.
#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ir/artifact/artifact_io.h"
#include "tools/cat/print_artifact.h"
#include "tools/cli/command_line.h"

namespace stax {
namespace {

// Reads the file once: it may be a pipe.
absl::StatusOr<std::string> PrintFile(const std::string& path, ArtifactView view) {
  absl::StatusOr<std::string> bytes = ReadFile(path);
  if (!bytes.ok()) return bytes.status();
  absl::StatusOr<std::string> text = PrintArtifact(*bytes, view);
  if (!text.ok())
    return absl::Status(text.status().code(), absl::StrCat(path, " ", text.status().message()));
  return text;
}

int Main(int argc, char** argv) {
  bool json = false, text = false, ptx = false, llvm = false;
  CommandLine cli("stax-cat", "ARTIFACT [--json | --text | --ptx | --llvm]",
                  "Prints a program, profile report or device description.");
  cli.Flag("json", "as protobuf JSON", &json);
  cli.Flag("text", "as protobuf text (the default)", &text);
  cli.Flag("ptx", "the PTX of all kernels", &ptx);
  cli.Flag("llvm", "the LLVM IR of all kernels", &llvm);
  absl::StatusOr<std::vector<std::string>> files = cli.Parse(argc, argv);
  if (!files.ok()) return cli.Fail(files.status());
  if (json + text + ptx + llvm > 1)
    return cli.Fail(absl::InvalidArgumentError("give one of --json, --text, --ptx, --llvm"));
  if (files->size() != 1)
    return cli.Fail(absl::InvalidArgumentError(
        absl::StrCat("expected one artifact, got ", files->size(), " (--help explains)")));
  const ArtifactView view = json   ? ArtifactView::kJson
                            : ptx  ? ArtifactView::kPtx
                            : llvm ? ArtifactView::kLlvm
                                   : ArtifactView::kText;
  absl::StatusOr<std::string> printed = PrintFile(files->front(), view);
  if (!printed.ok()) return cli.Fail(printed.status());
  std::cout << *printed;
  return cli.Done();
}

}  // namespace
}  // namespace stax

int main(int argc, char** argv) { return stax::Main(argc, argv); }
