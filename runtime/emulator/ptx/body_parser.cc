#include "runtime/emulator/ptx/body_parser.h"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace stax::ptx {
namespace {

// A thread of a GPU has 255 registers; compilers number values, some 10^4 in a kernel.
constexpr int64_t kMaxRange = 1 << 20;

std::vector<Variable> TakeVariables(std::vector<DeclaredVariable> declared) {
  std::vector<Variable> variables;
  variables.reserve(declared.size());
  for (DeclaredVariable& d : declared) variables.push_back(std::move(d.variable));
  return variables;
}

}  // namespace

bool BodyParser::Parse(Function* function) {
  function_ = function;
  operands_.SetFunction(function);
  loc_ = {};
  if (!cursor_.Expect('{')) return false;
  for (bool done = false; !done;) {
    if (!ParseStatement(&done)) return false;
  }
  return true;
}

bool BodyParser::ParseStatement(bool* done) {
  const Token& token = cursor_.token();
  switch (token.kind) {
    case Token::Kind::kIdentifier:
      return cursor_.next().Is(':') ? ParseLabel() : ParseInstruction();
    case Token::Kind::kDotted:
      return ParseDirective();
    case Token::Kind::kSign:
      if (token.Is('@')) return ParseInstruction();
      if (token.Is('{')) {
        if (!names_.OpenScope()) return false;
        cursor_.Advance();
        return true;
      }
      if (token.Is('}')) {
        *done = names_.depth() == 0;
        cursor_.Advance();
        return names_.CloseScope();
      }
      break;
    default:
      break;
  }
  return cursor_.Expected("an instruction, a directive, a label or '}'");
}

bool BodyParser::ParseDirective() {
  if (cursor_.AcceptDotted("loc")) return ParseLoc(cursor_, &loc_);
  if (cursor_.AcceptDotted("reg")) return ParseRegisters();
  if (cursor_.AcceptDotted("pragma")) return SkipPragma(cursor_);
  Space space = Space::kGeneric;
  if (IsSpace(cursor_.token(), &space)) return ParseVariables();
  return cursor_.Fail(cursor_.place(),
                      absl::StrCat("the directive '.", cursor_.token().text,
                                   "' is unknown in a function; expected .reg, .loc, "
                                   ".pragma, a state space or an instruction"));
}

bool BodyParser::ParseRegisters() {
  const uint8_t width = AcceptVector(cursor_);
  Type type = Type::kB32;
  if (!ParseType(cursor_, &type)) return false;
  do {
    if (!ParseRegister(type, width)) return false;
  } while (cursor_.Accept(','));
  return cursor_.Expect(';');
}

bool BodyParser::ParseRegister(Type type, uint8_t width) {
  const Place place = cursor_.place();
  absl::string_view name;
  if (!cursor_.ExpectIdentifier("the name of a register", &name)) return false;
  if (!cursor_.Accept('<')) return names_.DeclareRegister(name, type, width, place);
  RegisterRange range;
  range.type = type;
  range.width = width;
  return cursor_.ExpectInteger("the number of registers", 0, kMaxRange, &range.count) &&
         cursor_.Expect('>') && names_.DeclareRange(name, range, place);
}

bool BodyParser::ParseVariables() {
  std::vector<DeclaredVariable> declared;
  if (!variables_.Parse(Linkage::kNone, &declared)) return false;
  for (DeclaredVariable& d : declared) {
    const auto number = static_cast<int>(function_->variables.size());
    if (!names_.DeclareSymbol(d.name, SymbolKind::kVariable, number, d.place)) return false;
    d.variable.name = names_.MakeUnique(d.name);
    function_->variables.push_back(std::move(d.variable));
  }
  return true;
}

bool BodyParser::ParseLabel() {
  const absl::string_view name = cursor_.token().text;
  const Place place = cursor_.place();
  cursor_.Advance();
  cursor_.Advance();
  if (cursor_.AcceptDotted("branchtargets")) return ParseBranchTargets(name, place);
  if (cursor_.AcceptDotted("calltargets")) return ParseCallTargets(name, place);
  if (cursor_.AcceptDotted("callprototype")) return ParsePrototype(name, place);
  return names_.DeclareLabel(name, place);
}

