// Command lines of Stax's tools: options, help and exit codes are the same in all.
//
//   std::string device = "cpu";
//   std::vector<std::string> inputs;
//   CommandLine cli("stax-run", "T.stax [options]", "Runs a program on .npy files.");
//   cli.Option("device", "NAME", "cpu, cuda or cuda:N", &device);
//   cli.Repeated("input", "NAME=FILE.npy", "value of an input", &inputs);
//   absl::StatusOr<std::vector<std::string>> files = cli.Parse(argc, argv);
//   if (!files.ok()) return cli.Fail(files.status());
//
// "--name=value" and "--name value" are equal, "-o" is an option of one letter, "--" ends options.
// An option that is given twice has its last value. No value may be empty, and a word that names an
// option is no value.
#ifndef STAX_TOOLS_CLI_COMMAND_LINE_H_
#define STAX_TOOLS_CLI_COMMAND_LINE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace stax {

// docs/runtime.md, "Errors".
inline constexpr int kExitDone = 0;
inline constexpr int kExitNo = 1;          // the work ran and the answer is no
inline constexpr int kExitBadRequest = 2;  // request or input is bad
inline constexpr int kExitMissing = 3;     // device or dependency is missing

// Unavailable is kExitMissing; Internal, DataLoss and Aborted are kExitNo; other errors
// kExitBadRequest.
int ExitCode(const absl::Status& status);

class CommandLine {
 public:
  CommandLine(std::string tool, std::string usage, std::string purpose);

  void Option(std::string name, std::string value_name, std::string help, std::string* value);
  void Option(std::string name, std::string value_name, std::string help, int64_t* value);
  void Option(std::string name, std::string value_name, std::string help, double* value);
  // Each use adds one value; further words up to the next option are values too
  // ("--input a=1 b=2").
  void Repeated(std::string name, std::string value_name, std::string help,
                std::vector<std::string>* values);
  void Flag(std::string name, std::string help, bool* value);

  // The words that are no options. With --help: prints the help to stdout and exits with 0.
  // InvalidArgument for an unknown option (names the nearest known), a missing or malformed value.
  absl::StatusOr<std::vector<std::string>> Parse(int argc, char** argv) const;

  std::string Help() const;

  // Prints "tool: message" to stderr and returns the exit code.
  int Fail(const absl::Status& status) const;

  // The exit code of work that is done: kExitDone once all of stdout is written, else (a full disk)
  // that of Fail.
  int Done() const;

 private:
  enum class Kind { kValue, kFlag, kRepeated };
  struct Entry {
    std::string name;
    std::string value_name;
    std::string help;
    Kind kind;
    std::function<absl::Status(absl::string_view)> set;
  };

  bool IsOption(absl::string_view word) const;
  static absl::Status NeedsValue(const Entry& entry);
  const Entry* Find(absl::string_view name) const;
  absl::Status Unknown(absl::string_view typed, absl::string_view name) const;

  std::string tool_, usage_, purpose_;
  std::vector<Entry> entries_;
};

}  // namespace stax

#endif  // STAX_TOOLS_CLI_COMMAND_LINE_H_
