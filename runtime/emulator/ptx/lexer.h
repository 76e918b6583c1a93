// Tokens of PTX (chapter 4). Comments, blanks and the lines "@@DWARF ..." of old compilers fall
// away.
//
//   Lexer lexer(text);
//   for (Token t = lexer.Next(); t.kind != Token::Kind::kEnd; t = lexer.Next()) ...
//
// A token points into the text. What is no token comes as kInvalid and says why; the lexer goes on
// behind it.
#ifndef STAX_RUNTIME_EMULATOR_PTX_LEXER_H_
#define STAX_RUNTIME_EMULATOR_PTX_LEXER_H_

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"

namespace stax::ptx {

// A place in the text, both from 1.
struct Place {
  int line = 1;
  int column = 1;
};

// A sign of two characters as Token::sign.
constexpr uint16_t Sign(char first, char second) {
  return static_cast<uint16_t>(static_cast<unsigned char>(first) |
                               static_cast<unsigned char>(second) << 8);
}

struct Token {
  enum class Kind : uint8_t {
    kEnd,
    kIdentifier,  // %r1, $L__BB0_1, add, _
    kDotted,      // .global, .shared::cta, .m16n8k16; `text` is without the first dot
    kInteger,     // 7, 0x1F, 017, 0b11, 7U: `value`
    kSingle,      // 0f3F800000: `value` holds the bits
    kDouble,      // 0d3FF0000000000000, 1.5, 1e3: `value` holds the bits
    kString,      // "text", escapes as they are; `text` is without the quotes
    kSign,        // punctuation and operators: `sign`
    kInvalid,     // `problem`
  };
  Kind kind = Kind::kEnd;
  bool is_unsigned = false;  // an integer that is written with U or does not fit s64
  uint16_t sign = 0;         // '{', or Sign('<', '<')
  Place place;
  absl::string_view text;
  uint64_t value = 0;
  const char* problem = nullptr;

  bool Is(char c) const { return kind == Kind::kSign && sign == static_cast<unsigned char>(c); }
  bool Is(Kind k) const { return kind == k; }
};

class Lexer {
 public:
  explicit Lexer(absl::string_view text) : text_(text) {}

  Token Next();

 private:
  // To the next token.
  void SkipBlanks();
  char At(size_t offset) const { return offset < text_.size() ? text_[offset] : '\0'; }
  void ReadNumber(Token& token);
  void ReadInteger(Token& token, size_t prefix, int base);
  // 0f and 0d: exactly `digits` of them.
  void ReadBits(Token& token, size_t digits);
  void ReadDecimal(Token& token);
  void ReadString(Token& token);
  void ReadSign(Token& token);
  // The token is the text from `start` to where the lexer is.
  void Finish(Token& token, Token::Kind kind, size_t start);
  // The same for what is wrong.
  void Reject(Token& token, size_t start, const char* problem);

  absl::string_view text_;
  size_t position_ = 0;
  size_t line_start_ = 0;
  int line_ = 1;
  const char* problem_ = nullptr;  // of the blanks: a comment without an end
};

}  // namespace stax::ptx

#endif  // STAX_RUNTIME_EMULATOR_PTX_LEXER_H_
