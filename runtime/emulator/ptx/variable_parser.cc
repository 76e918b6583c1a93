#include "runtime/emulator/ptx/variable_parser.h"

#include <cstddef>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "runtime/emulator/ptx/initializer_parser.h"

namespace stax::ptx {
namespace {

constexpr int64_t kMaxAlign = 1 << 20;
constexpr size_t kMaxDims = 16;

}  // namespace

bool IsSpace(const Token& token, Space* space) {
  if (!token.Is(Token::Kind::kDotted)) return false;
  if (token.text == "global") {
    *space = Space::kGlobal;
  } else if (token.text == "shared") {
    *space = Space::kShared;
  } else if (token.text == "local") {
    *space = Space::kLocal;
  } else if (token.text == "const") {
    *space = Space::kConst;
  } else if (token.text == "param") {
    *space = Space::kParam;
  } else {
    return false;
  }
  return true;
}

Linkage AcceptLinkage(Cursor& cursor) {
  if (cursor.AcceptDotted("visible")) return Linkage::kVisible;
  if (cursor.AcceptDotted("extern")) return Linkage::kExtern;
  if (cursor.AcceptDotted("weak")) return Linkage::kWeak;
  if (cursor.AcceptDotted("common")) return Linkage::kCommon;
  return Linkage::kNone;
}

bool ParseType(Cursor& cursor, Type* type) {
  if (!cursor.token().Is(Token::Kind::kDotted)) return cursor.Expected("a type, as .u32");
  for (int t = 0; t < kTypeCount; ++t) {
    *type = static_cast<Type>(t);
    if (cursor.AcceptDotted(TypeName(*type))) return true;
  }
  return cursor.Fail(cursor.place(), absl::StrCat("type '.", cursor.token().text,
                                                  "' is unknown here; expected .pred, or .b, .u, "
                                                  ".s, .f and a number of bits"));
}

uint8_t AcceptVector(Cursor& cursor) {
  if (cursor.AcceptDotted("v2")) return 2;
  if (cursor.AcceptDotted("v4")) return 4;
  return 1;
}

bool VariableParser::ParseAlign(int64_t* align) {
  const Place place = cursor_.place();
  if (!cursor_.ExpectInteger("the alignment in bytes", 1, kMaxAlign, align)) return false;
  if ((*align & (*align - 1)) == 0) return true;
  return cursor_.Fail(place, absl::StrCat("the alignment ", *align, " is no power of two"));
}

bool VariableParser::ParseAttributes(Variable* variable) {
  if (!cursor_.Expect('(')) return false;
  do {
    if (!cursor_.AcceptDotted("managed")) return cursor_.Expected("the attribute .managed");
    variable->is_managed = true;
  } while (cursor_.Accept(','));
  return cursor_.Expect(')');
}

bool VariableParser::ParsePointer(Variable* variable) {
  variable->is_pointer = true;
  if (IsSpace(cursor_.token(), &variable->pointer_space)) cursor_.Advance();
  // Section 5.1.6.3: 4 unless given.
  variable->pointer_align_bytes = 4;
  return !cursor_.AcceptDotted("align") || ParseAlign(&variable->pointer_align_bytes);
}

bool VariableParser::ParsePrefix(Variable* variable, int* width) {
  if (!IsSpace(cursor_.token(), &variable->space)) {
    return cursor_.Expected("a state space: .global, .shared, .local, .const or .param");
  }
  cursor_.Advance();
  bool has_type = false, has_align = false;
  *width = 1;
  while (cursor_.token().Is(Token::Kind::kDotted)) {
    if (cursor_.AcceptDotted("align")) {
      if (!ParseAlign(&variable->align_bytes)) return false;
      has_align = true;
    } else if (cursor_.AcceptDotted("attribute")) {
      if (!ParseAttributes(variable)) return false;
    } else if (has_type && cursor_.AcceptDotted("ptr")) {
      if (!ParsePointer(variable)) return false;
    } else if (has_type) {
      return cursor_.Expected("a name");
    } else if (const uint8_t vector = AcceptVector(cursor_); vector > 1) {
      *width = vector;
    } else {
      const Place place = cursor_.place();
      if (!ParseType(cursor_, &variable->type)) return false;
      if (variable->type == Type::kPred)
        return cursor_.Fail(place, "a variable cannot be .pred; only registers are");
      has_type = true;
    }
  }
  if (!has_type) return cursor_.Expected("a type, as .u32");
  if (!has_align) variable->align_bytes = int64_t{SizeBytes(variable->type)} * *width;
  return true;
}

bool VariableParser::ParseDeclarator(int width, Variable* variable, absl::string_view* name,
                                     std::vector<int64_t>* dims) {
  const Place place = cursor_.place();
  variable->line = place.line;
  if (!cursor_.ExpectIdentifier("a name", name)) return false;
  variable->name = std::string(*name);
  int64_t size = int64_t{SizeBytes(variable->type)} * width;
  while (cursor_.Accept('[')) {
    int64_t dim = 0;
    if (!cursor_.token().Is(']') || !dims->empty()) {
      if (!cursor_.ExpectInteger("the dimension", 1, kMaxVariableBytes, &dim)) return false;
      if (__builtin_mul_overflow(size, dim, &size) || size > kMaxVariableBytes) {
        return cursor_.Fail(place, absl::StrCat("'", *name, "' is larger than 2^40 bytes"));
      }
    }
    if (!cursor_.Expect(']')) return false;
    dims->push_back(dim);
    if (dims->size() == kMaxDims)
      return cursor_.Fail(place,
                          absl::StrCat("'", *name, "' has ", kMaxDims, " dimensions or more"));
  }
  // Of "[]" the size of the rest, until the values are counted.
  variable->size_bytes = size;
  if (width > 1) dims->push_back(width);
  return true;
}

bool VariableParser::Parse(Linkage linkage, std::vector<DeclaredVariable>* variables) {
  Variable prefix;
  prefix.linkage = linkage;
  int width = 1;
  if (!ParsePrefix(&prefix, &width)) return false;
  do {
    const Place place = cursor_.place();
    Variable variable = prefix;
    absl::string_view name;
    std::vector<int64_t> dims;
    if (!ParseDeclarator(width, &variable, &name, &dims)) return false;
    const bool is_open = !dims.empty() && dims[0] == 0;
    const Place value = cursor_.place();
    if (cursor_.Accept('=')) {
      if (variable.IsExtern() ||
          (variable.space != Space::kGlobal && variable.space != Space::kConst)) {
        return cursor_.Fail(value,
                            "only .global and .const variables that are not .extern take "
                            "an initial value");
      }
      if (!ParseInitializer(cursor_, names_, &dims, &variable)) return false;
    } else if (is_open && !variable.IsExtern()) {
      return cursor_.Fail(
          place,
          absl::StrCat("'", variable.name, "[]' needs a dimension, an initial value or .extern"));
    }
    // At most kMaxVariableBytes, or ParseInitializer would have failed.
    if (is_open) variable.size_bytes *= dims[0];
    variables->push_back({std::move(variable), name, place});
  } while (cursor_.Accept(','));
  return cursor_.Expect(';');
}

bool VariableParser::ParseParameter(std::vector<DeclaredVariable>* parameters) {
  if (cursor_.token().Is(Token::Kind::kDotted) && cursor_.token().text == "reg") {
    return cursor_.Fail(cursor_.place(),
                        "parameters in registers are not supported; expected .param");
  }
  Variable variable;
  int width = 1;
  if (!ParsePrefix(&variable, &width)) return false;
  const Place place = cursor_.place();
  if (variable.space != Space::kParam)
    return cursor_.Fail(place, "a parameter must be in the state space .param");
  absl::string_view name;
  std::vector<int64_t> dims;
  if (!ParseDeclarator(width, &variable, &name, &dims)) return false;
  if (!dims.empty() && dims[0] == 0) variable.size_bytes = 0;
  parameters->push_back({std::move(variable), name, place});
  return true;
}

bool VariableParser::ParseParameters(std::vector<DeclaredVariable>* parameters) {
  if (!cursor_.Expect('(')) return false;
  if (cursor_.Accept(')')) return true;
  do {
    if (!ParseParameter(parameters)) return false;
  } while (cursor_.Accept(','));
  return cursor_.Expect(')');
}

}  // namespace stax::ptx
