#include "tools/cli/sizes.h"

#include "gtest/gtest.h"

namespace stax {
namespace {

Program SampleProgram() {
  Program program;
  for (const char* name : {"batch", "seq"}) {
    SizeSymbolProto* symbol = program.add_symbols();
    symbol->set_name(name);
    symbol->set_lower(2);
    symbol->set_upper(4096);
  }
  return program;
}

std::string Error(const std::vector<std::string>& pairs, const Program& program = SampleProgram()) {
  absl::Status status = ParseSizes(pairs, program).status();
  EXPECT_TRUE(status.ok() || absl::IsInvalidArgument(status));
  return std::string(status.message());
}

TEST(ParseSizes, BoundsAreInside) {
  auto sizes = ParseSizes({"seq=4096", "batch=2"}, SampleProgram());
  ASSERT_TRUE(sizes.ok()) << sizes.status();
  EXPECT_EQ(*sizes, (std::map<std::string, int64_t>{{"batch", 2}, {"seq", 4096}}));
  EXPECT_EQ(Error({}), "");
}

TEST(ParseSizes, ErrorsSayWhatIsWrongAndWhatWouldBeRight) {
  EXPECT_EQ(Error({"n=8"}), "--size n: the program has no such size symbol; it has batch, seq");
  EXPECT_EQ(Error({"n=8"}, Program()),
            "--size n: the program has no such size symbol; it has none");
  for (const char* pair : {"seq", "seq=", "seq=8x", "=8", "", "seq=99999999999999999999"})
    EXPECT_EQ(Error({pair}), std::string("--size ") + pair + ": expected NAME=NUMBER");
  EXPECT_EQ(Error({"seq=1"}), "--size seq=1: seq's range is [2, 4096]");
  EXPECT_EQ(Error({"seq=4097"}), "--size seq=4097: seq's range is [2, 4096]");
  EXPECT_EQ(Error({"seq=8", "seq=9"}), "--size seq is given twice");
}

}  // namespace
}  // namespace stax