bool BodyParser::ParseBranchTargets(absl::string_view name, Place place) {
  const size_t number = function_->branch_targets.size();
  if (!names_.DeclareSymbol(name, SymbolKind::kBranchTargets, static_cast<int>(number), place))
    return false;
  function_->branch_targets.push_back({names_.MakeUnique(name), {}});
  std::vector<int>& labels = function_->branch_targets.back().labels;
  do {
    const Place label_place = cursor_.place();
    absl::string_view label;
    if (!cursor_.ExpectIdentifier("a label", &label)) return false;
    names_.UseLabelInTable(label, label_place, number, labels.size());
    labels.push_back(-1);
  } while (cursor_.Accept(','));
  return cursor_.Expect(';');
}

bool BodyParser::ParseCallTargets(absl::string_view name, Place place) {
  const auto number = static_cast<int>(function_->call_targets.size());
  if (!names_.DeclareSymbol(name, SymbolKind::kCallTargets, number, place)) return false;
  CallTargets targets;
  targets.name = names_.MakeUnique(name);
  do {
    const Place function_place = cursor_.place();
    absl::string_view function;
    if (!cursor_.ExpectIdentifier("a function", &function)) return false;
    const Meaning* meaning = names_.FindInModule(function);
    if (meaning == nullptr || meaning->symbol != SymbolKind::kFunction) {
      return cursor_.Fail(function_place, absl::StrCat("'", function, "' is no declared function"));
    }
    targets.functions.push_back(meaning->index);
  } while (cursor_.Accept(','));
  function_->call_targets.push_back(std::move(targets));
  return cursor_.Expect(';');
}

// "(returned) _ (parameters) ;" with all but the name optional.
bool BodyParser::ParsePrototype(absl::string_view name, Place place) {
  const auto number = static_cast<int>(function_->prototypes.size());
  if (!names_.DeclareSymbol(name, SymbolKind::kPrototype, number, place)) return false;
  std::vector<DeclaredVariable> returned, parameters;
  if (cursor_.token().Is('(') && !variables_.ParseParameters(&returned)) return false;
  absl::string_view sink;
  if (!cursor_.ExpectIdentifier("'_'", &sink)) return false;
  if (cursor_.token().Is('(') && !variables_.ParseParameters(&parameters)) return false;
  Prototype prototype;
  prototype.name = names_.MakeUnique(name);
  prototype.no_return = cursor_.AcceptDotted("noreturn");
  prototype.returned = TakeVariables(std::move(returned));
  prototype.parameters = TakeVariables(std::move(parameters));
  function_->prototypes.push_back(std::move(prototype));
  return cursor_.Expect(';');
}

bool BodyParser::ParseInstruction() {
  Instruction instruction;
  instruction.line = cursor_.place().line;
  instruction.loc_file = loc_.file;
  instruction.loc_line = loc_.line;
  if (cursor_.Accept('@') &&
      !operands_.ParseGuard(&instruction.guard, &instruction.guard_negated)) {
    return false;
  }
  absl::string_view opcode = cursor_.token().text;
  if (!cursor_.token().Is(Token::Kind::kIdentifier) || opcode[0] == '%' || opcode[0] == '$' ||
      opcode[0] == '_') {
    return cursor_.Expected("an instruction");
  }
  cursor_.Advance();
  instruction.opcode = std::string(opcode);
  modifiers_.clear();
  while (cursor_.token().Is(Token::Kind::kDotted)) {
    modifiers_.push_back(cursor_.token().text);
    cursor_.Advance();
  }
  instruction.modifiers.reserve(modifiers_.size());
  for (const absl::string_view modifier : modifiers_)
    instruction.modifiers.emplace_back(modifier.data(), modifier.size());
  if (opcode == "call") {
    if (!ParseCall(&instruction)) return false;
  } else if (opcode == "bra") {
    if (!ParseBranch(&instruction)) return false;
  } else if (!cursor_.token().Is(';')) {
    scratch_.clear();
    do {
      scratch_.emplace_back();
      if (!operands_.Parse(&scratch_.back())) return false;
    } while (cursor_.Accept(','));
    instruction.operands.assign(std::make_move_iterator(scratch_.begin()),
                                std::make_move_iterator(scratch_.end()));
  }
  if (!cursor_.token().Is(';')) return cursor_.Expected("',' or ';' after an operand");
  cursor_.Advance();
  function_->instructions.push_back(std::move(instruction));
  return true;
}

