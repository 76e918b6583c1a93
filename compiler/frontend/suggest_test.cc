#include "compiler/frontend/suggest.h"

#include "gtest/gtest.h"

namespace stax {
namespace {

TEST(SuggestTest, NearestNames) {
  EXPECT_EQ(Suggest("tna", {"tan", "tanh"}), "did you mean 'tan'?");
  EXPECT_EQ(Suggest("tann", {"atan", "tan", "tanh"}), "did you mean 'tan' or 'tanh'?");
  EXPECT_EQ(Suggest("solftmax", {"relu", "softmax"}), "did you mean 'softmax'?");
}

TEST(SuggestTest, AllNamesWhenNoneIsNear) {
  EXPECT_EQ(Suggest("convolution", {"relu", "softmax"}), "known are relu, softmax");
  EXPECT_EQ(Suggest("q", {"x", "yy"}), "known are x, yy");
  EXPECT_EQ(Suggest("q", {}), "there are none");
}

TEST(SuggestTest, LongListsAreCut) {
  const std::string text = Suggest("something", std::vector<std::string>(101, "x"));
  EXPECT_EQ(text.substr(text.size() - 6), "x, ...");
}

}  // namespace
}  // namespace stax
