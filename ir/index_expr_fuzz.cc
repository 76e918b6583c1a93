// Fuzz target of IndexExpr::Parse: whatever the bytes, an expression that prints and parses back or
// an InvalidArgument with a position, in bounded time. `bazel run --config=fuzz` is not needed: the
// test index_expr_fuzz_test feeds it mutated texts; with clang's -fsanitize=fuzzer this file alone
// is a fuzzer.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "ir/check.h"
#include "ir/index_expr.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<stax::IndexExpr> e = stax::IndexExpr::Parse(text);
  if (!e.ok()) {
    STAX_CHECK(absl::IsInvalidArgument(e.status()), e.status().ToString());
    STAX_CHECK(absl::StartsWith(e.status().message(), "index expression, column "),
               e.status().ToString());
    return 0;
  }
  const std::string printed = e->ToString();
  const absl::StatusOr<stax::IndexExpr> again = stax::IndexExpr::Parse(printed);
  // What was multiplied out may be longer than a text that is accepted.
  if (!again.ok()) {
    STAX_CHECK(printed.size() > 1000, printed + ": " + again.status().ToString());
    return 0;
  }
  STAX_CHECK(*again == *e, printed + " became " + again->ToString());
  STAX_CHECK(again->ToString() == printed, printed);
  return 0;
}
