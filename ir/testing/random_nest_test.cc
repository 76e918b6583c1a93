#include "ir/testing/random_nest.h"

#include "gtest/gtest.h"

namespace stax {
namespace {

constexpr uint64_t kSeeds = 600;

TEST(RandomNestTest, VerifiesAndRoundTripsThroughText) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const LoopNest nest = RandomNest(seed, {});
    const std::string text = ToText(nest);
    ASSERT_TRUE(Verify(nest).ok()) << Verify(nest) << "\n" << text;
    const absl::StatusOr<LoopNest> parsed = ParseLoopNest(text);
    ASSERT_TRUE(parsed.ok()) << parsed.status() << "\n" << text;
    ASSERT_EQ(ToText(*parsed), text);
    ASSERT_EQ(parsed->body.size(), nest.body.size());
    for (size_t id = 0; id < nest.body.size(); ++id)
      ASSERT_TRUE(parsed->body[id] == nest.body[id]) << id << "\n" << text;
  }
}

TEST(RandomNestTest, Interprets) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const LoopNest nest = RandomNest(seed, {});
    const auto sizes = RandomSizes(nest, seed);
    auto memory = RandomInputs(nest, sizes, seed);
    const absl::Status status = Interpret(nest, sizes, memory);
    ASSERT_TRUE(status.ok()) << status << "\n" << ToText(nest);
  }
}

TEST(RandomNestTest, TheSameSeedGivesTheSameNest) {
  EXPECT_EQ(ToText(RandomNest(7, {})), ToText(RandomNest(7, {})));
  EXPECT_NE(ToText(RandomNest(7, {})), ToText(RandomNest(8, {})));
}

// BodyBuilder's folding and identities change no bit of any output.
TEST(RandomNestTest, TheBuilderKeepsTheMeaning) {
  for (uint64_t seed = 0; seed < 10 * kSeeds; ++seed) {
    RandomNestOptions options;
    const LoopNest built = RandomNest(seed, options);
    options.style = RandomNestOptions::Style::kRaw;
    const LoopNest raw = RandomNest(seed, options);
    ASSERT_TRUE(Verify(raw).ok()) << Verify(raw) << "\n" << ToText(raw);
    const auto sizes = RandomSizes(raw, seed);
    auto expected = RandomInputs(raw, sizes, seed);
    auto actual = expected;
    ASSERT_TRUE(Interpret(raw, sizes, expected, Precision::kTyped).ok()) << ToText(raw);
    ASSERT_TRUE(Interpret(built, sizes, actual, Precision::kTyped).ok()) << ToText(built);
    ASSERT_TRUE(actual == expected) << ToText(raw) << ToText(built);
  }
}

// The generator reaches every op, so that the tests above mean something.
TEST(RandomNestTest, CoversTheVocabulary) {
  std::vector<int> ops(static_cast<int>(OpCode::kGe) + 1, 0), reduces(8, 0);
  int masked = 0, inner_stores = 0, outer_stores = 0, symbols = 0, after_reduce = 0;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const LoopNest nest = RandomNest(seed, {});
    const std::vector<bool> inner = InnerValues(nest);
    symbols += !nest.symbols.empty();
    for (size_t id = 0; id < nest.body.size(); ++id) {
      const LoopOp& op = nest.body[id];
      ++ops[static_cast<int>(op.code)];
      if (op.code == OpCode::kReduce) ++reduces[static_cast<int>(op.reduce)];
      masked += op.code == OpCode::kLoad && !op.operands.empty();
      if (op.code == OpCode::kStore) ++(inner[id] ? inner_stores : outer_stores);
      for (ValueId v : op.operands)
        after_reduce += inner[id] && nest.body[v].code == OpCode::kReduce;
    }
  }
  for (size_t i = 0; i < ops.size(); ++i) EXPECT_GT(ops[i], 0) << OpName(static_cast<OpCode>(i));
  for (int count : reduces) EXPECT_GT(count, 0);
  EXPECT_GT(masked, 0);
  EXPECT_GT(inner_stores, 0);
  EXPECT_GT(outer_stores, 0);
  EXPECT_GT(symbols, 0);
  EXPECT_GT(after_reduce, 0);
}

}  // namespace
}  // namespace stax
