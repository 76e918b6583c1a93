#include "runtime/emulator/ptx/parser.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "runtime/emulator/ptx/cursor.h"
#include "runtime/emulator/ptx/directives.h"
#include "runtime/emulator/ptx/function_parser.h"
#include "runtime/emulator/ptx/names.h"
#include "runtime/emulator/ptx/variable_parser.h"

namespace stax::ptx {
namespace {

// So that lines, columns and numbers of instructions fit an int.
constexpr size_t kMaxTextBytes = 256 << 20;

// "sm_90a": 90; 0 if it is no architecture.
int Architecture(absl::string_view target) {
  if (!absl::StartsWith(target, "sm_") || target.size() > 8) return 0;
  int number = 0;
  for (const char c : target.substr(3)) {
    if (c >= '0' && c <= '9') number = number * 10 + (c - '0');
  }
  return number;
}

class ModuleParser {
 public:
  ModuleParser(absl::string_view text, absl::string_view file_name)
      : cursor_(text, file_name),
        names_(cursor_),
        variables_(cursor_, names_),
        functions_(cursor_, names_, module_) {}

  absl::StatusOr<Module> Parse() {
    if (!ParseAll()) return cursor_.status();
    return std::move(module_);
  }

 private:
  bool ParseAll() {
    if (!cursor_.AcceptDotted("version")) return cursor_.Expected("'.version' first");
    if (!ParseVersion()) return false;
    if (!cursor_.AcceptDotted("target")) return cursor_.Expected("'.target' after '.version'");
    if (!ParseTarget()) return false;
    while (!cursor_.AtEnd()) {
      if (!ParseDirective()) return false;
    }
    return CheckAliases();
  }

  bool ParseDirective() {
    if (cursor_.AcceptDotted("address_size")) return ParseAddressSize();
    if (cursor_.AcceptDotted("file")) return ParseFile(cursor_, &module_.files);
    if (cursor_.AcceptDotted("section")) return SkipSection(cursor_);
    if (cursor_.AcceptDotted("pragma")) return SkipPragma(cursor_);
    if (cursor_.AcceptDotted("target")) return ParseTarget();
    if (cursor_.AcceptDotted("alias")) return ParseAlias();
    SourceLine ignored;
    if (cursor_.AcceptDotted("loc")) return ParseLoc(cursor_, &ignored);
    const Token first = cursor_.token();
    if (!first.Is(Token::Kind::kDotted)) return cursor_.Expected("a directive");
    const Linkage linkage = AcceptLinkage(cursor_);
    if (cursor_.AcceptDotted("entry")) return functions_.Parse(linkage, /*is_entry=*/true);
    if (cursor_.AcceptDotted("func")) return functions_.Parse(linkage, /*is_entry=*/false);
    Space space = Space::kGeneric;
    if (IsSpace(cursor_.token(), &space)) return ParseVariables(linkage, space);
    if (linkage != Linkage::kNone)
      return cursor_.Expected("'.entry', '.func' or a state space after the linkage");
    return cursor_.Fail(first.place,
                        absl::StrCat("the directive '.", first.text,
                                     "' is unknown here; expected .entry, .func, a state space, "
                                     ".address_size, .file, .loc, .section, .pragma or .alias"));
  }

  // "8.6" is a double to the lexer, whose digits say it.
  bool ParseVersion() {
    const std::vector<absl::string_view> parts = absl::StrSplit(cursor_.token().text, '.');
    if (!cursor_.token().Is(Token::Kind::kDouble) || parts.size() != 2 ||
        !absl::SimpleAtoi(parts[0], &module_.version_major) ||
        !absl::SimpleAtoi(parts[1], &module_.version_minor)) {
      return cursor_.Expected("a version, as 8.6");
    }
    cursor_.Advance();
    return true;
  }

  // Several: the code needs the newest of them.
  bool ParseTarget() {
    do {
      const Token token = cursor_.token();
      absl::string_view name;
      if (!cursor_.ExpectIdentifier("a target, as sm_90a", &name)) return false;
      if (name == "debug") {
        module_.has_debug_info = true;
      } else if (Architecture(name) > 0) {
        if (Architecture(name) > Architecture(module_.target)) module_.target = std::string(name);
      } else if (name != "texmode_independent" && name != "texmode_unified") {
        return cursor_.Fail(token.place, absl::StrCat("the target '", name,
                                                      "' is unknown; expected sm_ and a number, "
                                                      "as sm_90a, or debug"));
      }
    } while (cursor_.Accept(','));
    return true;
  }

