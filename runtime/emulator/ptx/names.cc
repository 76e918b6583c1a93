#include "runtime/emulator/ptx/names.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace stax::ptx {
namespace {

// Generated code has three; each costs a look-up for a name of the outermost one.
constexpr size_t kMaxScopes = 64;
// Of a number in the name of a register of a range: kMaxRange has as many.
constexpr size_t kMaxSuffixDigits = 7;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// How many digits end the name, kMaxSuffixDigits + 1 for more.
size_t TrailingDigits(absl::string_view name) {
  size_t digits = 0;
  while (digits < name.size() && digits <= kMaxSuffixDigits &&
         IsDigit(name[name.size() - 1 - digits])) {
    ++digits;
  }
  return digits;
}

// The number in the last `digits` characters; -1 if it has leading zeros: %r07 is not in %r<10>.
int64_t SuffixNumber(absl::string_view name, size_t digits) {
  const absl::string_view suffix = name.substr(name.size() - digits);
  if (suffix[0] == '0' && digits > 1) return -1;
  int64_t number = 0;
  for (const char c : suffix) number = number * 10 + (c - '0');
  return number;
}

}  // namespace

bool Names::DeclareInModule(absl::string_view name, SymbolKind kind, int index) {
  Meaning meaning;
  meaning.symbol = kind;
  meaning.index = index;
  return module_.emplace(name, meaning).second;
}

const Meaning* Names::FindInModule(absl::string_view name) const {
  const auto it = module_.find(name);
  return it == module_.end() ? nullptr : &it->second;
}

void Names::BeginFunction(Function* function) {
  function_ = function;
  used_.clear();
  depth_ = 0;
  OpenScope();
}

bool Names::OpenScope() {
  if (depth_ == kMaxScopes) {
    return cursor_.Fail(cursor_.place(),
                        absl::StrCat("scopes are nested deeper than ", kMaxScopes));
  }
  if (depth_ == scopes_.size()) scopes_.emplace_back();
  ++depth_;
  Scope& scope = Innermost();
  scope.names.clear();
  scope.ranges.clear();
  scope.numbered.clear();
  scope.label_uses.clear();
  scope.has_range_ending_in_digit = false;
  return true;
}

bool Names::CloseScope() {
  Scope& scope = Innermost();
  --depth_;
  for (const LabelUse& use : scope.label_uses) {
    const auto it = scope.names.find(use.name);
    if (it != scope.names.end()) {
      if (it->second.symbol != SymbolKind::kLabel) {
        return cursor_.Fail(use.place, absl::StrCat("'", use.name, "' is no label"));
      }
      Resolve(use, it->second.index);
    } else if (depth_ > 0) {
      Innermost().label_uses.push_back(use);
    } else {
      return cursor_.Fail(
          use.place, absl::StrCat("label '", use.name,
                                  "' is not in this function, or in a scope that is closed here"));
    }
  }
  return true;
}

void Names::Resolve(const LabelUse& use, int label) {
  if (use.in_table) {
    function_->branch_targets[use.owner].labels[use.item] = label;
    return;
  }
  Operand& operand = function_->instructions[use.owner].operands[use.item];
  operand.symbol = SymbolKind::kLabel;
  operand.index = label;
  operand.name = function_->labels[label].name;
}

bool Names::Taken(absl::string_view name, Place place) {
  return cursor_.Fail(place, absl::StrCat("'", name, "' is declared twice in this scope"));
}

bool Names::Declare(absl::string_view name, const Meaning& meaning, Place place) {
  Scope& scope = Innermost();
  if (FindRange(scope, name) != nullptr || !scope.names.emplace(name, meaning).second)
    return Taken(name, place);
  const size_t digits = TrailingDigits(name);
  for (size_t n = 1; n <= std::min(digits, kMaxSuffixDigits); ++n) {
    const int64_t number = SuffixNumber(name, n);
    if (number < 0) continue;
    int64_t& lowest = scope.numbered.emplace(name.substr(0, name.size() - n), number).first->second;
    lowest = std::min(lowest, number);
  }
  return true;
}

bool Names::DeclareRegister(absl::string_view name, Type type, uint8_t width, Place place) {
  Meaning meaning;
  meaning.is_register = true;
  meaning.width = width;
  meaning.index = MakeRegisters(name, type, width);
  return Declare(name, meaning, place);
}

