// Runs the fuzz target on seeded mutations of PTX of real compilers.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "runtime/emulator/ptx/parser.h"
#include "runtime/emulator/ptx/testdata_files.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace stax::ptx {
namespace {

constexpr char kHeader[] = ".version 8.6\n.target sm_90a\n.address_size 64\n";

void Feed(const std::string& text) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(text.data()), text.size());
}

// Longer files would spend the time of the test on few mutations.
std::vector<std::string> Seeds() {
  std::vector<std::string> seeds;
  for (const auto& [name, text] : ReadTestdata()) {
    if (text.size() < 16000) seeds.push_back(text);
  }
  return seeds;
}

const char* const kPieces[] = {"{",
                               "}",
                               "[",
                               "]",
                               "(",
                               ")",
                               ",",
                               ";",
                               ":",
                               "|",
                               "@",
                               "!",
                               "+",
                               "-",
                               "*",
                               "/",
                               "%",
                               "_",
                               "\xff",
                               "\"",
                               "//",
                               "/*",
                               "*/",
                               "@@DWARF",
                               "0x",
                               "0f",
                               "0f3F800000",
                               "0d",
                               "1.5e",
                               "18446744073709551616",
                               "9223372036854775807",
                               ".reg .b32 %r<10>;",
                               ".reg .v4 .f32 %v;",
                               "%v.x",
                               "%tid.x",
                               "%r1",
                               "%p1",
                               "{ .reg .b32 t; L: bra L; }",
                               ".shared .b8 s[4];",
                               ".align 16",
                               ".global .u32 g[2][2] = {{1},{2}};",
                               ".visible ",
                               ".extern ",
                               ".func ",
                               ".entry ",
                               "generic(",
                               "0xFF(",
                               ".maxntid 1,2,3",
                               ".loc 1 2 3",
                               ".section .debug_x {",
                               "call ",
                               "bra ",
                               "brx.idx ",
                               "x: .branchtargets ",
                               ".param .b64 a",
                               ".alias a, b;",
                               "WARP_SZ",
                               "<1048576>",
                               "1 ? 2 : 3",
                               "<<"};

std::string Mutate(std::string text, std::mt19937_64& random) {
  const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  for (size_t edits = 1 + below(3); edits > 0 && !text.empty(); --edits) {
    const size_t at = below(text.size());
    switch (below(7)) {
      case 0:
        text[at] = static_cast<char>(random());
        break;
      case 1:
        text.erase(at, 1 + below(8));
        break;
      case 2:
        text.insert(at, kPieces[below(std::size(kPieces))]);
        break;
      case 3: {  // a line again, elsewhere
        const size_t start = text.rfind('\n', at) + 1;
        const size_t other = text.rfind('\n', below(text.size())) + 1;
        text.insert(other, text.substr(start, text.find('\n', at) + 1 - start));
        break;
      }
      case 4: {  // a piece of the text elsewhere
        const std::string piece = text.substr(at, 1 + below(30));
        text.replace(below(text.size()), below(4), piece);
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

TEST(PtxFuzzTest, Mutations) {
  const std::vector<std::string> seeds = Seeds();
  ASSERT_FALSE(seeds.empty());
  std::mt19937_64 random(5);
  int parsed = 0;
  constexpr int kMutations = 3000;
  for (int i = 0; i < kMutations; ++i) {
    const std::string text = Mutate(seeds[random() % seeds.size()], random);
    Feed(text);
    parsed += ParsePtx(text, "f").ok();
  }
  // Mutations that only break the syntax would test little, and so would ones that change nothing.
  EXPECT_GT(parsed, kMutations / 20);
  EXPECT_LT(parsed, kMutations / 2);
}

TEST(PtxFuzzTest, EveryPrefix) {
  const std::string text = ReadTestdata().at("stax_softmax_sm_90a.ptx").substr(0, 3000);
  for (size_t size = 0; size < text.size(); ++size) Feed(text.substr(0, size));
}

std::string Repeat(const std::string& piece, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += piece;
  return text;
}

std::string InBody(const std::string& body) {
  return absl::StrCat(kHeader, ".entry f() {\n", body, "}\n");
}

// Texts that could take long or much memory: deep nests, much from little, many names.
TEST(PtxFuzzTest, HostileTextsEndSoon) {
  const auto start = std::chrono::steady_clock::now();
  std::string ranges, digit_ranges, names, labels, scopes, branches;
  for (int i = 0; i < 20000; ++i) {
    absl::StrAppend(&ranges, ".reg .v4 .b32 %a", i, "_<1048576>; mov.b32 %a", i, "_7.x, 1;\n");
    absl::StrAppend(&digit_ranges, ".reg .b32 %a", i * 10 + 1, "<9>;\n");
    absl::StrAppend(&names, ".reg .b32 x", i, ";\n");
    absl::StrAppend(&labels, "L", i, ":\n");
    absl::StrAppend(&branches, "bra L", i, ";\n");
    absl::StrAppend(&scopes, "{ .reg .b32 t; L: mov.b32 t, x", i, "; bra L; bra L", i, "; }\n");
  }
  for (const std::string& text :
       {InBody(Repeat("{", 100000)),
        InBody(absl::StrCat(Repeat("{", 60), names, labels, scopes)),
        InBody("mov.b32 x, " + Repeat("(", 100000)),
        InBody("mov.b32 x, " + Repeat("-", 100000)),
        InBody("mov.b32 x, " + Repeat("1?", 100000)),
        InBody("mov.b32 x, " + Repeat("1+", 100000)),
        InBody("mov.b32 " + Repeat("{", 100000)),
        InBody("mov.b32 " + Repeat("[", 100000)),
        InBody(ranges),
        InBody(digit_ranges),
        InBody(absl::StrCat(names, labels, scopes)),
        InBody(branches + labels),
        InBody(absl::StrCat(labels, scopes, "mov.b32 y, 1;")),
        InBody(".reg .b32 t; mov.b32 t, " + Repeat("{t,t,", 50000)),
        kHeader + (".global .b8 x" + Repeat("[1]", 50000)),
        kHeader + (".global .b8 x[1099511627776] = {" + Repeat("1,", 100000) + "1};"),
        kHeader + std::string(".global .b8 x[][1099511627776] = {{1}, {2}, {3}};"),
        kHeader + (".global .b8 x[][1073741824] = {" + Repeat("{1},", 2000) + "{1}};"),
        kHeader + (".global .b8 x" + Repeat("[2]", 15) + " = " + Repeat("{", 100000)),
        kHeader + Repeat(".file 65536 \"x\"\n", 10000),
        kHeader + Repeat(".target sm_90\n", 50000),
        kHeader + Repeat(".func f;\n", 50000),
        std::string(Repeat("/*", 100000)),
        std::string(Repeat("\"", 100000)),
        std::string(Repeat("0", 1000000)),
        kHeader + (".version " + Repeat("9", 1000000) + ".5")}) {
    Feed(text);
  }
  const auto spent = std::chrono::steady_clock::now() - start;
  EXPECT_LT(std::chrono::duration<double>(spent).count(), 5.0);
}

}  // namespace
}  // namespace stax::ptx
