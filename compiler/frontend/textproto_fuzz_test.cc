// Runs the fuzz target on mutations of graphs with every operator: a fixed search that takes
// seconds, for every test run.
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace stax {
namespace {

constexpr int kMutations = 20000;

const char* const kSeeds[] = {
    R"text(symbol { name: "n" lower: 2 upper: 64 hint: 5 }
input { name: "x" dtype: "f32" dims: "n" dims: "4" }
input { name: "h" dtype: "bf16" dims: "2*n + 1" dims: "n // 2" }
constant { name: "c" dtype: "i32" dims: 2 dims: 2 ints: 1 ints: -2 ints: 3 ints: 0 }
constant { name: "half" dtype: "f32" values: 0.5 }
node { op: "add" input: "x" input: "half" output: "a" }
node { op: "softmax" input: "a" output: "s" axes: -1 }
node { op: "sum" input: "s" output: "r" axes: 0 keep_dims: true }
node { op: "cast" input: "r" output: "k" dtype: "f16" }
node { op: "gelu" input: "h" output: "g" }
output: "k" output: "g" output: "c")text",
    R"text(symbol { name: "n" upper: 100 }
input { name: "x" dtype: "f64" dims: "n" dims: "n" }
input { name: "v" dtype: "i64" dims: "3" }
node { op: "einsum" input: "x" input: "x" output: "e" equation: "ij,kj->ik" }
node { op: "einsum" input: "x" output: "d" equation: "ii->i" }
node { op: "slice" input: "x" output: "l" axes: 0 starts: "1" ends: "n" steps: "2" }
node { op: "pad" input: "v" output: "p" before: "2" after: "-1" mode: "reflect" }
node { op: "gather" input: "x" input: "v" output: "t" axes: 1 }
node { op: "reshape" input: "x" output: "f" dims: "n*n" }
node { op: "layer_norm" input: "x" output: "m" epsilon: 1e-3 }
output: "e" output: "d" output: "l" output: "p" output: "t" output: "f" output: "m")text",
    R"text(node { op: "iota" output: "i" dtype: "i32" dims: "3" dims: "4" axes: 1 }
node { op: "transpose" input: "i" output: "t" axes: 1 axes: 0 }
node { op: "concat" input: "t" input: "t" output: "c" axes: 0 }
node { op: "cum_sum" input: "c" output: "u" axes: 0 exclusive: true }
node { op: "unsqueeze" input: "u" output: "q" axes: 0 }
node { op: "expand" input: "q" output: "e" dims: "2" dims: "8" dims: "3" }
node { op: "argmax" input: "e" output: "m" axes: 2 }
node { op: "shape_value" output: "w" dims: "7" dims: "min(3, 5)" }
output: "m" output: "w")text"};

// Pieces that are likely to matter somewhere else.
const char* const kPieces[] = {"\"x\"", "\"n\"",  "0",   "-1",  "1",      "9223372036854775807",
                               "2",     "1e38",   "nan", "max", "n*n*n",  "-9223372036854775808",
                               "//",    "node {", "}",   "\"",  "dims: ", "axes: ",
                               "...",   "->",     ",",   "%",   "1 // 0", "4294967296"};

std::string Mutate(std::string text, std::mt19937& random) {
  const auto below = [&](size_t n) { return random() % n; };
  const int edits = 1 + static_cast<int>(below(4));
  for (int edit = 0; edit < edits; ++edit) {
    const size_t at = below(text.size() + 1), other = below(text.size() + 1);
    const size_t length = below(12);
    const std::string piece = kPieces[below(std::size(kPieces))];
    switch (below(5)) {
      case 0:
        text.insert(at, piece);
        break;
      case 1:
        text.replace(at, length, piece);
        break;
      case 2:
        text.erase(at, length);
        break;
      case 3:
        text.insert(at, text.substr(other, 4 * length));
        break;
      default:
        if (at < text.size()) text[at] = static_cast<char>(below(256));
        break;
    }
  }
  return text;
}

// Replaces one quoted string or number by another one, so that the text stays a GraphDef.
std::string SwapTokens(std::string text, std::mt19937& random) {
  std::vector<std::pair<size_t, size_t>> tokens;
  for (size_t at = 0; at < text.size();) {
    const size_t start = text.find_first_of("\"-0123456789", at);
    if (start == std::string::npos) break;
    const size_t end = text[start] == '"' ? text.find('"', start + 1) + 1
                                          : text.find_first_not_of("-.e0123456789", start);
    tokens.emplace_back(start, end - start);
    at = end;
  }
  const auto [from, from_length] = tokens[random() % tokens.size()];
  const auto [to, to_length] = tokens[random() % tokens.size()];
  const std::string value = text.substr(from, from_length);
  return text.replace(to, to_length, value);
}

TEST(TextProtoFuzzTest, Mutations) {
  std::mt19937 random(20240601);
  for (int k = 0; k < kMutations; ++k) {
    std::string text = kSeeds[random() % std::size(kSeeds)];
    text = random() % 2 == 0 ? Mutate(text, random) : SwapTokens(SwapTokens(text, random), random);
    SCOPED_TRACE(text);
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(text.data()), text.size());
  }
}

TEST(TextProtoFuzzTest, SeedsAreGraphs) {
  for (const char* seed : kSeeds) {
    const std::string text = seed;
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(text.data()), text.size());
  }
}

}  // namespace
}  // namespace stax
