#include "ir/printable.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace stax {
namespace {

struct Character {
  size_t bytes;  // 0: no UTF-8
  uint32_t code;
};

bool Continues(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

// The character that `text` begins with (RFC 3629).
Character First(absl::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return {1, lead};
  const size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return {0, 0};
  uint32_t code = lead & (0x7f >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    if (!Continues(text[i])) return {0, 0};
    code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3f);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  if (code < kLeast[bytes] || surrogate || code > 0x10ffff) return {0, 0};
  return {bytes, code};
}

bool IsSafe(uint32_t code) {
  if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return false;  // control characters
  const bool line_end = code == 0x2028 || code == 0x2029;
  const bool turns_direction = code == 0x200e || code == 0x200f ||
                               (code >= 0x202a && code <= 0x202e) ||
                               (code >= 0x2066 && code <= 0x2069);
  return !line_end && !turns_direction;
}

std::string Escaped(char c) {
  switch (c) {
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      return absl::StrFormat("\\x%02x", static_cast<unsigned char>(c));
  }
}

}  // namespace

std::string Printable(absl::string_view text) {
  std::string line;
  while (!text.empty()) {
    const Character first = First(text);
    const size_t bytes = first.bytes == 0 ? 1 : first.bytes;
    if (first.bytes > 0 && IsSafe(first.code)) {
      line.append(text.data(), bytes);
    } else {
      for (char c : text.substr(0, bytes)) line += Escaped(c);
    }
    text.remove_prefix(bytes);
  }
  return line;
}

bool IsUtf8(absl::string_view text) {
  while (!text.empty()) {
    const size_t bytes = First(text).bytes;
    if (bytes == 0) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

std::string Shortened(const std::string& text, size_t max_bytes) {
  if (text.size() <= max_bytes) return text;
  size_t head = max_bytes / 2;
  size_t tail = text.size() - max_bytes / 2;
  while (head > 0 && Continues(text[head])) --head;
  while (tail < text.size() && Continues(text[tail])) ++tail;
  return absl::StrCat(text.substr(0, head), " ... (", tail - head, " bytes left out) ... ",
                      text.substr(tail));
}

}  // namespace stax
