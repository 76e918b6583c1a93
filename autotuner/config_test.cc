#include "autotuner/config.h"

#include "gtest/gtest.h"

namespace stax {
namespace {

ConfigSpace SampleSpace() {
  ConfigSpace space;
  Parameter* x = space.add_parameters();
  x->set_name("XBLOCK");
  for (int v : {1, 2, 4}) x->add_values(v);
  Parameter* w = space.add_parameters();
  w->set_name("WARPS");
  for (int v : {1, 2}) w->add_values(v);
  return space;
}

TEST(EnumerateSpace, ProductInRowMajorOrder) {
  absl::StatusOr<std::vector<TuningConfig>> configs = EnumerateSpace(SampleSpace(), 100);
  ASSERT_TRUE(configs.ok());
  ASSERT_EQ(configs->size(), 6u);
  EXPECT_EQ(ToText((*configs)[0]), "WARPS=1 XBLOCK=1");
  EXPECT_EQ(ToText((*configs)[1]), "WARPS=2 XBLOCK=1");
  EXPECT_EQ(ToText((*configs)[5]), "WARPS=2 XBLOCK=4");
}

TEST(EnumerateSpace, ConstraintsRemoveMembers) {
  ConfigSpace space = SampleSpace();
  space.add_constraints("4 - XBLOCK*WARPS");  // 4 * 2 is too large
  absl::StatusOr<std::vector<TuningConfig>> configs = EnumerateSpace(space, 100);
  ASSERT_TRUE(configs.ok());
  EXPECT_EQ(configs->size(), 5u);
}

TEST(EnumerateSpace, NoParametersIsOneConfiguration) {
  absl::StatusOr<std::vector<TuningConfig>> configs = EnumerateSpace(ConfigSpace(), 100);
  ASSERT_TRUE(configs.ok());
  EXPECT_EQ(configs->size(), 1u);
}

TEST(EnumerateSpace, Errors) {
  EXPECT_EQ(EnumerateSpace(SampleSpace(), 5).status().message(),
            "the configuration space has more than 5 members; use another strategy than "
            "exhaustive");
  ConfigSpace space = SampleSpace();
  space.add_constraints("4 - ZBLOCK");
  EXPECT_EQ(EnumerateSpace(space, 100).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace stax
