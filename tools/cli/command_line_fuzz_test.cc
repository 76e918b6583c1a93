// Runs the fuzz target on random command lines of pieces that mean something.
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>

#include "gtest/gtest.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

TEST(CommandLineFuzzTest, RandomWords) {
  const std::string kPieces[] = {
      "--device", "--trials", "--budget", "--quiet", "--size", "-o", "--",
      "-",        "---",      "=",        "n=4",     "=4",     "n=", "n=9223372036854775808",
      "1e309",    "nan",      "-1",       "true",    "x.stax", "\n", "\n",
      "\n",       "\n",       "--devcie"};
  std::mt19937_64 random(5);
  for (int i = 0; i < 50000; ++i) {
    std::string line;
    for (int pieces = static_cast<int>(random() % 12); pieces > 0; --pieces)
      line += kPieces[random() % std::size(kPieces)];
    SCOPED_TRACE(line);
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(line.data()), line.size());
  }
  // The nearest option to a long word takes its time; it must stay short of noticeable.
  const std::string word = "--" + std::string(100000, 'x');
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(word.data()), word.size());
}

}  // namespace
