#include "runtime/emulator/memory/coalescing.h"

#include <cstdint>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace stax::emulator {
namespace {

constexpr uint32_t kAll = ~uint32_t{0};

std::vector<uint64_t> Addresses(const std::function<uint64_t(uint64_t lane)>& of) {
  std::vector<uint64_t> addresses;
  for (uint64_t lane = 0; lane < 32; ++lane) addresses.push_back(of(lane));
  return addresses;
}

struct Case {
  const char* name;
  int bytes;
  std::function<uint64_t(uint64_t)> address;
  int sectors;
  int lines;
  int wavefronts;
  int least;
  uint32_t lanes = kAll;
  bool is_load = true;
};

void Check(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    std::vector<uint64_t> addresses = Addresses(c.address);
    Coalescing pieces = CoalescingOf(c.lanes, addresses.data(), c.bytes);
    EXPECT_EQ(pieces.sectors, c.sectors);
    EXPECT_EQ(pieces.lines, c.lines);
    Wavefronts fronts = WavefrontsOf(c.lanes, addresses.data(), c.bytes, c.is_load);
    EXPECT_EQ(fronts.wavefronts, c.wavefronts);
    EXPECT_EQ(fronts.least, c.least);
  }
}

// sectors, lines, wavefronts, least
TEST(CoalescingTest, UnitStrideOfEachWidth) {
  Check({
      {"1 byte", 1, [](uint64_t i) { return i; }, 1, 1, 1, 1},
      {"2 bytes", 2, [](uint64_t i) { return 2 * i; }, 2, 1, 1, 1},
      {"4 bytes", 4, [](uint64_t i) { return 4 * i; }, 4, 1, 1, 1},
      {"8 bytes", 8, [](uint64_t i) { return 8 * i; }, 8, 2, 2, 2},
      {"16 bytes", 16, [](uint64_t i) { return 16 * i; }, 16, 4, 4, 4},
  });
}

TEST(CoalescingTest, Offsets) {
  Check({
      {"4 bytes from 4", 4, [](uint64_t i) { return 4 + 4 * i; }, 5, 2, 1, 1},
      {"4 bytes from 32", 4, [](uint64_t i) { return 32 + 4 * i; }, 4, 2, 1, 1},
      {"4 bytes from 124", 4, [](uint64_t i) { return 124 + 4 * i; }, 5, 2, 1, 1},
      {"2 bytes from 2", 2, [](uint64_t i) { return 2 + 2 * i; }, 3, 1, 1, 1},
      {"8 bytes from 8", 8, [](uint64_t i) { return 8 + 8 * i; }, 9, 3, 2, 2},
      {"16 bytes from 16", 16, [](uint64_t i) { return 16 + 16 * i; }, 17, 5, 4, 4},
  });
}

TEST(CoalescingTest, BroadcastAndShuffledLanes) {
  Check({
      {"one word", 4, [](uint64_t) { return 64; }, 1, 1, 1, 1},
      {"one double", 8, [](uint64_t) { return 64; }, 1, 1, 1, 1},
      {"one vector", 16, [](uint64_t) { return 64; }, 1, 1, 2, 2},
      {"one double, stored", 8, [](uint64_t) { return 64; }, 1, 1, 2, 2, kAll, false},
      {"one vector, stored", 16, [](uint64_t) { return 64; }, 1, 1, 4, 4, kAll, false},
      {"reversed", 4, [](uint64_t i) { return 4 * (31 - i); }, 4, 1, 1, 1},
      {"even lanes, then odd ones", 4, [](uint64_t i) { return 4 * (i / 2 + i % 2 * 16); }, 4, 1, 1,
       1},
      {"two words of a bank in turn", 4, [](uint64_t i) { return i % 2 * 128; }, 2, 2, 2, 1},
      {"halves of one word", 2, [](uint64_t i) { return 2 * (i % 2); }, 1, 1, 1, 1},
  });
}

TEST(CoalescingTest, SomeLanes) {
  Check({
      {"first half", 4, [](uint64_t i) { return 4 * i; }, 2, 1, 1, 1, 0xffff},
      {"every other lane", 4, [](uint64_t i) { return 4 * i; }, 4, 1, 1, 1, 0x55555555},
      {"a lane", 4, [](uint64_t i) { return 4 * i; }, 1, 1, 1, 1, 0x80000000},
      {"first half of 8 bytes", 8, [](uint64_t i) { return 8 * i; }, 4, 1, 1, 1, 0xffff},
      {"a lane of each quarter", 16, [](uint64_t i) { return 16 * i; }, 4, 4, 4, 2, 0x01010101},
      {"the same, stored", 16, [](uint64_t i) { return 16 * i; }, 4, 4, 4, 4, 0x01010101, false},
      {"a quarter of 16 bytes", 16, [](uint64_t i) { return 16 * i; }, 4, 1, 1, 1, 0xff00},
  });
}

TEST(CoalescingTest, Columns) {
  Check({
      // A tile of 32 x 32 words, transposed: all lanes in one bank; with a word of padding, none.
      {"column", 4, [](uint64_t i) { return 128 * i; }, 32, 32, 32, 1},
      // 132 i mod 32 is 4 (i mod 8): no lane shares a sector; lines 132 i / 128: 32 of them.
      {"padded column", 4, [](uint64_t i) { return 132 * i; }, 32, 32, 1, 1},
      {"column of doubles", 8, [](uint64_t i) { return 256 * i; }, 32, 32, 32, 2},
      {"column of vectors", 16, [](uint64_t i) { return 512 * i; }, 32, 32, 32, 4},
      {"rows of 8 lanes", 4, [](uint64_t i) { return i / 8 * 4096 + i % 8 * 4; }, 4, 4, 4, 1},
      {"rows of 8 lanes, other banks", 4, [](uint64_t i) { return i / 8 * 4128 + i % 8 * 4; }, 4, 4,
       1, 1},
  });
}

