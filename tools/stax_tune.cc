// stax-tune: measures configurations of every kernel of a program and keeps the fastest.
#include <cstdint>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "autotuner/builder.h"
#include "autotuner/config.h"
#include "autotuner/runner.h"
#include "autotuner/store.h"
#include "autotuner/tuner.h"
#include "ir/artifact/artifact_io.h"
#include "ir/printable.h"
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
  std::string strategy = "candidates";
  std::string store = ":memory:";
  std::string output;
  std::string compiler;
  std::vector<std::string> sizes;
  double budget_seconds = std::numeric_limits<double>::infinity();
  int64_t trials = std::numeric_limits<int64_t>::max();
  int64_t seed = 0;
  bool quiet = false;
};

// What the last column says of a kernel.
std::string Outcome(const TuningRecord& record) {
  if (record.has_winner()) return ToText(FromProto(record.winner()));
  return record.measurements().empty() ? "not measured" : "nothing worked";
}

// One line a kernel: what won, over what.
void PrintTable(const Program& program) {
  std::cout << absl::StreamFormat("%-40s %12s %12s %8s  %s\n", "kernel", "first ns", "best ns",
                                  "measured", "configuration");
  for (const TuningRecord& record : program.tuning()) {
    double first = 0;
    double best = 0;
    for (const Measurement& m : record.measurements()) {
      if (m.status() != "ok") continue;
      if (first == 0) first = m.median_ns();
      if (best == 0 || m.median_ns() < best) best = m.median_ns();
    }
    std::cout << absl::StreamFormat("%-40s %12.0f %12.0f %8d  %s\n",
                                    Printable(program.kernels(record.kernel()).name()), first, best,
                                    record.measurements_size(), Outcome(record));
  }
}

absl::StatusOr<TunerOptions> TunerOptionsFor(const Options& options, const Program& program) {
  if (!(options.budget_seconds > 0))
    return absl::InvalidArgumentError("--budget: expected a number of seconds above 0");
  if (options.trials < 1)
    return absl::InvalidArgumentError("--trials: expected at least 1 measurement a kernel");
  absl::StatusOr<std::map<std::string, int64_t>> sizes = ParseSizes(options.sizes, program);
  if (!sizes.ok()) return sizes.status();
  TunerOptions tuner;
  tuner.strategy = options.strategy;
  tuner.budget = absl::Seconds(options.budget_seconds);
  tuner.trials = options.trials;
  tuner.sizes = *std::move(sizes);
  return tuner;
}

absl::Status Tune(const std::string& path, const Options& options) {
  absl::StatusOr<Program> program = ReadProgram(path);
  if (!program.ok()) return program.status();
  absl::StatusOr<TunerOptions> tuner = TunerOptionsFor(options, *program);
  if (!tuner.ok()) return tuner.status();
  if (absl::Status status = CheckOutputFiles({options.output}); !status.ok()) return status;
  std::string target = absl::StrCat(program->target().kind(), ":", program->target().arch());
  absl::StatusOr<std::unique_ptr<Device>> device =
      OpenDevice(options.device.empty() ? program->target().kind() : options.device);
  if (!device.ok()) return device.status();
  if (CodeKind((*device)->info()) != program->target().kind())
    return absl::InvalidArgumentError(absl::StrCat(path, " is compiled for ", target, "; the ",
                                                   (*device)->info().kind, " device runs ",
                                                   CodeKind((*device)->info()), " programs"));
  absl::StatusOr<std::unique_ptr<KernelTimer>> timer = MakeKernelTimer(**device);
  if (!timer.ok()) return timer.status();
  auto connect = [&](const std::string& to) {
    return options.compiler.empty() ? StartServiceBuilder(to)
                                    : ConnectServiceBuilder(options.compiler, to);
  };
  absl::StatusOr<std::unique_ptr<Builder>> builder = connect(target);
  if (!builder.ok()) return builder.status();
  absl::StatusOr<std::unique_ptr<Builder>> reference = connect("cpu");
  if (!reference.ok()) return reference.status();
  std::unique_ptr<Runner> runner = MakeDeviceRunner(device->get(), timer->get(), reference->get());
  absl::StatusOr<std::unique_ptr<Store>> store = OpenSqliteStore(options.store);
  if (!store.ok()) return store.status();

  Progress progress(options.quiet);
  tuner->progress = [&](const Kernel& kernel, int done, int known, const Measurement& last) {
    std::string text =
        last.status() == "ok" ? absl::StrFormat("%.0f ns", last.median_ns()) : last.status();
    progress.Show(kernel.name(), done, known,
                  absl::StrCat(ToText(FromProto(last.config())), ": ", text));
  };
  std::string_view timing = (*timer)->method();
  TunerSeams seams{builder->get(),
                   runner.get(),
                   store->get(),
                   DeviceIdentity((*device)->info()),
                   (*device)->info().driver_version,
                   std::string(timing)};
  absl::Status status = TuneProgram(*tuner, seams, *program);
  progress.Finish();
  if (!status.ok()) return status;
  PrintTable(*program);
  return options.output.empty() ? absl::OkStatus() : WriteProgram(options.output, *program);
}

int Main(int argc, char** argv) {
  Options options;
  CommandLine cli("stax-tune", "P.stax [options]",
                  "Measures configurations of every kernel and keeps the fastest right one.");
  cli.Option("device", "NAME", "cpu, cuda, cuda:N or emu (default: what the program is for)",
             &options.device);
  cli.Option("strategy", "NAME", "candidates (default) or exhaustive", &options.strategy);
  cli.Option("budget", "SECONDS", "stop after this time", &options.budget_seconds);
  cli.Option("trials", "N", "at most N measurements a kernel", &options.trials);
  cli.Option("store", "FILE", "SQLite file of measurements, reused and extended", &options.store);
  cli.Option("seed", "N", "for strategies that draw; those of this version do not", &options.seed);
  cli.Repeated("size", "NAME=N", "value of a size symbol (default: its hint)", &options.sizes);
  cli.Option("compiler", "ADDRESS", "use the compile service there instead of starting one",
             &options.compiler);
  cli.Option("o", "T.stax", "write the tuned program here", &options.output);
  cli.Flag("quiet", "no progress", &options.quiet);
  absl::StatusOr<std::vector<std::string>> programs = cli.Parse(argc, argv);
  if (!programs.ok()) return cli.Fail(programs.status());
  if (programs->size() != 1)
    return cli.Fail(absl::InvalidArgumentError(
        absl::StrCat("expected one program, got ", programs->size(), " (--help explains)")));
  absl::Status status = Tune(programs->front(), options);
  return status.ok() ? cli.Done() : cli.Fail(status);
}

}  // namespace
}  // namespace stax

int main(int argc, char** argv) { return stax::Main(argc, argv); }
