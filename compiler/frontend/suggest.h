// What to offer when a name is not known.
#ifndef STAX_COMPILER_FRONTEND_SUGGEST_H_
#define STAX_COMPILER_FRONTEND_SUGGEST_H_

#include <string>
#include <string_view>
#include <vector>

namespace stax {

// "did you mean 'relu'?" with the nearest names if they are at most two edits away, or else
// "known are abs, add, ..." with all of them (the first 100), or "there are none".
std::string Suggest(std::string_view name, const std::vector<std::string>& known);

}  // namespace stax

#endif  // STAX_COMPILER_FRONTEND_SUGGEST_H_