bool Names::DeclareRange(absl::string_view prefix, const RegisterRange& range, Place place) {
  Scope& scope = Innermost();
  const auto named = scope.numbered.find(prefix);
  if (named != scope.numbered.end() && named->second < range.count)
    return Taken(absl::StrCat(prefix, named->second), place);
  // %r1<10> begins with %r10, which %r<20> has.
  const size_t digits = TrailingDigits(prefix);
  for (size_t n = 1; n <= std::min(digits, kMaxSuffixDigits); ++n) {
    const int64_t number = SuffixNumber(prefix, n);
    if (number <= 0) continue;
    const absl::string_view shorter = prefix.substr(0, prefix.size() - n);
    const auto other = scope.ranges.find(shorter);
    if (other != scope.ranges.end() && other->second.count > number * 10)
      return Taken(absl::StrCat(prefix, "0"), place);
    int64_t& lowest = scope.numbered.emplace(shorter, number * 10).first->second;
    lowest = std::min(lowest, number * 10);
  }
  scope.has_range_ending_in_digit |= digits > 0;
  if (!scope.ranges.emplace(prefix, range).second) return Taken(absl::StrCat(prefix, "0"), place);
  return true;
}

bool Names::DeclareSymbol(absl::string_view name, SymbolKind kind, int index, Place place) {
  Meaning meaning;
  meaning.symbol = kind;
  meaning.index = index;
  return Declare(name, meaning, place);
}

bool Names::DeclareLabel(absl::string_view name, Place place) {
  if (!DeclareSymbol(name, SymbolKind::kLabel, static_cast<int>(function_->labels.size()), place))
    return false;
  function_->labels.push_back({MakeUnique(name), static_cast<int>(function_->instructions.size())});
  return true;
}

std::string Names::MakeUnique(absl::string_view name) {
  int& count = used_[name];
  if (count == 0 && module_.contains(name)) count = 1;
  // '#' is in no name of PTX.
  if (++count > 1) return absl::StrCat(name, "#", count);
  return std::string(name);
}

int Names::MakeRegisters(absl::string_view name, Type type, uint8_t width) {
  const auto first = static_cast<int>(function_->registers.size());
  if (width == 1) {
    function_->registers.push_back({std::string(name), type});
    return first;
  }
  for (int i = 0; i < width; ++i)
    function_->registers.push_back(
        {absl::StrCat(name, ".", absl::string_view("xyzw").substr(i, 1)), type});
  return first;
}

const RegisterRange* Names::FindRange(const Scope& scope, absl::string_view name) {
  if (scope.ranges.empty()) return nullptr;
  const size_t digits = TrailingDigits(name);
  const size_t fewest = scope.has_range_ending_in_digit ? 1 : digits;
  for (size_t n = digits; n >= fewest && n > 0; --n) {
    if (n > kMaxSuffixDigits) continue;
    const int64_t number = SuffixNumber(name, n);
    if (number < 0) continue;
    const auto it = scope.ranges.find(name.substr(0, name.size() - n));
    if (it != scope.ranges.end() && number < it->second.count) return &it->second;
  }
  return nullptr;
}

const Meaning* Names::Find(absl::string_view name) {
  for (size_t d = depth_; d-- > 0;) {
    Scope& scope = scopes_[d];
    const auto it = scope.names.find(name);
    if (it != scope.names.end()) return &it->second;
    const RegisterRange* range = FindRange(scope, name);
    if (range == nullptr) continue;
    Meaning meaning;
    meaning.is_register = true;
    meaning.width = range->width;
    meaning.index = MakeRegisters(name, range->type, range->width);
    return &scope.names.emplace(name, meaning).first->second;
  }
  return FindInModule(name);
}

void Names::UseLabelInOperand(absl::string_view name, Place place, size_t instruction,
                              size_t operand) {
  Innermost().label_uses.push_back({name, place, false, instruction, operand});
}

void Names::UseLabelInTable(absl::string_view name, Place place, size_t table, size_t item) {
  Innermost().label_uses.push_back({name, place, true, table, item});
}

}  // namespace stax::ptx
