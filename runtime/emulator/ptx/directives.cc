#include "runtime/emulator/ptx/directives.h"

#include <cstddef>
#include <cstdint>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace stax::ptx {
namespace {

constexpr int64_t kMaxFile = 1 << 16;
constexpr int64_t kMaxLine = INT32_MAX;

bool ParseSourceLine(Cursor& cursor, SourceLine* place) {
  int64_t file = 0, line = 0, column = 0;
  if (!cursor.ExpectInteger("the number of a .file", 0, kMaxFile, &file) ||
      !cursor.ExpectInteger("a line", 0, kMaxLine, &line) ||
      !cursor.ExpectInteger("a column", 0, kMaxLine, &column)) {
    return false;
  }
  place->file = static_cast<int>(file);
  place->line = static_cast<int>(line);
  return true;
}

bool ExpectWord(Cursor& cursor, absl::string_view word) {
  if (!cursor.token().Is(Token::Kind::kIdentifier) || cursor.token().text != word)
    return cursor.Expected(absl::StrCat("'", word, "'"));
  cursor.Advance();
  return true;
}

}  // namespace

bool ParseLoc(Cursor& cursor, SourceLine* place) {
  if (!ParseSourceLine(cursor, place)) return false;
  if (!cursor.Accept(',')) return true;
  // The name is a label in a debug section, so it says nothing here.
  absl::string_view label;
  if (!ExpectWord(cursor, "function_name") || !cursor.ExpectIdentifier("a label", &label))
    return false;
  int64_t offset = 0;
  if (cursor.Accept('+') && !cursor.ExpectInteger("an offset", 0, INT64_MAX, &offset)) return false;
  SourceLine caller;
  return cursor.Expect(',') && ExpectWord(cursor, "inlined_at") && ParseSourceLine(cursor, &caller);
}

bool ParseFile(Cursor& cursor, std::vector<std::string>* files) {
  int64_t number = 0;
  if (!cursor.ExpectInteger("the number of the file", 0, kMaxFile, &number)) return false;
  if (!cursor.token().Is(Token::Kind::kString)) return cursor.Expected("the name of the file");
  if (files->size() <= static_cast<size_t>(number)) files->resize(number + 1);
  (*files)[number] = std::string(cursor.token().text);
  cursor.Advance();
  // Its time and size.
  int64_t ignored = 0;
  for (int i = 0; i < 2 && cursor.Accept(','); ++i) {
    if (!cursor.ExpectInteger("the time or size of the file", 0, INT64_MAX, &ignored)) return false;
  }
  return true;
}

bool SkipPragma(Cursor& cursor) {
  do {
    if (!cursor.token().Is(Token::Kind::kString)) return cursor.Expected("a string");
    cursor.Advance();
  } while (cursor.Accept(','));
  return cursor.Expect(';');
}

bool SkipSection(Cursor& cursor) {
  const Token& token = cursor.token();
  if (!token.Is(Token::Kind::kDotted) || !absl::StartsWith(token.text, "debug_"))
    return cursor.Expected("a debug section, as .debug_info");
  cursor.Advance();
  if (!cursor.Expect('{')) return false;
  while (!cursor.token().Is('}')) {
    if (cursor.AtEnd() || cursor.token().Is(Token::Kind::kInvalid))
      return cursor.Expected("'}' that ends the section");
    cursor.Advance();
  }
  return cursor.Expect('}');
}

}  // namespace stax::ptx
