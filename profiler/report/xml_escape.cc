#include "profiler/report/xml_escape.h"

namespace stax {
namespace {

constexpr char kReplacement[] = "\xEF\xBF\xBD";  // U+FFFD

}  // namespace

std::string EscapeXml(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (text.compare(i, 3, "\xEF\xBF\xBE") == 0 || text.compare(i, 3, "\xEF\xBF\xBF") == 0) {
      out += kReplacement;
      i += 2;
    } else if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else if (c == '\'') {
      out += "&#39;";
    } else if (c == '\t' || c == '\n' || c == '\r') {
      // As characters, a parser would make them spaces in an attribute.
      out += "&#" + std::to_string(static_cast<int>(c)) + ";";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += kReplacement;
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace stax
