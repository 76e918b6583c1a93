#include "runtime/emulator/ptx/operand_parser.h"

#include <cstddef>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/emulator/ptx/constant.h"
#include "runtime/emulator/ptx/special_registers.h"

namespace stax::ptx {
namespace {

using Kind = Operand::Kind;

// ".x" or ".r" is 0, ".w" or ".a" is 3 (section 6.4.3); -1: no component.
int Component(absl::string_view text) {
  if (text.size() != 1) return -1;
  const size_t xyzw = absl::string_view("xyzw").find(text[0]);
  if (xyzw != absl::string_view::npos) return static_cast<int>(xyzw);
  const size_t rgba = absl::string_view("rgba").find(text[0]);
  return rgba == absl::string_view::npos ? -1 : static_cast<int>(rgba);
}

// Bytes or halves of a register in video instructions: "b0", "h1", "b3210".
bool IsSelector(absl::string_view text) {
  if (text.size() < 2 || text.size() > 5 || (text[0] != 'b' && text[0] != 'h')) return false;
  return text.find_first_not_of("01234567", 1) == absl::string_view::npos;
}

}  // namespace

bool OperandParser::Undeclared(absl::string_view name, Place place) {
  if (name[0] == '%') {
    return cursor_.Fail(place, absl::StrCat("register '", name,
                                            "' is not declared, and no special register; "
                                            "registers need a .reg before their use"));
  }
  return cursor_.Fail(place, absl::StrCat("'", name,
                                          "' is not declared; expected a register, a variable or "
                                          "a function that is declared before its use"));
}

// What a symbol's name is in the AST.
void OperandParser::SetSymbol(const Meaning& meaning, absl::string_view name,
                              Operand* operand) const {
  operand->symbol = meaning.symbol;
  operand->index = meaning.index;
  switch (meaning.symbol) {
    case SymbolKind::kVariable:
      operand->name = function_->variables[meaning.index].name;
      break;
    case SymbolKind::kBranchTargets:
      operand->name = function_->branch_targets[meaning.index].name;
      break;
    case SymbolKind::kCallTargets:
      operand->name = function_->call_targets[meaning.index].name;
      break;
    case SymbolKind::kPrototype:
      operand->name = function_->prototypes[meaning.index].name;
      break;
    default:
      operand->name = std::string(name);
      break;
  }
}

bool OperandParser::ParseRegister(const Meaning& meaning, absl::string_view name,
                                  Operand* operand) {
  operand->kind = Kind::kRegister;
  operand->reg = meaning.index;
  if (cursor_.token().Is(Token::Kind::kDotted)) {
    if (meaning.width == 1 && IsSelector(cursor_.token().text)) {
      operand->name = std::string(cursor_.token().text);
      cursor_.Advance();
      return true;
    }
    const int component = Component(cursor_.token().text);
    if (meaning.width == 1 || component < 0 || component >= meaning.width) {
      return cursor_.Fail(cursor_.place(), absl::StrCat("'", name, "' has no element '.",
                                                        cursor_.token().text, "'"));
    }
    cursor_.Advance();
    operand->reg += component;
    return true;
  }
  if (meaning.width == 1) return true;
  // The whole vector.
  operand->kind = Kind::kVector;
  operand->reg = -1;
  operand->elements.resize(meaning.width);
  for (int i = 0; i < meaning.width; ++i) {
    operand->elements[i].kind = Kind::kRegister;
    operand->elements[i].reg = meaning.index + i;
  }
  return true;
}

bool OperandParser::ParseSpecial(absl::string_view name, Place place, Operand* operand) {
  const SpecialRegister special = FindSpecialRegister(name);
  if (special == SpecialRegister::kNone) return Undeclared(name, place);
  operand->kind = Kind::kSpecial;
  operand->name = std::string(name);
  if (!cursor_.token().Is(Token::Kind::kDotted)) return true;
  const int component = Component(cursor_.token().text);
  if (special != SpecialRegister::kVector || component < 0) {
    return cursor_.Fail(cursor_.place(),
                        absl::StrCat("'", name, "' has no element '.", cursor_.token().text, "'"));
  }
  operand->name += '.';
  operand->name += "xyzw"[component];
  cursor_.Advance();
  return true;
}

bool OperandParser::ParseName(Operand* operand) {
  const absl::string_view name = cursor_.token().text;
  const Place place = cursor_.place();
  cursor_.Advance();
  if (name == "_") return true;  // kSink, as it is
  const Meaning* meaning = names_.Find(name);
  if (meaning == nullptr) return ParseSpecial(name, place, operand);
  if (meaning->is_register) return ParseRegister(*meaning, name, operand);
  if (meaning->symbol == SymbolKind::kLabel) {
    return cursor_.Fail(place,
                        absl::StrCat("'", name, "' is a label; only bra and tables go there"));
  }
  operand->kind = Kind::kSymbol;
  SetSymbol(*meaning, name, operand);
  if (cursor_.token().Is('[')) {
    return cursor_.Fail(cursor_.place(), absl::StrCat("indexing is not supported; expected [", name,
                                                      "+OFFSET], the offset in bytes"));
  }
  return ParseOffset(cursor_, &operand->integer);
}

bool OperandParser::ParseNegated(Operand* operand) {
  cursor_.Advance();
  operand->negated = true;
  const Place place = cursor_.place();
  if (!ParseName(operand)) return false;
  if (operand->kind == Kind::kRegister && function_->registers[operand->reg].type == Type::kPred)
    return true;
  return cursor_.Fail(place, "'!' needs a register of type .pred");
}

bool OperandParser::ParseNumber(Operand* operand) {
  Constant constant;
  if (!ParseConstant(cursor_, &constant)) return false;
  operand->kind = constant.IsInteger() ? Kind::kInteger : Kind::kFloat;
  operand->is_double = constant.kind == Constant::Kind::kDouble;
  operand->integer = static_cast<int64_t>(constant.bits);
  return true;
}

// "{a, b}"; no vectors within.
bool OperandParser::ParseVector(Operand* operand) {
  operand->kind = Kind::kVector;
  cursor_.Advance();
  operand->elements.reserve(4);
  do {
    if (cursor_.token().Is('{') || cursor_.token().Is('['))
      return cursor_.Expected("a register or a number as element");
    operand->elements.emplace_back();
    if (!ParseOne(&operand->elements.back())) return false;
    if (operand->elements.back().kind == Kind::kVector)
      return cursor_.Fail(cursor_.place(), "a vector cannot be an element of a vector");
  } while (cursor_.Accept(','));
  return cursor_.Expect('}');
}

// "%rd1+4", "name+4", "16".
bool OperandParser::ParseAddress(Operand* operand) {
  const Place place = cursor_.place();
  if (!cursor_.token().Is(Token::Kind::kIdentifier)) {
    if (!ParseNumber(operand)) return false;
    if (operand->kind != Kind::kInteger)
      return cursor_.Fail(place, "an address must be an integer");
    operand->kind = Kind::kAddress;
    return true;
  }
  if (!ParseName(operand)) return false;
  if (operand->kind != Kind::kRegister && operand->kind != Kind::kSymbol)
    return cursor_.Fail(place, "expected a register, a variable or an integer as address");
  operand->kind = Kind::kAddress;
  return ParseOffset(cursor_, &operand->integer);
}

bool OperandParser::ParseMemory(Operand* operand) {
  cursor_.Advance();
  if (!ParseAddress(operand)) return false;
  if (cursor_.token().Is(',')) {
    Operand first = std::move(*operand);
    *operand = Operand();
    operand->kind = Kind::kVector;
    operand->is_memory = true;
    operand->elements.push_back(std::move(first));
    while (cursor_.Accept(',')) {
      operand->elements.emplace_back();
      Operand& element = operand->elements.back();
      if (!(cursor_.token().Is('{') ? ParseVector(&element) : ParseAddress(&element))) return false;
    }
  }
  return cursor_.Expect(']');
}

bool OperandParser::ParseOne(Operand* operand) {
  const Token& token = cursor_.token();
  if (token.Is(Token::Kind::kIdentifier)) return ParseName(operand);
  if (token.Is('[')) return ParseMemory(operand);
  if (token.Is('{')) return ParseVector(operand);
  if (token.Is('!') && cursor_.next().Is(Token::Kind::kIdentifier)) return ParseNegated(operand);
  if (StartsConstant(token)) return ParseNumber(operand);
  return cursor_.Expected("an operand");
}

bool OperandParser::Parse(Operand* operand) {
  if (!ParseOne(operand)) return false;
  if (!cursor_.Accept('|')) return true;
  Operand first = std::move(*operand);
  *operand = Operand();
  operand->kind = Kind::kPair;
  operand->elements.reserve(2);
  operand->elements.push_back(std::move(first));
  operand->elements.emplace_back();
  return ParseOne(&operand->elements.back());
}

bool OperandParser::ParseGuard(int* reg, bool* negated) {
  *negated = cursor_.Accept('!');
  const Place place = cursor_.place();
  if (!cursor_.token().Is(Token::Kind::kIdentifier))
    return cursor_.Expected("a predicate register");
  Operand operand;
  if (!ParseName(&operand)) return false;
  if (operand.kind != Kind::kRegister || function_->registers[operand.reg].type != Type::kPred)
    return cursor_.Fail(place, "a guard must be a register of type .pred");
  *reg = operand.reg;
  return true;
}

bool OperandParser::ParseList(Operand* list) {
  list->kind = Kind::kVector;
  if (!cursor_.Expect('(')) return false;
  if (cursor_.Accept(')')) return true;
  do {
    list->elements.emplace_back();
    if (!ParseOne(&list->elements.back())) return false;
  } while (cursor_.Accept(','));
  return cursor_.Expect(')');
}

}  // namespace stax::ptx
