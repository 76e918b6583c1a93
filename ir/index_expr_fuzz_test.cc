// Runs the fuzz target on seeded mutations of texts that reach every part of the parser.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>

#include "gtest/gtest.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

void Feed(const std::string& text) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(text.data()), text.size());
}

std::string Repeat(const std::string& piece, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += piece;
  return text;
}

TEST(IndexExprFuzzTest, SurvivesMutatedTexts) {
  const std::string kSeeds[] = {"16384*i0 + 8192*i1 - 3",
                                "floordiv(n*i0 + i1, n)",
                                "mod(floordiv(x, 4), 3)*4 + mod(x, 4)",
                                "min(32, n - 32*o) + max(a, -b)",
                                "(a + b)*(a - b) // 7 % m",
                                "9223372036854775807*z - 1",
                                "-(-(x % 12) // 4)",
                                "mod(12*floordiv(x, 12) + 5, 8*n) // (n*4)"};
  const std::string kPieces[] = {"(",
                                 ")",
                                 ",",
                                 "+",
                                 "-",
                                 "*",
                                 "//",
                                 "%",
                                 "mod(",
                                 "floordiv(",
                                 "min(",
                                 "max(",
                                 "i0",
                                 "n",
                                 "0",
                                 "1",
                                 "9223372036854775807",
                                 " ",
                                 "\x80",
                                 "_.",
                                 "4",
                                 "12"};
  std::mt19937_64 random(1);
  const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  for (int i = 0; i < 40000; ++i) {
    std::string text = kSeeds[below(std::size(kSeeds))];
    for (size_t edits = 1 + below(6); edits > 0; --edits) {
      const size_t at = below(text.size() + 1);
      switch (below(4)) {
        case 0:
          text.insert(at, kPieces[below(std::size(kPieces))]);
          break;
        case 1:
          text.erase(at, 1 + below(4));
          break;
        case 2:
          text.insert(at, kSeeds[below(std::size(kSeeds))]);
          break;
        default:
          text.insert(at, "(" + kSeeds[below(std::size(kSeeds))] + ")");
          break;
      }
    }
    Feed(text);
  }
}

// Short texts that could take long: exponential products, deep nests, long sums and products.
TEST(IndexExprFuzzTest, HostileTextsEndSoon) {
  const auto start = std::chrono::steady_clock::now();
  std::string sum, sums = "1";
  for (int i = 0; i < 6000; ++i) sum += "+v" + std::to_string(i * 7919 % 6000);
  std::string many_mods;
  for (int i = 0; i < 24; ++i) {
    const std::string k = std::to_string(i);
    many_mods.append(" + x").append(k).append("*mod(a").append(k).append(", 729)");
  }
  for (int i = 0; i < 60; ++i) sums += "*(a + b" + std::to_string(i) + ")";
  for (const std::string& text :
       {Repeat("(", 60000), Repeat("-", 60000) + "a", Repeat("a*", 30000) + "a",
        "a" + Repeat("//2", 20000), "a" + Repeat("%b", 30000), "0" + sum, sums,
        Repeat("mod(", 190) + "a" + Repeat(", 7)", 190),
        Repeat("floordiv(1+", 190) + "a" + Repeat(", b)", 190),
        Repeat("max(a*b, ", 150) + "c" + Repeat(")", 150),
        Repeat("(a+b+c)*mod(", 60) + "a" + Repeat(", 7)", 60),
        Repeat("(a+b+c)*floordiv(", 60) + "a" + Repeat(", n)", 60),
        "(0" + sum.substr(0, 4000) + ")*(a+b+c+d)" + Repeat("*e", 50),
        // Found by libFuzzer: each mod may be taken out of the division or not.
        std::string("_1*-29%729%(a % b)*(a -ib)*(a - b0b)*(a -ib)*(a - X) // 3 % m"),
        std::string(
            "(a % b+ b)*(a -bb)*(a)*(B%a - bb)*(mo-i-i23%m05%B%239%mi29%m92bb)*(a)*(B%ai23bb)"
            "*(4*-i-i23%m92%B%239%mi29%m92%B33-bb)*(a)*(B%a - bb)"
            "*(mo-i-i23%m05%B%239%mi29%m92bb)*(a)*(B%a - bb)"
            "*(4*-i-i23%m92%B%239%mi29%m92%B33a %Ba %B33a - b) // 3 % m"),
        std::string("(a % bb+ b)*(a -bb)*(a)*(Bii23im3ii4%a - "
                    "bb)*(4*-i-i23%m92%B%239%mi29%m92bb)*(a)*(Bii23im3ii44*-i-i85%m92%B%239%mi29%"
                    "m92%B33a+ b)*(a -bb)*(a)*(Bii23im3ii4%a - "
                    "bb)*(4*-i-i23%m92%B%239%mi29%m92bb)*(a)*(Bii23im3ii44*-i-i23%m92%B%239%mi29%"
                    "m92%B33a %B33a - bmax) //c3 % m"),
        std::string("(a % b+ b)*(a)*(a)*(a - iAAAAA - bb)*(a)*(a - i1ibb)*(a - bb)*(a)*(a // 2 + "
                    "b)*(a -b)*(ab+ b)*(a - bb)*(a)*(a - iAAAAAAAAAAAAAAb  ) // 2 %(a + b)// m"),
        std::string("(a % b+ b)*(a -bb)*(a)*(B%a - bb)*(mo-i-(a + "
                    "a*omi%ii44%2%2%in39%mi2%7%mi3%2%2%in39%mi2%7%mi2%72%7%mib)*(-a+b  )*o // 2 % "
                    "mqqqqqqqqqq%B%239%mi29%m92%B33-bb)*(a)*(B%i390a - bb)*(mo-i-i29%m92%B33a %Ba "
                    "%B33a - b) // 3 % m"),
        "floordiv(0" + many_mods + ", 3)", "mod(0" + many_mods + ", 6)"}) {
    Feed(text);
  }
  const auto spent = std::chrono::steady_clock::now() - start;
  EXPECT_LT(std::chrono::duration<double>(spent).count(), 5.0);
}

}  // namespace
