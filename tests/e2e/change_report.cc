// Makes the report of another run out of one: slower or faster, or of another device.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ir/artifact/artifact_io.h"
#include "ir/artifact/report.pb.h"
#include "tools/cli/command_line.h"

namespace stax {
namespace {

// All times of a kernel.
void Scale(double factor, KernelProfile& kernel) {
  for (double& sample : *kernel.mutable_samples_ns()) sample *= factor;
  kernel.set_measured_ns(kernel.measured_ns() * factor);
  kernel.set_interval_low_ns(kernel.interval_low_ns() * factor);
  kernel.set_interval_high_ns(kernel.interval_high_ns() * factor);
}

int Main(int argc, char** argv) {
  double factor = 1;
  std::string device, output;
  bool rename = false;
  bool twice = false;
  CommandLine cli("change_report", "R.report [options]", "Changes a report.");
  cli.Option("factor", "NUMBER", "multiply all times", &factor);
  cli.Option("device", "NAME", "say that it ran there", &device);
  cli.Flag("rename", "other kernels, by name and hash", &rename);
  cli.Flag("twice", "every kernel twice", &twice);
  cli.Option("o", "FILE", "write the report here", &output);
  absl::StatusOr<std::vector<std::string>> words = cli.Parse(argc, argv);
  if (!words.ok()) return cli.Fail(words.status());
  if (words->size() != 1) return cli.Fail(absl::InvalidArgumentError("expected one report"));
  absl::StatusOr<ProfileReport> report = ReadReport(words->front());
  if (!report.ok()) return cli.Fail(report.status());
  for (KernelProfile& kernel : *report->mutable_kernels()) {
    Scale(factor, kernel);
    if (!rename) continue;
    kernel.set_name(absl::StrCat("other_", kernel.name()));
    kernel.set_hash(absl::StrCat("other_", kernel.hash()));
  }
  if (!device.empty()) report->mutable_device()->set_name(device);
  if (twice) report->mutable_kernels()->MergeFrom(ProfileReport(*report).kernels());
  absl::Status status = WriteReport(output, *report);
  return status.ok() ? cli.Done() : cli.Fail(status);
}

}  // namespace
}  // namespace stax

int main(int argc, char** argv) { return stax::Main(argc, argv); }
