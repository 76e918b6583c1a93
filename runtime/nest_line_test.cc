#include "runtime/nest_line.h"

#include "gtest/gtest.h"

namespace stax {
namespace {

constexpr char kNest[] = "nest n {\n  buffer x: f32[4] in\n  %0 = load x[0] : f32  # \033\n}\n";

TEST(NestLineTest, TheNotedLineIsQuoted) {
  const absl::Status status =
      QuoteNestLine(AtNestLine(absl::AbortedError("out of bounds"), 3), kNest);
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted);
  EXPECT_EQ(status.message(), "out of bounds; the op: %0 = load x[0] : f32  # \\x1b");
}

TEST(NestLineTest, OtherStatusesStayAsTheyAre) {
  EXPECT_TRUE(QuoteNestLine(absl::OkStatus(), kNest).ok());
  EXPECT_EQ(QuoteNestLine(absl::InternalError("x"), kNest), absl::InternalError("x"));
  for (int line : {-1, 0, 6})
    EXPECT_EQ(QuoteNestLine(AtNestLine(absl::InternalError("x"), line), kNest).message(), "x");
}

}  // namespace
}  // namespace stax
