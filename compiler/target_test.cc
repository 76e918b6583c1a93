#include "compiler/target.h"

#include "gtest/gtest.h"

namespace stax {
namespace {

TEST(TargetTest, KnownTargets) {
  for (const char* text : {"cuda:sm_80", "cuda:sm_90a", "cpu:x86-64-v3", "cpu:x86-64-v4"})
    EXPECT_EQ(ParseTarget(text)->ToString(), text);
  EXPECT_EQ(ParseTarget("cuda")->ToString(), "cuda:sm_90a");
  EXPECT_EQ(ParseTarget("cuda")->multiprocessors, 132);
  EXPECT_EQ(ParseTarget("cuda:sm_80")->multiprocessors, 108);
  EXPECT_EQ(ParseTarget("cpu")->kind, TargetSpec::Kind::kCpu);
  EXPECT_EQ(ParseTarget("cpu:x86-64-v3")->lanes, 8);
  EXPECT_EQ(ParseTarget("cpu:x86-64-v4")->lanes, 16);
}

TEST(TargetTest, UnknownTarget) {
  const absl::Status status = ParseTarget("cuda:sm_61").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(),
            "target 'cuda:sm_61' is not known; expected cuda, cuda:sm_80, cuda:sm_90a, cpu, "
            "cpu:x86-64-v3 or cpu:x86-64-v4");
}

}  // namespace
}  // namespace stax
