// What the names of a module mean: variables and functions of the module, and of one function at a
// time registers, parameters, variables, labels and tables, by scope.
//
//   { .reg .b32 %t; DONE: }  { .reg .b32 %t; DONE: }    two registers %t, labels "DONE" and
//   "DONE#2"
//
// Names and texts point into the PTX, which must outlive this.
#ifndef STAX_RUNTIME_EMULATOR_PTX_NAMES_H_
#define STAX_RUNTIME_EMULATOR_PTX_NAMES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "runtime/emulator/ptx/cursor.h"
#include "runtime/emulator/ptx/module.h"

namespace stax::ptx {

// What a name stands for: a register, of `width` elements from `index` on, or a symbol.
struct Meaning {
  bool is_register = false;
  uint8_t width = 1;
  SymbolKind symbol = SymbolKind::kNone;
  int index = -1;
};

// A range "%r<10>" has the names %r0 to %r9.
struct RegisterRange {
  int64_t count = 0;
  Type type = Type::kB32;
  uint8_t width = 1;
};

class Names {
 public:
  explicit Names(Cursor& cursor) : cursor_(cursor) {}

  // Of the module. False: the name is taken, no error yet.
  bool DeclareInModule(absl::string_view name, SymbolKind kind, int index);
  const Meaning* FindInModule(absl::string_view name) const;

  // A function: its outermost scope opens, and closes. Closing fails if a label is missing.
  void BeginFunction(Function* function);
  bool EndFunction() { return CloseScope(); }
  // A scope in a scope.
  bool OpenScope();
  bool CloseScope();
  // Scopes that are open within the outermost one.
  size_t depth() const { return depth_ - 1; }

  // These fail where the name is taken in the innermost scope.
  bool DeclareRegister(absl::string_view name, Type type, uint8_t width, Place place);
  bool DeclareRange(absl::string_view prefix, const RegisterRange& range, Place place);
  bool DeclareSymbol(absl::string_view name, SymbolKind kind, int index, Place place);
  bool DeclareLabel(absl::string_view name, Place place);
  // The name, or name#N if the function or the module has one such already.
  std::string MakeUnique(absl::string_view name);

  // From the innermost scope outwards, then in the module; nullptr if there is none. A register of
  // a range comes into being when it is found first.
  const Meaning* Find(absl::string_view name);

  // A label, maybe one that comes later: of an operand of an instruction, or of an item of a table.
  void UseLabelInOperand(absl::string_view name, Place place, size_t instruction, size_t operand);
  void UseLabelInTable(absl::string_view name, Place place, size_t table, size_t item);

 private:
  struct LabelUse {
    absl::string_view name;
    Place place;
    bool in_table = false;
    size_t owner = 0;  // number of the instruction or table
    size_t item = 0;
  };
  struct Scope {
    absl::flat_hash_map<absl::string_view, Meaning> names;
    absl::flat_hash_map<absl::string_view, RegisterRange> ranges;
    // The lowest number of the declared names that end in one, by what stands before it.
    absl::flat_hash_map<absl::string_view, int64_t> numbered;
    std::vector<LabelUse> label_uses;
    bool has_range_ending_in_digit = false;
  };

  Scope& Innermost() { return scopes_[depth_ - 1]; }
  bool Taken(absl::string_view name, Place place);
  bool Declare(absl::string_view name, const Meaning& meaning, Place place);
  // Makes the registers of a name; the number of the first.
  int MakeRegisters(absl::string_view name, Type type, uint8_t width);
  static const RegisterRange* FindRange(const Scope& scope, absl::string_view name);
  void Resolve(const LabelUse& use, int label);

  Cursor& cursor_;
  Function* function_ = nullptr;
  absl::flat_hash_map<absl::string_view, Meaning> module_;
  // Kept when closed, so that the next one need not allocate.
  std::vector<Scope> scopes_;
  size_t depth_ = 0;
  // How often a name was made unique in this function.
  absl::flat_hash_map<absl::string_view, int> used_;
};

}  // namespace stax::ptx

#endif  // STAX_RUNTIME_EMULATOR_PTX_NAMES_H_
