// stax-run: runs a program on .npy files, or ONNX's backend tests.
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "compiler/frontend/onnx_tensor.h"
#include "ir/artifact/artifact_io.h"
#include "ir/printable.h"
#include "runtime/device.h"
#include "runtime/executor.h"
#include "tools/cli/command_line.h"
#include "tools/npy/npy.h"
#include "tools/run/compare.h"
#include "tools/run/host_run.h"
#include "tools/run/onnx_test.h"

namespace stax {
namespace {

struct Options {
  std::string device;
  std::string target;
  std::vector<std::string> inputs;
  std::vector<std::string> expected;
  Tolerance tolerance;
  std::vector<std::string> onnx_tests;
  std::string output_dir;
  bool quiet = false;
  std::string graph = "auto";
  int64_t repeat = 1;
};

// "name=file" pairs of an option, by name.
absl::StatusOr<std::map<std::string, std::string>> ParsePairs(
    absl::string_view option, const std::vector<std::string>& pairs) {
  std::map<std::string, std::string> files;
  for (const std::string& pair : pairs) {
    std::pair<std::string, std::string> split = absl::StrSplit(pair, absl::MaxSplits('=', 1));
    if (split.first.empty() || split.second.empty())
      return absl::InvalidArgumentError(
          absl::StrCat(option, " ", pair, ": expected NAME=FILE.npy or NAME=FILE.pb"));
    if (!files.insert(split).second)
      return absl::InvalidArgumentError(absl::StrCat(option, " ", split.first, " is given twice"));
  }
  return files;
}

// A .npy file, or one of ONNX's .pb files.
absl::StatusOr<HostTensor> ReadTensor(const std::string& path) {
  if (!absl::EndsWith(path, ".pb")) return ReadNpy(path);
  absl::StatusOr<std::string> bytes = ReadFile(path);
  if (!bytes.ok()) return bytes.status();
  absl::StatusOr<NamedOnnxValue> tensor = ParseOnnxTensor(*bytes);
  if (!tensor.ok())
    return absl::Status(tensor.status().code(),
                        absl::StrCat(path, ": ", tensor.status().message()));
  return std::move(tensor->value);
}

// Tensors in the program's order.
absl::StatusOr<std::vector<HostTensor>> ReadInputs(const Program& program,
                                                   const std::vector<std::string>& pairs) {
  absl::StatusOr<std::map<std::string, std::string>> parsed = ParsePairs("--input", pairs);
  if (!parsed.ok()) return parsed.status();
  std::map<std::string, std::string>& files = *parsed;
  std::vector<std::string> names;
  for (int b : program.inputs()) {
    if (b < 0 || b >= program.buffers_size())
      return absl::InvalidArgumentError("the program is damaged: an input is no buffer");
    names.push_back(program.buffers(b).name());
  }
  // Before what is missing: a name that was mistyped is both.
  for (const auto& [name, file] : files) {
    if (!absl::c_linear_search(names, name))
      return absl::InvalidArgumentError(absl::StrCat(
          "the program has no input '", name, "'; its inputs are ", absl::StrJoin(names, ", ")));
  }
  std::vector<HostTensor> inputs;
  for (int b : program.inputs()) {
    const std::string& name = program.buffers(b).name();
    auto file = files.find(name);
    if (file == files.end())
      return absl::InvalidArgumentError(absl::StrCat(
          "input '", name, "' is missing: give --input ", name, "=FILE.npy (",
          program.buffers(b).dtype(), "[", absl::StrJoin(program.buffers(b).dims(), ", "), "])"));
    absl::StatusOr<HostTensor> tensor = ReadTensor(file->second);
    if (!tensor.ok()) return tensor.status();
    inputs.push_back(*std::move(tensor));
  }
  return inputs;
}

std::string Describe(const std::string& name, const HostTensor& tensor) {
  return absl::StrCat(Printable(name), ": ", std::string(DTypeName(tensor.dtype)), "[",
                      absl::StrJoin(tensor.dims, ", "), "]");
}

// An output's name may hold any character; the file's must not leave the folder.
std::string FileName(std::string name) {
  for (char& c : name) {
    if (c == '/' || c == '\0') c = '_';
  }
  return absl::StrCat(name.empty() || name[0] == '.' ? "_" : "", name, ".npy");
}

// What outputs should be, by their position.
using Expected = std::map<int, HostTensor>;

absl::StatusOr<Expected> ReadExpected(const Program& program, const Options& options) {
  absl::StatusOr<std::map<std::string, std::string>> files =
      ParsePairs("--expect", options.expected);
  if (!files.ok()) return files.status();
  Expected expected;
  for (const auto& [name, path] : *files) {
    int o = 0;
    while (o < program.outputs_size() && program.outputs(o).name() != name) ++o;
    if (o == program.outputs_size())
      return absl::InvalidArgumentError(absl::StrCat(
          "--expect: the program has no output '", name, "'; its outputs are ",
          absl::StrJoin(program.outputs(), ", ", [](std::string* text, const Output& output) {
            text->append(output.name());
          })));
    absl::StatusOr<HostTensor> want = ReadTensor(path);
    if (!want.ok()) return want.status();
    expected[o] = *std::move(want);
  }
  return expected;
}

// Aborted when an output is not as expected.
absl::Status CheckOutputs(const Program& program, const std::vector<HostTensor>& outputs,
                          const Expected& expected, const Tolerance& tolerance) {
  for (const auto& [o, want] : expected) {
    const std::string& name = program.outputs(o).name();
    absl::Status status = CompareTensors(outputs[o], want, tolerance);
    if (!status.ok())
      return absl::AbortedError(absl::StrCat("output '", name, "': ", status.message()));
    std::cout << Printable(name) << " is as expected (rtol " << tolerance.rtol << ", atol "
              << tolerance.atol << ")\n";
  }
  return absl::OkStatus();
}

// The files of --output-dir, one an output. InvalidArgument when two would have one name.
absl::StatusOr<std::vector<std::string>> OutputFiles(const Program& program,
                                                     const std::string& folder) {
  std::map<std::string, std::string> outputs;  // by file
  std::vector<std::string> files;
  for (const Output& output : program.outputs()) {
    files.push_back(absl::StrCat(folder, "/", FileName(output.name())));
    auto [other, is_new] = outputs.insert({files.back(), output.name()});
    if (!is_new)
      return absl::InvalidArgumentError(absl::StrCat("--output-dir: the outputs '", other->second,
                                                     "' and '", output.name(), "' would both be ",
                                                     files.back()));
  }
  return files;
}

absl::Status WriteOutputs(const std::vector<HostTensor>& outputs, const std::string& folder,
                          const std::vector<std::string>& files) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    return absl::InvalidArgumentError(
        absl::StrCat("cannot make folder ", folder, ": ", error.message()));
  for (size_t o = 0; o < outputs.size(); ++o) {
    if (absl::Status status = WriteNpy(files[o], outputs[o]); !status.ok()) return status;
  }
  return absl::OkStatus();
}

void PrintRuns(const Executor& executor, int64_t runs, double microseconds) {
  std::cout << runs << " runs, " << microseconds << " us each; temporaries take "
            << executor.temporary_bytes() << " bytes; ";
  const std::string why = executor.WhyNoGraphs();
  std::cout << executor.graph_replays() << " replayed from a graph";
  if (!why.empty()) std::cout << " (" << Printable(why) << ")";
  std::cout << "\n";
}

absl::Status RunProgram(const std::string& path, const Options& options) {
  absl::StatusOr<Program> program = ReadProgram(path);
  if (!program.ok()) return program.status();
  std::string device_name = options.device.empty() ? program->target().kind() : options.device;
  absl::StatusOr<std::unique_ptr<Device>> device = OpenDevice(device_name);
  if (!device.ok()) return device.status();
  absl::StatusOr<std::vector<HostTensor>> inputs = ReadInputs(*program, options.inputs);
  if (!inputs.ok()) return inputs.status();
  absl::StatusOr<Expected> expected = ReadExpected(*program, options);
  if (!expected.ok()) return expected.status();
  absl::StatusOr<std::vector<std::string>> files = OutputFiles(*program, options.output_dir);
  if (!options.output_dir.empty() && !files.ok()) return files.status();
  absl::StatusOr<std::unique_ptr<Executor>> executor = Executor::Create(*program, device->get());
  if (!executor.ok()) return executor.status();
  if (options.graph == "auto") (*executor)->UseGraphs();
  double microseconds = 0;
  absl::StatusOr<std::vector<HostTensor>> outputs =
      RunOnHost(**executor, **device, *inputs, options.repeat, &microseconds);
  if (!outputs.ok()) return outputs.status();
  if (options.repeat > 1) PrintRuns(**executor, options.repeat, microseconds);
  for (int o = 0; o < program->outputs_size(); ++o)
    std::cout << Describe(program->outputs(o).name(), (*outputs)[o]) << "\n";
  if (!options.output_dir.empty()) {
    absl::Status status = WriteOutputs(*outputs, options.output_dir, *files);
    if (!status.ok()) return status;
  }
  return CheckOutputs(*program, *outputs, *expected, options.tolerance);
}

// One line a case, then the count. Aborted when a case failed.
absl::Status RunOnnxTests(const Options& options) {
  std::string name = options.device.empty() ? DefaultDeviceName() : options.device;
  absl::StatusOr<std::unique_ptr<Device>> device = OpenDevice(name);
  if (!device.ok()) return device.status();
  std::string target = options.target.empty() ? (*device)->info().best_target : options.target;
  absl::StatusOr<std::vector<std::string>> folders = FindOnnxTests(options.onnx_tests);
  if (!folders.ok()) return folders.status();
  static constexpr absl::string_view kWords[] = {"passed", "FAILED", "skipped"};
  int counts[3] = {0, 0, 0};
  for (const std::string& folder : *folders) {
    OnnxTestResult result = RunOnnxTest(folder, target, **device);
    int verdict = static_cast<int>(result.verdict);
    ++counts[verdict];
    if (options.quiet && result.verdict == OnnxTestResult::Verdict::kPassed) continue;
    std::string line = std::filesystem::path(folder).filename().string();
    if (!result.reason.empty()) absl::StrAppend(&line, ": ", result.reason);
    std::cout << kWords[verdict] << "  " << Printable(line) << '\n' << std::flush;
  }
  std::cout << counts[0] << " passed, " << counts[1] << " failed, " << counts[2] << " skipped\n";
  return counts[1] == 0 ? absl::OkStatus() : absl::AbortedError("some cases failed");
}

int Main(int argc, char** argv) {
  Options options;
  CommandLine cli("stax-run", "T.stax [options] | --onnx-test DIR...",
                  "Runs a program on .npy files, or ONNX backend-test folders.");
  cli.Option("device", "NAME", "cpu, cuda, cuda:N or emu (default: what the program is for)",
             &options.device);
  cli.Repeated("input", "NAME=FILE",
               "values of inputs, each NAME=FILE a word: .npy, or .pb of ONNX's tests",
               &options.inputs);
  cli.Repeated("expect", "NAME=FILE", "what an output should be; exit code 1 when it is not",
               &options.expected);
  cli.Option("rtol", "R", "with --expect: relative tolerance (default 1e-3)",
             &options.tolerance.rtol);
  cli.Option("atol", "A", "with --expect: absolute tolerance (default 1e-7)",
             &options.tolerance.atol);
  cli.Option("repeat", "N", "run N times and print the time of a run (default 1)", &options.repeat);
  cli.Option("graph", "auto|off",
             "with --repeat: replay launches from a device graph where that is possible (default "
             "auto)",
             &options.graph);
  cli.Option("output-dir", "DIR", "write each output to DIR/NAME.npy", &options.output_dir);
  cli.Repeated("onnx-test", "DIR", "folders with ONNX backend tests, at any depth",
               &options.onnx_tests);
  cli.Option("target", "TARGET", "with --onnx-test: compile for it (default: the device's best)",
             &options.target);
  cli.Flag("quiet", "with --onnx-test: only failed and skipped cases", &options.quiet);
  absl::StatusOr<std::vector<std::string>> programs = cli.Parse(argc, argv);
  if (!programs.ok()) return cli.Fail(programs.status());
  absl::Status status;
  if (options.tolerance.rtol < 0 || options.tolerance.atol < 0) {
    status =
        absl::InvalidArgumentError("--rtol and --atol: expected numbers that are not negative");
  } else if (options.graph != "auto" && options.graph != "off") {
    status = absl::InvalidArgumentError(
        absl::StrCat("--graph=", options.graph, ": expected auto or off"));
  } else if (options.repeat < 1) {
    status = absl::InvalidArgumentError(
        absl::StrCat("--repeat=", options.repeat, ": expected a number of runs, at least 1"));
  } else if (!options.onnx_tests.empty() && !programs->empty()) {
    status = absl::InvalidArgumentError(absl::StrCat(
        "expected one program or --onnx-test, got both; ", programs->front(), " is the program"));
  } else if (!options.onnx_tests.empty()) {
    status = RunOnnxTests(options);
  } else if (programs->size() == 1) {
    status = RunProgram(programs->front(), options);
  } else {
    status = absl::InvalidArgumentError(
        absl::StrCat("expected one program, got ", programs->size(), " (--help explains)"));
  }
  return status.ok() ? cli.Done() : cli.Fail(status);
}

}  // namespace
}  // namespace stax

int main(int argc, char** argv) { return stax::Main(argc, argv); }
