// Text that came from a file or a command line, made safe to print: names may hold anything.
#ifndef STAX_IR_PRINTABLE_H_
#define STAX_IR_PRINTABLE_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace stax {

// One line of UTF-8 that steers no terminal: control characters, line ends, marks that turn the
// direction of writing and bytes that are no UTF-8 become \n, \r, \t or \xNN, a byte each.
std::string Printable(absl::string_view text);

bool IsUtf8(absl::string_view text);

// `text` without its middle when it is longer than `max_bytes`; says how much is left out. Splits
// no UTF-8 character.
std::string Shortened(const std::string& text, size_t max_bytes);

}  // namespace stax

#endif  // STAX_IR_PRINTABLE_H_
