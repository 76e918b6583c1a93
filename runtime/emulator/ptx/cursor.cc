#include "runtime/emulator/ptx/cursor.h"

#include <cstddef>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace stax::ptx {
namespace {

// Of a text in a message; mangled names of templates run to kilobytes.
constexpr size_t kMaxShown = 80;

std::string Describe(const Token& token) {
  if (token.Is(Token::Kind::kEnd)) return "the end of the file";
  const absl::string_view dot = token.Is(Token::Kind::kDotted) ? "." : "";
  const char* more = token.text.size() > kMaxShown ? "..." : "";
  return absl::StrCat("'", dot, absl::CHexEscape(token.text.substr(0, kMaxShown)), more, "'");
}

}  // namespace

Cursor::Cursor(absl::string_view text, absl::string_view file_name)
    : lexer_(text), file_name_(file_name), token_(lexer_.Next()), next_(lexer_.Next()) {}

void Cursor::Advance() {
  token_ = next_;
  next_ = lexer_.Next();
}

bool Cursor::Accept(char sign) {
  if (!token_.Is(sign)) return false;
  Advance();
  return true;
}

bool Cursor::AcceptDotted(absl::string_view word) {
  if (!token_.Is(Token::Kind::kDotted) || token_.text != word) return false;
  Advance();
  return true;
}

bool Cursor::Expect(char sign) {
  if (Accept(sign)) return true;
  return Expected(absl::StrCat("'", absl::string_view(&sign, 1), "'"));
}

bool Cursor::ExpectIdentifier(absl::string_view what, absl::string_view* name) {
  if (!token_.Is(Token::Kind::kIdentifier)) return Expected(what);
  *name = token_.text;
  Advance();
  return true;
}

bool Cursor::ExpectInteger(absl::string_view what, int64_t low, int64_t high, int64_t* value) {
  if (!token_.Is(Token::Kind::kInteger)) return Expected(what);
  *value = static_cast<int64_t>(token_.value);
  if (*value < low || *value > high) {
    return Fail(place(), absl::StrCat(what, " is ", token_.text, "; expected ", low, " to ", high));
  }
  Advance();
  return true;
}

bool Cursor::Fail(Place place, absl::string_view what) {
  if (status_.ok()) {
    status_ = absl::InvalidArgumentError(
        absl::StrCat(file_name_, ":", place.line, ":", place.column, ": ", what));
  }
  return false;
}

bool Cursor::Expected(absl::string_view what) {
  if (token_.Is(Token::Kind::kInvalid))
    return Fail(place(), absl::StrCat(Describe(token_), ": ", token_.problem));
  return Fail(place(), absl::StrCat("expected ", what, ", got ", Describe(token_)));
}

}  // namespace stax::ptx
