#include "ir/printable.h"

#include <gtest/gtest.h>

namespace stax {
namespace {

TEST(PrintableTest, TextStaysAsItIs) {
  EXPECT_EQ(Printable(""), "");
  EXPECT_EQ(Printable("a b\\n'\"~"), "a b\\n'\"~");
  // U+00E9, U+20AC, U+1F600.
  EXPECT_EQ(Printable("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"),
            "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
}

TEST(PrintableTest, ControlCharactersAreEscaped) {
  EXPECT_EQ(Printable("a\nb\rc\td"), "a\\nb\\rc\\td");
  EXPECT_EQ(Printable("\x1b[2J\x7f"), "\\x1b[2J\\x7f");
  EXPECT_EQ(Printable(absl::string_view("\0x", 2)), "\\x00x");
  EXPECT_EQ(Printable("\xc2\x9b"), "\\xc2\\x9b");           // U+009B: what ESC [ is
  EXPECT_EQ(Printable("\xe2\x80\xa8"), "\\xe2\\x80\\xa8");  // U+2028, a line's end
  // NOLINTBEGIN(misc-misleading-bidirectional): they are what is tested
  EXPECT_EQ(Printable("a\xe2\x80\xae"), "a\\xe2\\x80\\xae");  // U+202E: from right to left
  EXPECT_EQ(Printable("\xe2\x81\xa6z"), "\\xe2\\x81\\xa6z");  // U+2066
  // NOLINTEND(misc-misleading-bidirectional)
}

// The table of RFC 3629, section 4, from outside.
TEST(PrintableTest, BytesThatAreNoUtf8AreEscaped) {
  EXPECT_EQ(Printable("\xff\xfe"), "\\xff\\xfe");
  EXPECT_EQ(Printable("\x80"), "\\x80");
  EXPECT_EQ(Printable("\xe2\x82"), "\\xe2\\x82");  // ends early
  EXPECT_EQ(Printable("\xc3("), "\\xc3(");
  EXPECT_EQ(Printable("\xc0\xaf"), "\\xc0\\xaf");                    // '/' in two bytes
  EXPECT_EQ(Printable("\xe0\x80\xaf"), "\\xe0\\x80\\xaf");           // and in three
  EXPECT_EQ(Printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // a surrogate
  EXPECT_EQ(Printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // U+110000
}

TEST(PrintableTest, TellsUtf8) {
  EXPECT_TRUE(IsUtf8(""));
  EXPECT_TRUE(IsUtf8("a\n\x1b\xf0\x9f\x98\x80"));
  EXPECT_FALSE(IsUtf8("a\xff"));
  EXPECT_FALSE(IsUtf8("\xe2\x82"));
}

TEST(ShortenedTest, LeavesOutTheMiddle) {
  EXPECT_EQ(Shortened("abcd", 4), "abcd");
  EXPECT_EQ(Shortened("abcdefgh", 4), "ab ... (4 bytes left out) ... gh");
  // Two bytes a character: half of one is not kept.
  EXPECT_EQ(Shortened("\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9", 6),
            "\xc3\xa9 ... (4 bytes left out) ... \xc3\xa9");
}

}  // namespace
}  // namespace stax
