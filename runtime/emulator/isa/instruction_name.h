// An instruction's name taken apart: "fma.rn.relu.f16x2" is the opcode fma and the modifiers rn,
// relu, f16x2, which are taken one after the other in the order of the PTX ISA.
//
//   InstructionName name("cvt.rn.ftz.f16.f32");
//   if (name.opcode() == "cvt") {
//     std::optional<Rounding> rounding = TakeRounding(name);
//     bool ftz = name.Take("ftz");
//     ... name.TakeAny() ...
//     if (!name.done()) return std::nullopt;  // something else follows
//   }
#ifndef STAX_RUNTIME_EMULATOR_ISA_INSTRUCTION_NAME_H_
#define STAX_RUNTIME_EMULATOR_ISA_INSTRUCTION_NAME_H_

#include <initializer_list>

#include "absl/strings/string_view.h"

namespace stax::isa {

// Refers to the text it was made of.
class InstructionName {
 public:
  explicit InstructionName(absl::string_view text) : rest_(text) { opcode_ = TakeAny(); }

  absl::string_view opcode() const { return opcode_; }
  bool done() const { return rest_.empty(); }

  // The next modifier, which stays; "" at the end.
  absl::string_view Peek() const;
  // Takes the next modifier; "" at the end.
  absl::string_view TakeAny();
  // Takes the next modifier if it is `modifier`.
  bool Take(absl::string_view modifier);
  // Takes the next modifier if it is one of `choices`, and returns its index, otherwise -1.
  int TakeOneOf(std::initializer_list<absl::string_view> choices);

 private:
  absl::string_view rest_;  // modifiers not yet taken
  absl::string_view opcode_;
};

}  // namespace stax::isa

#endif  // STAX_RUNTIME_EMULATOR_ISA_INSTRUCTION_NAME_H_