// 4-byte words at every stride s: words s*i; distinct sectors are the multiples of s below 32 s by
// eights, and gcd(s, 32) words meet in a bank.
TEST(CoalescingTest, Strides) {
  struct Expected {
    int stride, sectors, lines, wavefronts;
  };
  // Worked out by hand: last word 31 s lies in sector 31 s / 8 and line 31 s / 32; below a stride
  // of 8 (32) words each sector (line) up to there is hit, from then on each lane has its own.
  const Expected expected[] = {
      {2, 8, 2, 2},     {3, 12, 3, 1},   {4, 16, 4, 4},   {5, 20, 5, 1},   {6, 24, 6, 2},
      {7, 28, 7, 1},    {8, 32, 8, 8},   {9, 32, 9, 1},   {10, 32, 10, 2}, {11, 32, 11, 1},
      {12, 32, 12, 4},  {13, 32, 13, 1}, {14, 32, 14, 2}, {15, 32, 15, 1}, {16, 32, 16, 16},
      {17, 32, 17, 1},  {18, 32, 18, 2}, {19, 32, 19, 1}, {20, 32, 20, 4}, {21, 32, 21, 1},
      {22, 32, 22, 2},  {23, 32, 23, 1}, {24, 32, 24, 8}, {25, 32, 25, 1}, {26, 32, 26, 2},
      {27, 32, 27, 1},  {28, 32, 28, 4}, {29, 32, 29, 1}, {30, 32, 30, 2}, {31, 32, 31, 1},
      {32, 32, 32, 32}, {33, 32, 32, 1},
  };
  for (const Expected& e : expected) {
    SCOPED_TRACE(e.stride);
    Check({{"stride", 4, [&](uint64_t i) { return 4 * e.stride * i; }, e.sectors, e.lines,
            e.wavefronts, 1}});
  }
}

TEST(CoalescingTest, StridesOfWideAccesses) {
  Check({
      // A half-warp of doubles, every second: 16 lanes on 64 words, two words a bank.
      {"doubles by 2", 8, [](uint64_t i) { return 16 * i; }, 16, 4, 4, 2},
      // 3 doubles apart: words 6 i, 6 i + 1; banks of a half-warp 0, 6, .. 90 mod 32 all differ.
      {"doubles by 3", 8, [](uint64_t i) { return 24 * i; }, 24, 6, 2, 2},
      {"doubles by 4", 8, [](uint64_t i) { return 32 * i; }, 32, 8, 8, 2},
      {"vectors by 2", 16, [](uint64_t i) { return 32 * i; }, 32, 8, 8, 4},
      {"vectors by 3", 16, [](uint64_t i) { return 48 * i; }, 32, 12, 4, 4},
      {"halves by 2", 2, [](uint64_t i) { return 4 * i; }, 4, 1, 1, 1},
      {"halves by 64", 2, [](uint64_t i) { return 128 * i; }, 32, 32, 32, 1},
  });
}

TEST(CoalescingTest, ConflictsOfEachDegree) {
  for (uint64_t ways = 1; ways <= 32; ++ways) {
    SCOPED_TRACE(ways);
    // The first lanes in bank 0, one word each, the others in a bank of their own.
    std::vector<uint64_t> addresses =
        Addresses([&](uint64_t i) { return i < ways ? 128 * i : 4 * i; });
    Wavefronts fronts = WavefrontsOf(kAll, addresses.data(), 4, true);
    EXPECT_EQ(fronts.wavefronts, ways);
    EXPECT_EQ(fronts.least, 1);
  }
}

TEST(CoalescingTest, Stretches) {
  EXPECT_EQ(CoalescingOf(0, 0).sectors, 0);
  EXPECT_EQ(CoalescingOf(31, 1).sectors, 1);
  EXPECT_EQ(CoalescingOf(31, 2).sectors, 2);
  EXPECT_EQ(CoalescingOf(64, 4096).sectors, 128);
  EXPECT_EQ(CoalescingOf(64, 4096).lines, 33);
}

// What an H200 counted.
TEST(CoalescingTest, WavefrontsAreTheHardwares) {
  std::ifstream file("runtime/emulator/memory/testdata/h200_wavefronts.txt");
  int patterns = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    int bytes = 0;
    uint32_t lanes = 0;
    int counted[4] = {};
    words >> bytes >> std::hex >> lanes >> std::dec;
    for (int& count : counted) words >> count;
    std::vector<uint64_t> addresses(32);
    for (uint64_t& address : addresses) {
      words >> address;
      address *= static_cast<uint64_t>(bytes);
    }
    ASSERT_TRUE(words) << line;
    for (const bool is_load : {true, false}) {
      const Wavefronts fronts = WavefrontsOf(lanes, addresses.data(), bytes, is_load);
      const int* expected = is_load ? counted : counted + 2;
      EXPECT_EQ(fronts.wavefronts, expected[0]) << line << " load: " << is_load;
      EXPECT_EQ(fronts.wavefronts - fronts.least, expected[1]) << line << " load: " << is_load;
    }
    ++patterns;
  }
  EXPECT_EQ(patterns, 405);
}

}  // namespace
}  // namespace stax::emulator
