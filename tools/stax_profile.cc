// stax-profile: prediction against measurement for every kernel, and calibration of a device.
#include <cstdint>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "ir/artifact/artifact_io.h"
#include "ir/printable.h"
#include "profiler/calibration/calibrate.h"
#include "profiler/regression/regression.h"
#include "profiler/report/html.h"
#include "profiler/report/junit.h"
#include "profiler/report/modelled.h"
#include "profiler/report/profile.h"
#include "profiler/report/table.h"
#include "profiler/timing/kernel_timer.h"
#include "runtime/device.h"
#include "tools/cli/command_line.h"
#include "tools/cli/output_file.h"
#include "tools/cli/progress.h"
#include "tools/cli/sizes.h"

namespace stax {
namespace {

struct Options {
  std::string device;
  std::string spec;
  std::string html;
  std::string baseline;
  double threshold_percent = 100 * kDefaultThreshold;
  std::string junit;
  std::string output;
  std::vector<std::string> sizes;
  bool calibrate = false;
  bool quiet = false;
};

// When it was measured, or what else it is.
std::string Provenance(const DeviceSpec& spec) {
  return spec.origin().empty() ? spec.date() : absl::StrCat("not measured: ", spec.origin());
}

void PrintSpec(const DeviceSpec& spec) {
  std::cout << absl::StreamFormat(
      "%s, %s\n  DRAM read   %8.1f GB/s\n  DRAM write  %8.1f GB/s\n  DRAM copy   %8.1f GB/s\n"
      "  latency     %8.1f ns\n  f32 FMA     %8.3f Tflop/s\n  launch      %8.2f us\n",
      Printable(spec.name()), Printable(Provenance(spec)), spec.dram_read_bytes_per_s() / 1e9,
      spec.dram_write_bytes_per_s() / 1e9, spec.dram_copy_bytes_per_s() / 1e9, spec.latency_ns(),
      spec.f32_flops_per_s() / 1e12, spec.launch_ns() / 1e3);
}

// Rates whose 95 % interval is wider than this are no base for verdicts.
constexpr double kWideInterval = 0.2;

absl::StatusOr<DeviceSpec> CalibrateNow(Device& device, KernelTimer& timer, bool quiet) {
  Progress progress(quiet);
  absl::StatusOr<DeviceSpec> spec =
      Calibrate(device, timer, [&](const std::string& what, int step, int steps) {
        progress.Show("calibrate", step, steps, what);
      });
  progress.Finish();
  if (spec.ok() && spec->widest_interval() > kWideInterval)
    std::cerr << absl::StreamFormat(
        "warning: the device's rates are uncertain (a 95 %% interval is %.0f %% of its median "
        "wide): "
        "something else ran meanwhile; calibrate on an idle machine and give the result with "
        "--spec\n",
        100 * spec->widest_interval());
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

// What is wrong with the baseline, after its file's name.
absl::Status BaselineError(const absl::Status& status, const Options& options) {
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat(options.baseline, " ", status.message()));
}

// The baseline, which times on this device can be compared with; none when none was given.
absl::StatusOr<std::optional<ProfileReport>> BaselineFor(const Device& device,
                                                         const KernelTimer& timer,
                                                         const Options& options) {
  if (options.baseline.empty()) return std::optional<ProfileReport>();
  absl::StatusOr<ProfileReport> baseline = ReadReport(options.baseline);
  if (!baseline.ok()) return baseline.status();
  absl::Status status = CheckBaseline(*baseline, device.info(), std::string(timer.method()));
  if (!status.ok()) return BaselineError(status, options);
  return std::optional<ProfileReport>(*std::move(baseline));
}

// The file's, when given; it must be of this device. Else the baseline's, which is of this device:
// measured again only under another driver. Else measured now.
absl::StatusOr<DeviceSpec> SpecFor(Device& device, KernelTimer& timer,
                                   const std::optional<ProfileReport>& baseline,
                                   const Options& options) {
  if (options.spec.empty()) {
    if (baseline && baseline->device().driver_version() == device.info().driver_version)
      return baseline->device();
    return CalibrateNow(device, timer, options.quiet);
  }
  absl::StatusOr<DeviceSpec> spec = ReadDevice(options.spec);
  if (!spec.ok()) return spec;
  DeviceInfo described;
  described.name = spec->name();
  described.kind = spec->kind();
  described.multiprocessors = spec->multiprocessors();
  if (DeviceIdentity(described) != DeviceIdentity(device.info()))
    return absl::InvalidArgumentError(absl::StrCat(options.spec, " describes ",
                                                   DeviceIdentity(described), "; this device is ",
                                                   DeviceIdentity(device.info())));
  return spec;
}

absl::StatusOr<ProfileReport> Measure(const Program& program, const Options& options) {
  absl::StatusOr<std::map<std::string, int64_t>> sizes = ParseSizes(options.sizes, program);
  if (!sizes.ok()) return sizes.status();
  absl::StatusOr<std::unique_ptr<Device>> device =
      OpenDevice(options.device.empty() ? program.target().kind() : options.device);
  if (!device.ok()) return device.status();
  absl::StatusOr<std::unique_ptr<KernelTimer>> timer = MakeKernelTimer(**device);
  if (!timer.ok()) return timer.status();
  absl::StatusOr<std::optional<ProfileReport>> baseline = BaselineFor(**device, **timer, options);
  if (!baseline.ok()) return baseline.status();
  absl::StatusOr<DeviceSpec> spec = SpecFor(**device, **timer, *baseline, options);
  if (!spec.ok()) return spec.status();
  Progress progress(options.quiet);
  absl::StatusOr<ProfileReport> report =
      ProfileProgram(program, **device, **timer, *spec, *sizes,
                     [&](const std::string& kernel, int step, int steps) {
                       progress.Show("profile", step, steps, kernel);
                     });
  progress.Finish();
  if (!report.ok() || !baseline->has_value()) return report;
  absl::Status status = CompareWithBaseline(**baseline, options.threshold_percent / 100, *report);
  if (!status.ok()) return BaselineError(status, options);
  return report;
}

absl::Status WriteOutputs(const ProfileReport& report, const Options& options) {
  std::cout << ReportTable(report);
  if (IsModelled(report)) std::cout << CountersTable(report);
  if (report.has_baseline()) std::cout << RegressionTable(report);
  absl::Status status;
  if (!options.html.empty()) status = WriteFileAtomically(options.html, ReportHtml(report));
  if (status.ok() && !options.junit.empty())
    status = WriteFileAtomically(options.junit, JunitXml(report));
  if (status.ok() && !options.output.empty()) status = WriteReport(options.output, report);
  return status;
}

absl::Status RunProfile(const std::string& path, const Options& options) {
  if (options.threshold_percent < 0)
    return absl::InvalidArgumentError(absl::StrCat("--threshold=", options.threshold_percent,
                                                   ": expected a percentage of at least 0"));
  absl::StatusOr<Program> program = ReadProgram(path);
  if (!program.ok()) return program.status();
  absl::StatusOr<ProfileReport> report = Measure(*program, options);
  if (!report.ok()) return report.status();
  absl::Status status = WriteOutputs(*report, options);
  if (!status.ok()) return status;
  if (int slower = CountSlower(*report); slower > 0)
    return absl::AbortedError(absl::StrCat("slower than ", options.baseline, ": ", slower, " of ",
                                           report->kernels_size(), " kernels"));
  return absl::OkStatus();
}

// The report may replace the baseline; nothing replaces the program.
absl::Status CheckOutputs(const std::vector<std::string>& programs, const Options& options) {
  const std::vector<std::string> outputs = {options.html, options.junit, options.output};
  absl::Status status = CheckOutputFiles(outputs);
  for (const std::string& program : programs) {
    for (const std::string& output : outputs) {
      if (status.ok()) status = CheckKeepsInput(program, output);
    }
  }
  return status;
}

int Main(int argc, char** argv) {
  Options options;
  CommandLine cli("stax-profile", "T.stax [options] | --calibrate [options]",
                  "Compares each kernel's time with its roofline prediction.");
  cli.Option("device", "NAME", "cpu, cuda, cuda:N or emu (default: what the program is for)",
             &options.device);
  cli.Flag("calibrate", "measure the device itself", &options.calibrate);
  cli.Option("spec", "D.device", "use this calibration instead of measuring", &options.spec);
  cli.Repeated("size", "NAME=N", "value of a size symbol (default: its hint)", &options.sizes);
  cli.Option("html", "FILE", "write a page with the roofline drawn", &options.html);
  cli.Option("baseline", "R.report", "compare with this report; exit code 1 if a kernel is slower",
             &options.baseline);
  cli.Option("threshold", "PERCENT", "a smaller change counts as none (default 5)",
             &options.threshold_percent);
  cli.Option("junit", "FILE", "write JUnit XML, one test case a kernel", &options.junit);
  cli.Option("o", "FILE", "write the report (or with --calibrate the device) here",
             &options.output);
  cli.Flag("quiet", "no progress", &options.quiet);
  absl::StatusOr<std::vector<std::string>> programs = cli.Parse(argc, argv);
  if (!programs.ok()) return cli.Fail(programs.status());
  absl::Status status = CheckOutputs(*programs, options);
  if (!status.ok()) return cli.Fail(status);
  if (options.calibrate && programs->empty()) {
    status = RunCalibration(options);
  } else if (programs->size() == 1 && !options.calibrate) {
    status = RunProfile(programs->front(), options);
  } else {
    status = absl::InvalidArgumentError(
        absl::StrCat("expected one program or --calibrate, got ",
                     options.calibrate ? "both" : absl::StrCat(programs->size(), " programs"),
                     " (--help explains)"));
  }
  return status.ok() ? cli.Done() : cli.Fail(status);
}

}  // namespace
}  // namespace stax

int main(int argc, char** argv) { return stax::Main(argc, argv); }
