// stax-emu: runs a kernel of a PTX file on the CPU, checks what it does and counts.
#include <cstdint>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "ir/artifact/artifact_io.h"
#include "runtime/emulator/launch/emulator_module.h"
#include "runtime/emulator/launch/launch.h"
#include "runtime/emulator/memory/global_memory.h"
#include "runtime/emulator/ptx/parser.h"
#include "tools/cli/command_line.h"
#include "tools/cli/output_file.h"
#include "tools/emu/arguments.h"
#include "tools/emu/emu_report.h"

namespace stax {
namespace {

constexpr int64_t kMaxThreads = 1024;  // of this machine

struct Options {
  std::string kernel;
  std::string grid = "1";
  std::string block = "1";
  int64_t shared_bytes = 0;
  std::vector<std::string> arguments;
  std::string check = "all";
  bool cooperative = false;
  int64_t threads = 0;
  int64_t max_steps = emulator::kDefaultMaxSteps;
  EmuReportOptions report;
  bool json = false;
  bool quiet = false;
};

// "X", "X,Y" or "X,Y,Z".
absl::StatusOr<emulator::Dim3> ParseDim3(absl::string_view option, const std::string& text) {
  const std::vector<std::string> parts = absl::StrSplit(text, ',');
  uint32_t sizes[3] = {1, 1, 1};
  bool good = parts.size() <= 3;
  for (size_t i = 0; good && i < parts.size(); ++i)
    good = absl::SimpleAtoi(parts[i], &sizes[i]) && sizes[i] > 0;
  if (!good)
    return absl::InvalidArgumentError(
        absl::StrCat(option, "=", text, ": expected X, X,Y or X,Y,Z, each at least 1"));
  return emulator::Dim3{sizes[0], sizes[1], sizes[2]};
}

absl::StatusOr<emulator::LaunchRequest> RequestFor(const Options& options) {
  emulator::LaunchRequest request;
  absl::StatusOr<emulator::Dim3> grid = ParseDim3("--grid", options.grid);
  if (!grid.ok()) return grid.status();
  absl::StatusOr<emulator::Dim3> block = ParseDim3("--block", options.block);
  if (!block.ok()) return block.status();
  request.grid = *grid;
  request.block = *block;
  if (options.shared_bytes < 0 || options.max_steps < 0)
    return absl::InvalidArgumentError("--smem and --max-steps: expected numbers of at least 0");
  if (options.threads < 0 || options.threads > kMaxThreads)
    return absl::InvalidArgumentError(
        absl::StrCat("--threads=", options.threads, ": expected a number from 0 to ", kMaxThreads));
  request.max_steps = static_cast<uint64_t>(options.max_steps);
  request.dynamic_shared_bytes = static_cast<uint64_t>(options.shared_bytes);
  request.threads = static_cast<int>(options.threads);
  request.cooperative = options.cooperative;
  const std::string& check = options.check;
  if (check != "all" && check != "memory" && check != "race" && check != "none")
    return absl::InvalidArgumentError(
        absl::StrCat("--check=", check, ": expected none, memory, race or all"));
  request.check_memory = check == "all" || check == "memory";
  request.check_races = check == "all" || check == "race";
  return request;
}

// The only kernel of the file, when none is named.
absl::StatusOr<std::string> KernelName(const ptx::Module& module, const Options& options) {
  if (!options.kernel.empty()) return options.kernel;
  std::string only;
  for (const ptx::Function& function : module.functions) {
    if (!function.is_entry || function.is_declaration) continue;
    if (!only.empty())
      return absl::InvalidArgumentError(absl::StrCat("the file has several kernels, ", only,
                                                     " and ", function.name,
                                                     " among them; say which with --kernel"));
    only = function.name;
  }
  if (only.empty()) return absl::InvalidArgumentError("the file has no kernel (.entry)");
  return only;
}

// Prints what is to be told, unless it is `unordered`: something was found, or ended the launch, on
// several threads of this machine, and what it was may depend on them.
absl::StatusOr<emulator::LaunchResult> EmulateOnce(const std::string& path, const Options& options,
                                                   bool* unordered) {
  absl::StatusOr<emulator::LaunchRequest> request = RequestFor(options);
  if (!request.ok()) return request.status();
  std::vector<KernelArgument> arguments;
  std::vector<std::string> outputs;
  for (const std::string& text : options.arguments) {
    absl::StatusOr<KernelArgument> argument = ParseKernelArgument(text);
    if (!argument.ok()) return argument.status();
    if (argument->kind == KernelArgument::Kind::kOut ||
        argument->kind == KernelArgument::Kind::kInOut)
      outputs.push_back(argument->path);
    arguments.push_back(*std::move(argument));
  }
  if (absl::Status status = CheckOutputFiles(outputs); !status.ok()) return status;
  absl::StatusOr<std::string> text = ReadFile(path);
  if (!text.ok()) return text.status();
  absl::StatusOr<ptx::Module> parsed = ptx::ParsePtx(*text, path);
  if (!parsed.ok()) return parsed.status();
  absl::StatusOr<std::string> name = KernelName(*parsed, options);
  if (!name.ok())
    return absl::InvalidArgumentError(absl::StrCat(path, ": ", name.status().message()));
  emulator::GlobalMemory memory;
  auto in_file = [&](const absl::Status& status) {
    return absl::Status(status.code(), absl::StrCat(path, ": ", status.message()));
  };
  absl::StatusOr<std::unique_ptr<emulator::EmulatorModule>> module =
      emulator::EmulatorModule::Load(*std::move(parsed), &memory);
  if (!module.ok()) return in_file(module.status());
  absl::StatusOr<const emulator::CompiledKernel*> kernel = (*module)->Kernel(*name);
  if (!kernel.ok()) return in_file(kernel.status());
  absl::StatusOr<std::vector<uint8_t>> parameters =
      PlaceArguments((*kernel)->translated.flat, memory, arguments);
  if (!parameters.ok()) return parameters.status();
  request->parameters = *std::move(parameters);
  absl::StatusOr<emulator::LaunchResult> result =
      emulator::Launch(**module, **kernel, *request, &memory);
  if (!result.ok()) return result.status();
  *unordered = options.threads == 0 && result->threads > 1 &&
               (result->fault_count > 0 || !result->ended.ok());
  if (*unordered) return result;
  if (result->ended.ok()) {
    if (absl::Status status = WriteOutputs(arguments); !status.ok()) return status;
  }
  std::cout << (options.json ? EmuJson(**module, **kernel, *result, options.report)
                             : EmuText(**module, **kernel, *result, options.report));
  return result;
}

absl::StatusOr<emulator::LaunchResult> Emulate(const std::string& path, Options options) {
  bool unordered = false;
  absl::StatusOr<emulator::LaunchResult> result = EmulateOnce(path, options, &unordered);
  if (!unordered) return result;
  options.threads = 1;
  return EmulateOnce(path, options, &unordered);
}

int Main(int argc, char** argv) {
  Options options;
  CommandLine cli("stax-emu", "FILE.ptx [options]",
                  "Runs a kernel of a PTX file on the CPU, checks what it does and counts.");
  cli.Option("kernel", "NAME", "which kernel (default: the only one)", &options.kernel);
  cli.Option("grid", "X,Y,Z", "blocks (default 1)", &options.grid);
  cli.Option("block", "X,Y,Z", "threads of a block (default 1)", &options.block);
  cli.Option("smem", "BYTES", "dynamic shared memory of a block", &options.shared_bytes);
  cli.Repeated("arg", "ARGUMENT",
               "in:FILE.npy, out:f32[1024,8]:FILE.npy, inout:FILE.npy, value:FILE.npy (a struct) "
               "or a number such as i32:5",
               &options.arguments);
  cli.Option("check", "WHAT", "none, memory, race or all (default)", &options.check);
  cli.Flag("counters", "print what was counted", &options.report.counters);
  cli.Flag("instructions", "print what was counted of each instruction",
           &options.report.instructions);
  cli.Flag("json", "print faults and counters as JSON", &options.json);
  cli.Flag("cooperative", "all blocks are on the device together, for grid.sync()",
           &options.cooperative);
  cli.Option("threads", "N",
             "of this machine, for the blocks (default: all cores, or one where the blocks' order "
             "matters)",
             &options.threads);
  cli.Option("max-steps", "N",
             "end with an error after N instructions x threads (default 2^40; 0: never)",
             &options.max_steps);
  cli.Flag("quiet", "no progress (there is none)", &options.quiet);
  absl::StatusOr<std::vector<std::string>> files = cli.Parse(argc, argv);
  if (!files.ok()) return cli.Fail(files.status());
  if (files->size() != 1)
    return cli.Fail(absl::InvalidArgumentError(
        absl::StrCat("expected one PTX file, got ", files->size(), " (--help explains)")));
  absl::StatusOr<emulator::LaunchResult> result = Emulate(files->front(), options);
  if (!result.ok()) return cli.Fail(result.status());
  if (const int done = cli.Done(); done != kExitDone) return done;
  const int ended = result->ended.ok() ? kExitDone : cli.Fail(result->ended);
  return result->fault_count > 0 ? kExitNo : ended;
}

}  // namespace
}  // namespace stax

int main(int argc, char** argv) { return stax::Main(argc, argv); }
