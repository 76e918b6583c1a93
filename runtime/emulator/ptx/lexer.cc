#include "runtime/emulator/ptx/lexer.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <system_error>

#include "absl/strings/charconv.h"

namespace stax::ptx {
namespace {

// Classes of characters, as bits.
enum : uint8_t { kBlank = 1, kDigit = 2, kWord = 4, kWordStart = 8, kHexDigit = 16 };

constexpr std::array<uint8_t, 256> MakeClasses() {
  std::array<uint8_t, 256> classes{};
  for (const char c : {' ', '\t', '\r', '\n', '\f', '\v'}) classes[c] = kBlank;
  for (int c = '0'; c <= '9'; ++c) classes[c] = kDigit | kWord | kHexDigit;
  for (int c = 'a'; c <= 'z'; ++c) {
    const uint8_t hex = c <= 'f' ? kHexDigit : 0;
    classes[c] = classes[c - 'a' + 'A'] = kWord | kWordStart | hex;
  }
  classes['_'] = classes['$'] = kWord | kWordStart;
  classes['%'] = kWordStart;
  return classes;
}
constexpr std::array<uint8_t, 256> kClasses = MakeClasses();

bool Is(char c, uint8_t classes) {
  return (kClasses[static_cast<unsigned char>(c)] & classes) != 0;
}

int HexValue(char c) { return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10; }

// Signs of two characters.
constexpr uint16_t kPairs[] = {Sign('<', '<'), Sign('>', '>'), Sign('<', '='), Sign('>', '='),
                               Sign('=', '='), Sign('!', '='), Sign('&', '&'), Sign('|', '|')};

}  // namespace

void Lexer::SkipBlanks() {
  while (position_ < text_.size()) {
    const char c = text_[position_];
    if (c == '\n') {
      line_start_ = ++position_;
      ++line_;
    } else if (Is(c, kBlank)) {
      ++position_;
    } else if (c == '/' && At(position_ + 1) == '/') {
      const size_t end = text_.find('\n', position_);
      position_ = end == absl::string_view::npos ? text_.size() : end;
    } else if (c == '/' && At(position_ + 1) == '*') {
      const size_t end = text_.find("*/", position_ + 2);
      if (end == absl::string_view::npos) {
        problem_ = "the comment has no end; expected '*/'";
        return;
      }
      for (; position_ < end + 2; ++position_) {
        if (text_[position_] != '\n') continue;
        line_start_ = position_ + 1;
        ++line_;
      }
    } else if (c == '@' && absl::string_view(text_).substr(position_, 7) == "@@DWARF") {
      const size_t end = text_.find('\n', position_);
      position_ = end == absl::string_view::npos ? text_.size() : end;
    } else {
      return;
    }
  }
}

void Lexer::Finish(Token& token, Token::Kind kind, size_t start) {
  token.kind = kind;
  token.text = text_.substr(start, position_ - start);
}

void Lexer::Reject(Token& token, size_t start, const char* problem) {
  Finish(token, Token::Kind::kInvalid, start);
  token.problem = problem;
}

Token Lexer::Next() {
  SkipBlanks();
  Token token;
  token.place.line = line_;
  token.place.column = static_cast<int>(position_ - line_start_) + 1;
  const size_t start = position_;
  if (problem_ != nullptr) {
    position_ = text_.size();
    Reject(token, start, problem_);
    problem_ = nullptr;
    return token;
  }
  if (start == text_.size()) return token;
  const char c = text_[start];
  if (Is(c, kWordStart)) {
    ++position_;
    while (position_ < text_.size() && Is(text_[position_], kWord)) ++position_;
    Finish(token, Token::Kind::kIdentifier, start);
    // '%' alone is the operator.
    if (c == '%' && token.text.size() == 1) {
      token.kind = Token::Kind::kSign;
      token.sign = '%';
    }
    return token;
  }
  if (Is(c, kDigit)) {
    ReadNumber(token);
    return token;
  }
  if (c == '.' && Is(At(start + 1), kWord)) {
    ++position_;
    while (Is(At(position_), kWord) ||
           (At(position_) == ':' && At(position_ + 1) == ':' && Is(At(position_ + 2), kWord))) {
      position_ += At(position_) == ':' ? 2 : 1;
    }
    Finish(token, Token::Kind::kDotted, start + 1);
    return token;
  }
  if (c == '"') {
    ReadString(token);
    return token;
  }
  ReadSign(token);
  return token;
}

void Lexer::ReadNumber(Token& token) {
  const char next = static_cast<char>(At(position_ + 1) | 0x20);  // in lower case
  if (text_[position_] == '0') {
    if (next == 'f') return ReadBits(token, 8);
    if (next == 'd') return ReadBits(token, 16);
    if (next == 'x') return ReadInteger(token, 2, 16);
    if (next == 'b') return ReadInteger(token, 2, 2);
  }
  size_t end = position_;
  while (Is(At(end), kDigit)) ++end;
  if (At(end) == '.' || (At(end) | 0x20) == 'e') return ReadDecimal(token);
  if (text_[position_] == '0' && end - position_ > 1) return ReadInteger(token, 1, 8);
  return ReadInteger(token, 0, 10);
}

void Lexer::ReadInteger(Token& token, size_t prefix, int base) {
  const size_t start = position_;
  position_ += prefix;
  const size_t first = position_;
  uint64_t value = 0;
  bool overflow = false, bad = false;
  for (; Is(At(position_), kHexDigit); ++position_) {
    const int digit = HexValue(text_[position_]);
    bad |= digit >= base;
    uint64_t scaled = 0;
    overflow |= __builtin_mul_overflow(value, static_cast<uint64_t>(base), &scaled) ||
                __builtin_add_overflow(scaled, static_cast<uint64_t>(digit), &value);
  }
  bad |= position_ == first;
  if (At(position_) == 'U') {
    ++position_;
    token.is_unsigned = true;
  }
  bool more = false;
  for (; Is(At(position_), kWord); ++position_) more = true;
  if (bad || more) {
    return Reject(token, start,
                  "malformed number; expected decimal digits, or 0x, 0b or 0 and digits of that "
                  "base, then an optional U");
  }
  if (overflow) return Reject(token, start, "the number does not fit 64 bits");
  token.value = value;
  token.is_unsigned |= value > INT64_MAX;
  Finish(token, Token::Kind::kInteger, start);
}

void Lexer::ReadBits(Token& token, size_t digits) {
  const size_t start = position_;
  position_ += 2;
  bool bad = false;
  for (; Is(At(position_), kWord); ++position_) {
    const char c = text_[position_];
    bad |= !Is(c, kHexDigit);
    token.value = token.value << 4 | static_cast<uint64_t>(HexValue(c) & 15);
  }
  bad |= position_ - start != digits + 2;
  if (digits == 8) {
    if (bad)
      return Reject(token, start, "malformed number; expected 8 hexadecimal digits after 0f");
    return Finish(token, Token::Kind::kSingle, start);
  }
  if (bad) return Reject(token, start, "malformed number; expected 16 hexadecimal digits after 0d");
  Finish(token, Token::Kind::kDouble, start);
}

void Lexer::ReadDecimal(Token& token) {
  const size_t start = position_;
  double value = 0;
  const char* end = text_.data() + text_.size();
  const absl::from_chars_result read = absl::from_chars(text_.data() + start, end, value);
  position_ = read.ptr - text_.data();
  if (read.ec == std::errc::result_out_of_range)
    return Reject(token, start, "the number does not fit a double");
  bool more = position_ == start;
  for (; Is(At(position_), kWord); ++position_) more = true;
  if (read.ec != std::errc() || more)
    return Reject(token, start, "malformed number; expected digits, as in 1.5 or 1e-3");
  std::memcpy(&token.value, &value, sizeof value);
  Finish(token, Token::Kind::kDouble, start);
}

void Lexer::ReadString(Token& token) {
  const size_t start = position_++;
  while (position_ < text_.size() && text_[position_] != '"' && text_[position_] != '\n') {
    position_ += text_[position_] == '\\' && At(position_ + 1) != '\n' ? 2 : 1;
  }
  position_ = std::min(position_, text_.size());
  if (At(position_) != '"') return Reject(token, start, "the string has no end; expected '\"'");
  Finish(token, Token::Kind::kString, start + 1);
  ++position_;
}

void Lexer::ReadSign(Token& token) {
  const size_t start = position_++;
  const char c = text_[start];
  for (const uint16_t pair : kPairs) {
    if (Sign(c, At(position_)) != pair) continue;
    ++position_;
    token.sign = pair;
    return Finish(token, Token::Kind::kSign, start);
  }
  if (c == '\0' || std::strchr("{}[]()<>,;:|@!+-*/=&^~?.", c) == nullptr)
    return Reject(token, start, "unexpected character; PTX is ASCII, signs are those of chapter 4");
  token.sign = static_cast<unsigned char>(c);
  Finish(token, Token::Kind::kSign, start);
}

}  // namespace stax::ptx