  bool ParseAddressSize() {
    const Place place = cursor_.place();
    int64_t bits = 0;
    if (!cursor_.ExpectInteger("the number of bits", 0, INT64_MAX, &bits)) return false;
    if (bits == 64) return true;
    return cursor_.Fail(place, "addresses of 64 bits only; expected .address_size 64");
  }

  bool ParseVariables(Linkage linkage, Space space) {
    if (space == Space::kParam || space == Space::kLocal) {
      return cursor_.Fail(cursor_.place(),
                          "a variable of a module must be .global, .const or "
                          ".shared");
    }
    std::vector<DeclaredVariable> declared;
    if (!variables_.Parse(linkage, &declared)) return false;
    for (DeclaredVariable& d : declared) {
      if (!EnterVariable(std::move(d))) return false;
    }
    return true;
  }

  // A new one, or the definition of one that was .extern.
  bool EnterVariable(DeclaredVariable declared) {
    const auto number = static_cast<int>(module_.variables.size());
    if (names_.DeclareInModule(declared.name, SymbolKind::kModuleVariable, number)) {
      module_.variables.push_back(std::move(declared.variable));
      return true;
    }
    const Meaning& meaning = *names_.FindInModule(declared.name);
    if (meaning.symbol != SymbolKind::kModuleVariable) {
      return cursor_.Fail(declared.place,
                          absl::StrCat("'", declared.name, "' is a function already"));
    }
    Variable& before = module_.variables[meaning.index];
    if (!before.IsExtern() && !declared.variable.IsExtern()) {
      return cursor_.Fail(
          declared.place,
          absl::StrCat("'", declared.name, "' is defined already in line ", before.line));
    }
    if (before.space != declared.variable.space) {
      return cursor_.Fail(
          declared.place,
          absl::StrCat("'", declared.name, "' was declared in another state space in line ",
                       before.line));
    }
    if (before.IsExtern()) before = std::move(declared.variable);
    return true;
  }

  // ".alias name, function;", both declared.
  bool ParseAlias() {
    const Place place = cursor_.place();
    int numbers[2] = {0, 0};
    for (int i = 0; i < 2; ++i) {
      if (i > 0 && !cursor_.Expect(',')) return false;
      const Place name_place = cursor_.place();
      absl::string_view name;
      if (!cursor_.ExpectIdentifier("the name of a function", &name)) return false;
      const Meaning* meaning = names_.FindInModule(name);
      if (meaning == nullptr || meaning->symbol != SymbolKind::kFunction) {
        return cursor_.Fail(name_place, absl::StrCat("'", name, "' is no declared function"));
      }
      numbers[i] = meaning->index;
    }
    Function& alias = module_.functions[numbers[0]];
    if (!alias.is_declaration || !alias.alias_of.empty() || numbers[0] == numbers[1]) {
      return cursor_.Fail(place, absl::StrCat("'", alias.name,
                                              "' is defined already; expected the "
                                              "name of a declared function"));
    }
    alias.alias_of = module_.functions[numbers[1]].name;
    aliases_.push_back({numbers[0], numbers[1], place});
    return cursor_.Expect(';');
  }

  bool CheckAliases() {
    for (const Alias& alias : aliases_) {
      const Function& target = module_.functions[alias.target];
      if (!target.is_declaration) continue;
      return cursor_.Fail(alias.place, absl::StrCat("'", target.name, "', of which '",
                                                    module_.functions[alias.function].name,
                                                    "' is an alias, has no body in this module"));
    }
    return true;
  }

  struct Alias {
    int function;
    int target;
    Place place;
  };

  Module module_;
  Cursor cursor_;
  Names names_;
  VariableParser variables_;
  FunctionParser functions_;
  std::vector<Alias> aliases_;
};

}  // namespace

absl::StatusOr<Module> ParsePtx(absl::string_view text, absl::string_view file_name) {
  if (text.size() > kMaxTextBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(file_name, ":1:1: the text is longer than 256 MiB"));
  }
  return ModuleParser(text, file_name).Parse();
}

}  // namespace stax::ptx
