#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "ir/loop_nest.h"
#include "ir/testing/random_nest.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace stax {
namespace {

void Feed(const std::string& text) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(text.data()), text.size());
}

std::vector<std::string> Seeds() {
  std::vector<std::string> seeds;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    RandomNestOptions options;
    options.max_ops = 10;
    seeds.push_back(ToText(RandomNest(seed, options)));
  }
  return seeds;
}

// Pieces that matter to the parser, to splice in anywhere; '~' ends a line.
std::vector<std::string> Pieces() {
  std::vector<std::string> pieces = absl::StrSplit(
      "%|: f32|store |loop i0: 4~|reduce r0: 0~|size q in [0, 5] hint 1~|nan|-0.0|bool|u64|f16|in|"
      "9223372036854775807|-9223372036854775808|99999999999999999999|floordiv(|mod(i0, 0)|min(|//|"
      "#|~|}|{|(|)|]|[|t0|n|i0|r0|*|-|,|%0| if %0|out|2|0|\xff",
      '|');
  for (std::string& piece : pieces) std::replace(piece.begin(), piece.end(), '~', '\n');
  return pieces;
}

std::string Mutate(std::string text, std::mt19937_64& random) {
  static const auto& pieces = *new std::vector<std::string>(Pieces());
  const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  for (size_t edits = 1 + below(3); edits > 0 && !text.empty(); --edits) {
    const size_t at = below(text.size());
    switch (below(8)) {
      case 0:
        text[at] = static_cast<char>(random());
        break;
      case 1:
        text.erase(at, 1 + below(8));
        break;
      case 2:
        text.insert(at, pieces[below(pieces.size())]);
        break;
      case 3: {  // a line again, elsewhere
        const size_t start = text.rfind('\n', at) + 1;
        const size_t other = text.rfind('\n', below(text.size())) + 1;
        text.insert(other, text.substr(start, text.find('\n', at) + 1 - start));
        break;
      }
      case 4: {  // a piece of the text elsewhere
        const std::string piece = text.substr(at, 1 + below(12));
        const size_t to = below(text.size());
        text.replace(to, below(4), piece);
        break;
      }
      default: {  // a number becomes another one, which seldom breaks the syntax
        const size_t digit = text.find_first_of("0123456789", at);
        if (digit != std::string::npos) text[digit] = static_cast<char>('0' + below(10));
        break;
      }
    }
  }
  return text;
}

TEST(LoopNestFuzzTest, Seeds) {
  for (const std::string& seed : Seeds()) Feed(seed);
  Feed("");
}

TEST(LoopNestFuzzTest, Mutations) {
  const std::vector<std::string> seeds = Seeds();
  std::mt19937_64 random(8);
  int parsed = 0, verified = 0, changed = 0;
  constexpr int kMutations = 20000;
  for (int i = 0; i < kMutations; ++i) {
    const std::string& seed = seeds[random() % seeds.size()];
    const std::string text = Mutate(seed, random);
    Feed(text);
    const absl::StatusOr<LoopNest> nest = ParseLoopNest(text);
    parsed += nest.ok();
    if (!nest.ok() || !Verify(*nest).ok()) continue;
    ++verified;
    changed += ToText(*nest) != seed;
  }
  // Mutations that only break the syntax would test little, and so would ones that change nothing.
  EXPECT_GT(parsed, kMutations / 20);
  EXPECT_LT(parsed, kMutations / 2);
  EXPECT_GT(verified, kMutations / 50);
  EXPECT_GT(changed, kMutations / 100);
}

}  // namespace
}  // namespace stax
