#include "profiler/report/xml_escape.h"

#include "gtest/gtest.h"

namespace stax {
namespace {

TEST(EscapeXml, CharactersOfMarkup) {
  EXPECT_EQ(EscapeXml("a<b> & \"c\" 'd'"), "a&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;");
  EXPECT_EQ(EscapeXml("]]>"), "]]&gt;");
  EXPECT_EQ(EscapeXml("grün ∑"), "grün ∑");
}

TEST(EscapeXml, WhiteSpaceOutlastsAnAttribute) {
  EXPECT_EQ(EscapeXml("a\tb\nc\rd e"), "a&#9;b&#10;c&#13;d e");
}

// XML 1.0, 2.2: Char is #x9 | #xA | #xD | [#x20-#xD7FF] | [#xE000-#xFFFD] | [#x10000-#x10FFFF].
TEST(EscapeXml, WhatXmlCannotHold) {
  EXPECT_EQ(EscapeXml(std::string("a\0b\x1F", 4)), "a\uFFFDb\uFFFD");
  EXPECT_EQ(EscapeXml("\xEF\xBF\xBE\xEF\xBF\xBF"), "\uFFFD\uFFFD");
  EXPECT_EQ(EscapeXml("\x7F\uFFFD\U0010FFFF"), "\x7F\uFFFD\U0010FFFF");
}

}  // namespace
}  // namespace stax
