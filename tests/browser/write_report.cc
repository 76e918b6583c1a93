// Fixtures of the browser test.
//
//     write_report REPORT.textproto OUT.report OUT.html    the report as stax-profile would write
//     it write_report DEVICE.textproto OUT.device             a calibration of this machine's CPU
//     that nobody measured
#include <iostream>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/text_format.h"
#include "ir/artifact/artifact_io.h"
#include "ir/artifact/device.pb.h"
#include "ir/artifact/report.pb.h"
#include "profiler/report/html.h"
#include "runtime/device.h"

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

absl::Status DescribeCpu(const std::string& text, const std::string& out) {
  DeviceSpec spec;
  absl::Status status = Parse(text, spec);
  if (!status.ok()) return status;
  absl::StatusOr<std::unique_ptr<Device>> device = OpenDevice("cpu");
  if (!device.ok()) return device.status();
  spec.set_schema_version(kSchemaVersion);
  spec.set_name((*device)->info().name);
  return WriteDevice(out, spec);
}

int Main(int argc, char** argv) {
  absl::Status status = argc == 4   ? RenderReport(argv[1], argv[2], argv[3])
                        : argc == 3 ? DescribeCpu(argv[1], argv[2])
                                    : absl::InvalidArgumentError("expected 2 or 3 arguments");
  if (status.ok()) return 0;
  std::cerr << "write_report: " << status.message() << "\n";
  return 2;
}

}  // namespace
}  // namespace stax

int main(int argc, char** argv) { return stax::Main(argc, argv); }
