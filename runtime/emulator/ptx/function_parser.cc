#include "runtime/emulator/ptx/function_parser.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "runtime/emulator/ptx/directives.h"

namespace stax::ptx {
namespace {

constexpr int64_t kMaxThreads = INT32_MAX;

bool SameSizes(const std::vector<Variable>& a, const std::vector<Variable>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].size_bytes != b[i].size_bytes) return false;
  }
  return true;
}

std::vector<Variable> CopyVariables(const std::vector<DeclaredVariable>& declared) {
  std::vector<Variable> variables;
  variables.reserve(declared.size());
  for (const DeclaredVariable& d : declared) variables.push_back(d.variable);
  return variables;
}

}  // namespace

bool FunctionParser::ParseDimensions(int64_t dims[3]) {
  dims[0] = dims[1] = dims[2] = 1;
  for (int i = 0; i < 3; ++i) {
    if (i > 0 && !cursor_.Accept(',')) return true;
    if (!cursor_.ExpectInteger("the number of threads or blocks", 1, kMaxThreads, &dims[i]))
      return false;
  }
  return true;
}

bool FunctionParser::ParseDirectives(Function* function) {
  struct Number {
    const char* name;
    int64_t* value;
  };
  const Number numbers[] = {{"maxnreg", &function->max_registers},
                            {"minnctapersm", &function->min_blocks},
                            {"maxnctapersm", &function->max_blocks},
                            {"maxclusterrank", &function->max_cluster_rank}};
  while (cursor_.token().Is(Token::Kind::kDotted)) {
    if (cursor_.AcceptDotted("maxntid")) {
      if (!ParseDimensions(function->max_threads)) return false;
    } else if (cursor_.AcceptDotted("reqntid")) {
      if (!ParseDimensions(function->required_threads)) return false;
    } else if (cursor_.AcceptDotted("reqnctapercluster")) {
      if (!ParseDimensions(function->cluster)) return false;
    } else if (cursor_.AcceptDotted("explicitcluster")) {
      function->explicit_cluster = true;
    } else if (cursor_.AcceptDotted("blocksareclusters")) {
      function->blocks_are_clusters = true;
    } else if (cursor_.AcceptDotted("noreturn")) {
      function->no_return = true;
    } else if (cursor_.AcceptDotted("pragma")) {
      if (!SkipPragma(cursor_)) return false;
    } else {
      int64_t* value = nullptr;
      const Token token = cursor_.token();
      for (const Number& number : numbers) {
        if (token.text == number.name) value = number.value;
      }
      if (value == nullptr) {
        return cursor_.Fail(token.place,
                            absl::StrCat("the directive '.", token.text,
                                         "' is unknown here; expected '{', ';' or one of .maxntid, "
                                         ".reqntid, .maxnreg, .minnctapersm, .maxnctapersm, "
                                         ".reqnctapercluster, .explicitcluster, .maxclusterrank, "
                                         ".blocksareclusters, .noreturn, .pragma"));
      }
      cursor_.Advance();
      if (!cursor_.ExpectInteger(absl::StrCat("the number of .", token.text), 0, kMaxThreads,
                                 value)) {
        return false;
      }
    }
  }
  if (function->max_threads[0] > 0 && function->required_threads[0] > 0)
    return cursor_.Fail(cursor_.place(), "both .maxntid and .reqntid are given; expected one");
  return true;
}

bool FunctionParser::Enter(Function function, absl::string_view name, Place place, int* number) {
  *number = static_cast<int>(module_.functions.size());
  if (names_.DeclareInModule(name, SymbolKind::kFunction, *number)) {
    module_.functions.push_back(std::move(function));
    return true;
  }
  const Meaning& meaning = *names_.FindInModule(name);
  if (meaning.symbol != SymbolKind::kFunction)
    return cursor_.Fail(place, absl::StrCat("'", name, "' is a variable already"));
  *number = meaning.index;
  Function& before = module_.functions[*number];
  if (before.is_entry != function.is_entry || !SameSizes(before.parameters, function.parameters) ||
      !SameSizes(before.returned, function.returned)) {
    return cursor_.Fail(place, absl::StrCat("'", name,
                                            "' was declared with other parameters in "
                                            "line ",
                                            before.line));
  }
  if (function.is_declaration) return true;
  if (!before.is_declaration || !before.alias_of.empty()) {
    return cursor_.Fail(place,
                        absl::StrCat("'", name, "' is defined already in line ", before.line));
  }
  before = std::move(function);
  return true;
}

bool FunctionParser::Parse(Linkage linkage, bool is_entry) {
  Function function;
  function.linkage = linkage;
  function.is_entry = is_entry;
  std::vector<DeclaredVariable> parameters, returned;
  if (!is_entry && cursor_.token().Is('(') && !variables_.ParseParameters(&returned)) return false;
  const Place place = cursor_.place();
  function.line = place.line;
  absl::string_view name;
  if (!cursor_.ExpectIdentifier("the name of a function", &name)) return false;
  function.name = std::string(name);
  if (cursor_.token().Is('(') && !variables_.ParseParameters(&parameters)) return false;
  function.parameters = CopyVariables(parameters);
  function.returned = CopyVariables(returned);
  if (!ParseDirectives(&function)) return false;
  function.is_declaration = !cursor_.token().Is('{');
  if (function.is_declaration && !cursor_.Accept(';')) return cursor_.Expected("'{' or ';'");
  int number = 0;
  const bool has_body = !function.is_declaration;
  if (!Enter(std::move(function), name, place, &number)) return false;
  if (!has_body) return true;
  Function& entered = module_.functions[number];
  names_.BeginFunction(&entered);
  for (size_t i = 0; i < returned.size(); ++i) {
    if (!names_.DeclareSymbol(returned[i].name, SymbolKind::kReturned, static_cast<int>(i),
                              returned[i].place)) {
      return false;
    }
  }
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (!names_.DeclareSymbol(parameters[i].name, SymbolKind::kParameter, static_cast<int>(i),
                              parameters[i].place)) {
      return false;
    }
  }
  return body_.Parse(&entered);
}

}  // namespace stax::ptx
