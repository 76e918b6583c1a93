// Fuzz target of command lines: the words are the lines of the input. Any words give values, or a
// message and exit code 2. "--help" ends the program as it should, so it is left out.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "ir/artifact/program.pb.h"
#include "ir/check.h"
#include "tools/cli/command_line.h"
#include "tools/cli/sizes.h"

namespace stax {
namespace {

void CheckIsBadRequest(const absl::Status& status) {
  STAX_CHECK(ExitCode(status) == kExitBadRequest && !status.message().empty(), status.ToString());
}

void CheckWords(std::vector<std::string> words) {
  std::string device;
  int64_t trials = 0;
  double budget = 0;
  bool quiet = false;
  std::vector<std::string> sizes;
  CommandLine cli("tool", "FILE", "Does things.");
  cli.Option("device", "NAME", "where", &device);
  cli.Option("trials", "N", "how many", &trials);
  cli.Option("budget", "SECONDS", "how long", &budget);
  cli.Option("o", "FILE", "output", &device);
  cli.Flag("quiet", "no progress", &quiet);
  cli.Repeated("size", "NAME=N", "value of a size", &sizes);
  std::string tool = "tool";
  std::vector<char*> argv = {tool.data()};
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const auto files = cli.Parse(static_cast<int>(argv.size()) - 1, argv.data());
  if (!files.ok()) return CheckIsBadRequest(files.status());
  STAX_CHECK(files->size() + sizes.size() <= words.size(), "more words than there were");
  Program program;
  for (const char* name : {"n", "m"}) {
    SizeSymbolProto* symbol = program.add_symbols();
    symbol->set_name(name);
    symbol->set_lower(2);
    symbol->set_upper(4096);
  }
  const auto parsed = ParseSizes(sizes, program);
  if (!parsed.ok()) return CheckIsBadRequest(parsed.status());
  STAX_CHECK(parsed->size() == sizes.size(), "a size was lost");
}

}  // namespace
}  // namespace stax

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<std::string> words;
  for (absl::string_view line :
       absl::StrSplit(absl::string_view(reinterpret_cast<const char*>(data), size), '\n')) {
    line = line.substr(0, line.find('\0'));
    absl::string_view name = line;
    while (absl::ConsumePrefix(&name, "-")) {
    }
    name = name.substr(0, name.find('='));
    if (name != "help" && name != "h") words.emplace_back(line);
  }
  stax::CheckWords(std::move(words));
  return 0;
}
