// docs/loop_nest.md says what is true: its nests are correct, and it lists every operation.
#include <cstddef>
#include <fstream>
#include <sstream>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "ir/loop_nest.h"
#include "ir/loop_op.h"

namespace stax {
namespace {

std::string Page() {
  std::ifstream file("docs/loop_nest.md");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(LoopNestDocTest, NestsAreCorrect) {
  const std::string page = Page();
  const std::string begin = "```nest\n", end = "```";
  int nests = 0;
  for (size_t at = page.find(begin); at != std::string::npos; at = page.find(begin, at)) {
    at += begin.size();
    const absl::StatusOr<LoopNest> nest = ParseLoopNest(page.substr(at, page.find(end, at) - at));
    ASSERT_TRUE(nest.ok()) << nest.status();
    EXPECT_TRUE(Verify(*nest).ok()) << Verify(*nest);
    ++nests;
  }
  EXPECT_EQ(nests, 3);
}

TEST(LoopNestDocTest, EveryOperationIsListed) {
  const std::string page = Page();
  const auto listed = [&](std::string_view name) {
    return absl::StrContains(page, absl::StrCat("`", std::string(name), "`"));
  };
  for (int i = 0; i <= static_cast<int>(OpCode::kGe); ++i) {
    const OpCode code = static_cast<OpCode>(i);
    EXPECT_TRUE(code == OpCode::kReduce || listed(OpName(code))) << OpName(code);
  }
  for (int i = 0; i <= static_cast<int>(ReduceKind::kArgMinLast); ++i) {
    const ReduceKind kind = static_cast<ReduceKind>(i);
    EXPECT_TRUE(listed(absl::StrCat("reduce.", std::string(ReduceName(kind))))) << ReduceName(kind);
  }
}

}  // namespace
}  // namespace stax
