#include "runtime/emulator/isa/instruction_name.h"

#include <cstddef>
#include <initializer_list>

#include "absl/strings/string_view.h"

namespace stax::isa {

absl::string_view InstructionName::Peek() const { return rest_.substr(0, rest_.find('.')); }

absl::string_view InstructionName::TakeAny() {
  const absl::string_view next = Peek();
  // The dot goes with the modifier; "add." leaves nothing behind it.
  rest_.remove_prefix(next.size() < rest_.size() ? next.size() + 1 : next.size());
  return next;
}

bool InstructionName::Take(absl::string_view modifier) {
  if (done() || Peek() != modifier) return false;
  TakeAny();
  return true;
}

int InstructionName::TakeOneOf(std::initializer_list<absl::string_view> choices) {
  int index = 0;
  for (const absl::string_view choice : choices) {
    if (Take(choice)) return index;
    ++index;
  }
  return -1;
}

}  // namespace stax::isa
