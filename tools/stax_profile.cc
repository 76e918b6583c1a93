// stax-profile: prediction against measurement for every kernel, and calibration of a device.
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "ir/artifact/artifact_io.h"
#include "profiler/calibration/calibrate.h"
#include "profiler/report/html.h"
#include "profiler/report/profile.h"
#include "profiler/timing/kernel_timer.h"
#include "runtime/device.h"
#include "tools/cli/command_line.h"
#include "tools/cli/progress.h"

namespace stax {
namespace {

struct Options {
  std::string device;
  std::string spec;
  std::string html;
  std::string output;
  std::vector<std::string> sizes;
  bool calibrate = false;
  bool quiet = false;
};

void PrintSpec(const DeviceSpec& spec) {
  std::cout << absl::StreamFormat(
      "%s, %s\n  DRAM read   %8.1f GB/s\n  DRAM write  %8.1f GB/s\n  DRAM copy   %8.1f GB/s\n"
      "  latency     %8.1f ns\n  f32 FMA     %8.3f Tflop/s\n  launch      %8.2f us\n",
      spec.name(), spec.date(), spec.dram_read_bytes_per_s() / 1e9,
      spec.dram_write_bytes_per_s() / 1e9, spec.dram_copy_bytes_per_s() / 1e9, spec.latency_ns(),
      spec.f32_flops_per_s() / 1e12, spec.launch_ns() / 1e3);
}

absl::StatusOr<DeviceSpec> CalibrateNow(Device& device, KernelTimer& timer, bool quiet) {
  Progress progress(quiet);
  absl::StatusOr<DeviceSpec> spec =
      Calibrate(device, timer, [&](const std::string& what, int step, int steps) {
        progress.Show("calibrate", step, steps, what);
      });
  progress.Finish();
  return spec;
}

absl::Status RunCalibration(const Options& options) {
  absl::StatusOr<std::unique_ptr<Device>> device =
      OpenDevice(options.device.empty() ? DefaultDeviceName() : options.device);
  if (!device.ok()) return device.status();
  absl::StatusOr<std::unique_ptr<KernelTimer>> timer = MakeKernelTimer(**device);
  if (!timer.ok()) return timer.status();
  absl::StatusOr<DeviceSpec> spec = CalibrateNow(**device, **timer, options.quiet);
  if (!spec.ok()) return spec.status();
  PrintSpec(*spec);
  return options.output.empty() ? absl::OkStatus() : WriteDevice(options.output, *spec);
}

// The file's, when given; it must be of this device. Else measured now.
absl::StatusOr<DeviceSpec> SpecFor(Device& device, KernelTimer& timer, const Options& options) {
  if (options.spec.empty()) return CalibrateNow(device, timer, options.quiet);
  absl::StatusOr<DeviceSpec> spec = ReadDevice(options.spec);
  if (spec.ok() && spec->name() != device.info().name)
    return absl::InvalidArgumentError(absl::StrCat(options.spec, " describes ", spec->name(),
                                                   "; this device is ", device.info().name));
  return spec;
}

absl::Status RunProfile(const std::string& path, const Options& options) {
  absl::StatusOr<Program> program = ReadProgram(path);
  if (!program.ok()) return program.status();
  absl::StatusOr<std::unique_ptr<Device>> device =
      OpenDevice(options.device.empty() ? program->target().kind() : options.device);
  if (!device.ok()) return device.status();
  absl::StatusOr<std::unique_ptr<KernelTimer>> timer = MakeKernelTimer(**device);
  if (!timer.ok()) return timer.status();
  absl::StatusOr<DeviceSpec> spec = SpecFor(**device, **timer, options);
  if (!spec.ok()) return spec.status();
  std::map<std::string, int64_t> sizes;
  for (const std::string& pair : options.sizes) {
    std::pair<std::string, std::string> split = absl::StrSplit(pair, absl::MaxSplits('=', 1));
    if (!absl::SimpleAtoi(split.second, &sizes[split.first]))
      return absl::InvalidArgumentError(absl::StrCat("--size ", pair, ": expected NAME=NUMBER"));
  }
  Progress progress(options.quiet);
  absl::StatusOr<ProfileReport> report =
      ProfileProgram(*program, **device, **timer, *spec, sizes,
                     [&](const std::string& kernel, int step, int steps) {
                       progress.Show("profile", step, steps, kernel);
                     });
  progress.Finish();
  if (!report.ok()) return report.status();
  std::cout << ReportTable(*report);
  if (!options.html.empty()) {
    absl::Status status = WriteFileAtomically(options.html, ReportHtml(*report));
    if (!status.ok()) return status;
  }
  return options.output.empty() ? absl::OkStatus() : WriteReport(options.output, *report);
}

int Main(int argc, char** argv) {
  Options options;
  CommandLine cli("stax-profile", "T.stax [options] | --calibrate [options]",
                  "Compares each kernel's time with its roofline prediction.");
  cli.Option("device", "NAME", "cpu, cuda or cuda:N (default: what the program is for)",
             &options.device);
  cli.Flag("calibrate", "measure the device itself", &options.calibrate);
  cli.Option("spec", "D.device", "use this calibration instead of measuring", &options.spec);
  cli.Repeated("size", "NAME=N", "value of a size symbol (default: its hint)", &options.sizes);
  cli.Option("html", "FILE", "write a page with the roofline drawn", &options.html);
  cli.Option("o", "FILE", "write the report (or with --calibrate the device) here",
             &options.output);
  cli.Flag("quiet", "no progress", &options.quiet);
  absl::StatusOr<std::vector<std::string>> programs = cli.Parse(argc, argv);
  if (!programs.ok()) return cli.Fail(programs.status());
  absl::Status status;
  if (options.calibrate && programs->empty()) {
    status = RunCalibration(options);
  } else if (programs->size() == 1 && !options.calibrate) {
    status = RunProfile(programs->front(), options);
  } else {
    status = absl::InvalidArgumentError(absl::StrCat("expected one program or --calibrate, got ",
                                                     programs->size(), " (--help explains)"));
  }
  return status.ok() ? cli.Done() : cli.Fail(status);
}

}  // namespace
}  // namespace stax

int main(int argc, char** argv) { return stax::Main(argc, argv); }
