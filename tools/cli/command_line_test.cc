#include "tools/cli/command_line.h"

#include "gtest/gtest.h"

namespace stax {
namespace {

struct Values {
  std::string device = "cpu";
  int64_t trials = 0;
  double budget = 0;
  bool quiet = false;
  std::vector<std::string> inputs;
  std::vector<std::string> words;
};

absl::Status Parse(std::vector<std::string> arguments, Values& values) {
  CommandLine cli("tool", "FILE", "Does things.");
  cli.Option("device", "NAME", "where", &values.device);
  cli.Option("trials", "N", "how many", &values.trials);
  cli.Option("budget", "SECONDS", "how long", &values.budget);
  cli.Flag("quiet", "no progress", &values.quiet);
  cli.Repeated("input", "NAME=FILE", "input", &values.inputs);
  std::vector<char*> argv = {const_cast<char*>("tool")};
  for (std::string& argument : arguments) argv.push_back(argument.data());
  absl::StatusOr<std::vector<std::string>> words = cli.Parse(argv.size(), argv.data());
  if (!words.ok()) return words.status();
  values.words = *words;
  return absl::OkStatus();
}

TEST(CommandLine, AllForms) {
  Values v;
  ASSERT_TRUE(Parse({"a.stax", "--device=cuda:1", "--trials", "7", "-budget=0.5", "--quiet", "b",
                     "--input", "x=1.npy", "y=2.npy", "--", "-c"},
                    v)
                  .ok());
  EXPECT_EQ(v.device, "cuda:1");
  EXPECT_EQ(v.trials, 7);
  EXPECT_EQ(v.budget, 0.5);
  EXPECT_TRUE(v.quiet);
  EXPECT_EQ(v.inputs, (std::vector<std::string>{"x=1.npy", "y=2.npy"}));
  EXPECT_EQ(v.words, (std::vector<std::string>{"a.stax", "b", "-c"}));
}

TEST(CommandLine, ErrorsSayWhatIsWrongAndWhatWouldBeRight) {
  Values v;
  EXPECT_EQ(Parse({"--devise=cpu"}, v).message(),
            "unknown option --devise; the nearest is --device (--help lists all)");
  EXPECT_EQ(Parse({"--trials=x"}, v).message(), "--trials=x: expected a whole number");
  EXPECT_EQ(Parse({"--trials"}, v).message(), "--trials needs a value: --trials=N");
  EXPECT_EQ(Parse({"--quiet=maybe"}, v).message(), "--quiet=maybe: expected true or false");
}

TEST(CommandLine, TheLastOfTwoCounts) {
  Values v;
  ASSERT_TRUE(Parse({"--device=cpu", "--trials", "1", "--device", "cuda", "--trials=-2"}, v).ok());
  EXPECT_EQ(v.device, "cuda");
  EXPECT_EQ(v.trials, -2);
}

TEST(CommandLine, AnOptionIsNotTheValueOfTheOneBefore) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"--device", "--quiet"},
                                                {"--device", "--trials=3"},
                                                {"--device="},
                                                {"--device", ""},
                                                {"--device", "--help"}}) {
    Values v;
    EXPECT_EQ(Parse(words, v).message(), "--device needs a value: --device=NAME") << words.back();
  }
  Values v;  // a word with a dash that is no option
  ASSERT_TRUE(Parse({"--device", "-x", "--trials", "-3"}, v).ok());
  EXPECT_EQ(v.device, "-x");
  EXPECT_EQ(v.trials, -3);
}

TEST(CommandLine, ARepeatedOptionWithoutAValueIsAnError) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"--input"},
                                                {"--input", "--quiet"},
                                                {"--input", "--", "a"},
                                                {"--input="}}) {
    Values v;
    EXPECT_EQ(Parse(words, v).message(), "--input needs a value: --input=NAME=FILE");
  }
}

TEST(CommandLine, NumbersAreFinite) {
  for (const char* word : {"nan", "inf", "-inf", "1e999"}) {
    Values v;
    EXPECT_EQ(Parse({std::string("--budget=") + word}, v).message(),
              std::string("--budget=") + word + ": expected a number");
  }
}

TEST(CommandLine, ExitCodesFollowTheKindOfError) {
  EXPECT_EQ(ExitCode(absl::OkStatus()), 0);
  EXPECT_EQ(ExitCode(absl::InternalError("")), 1);
  EXPECT_EQ(ExitCode(absl::NotFoundError("")), 2);
  EXPECT_EQ(ExitCode(absl::UnimplementedError("")), 2);
  EXPECT_EQ(ExitCode(absl::UnavailableError("")), 3);
}

}  // namespace
}  // namespace stax
