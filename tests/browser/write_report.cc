// A report as text, as stax-profile would write it: write_report REPORT.textproto OUT.report
// OUT.html
#include <iostream>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/text_format.h"
#include "ir/artifact/artifact_io.h"
#include "ir/artifact/report.pb.h"
#include "profiler/report/html.h"

namespace stax {
namespace {

absl::Status Parse(const std::string& path, google::protobuf::Message& message) {
  absl::StatusOr<std::string> text = ReadFile(path);
  if (!text.ok()) return text.status();
  if (google::protobuf::TextFormat::ParseFromString(*text, &message)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(path, " is no ", message.GetTypeName()));
}

absl::Status RenderReport(const std::string& text, const std::string& out,
                          const std::string& html) {
  ProfileReport report;
  absl::Status status = Parse(text, report);
  if (!status.ok()) return status;
  report.set_schema_version(kSchemaVersion);
  status = WriteReport(out, report);
  return status.ok() ? WriteFileAtomically(html, ReportHtml(report)) : status;
}

int Main(int argc, char** argv) {
  absl::Status status = argc == 4 ? RenderReport(argv[1], argv[2], argv[3])
                                  : absl::InvalidArgumentError("expected 3 arguments");
  if (status.ok()) return 0;
  std::cerr << "write_report: " << status.message() << "\n";
  return 2;
}

}  // namespace
}  // namespace stax

int main(int argc, char** argv) { return stax::Main(argc, argv); }
