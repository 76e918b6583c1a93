#include "tools/cli/sizes.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace stax {
namespace {

absl::Status Unknown(const std::string& name, const Program& program) {
  std::string known = absl::StrJoin(
      program.symbols(), ", ",
      [](std::string* out, const SizeSymbolProto& symbol) { out->append(symbol.name()); });
  return absl::InvalidArgumentError(absl::StrCat("--size ", name,
                                                 ": the program has no such size symbol; it has ",
                                                 known.empty() ? "none" : known));
}

}  // namespace

absl::StatusOr<std::map<std::string, int64_t>> ParseSizes(const std::vector<std::string>& pairs,
                                                          const Program& program) {
  std::map<std::string, int64_t> sizes;
  for (const std::string& pair : pairs) {
    std::pair<std::string, std::string> split = absl::StrSplit(pair, absl::MaxSplits('=', 1));
    const std::string& name = split.first;
    int64_t value = 0;
    if (name.empty() || !absl::SimpleAtoi(split.second, &value))
      return absl::InvalidArgumentError(absl::StrCat("--size ", pair, ": expected NAME=NUMBER"));
    auto symbol = std::find_if(program.symbols().begin(), program.symbols().end(),
                               [&](const SizeSymbolProto& s) { return s.name() == name; });
    if (symbol == program.symbols().end()) return Unknown(name, program);
    if (value < symbol->lower() || value > symbol->upper())
      return absl::InvalidArgumentError(absl::StrCat("--size ", pair, ": ", name, "'s range is [",
                                                     symbol->lower(), ", ", symbol->upper(), "]"));
    if (!sizes.insert({name, value}).second)
      return absl::InvalidArgumentError(absl::StrCat("--size ", name, " is given twice"));
  }
  return sizes;
}

}  // namespace stax
