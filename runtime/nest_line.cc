#include "runtime/nest_line.h"

#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "ir/printable.h"

namespace stax {
namespace {

constexpr absl::string_view kNestLine = "stax/nest_line";

}  // namespace

absl::Status AtNestLine(absl::Status error, int line) {
  const std::string text = absl::StrCat(line);
  error.SetPayload(kNestLine, absl::Cord(absl::string_view(text)));
  return error;
}

absl::Status QuoteNestLine(absl::Status status, absl::string_view nest) {
  const auto noted = status.GetPayload(kNestLine);
  size_t line = 0;
  if (!noted.has_value() || !absl::SimpleAtoi(std::string(*noted), &line)) return status;
  const std::vector<absl::string_view> lines = absl::StrSplit(nest, '\n');
  if (line == 0 || line > lines.size()) return status;
  const absl::string_view op = absl::StripAsciiWhitespace(lines[line - 1]);
  return absl::Status(status.code(), absl::StrCat(status.message(), "; the op: ", Printable(op)));
}

}  // namespace stax
