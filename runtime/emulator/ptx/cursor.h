// Where the parser is in the text, with one token to look ahead, and the first error.
//
//   Cursor cursor(text, "kernel.ptx");
//   if (!cursor.Expect('{')) return false;   // the status says "kernel.ptx:3:7: expected '{', got
//   ..."
//
// What can fail returns false, once Fail() has kept what was wrong; the last caller asks status().
#ifndef STAX_RUNTIME_EMULATOR_PTX_CURSOR_H_
#define STAX_RUNTIME_EMULATOR_PTX_CURSOR_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "runtime/emulator/ptx/lexer.h"

namespace stax::ptx {

class Cursor {
 public:
  // Both must outlive the cursor.
  Cursor(absl::string_view text, absl::string_view file_name);

  const Token& token() const { return token_; }
  const Token& next() const { return next_; }
  Place place() const { return token_.place; }
  bool AtEnd() const { return token_.Is(Token::Kind::kEnd); }

  // Goes on by one token.
  void Advance();
  // Goes on if the token is that sign, or that word with a dot.
  bool Accept(char sign);
  bool AcceptDotted(absl::string_view word);

  // False, and an error, if the token is something else.
  bool Expect(char sign);
  // The text of an identifier. `what` as in "expected a register".
  bool ExpectIdentifier(absl::string_view what, absl::string_view* name);
  // A literal within [low, high].
  bool ExpectInteger(absl::string_view what, int64_t low, int64_t high, int64_t* value);

  // Keeps the error unless there is one already; false.
  bool Fail(Place place, absl::string_view what);
  // "expected WHAT, got TOKEN", at the token.
  bool Expected(absl::string_view what);

  absl::Status status() const { return status_; }

 private:
  Lexer lexer_;
  absl::string_view file_name_;
  Token token_;
  Token next_;
  absl::Status status_;
};

}  // namespace stax::ptx

#endif  // STAX_RUNTIME_EMULATOR_PTX_CURSOR_H_