bool BodyParser::ParseBranch(Instruction* instruction) {
  const Place place = cursor_.place();
  absl::string_view label;
  if (!cursor_.ExpectIdentifier("a label", &label)) return false;
  instruction->operands.emplace_back();
  instruction->operands.back().kind = Operand::Kind::kLabel;
  names_.UseLabelInOperand(label, place, function_->instructions.size(), 0);
  return true;
}

// "(returned), callee, (arguments), table", all but the callee optional.
bool BodyParser::ParseCall(Instruction* instruction) {
  const Place place = cursor_.place();
  Operand callee, returned, arguments, table;
  returned.kind = arguments.kind = Operand::Kind::kVector;
  bool has_table = false;
  if (cursor_.token().Is('(')) {
    if (!operands_.ParseList(&returned) || !cursor_.Expect(',')) return false;
  }
  const Place callee_place = cursor_.place();
  if (!operands_.Parse(&callee)) return false;
  if (cursor_.Accept(',')) {
    has_table = !cursor_.token().Is('(');
    if (!has_table) {
      if (!operands_.ParseList(&arguments)) return false;
      has_table = cursor_.Accept(',');
    }
  }
  const bool is_direct =
      callee.kind == Operand::Kind::kSymbol && callee.symbol == SymbolKind::kFunction;
  if (!is_direct && callee.kind != Operand::Kind::kRegister)
    return cursor_.Fail(callee_place, "expected a function, or a register with its address");
  if (has_table) {
    const Place table_place = cursor_.place();
    if (!operands_.Parse(&table)) return false;
    if (is_direct || table.kind != Operand::Kind::kSymbol ||
        (table.symbol != SymbolKind::kPrototype && table.symbol != SymbolKind::kCallTargets)) {
      return cursor_.Fail(table_place,
                          "expected ';', or in a call through a register the name of a "
                          ".callprototype or .calltargets");
    }
  } else if (!is_direct) {
    return cursor_.Fail(callee_place,
                        "a call through a register needs a .callprototype or "
                        ".calltargets behind its arguments");
  }
  instruction->operands.reserve(has_table ? 4 : 3);
  instruction->operands.push_back(std::move(callee));
  instruction->operands.push_back(std::move(returned));
  instruction->operands.push_back(std::move(arguments));
  if (has_table) instruction->operands.push_back(std::move(table));
  return CheckCall(*instruction, place);
}

// As many arguments and results as the callee has.
bool BodyParser::CheckCall(const Instruction& call, Place place) {
  const Operand& callee = call.operands.size() == 4 ? call.operands[3] : call.operands[0];
  size_t parameters = 0, returned = 0;
  if (callee.symbol == SymbolKind::kPrototype) {
    parameters = function_->prototypes[callee.index].parameters.size();
    returned = function_->prototypes[callee.index].returned.size();
  } else {
    const int number = callee.symbol == SymbolKind::kCallTargets
                           ? function_->call_targets[callee.index].functions[0]
                           : callee.index;
    parameters = module_.functions[number].parameters.size();
    returned = module_.functions[number].returned.size();
  }
  if (call.operands[2].elements.size() != parameters) {
    return cursor_.Fail(place, absl::StrCat("'", callee.name, "' takes ", parameters,
                                            " arguments, got ", call.operands[2].elements.size()));
  }
  if (call.operands[1].elements.size() != returned) {
    return cursor_.Fail(place, absl::StrCat("'", callee.name, "' returns ", returned,
                                            " values, got ", call.operands[1].elements.size()));
  }
  return true;
}

}  // namespace stax::ptx
