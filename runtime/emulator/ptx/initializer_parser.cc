#include "runtime/emulator/ptx/initializer_parser.h"

#include <cstddef>
#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "runtime/emulator/ptx/constant.h"

namespace stax::ptx {
namespace {

// Zeros between two values that are cheaper to write down than a new piece.
constexpr int64_t kMaxGap = 64;

// Of a float.
double ToDouble(const Constant& c) {
  if (c.kind == Constant::Kind::kSingle) {
    float value = 0;
    const auto bits = static_cast<uint32_t>(c.bits);
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
  double value = 0;
  std::memcpy(&value, &c.bits, sizeof value);
  return value;
}

class InitializerParser {
 public:
  InitializerParser(Cursor& cursor, const Names& names, std::vector<int64_t>* dims,
                    Variable* variable)
      : cursor_(cursor), names_(names), dims_(*dims), variable_(*variable) {}

  bool Parse() {
    // Bytes of one element of each dimension, e.g. of [2][3] of f32: 12, 4.
    strides_.resize(dims_.size());
    int64_t stride = SizeBytes(variable_.type);
    for (size_t d = dims_.size(); d-- > 0;) {
      strides_[d] = stride;
      stride *= dims_[d];
    }
    return Level(0, 0);
  }

 private:
  // "{a, b, ...}" of dimension d at a byte offset. As deep as the declaration has dimensions.
  bool Level(size_t d, int64_t offset) {
    if (d == dims_.size()) return Value(offset);
    if (!cursor_.token().Is('{')) {
      return cursor_.Expected(
          absl::StrCat("'{', nested as deep as the dimensions, ", dims_.size()));
    }
    cursor_.Advance();
    const bool is_open = d == 0 && dims_[0] == 0;
    int64_t count = 0;
    while (!cursor_.token().Is('}')) {
      if (!is_open && count == dims_[d]) {
        return cursor_.Fail(cursor_.place(),
                            absl::StrCat("more values than the dimension has: ", dims_[d]));
      }
      if (is_open && count >= kMaxVariableBytes / strides_[0]) {
        return cursor_.Fail(cursor_.place(),
                            absl::StrCat("'", variable_.name, "' is larger than 2^40 bytes"));
      }
      if (!Level(d + 1, offset + count * strides_[d])) return false;
      ++count;
      if (!cursor_.Accept(',')) break;
    }
    if (!cursor_.Expect('}')) return false;
    if (is_open) dims_[0] = count;
    return true;
  }

  bool Value(int64_t offset) {
    if (cursor_.token().Is(Token::Kind::kIdentifier) && cursor_.token().text != "WARP_SZ") {
      Initializer address;
      address.size = SizeBytes(variable_.type);
      if (address.size != 8 && address.size != 4) {
        return cursor_.Fail(cursor_.place(),
                            absl::StrCat("an address does not fit .", TypeName(variable_.type),
                                         "; expected .u64 or .u32, or a mask as in 0xFF(name)"));
      }
      address.offset = offset;
      return Address(&address);
    }
    if (cursor_.token().Is(Token::Kind::kInteger) && cursor_.next().Is('(')) return Masked(offset);
    const Place place = cursor_.place();
    Constant constant;
    return ParseConstant(cursor_, &constant) && Encode(constant, place, offset);
  }

  // "0xFF00(address)", a byte of it.
  bool Masked(int64_t offset) {
    Initializer address;
    address.offset = offset;
    address.size = 1;
    const uint64_t mask = cursor_.token().value;
    while (address.shift < 64 && mask != uint64_t{0xFF} << address.shift) address.shift += 8;
    if (address.shift == 64) {
      return cursor_.Fail(cursor_.place(), absl::StrCat("the mask ", cursor_.token().text,
                                                        " is not 0xFF, 0xFF00, ... of one byte"));
    }
    if (SizeBytes(variable_.type) != 1) {
      return cursor_.Fail(cursor_.place(),
                          absl::StrCat("a mask makes a byte, not .", TypeName(variable_.type)));
    }
    cursor_.Advance();
    return cursor_.Expect('(') && Address(&address, /*in_mask=*/true) && cursor_.Expect(')');
  }

  // "name+4", "generic(name)+4", "generic(name+4)".
  bool Address(Initializer* address, bool in_mask = false) {
    absl::string_view name;
    const Place generic_place = cursor_.place();
    if (cursor_.token().text == "generic" && cursor_.next().Is('(')) {
      cursor_.Advance();
      cursor_.Advance();
      address->generic = true;
    }
    const Place place = cursor_.place();
    if (!cursor_.ExpectIdentifier("the name of a variable or function", &name)) return false;
    const Meaning* meaning = names_.FindInModule(name);
    if (meaning == nullptr && name != variable_.name) {
      return cursor_.Fail(place, absl::StrCat("'", name,
                                              "' is not declared; variables and functions must be "
                                              "declared before their address is used"));
    }
    if (address->generic && meaning != nullptr && meaning->symbol == SymbolKind::kFunction)
      return cursor_.Fail(generic_place, "generic() takes a variable, not a function");
    address->symbol = std::string(name);
    if (!ParseOffset(cursor_, &address->addend)) return false;
    if (address->generic) {
      if (!cursor_.Expect(')') || !ParseOffset(cursor_, &address->addend)) return false;
    }
    if (!in_mask && cursor_.token().Is('(')) return cursor_.Expected("',' or '}'");
    variable_.initial.push_back(std::move(*address));
    return true;
  }

  bool Encode(const Constant& constant, Place place, int64_t offset) {
    uint64_t bits = constant.bits;
    const bool is_float = variable_.type == Type::kF32 || variable_.type == Type::kF64;
    if (is_float && constant.IsInteger()) {
      return cursor_.Fail(
          place, absl::StrCat("an integer cannot be the value of .", TypeName(variable_.type),
                              "; expected a float, as 1.0"));
    }
    if (variable_.type == Type::kF64) {
      const double value = ToDouble(constant);
      if (constant.kind != Constant::Kind::kDouble) std::memcpy(&bits, &value, sizeof value);
    } else if (variable_.type == Type::kF32) {
      if (constant.kind != Constant::Kind::kSingle) {
        const auto value = static_cast<float>(ToDouble(constant));
        uint32_t single = 0;
        std::memcpy(&single, &value, sizeof value);
        bits = single;
      }
    } else if (!constant.IsInteger()) {
      return cursor_.Fail(place, absl::StrCat("a float cannot be the value of .",
                                              TypeName(variable_.type), "; expected an integer"));
    }
    const bool negative = constant.kind == Constant::Kind::kSigned && (bits >> 63) != 0;
    std::string& bytes = BytesAt(offset);
    for (int i = 0; i < SizeBytes(variable_.type); ++i) {
      // The upper half of b128 has the sign.
      bytes += static_cast<char>(i < 8 ? bits >> (8 * i) : negative ? 0xFF : 0);
    }
    return true;
  }

  // The bytes to append to, so that they lie at the offset. Values come in ascending order.
  std::string& BytesAt(int64_t offset) {
    if (!variable_.initial.empty() && variable_.initial.back().symbol.empty()) {
      Initializer& last = variable_.initial.back();
      const int64_t gap = offset - last.offset - static_cast<int64_t>(last.bytes.size());
      if (gap <= kMaxGap) {
        last.bytes.append(gap, '\0');
        return last.bytes;
      }
    }
    variable_.initial.emplace_back();
    variable_.initial.back().offset = offset;
    return variable_.initial.back().bytes;
  }

  Cursor& cursor_;
  const Names& names_;
  std::vector<int64_t>& dims_;
  Variable& variable_;
  std::vector<int64_t> strides_;
};

}  // namespace

bool ParseInitializer(Cursor& cursor, const Names& names, std::vector<int64_t>* dims,
                      Variable* variable) {
  return InitializerParser(cursor, names, dims, variable).Parse();
}

}  // namespace stax::ptx
