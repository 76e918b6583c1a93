#include "runtime/emulator/ptx/constant.h"

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace stax::ptx {
namespace {

using Kind = Constant::Kind;

// Of parentheses, unary operators and conditions within each other.
constexpr int kMaxDepth = 100;

Constant Signed(int64_t value) { return {Kind::kSigned, static_cast<uint64_t>(value)}; }

double ToDouble(const Constant& c) {
  if (c.kind == Kind::kSigned) return static_cast<double>(static_cast<int64_t>(c.bits));
  if (c.kind == Kind::kUnsigned) return static_cast<double>(c.bits);
  double value = 0;
  std::memcpy(&value, &c.bits, sizeof value);
  return value;
}

Constant Double(double value) {
  Constant c{Kind::kDouble, 0};
  std::memcpy(&c.bits, &value, sizeof value);
  return c;
}

// How tightly an operator between two operands binds; 0: it is none.
int Precedence(const Token& token) {
  if (!token.Is(Token::Kind::kSign)) return 0;
  switch (token.sign) {
    case Sign('|', '|'):
      return 1;
    case Sign('&', '&'):
      return 2;
    case '|':
      return 3;
    case '^':
      return 4;
    case '&':
      return 5;
    case Sign('=', '='):
    case Sign('!', '='):
      return 6;
    case '<':
    case '>':
    case Sign('<', '='):
    case Sign('>', '='):
      return 7;
    case Sign('<', '<'):
    case Sign('>', '>'):
      return 8;
    case '+':
    case '-':
      return 9;
    case '*':
    case '/':
    case '%':
      return 10;
    default:
      return 0;
  }
}
constexpr int kAdditive = 9;

class ConstantParser {
 public:
  explicit ConstantParser(Cursor& cursor) : cursor_(cursor) {}

  bool Conditional(Constant* out) {
    if (!Binary(1, out)) return false;
    if (!cursor_.token().Is('?')) return true;
    const Place place = cursor_.place();
    if (!Enter()) return false;
    cursor_.Advance();
    Constant yes, no;
    if (!Conditional(&yes) || !cursor_.Expect(':') || !Conditional(&no)) return false;
    if (!out->IsInteger()) return cursor_.Fail(place, "the condition before '?' is no integer");
    *out = out->bits != 0 ? yes : no;
    --depth_;
    return true;
  }

  // Operators that bind at least as tightly as `lowest`.
  bool Binary(int lowest, Constant* out) {
    if (!Unary(out)) return false;
    for (int p = Precedence(cursor_.token()); p >= lowest && p > 0;
         p = Precedence(cursor_.token())) {
      const Token op = cursor_.token();
      cursor_.Advance();
      Constant right;
      if (!Binary(p + 1, &right) || !Apply(op, right, out)) return false;
    }
    return true;
  }

  bool Unary(Constant* out) {
    const Token token = cursor_.token();
    switch (token.kind) {
      case Token::Kind::kInteger:
        *out = {token.is_unsigned ? Kind::kUnsigned : Kind::kSigned, token.value};
        break;
      case Token::Kind::kSingle:
        *out = {Kind::kSingle, token.value};
        break;
      case Token::Kind::kDouble:
        *out = {Kind::kDouble, token.value};
        break;
      default:
        return Prefixed(token, out);
    }
    cursor_.Advance();
    return true;
  }

 private:
  bool Enter() {
    if (++depth_ <= kMaxDepth) return true;
    return cursor_.Fail(cursor_.place(), absl::StrCat("the expression is more than ", kMaxDepth,
                                                      " parentheses and operators deep"));
  }

  // What begins with a sign, or WARP_SZ.
  bool Prefixed(const Token& token, Constant* out) {
    if (token.Is(Token::Kind::kIdentifier) && token.text == "WARP_SZ") {
      cursor_.Advance();
      *out = Signed(32);
      return true;
    }
    if (!StartsConstant(token)) return cursor_.Expected("a number");
    if (!Enter()) return false;
    cursor_.Advance();
    if (token.Is('(')) {
      if (!Parenthesis(out)) return false;
    } else if (!Unary(out) || !Apply(token, out)) {
      return false;
    }
    --depth_;
    return true;
  }

  // Behind '(': an expression, or a cast.
  bool Parenthesis(Constant* out) {
    const bool to_signed = cursor_.AcceptDotted("s64");
    if (to_signed || cursor_.AcceptDotted("u64")) {
      const Place place = cursor_.place();
      if (!cursor_.Expect(')') || !Unary(out)) return false;
      if (!out->IsInteger()) return cursor_.Fail(place, "only integers can be cast");
      out->kind = to_signed ? Kind::kSigned : Kind::kUnsigned;
      return true;
    }
    return Conditional(out) && cursor_.Expect(')');
  }

  bool NeedsIntegers(const Token& op) {
    return cursor_.Fail(op.place, absl::StrCat("'", op.text, "' takes integers only"));
  }

  bool Apply(const Token& op, Constant* c) {
    switch (op.sign) {
      case '-':
        if (c->kind == Kind::kSingle) {
          c->bits ^= uint64_t{1} << 31;
        } else if (c->kind == Kind::kDouble) {
          c->bits ^= uint64_t{1} << 63;
        } else {
          c->bits = 0 - c->bits;
        }
        return true;
      case '~':
        if (!c->IsInteger()) return NeedsIntegers(op);
        c->bits = ~c->bits;
        return true;
      case '!':
        if (!c->IsInteger()) return NeedsIntegers(op);
        *c = Signed(c->bits == 0);
        return true;
      default:  // '+'
        return true;
    }
  }

  bool Apply(const Token& op, const Constant& right, Constant* left) {
    if (left->kind == Kind::kSingle || right.kind == Kind::kSingle) {
      return cursor_.Fail(op.place, "singles (0f...) cannot be computed with; write the result");
    }
    if (left->kind == Kind::kDouble || right.kind == Kind::kDouble)
      return ApplyToDoubles(op, ToDouble(*left), ToDouble(right), left);
    return ApplyToIntegers(op, right, left);
  }

  bool ApplyToDoubles(const Token& op, double a, double b, Constant* out) {
    switch (op.sign) {
      case '+':
        *out = Double(a + b);
        return true;
      case '-':
        *out = Double(a - b);
        return true;
      case '*':
        *out = Double(a * b);
        return true;
      case '/':
        if (b == 0) return cursor_.Fail(op.place, "division by zero");
        *out = Double(a / b);
        return true;
      default:
        return ApplyComparison(op, a, b, out) || NeedsIntegers(op);
    }
  }

  // False, without an error, if it is none.
  template <typename T>
  static bool ApplyComparison(const Token& op, T a, T b, Constant* out) {
    switch (op.sign) {
      case '<':
        *out = Signed(a < b);
        return true;
      case '>':
        *out = Signed(a > b);
        return true;
      case Sign('<', '='):
        *out = Signed(a <= b);
        return true;
      case Sign('>', '='):
        *out = Signed(a >= b);
        return true;
      case Sign('=', '='):
        *out = Signed(a == b);
        return true;
      case Sign('!', '='):
        *out = Signed(a != b);
        return true;
      default:
        return false;
    }
  }

  static uint64_t ShiftRight(const Constant& c, uint64_t count) {
    if (c.kind == Kind::kUnsigned) return count > 63 ? 0 : c.bits >> count;
    return static_cast<uint64_t>(static_cast<int64_t>(c.bits) >> (count > 63 ? 63 : count));
  }

  // Quotient or remainder. Overflow wraps, as everywhere here.
  static uint64_t Divide(uint64_t a, uint64_t b, bool is_unsigned, bool remainder) {
    if (is_unsigned) return remainder ? a % b : a / b;
    if (b == ~uint64_t{0}) return remainder ? 0 : 0 - a;
    const auto x = static_cast<int64_t>(a), y = static_cast<int64_t>(b);
    return static_cast<uint64_t>(remainder ? x % y : x / y);
  }

  bool ApplyToIntegers(const Token& op, const Constant& right, Constant* left) {
    const uint64_t a = left->bits, b = right.bits;
    const bool is_unsigned = left->kind == Kind::kUnsigned || right.kind == Kind::kUnsigned;
    uint64_t result = 0;
    switch (op.sign) {
      case Sign('<', '<'):  // the type is that of the left operand
        left->bits = b > 63 ? 0 : a << b;
        return true;
      case Sign('>', '>'):
        left->bits = ShiftRight(*left, b);
        return true;
      case Sign('|', '|'):
        *left = Signed(a != 0 || b != 0);
        return true;
      case Sign('&', '&'):
        *left = Signed(a != 0 && b != 0);
        return true;
      case '+':
        result = a + b;
        break;
      case '-':
        result = a - b;
        break;
      case '*':
        result = a * b;
        break;
      case '/':
      case '%':
        if (b == 0) return cursor_.Fail(op.place, "division by zero");
        result = Divide(a, b, is_unsigned, op.sign == '%');
        break;
      case '&':
        result = a & b;
        break;
      case '|':
        result = a | b;
        break;
      case '^':
        result = a ^ b;
        break;
      default:
        return is_unsigned
                   ? ApplyComparison(op, a, b, left)
                   : ApplyComparison(op, static_cast<int64_t>(a), static_cast<int64_t>(b), left);
    }
    *left = {is_unsigned ? Kind::kUnsigned : Kind::kSigned, result};
    return true;
  }

  Cursor& cursor_;
  int depth_ = 0;
};

}  // namespace

bool StartsConstant(const Token& token) {
  switch (token.kind) {
    case Token::Kind::kInteger:
    case Token::Kind::kSingle:
    case Token::Kind::kDouble:
      return true;
    case Token::Kind::kSign:
      return token.sign == '-' || token.sign == '+' || token.sign == '(' || token.sign == '~' ||
             token.sign == '!';
    default:
      return false;
  }
}

bool ParseConstant(Cursor& cursor, Constant* constant) {
  return ConstantParser(cursor).Conditional(constant);
}

bool ParseOffset(Cursor& cursor, int64_t* offset) {
  while (cursor.token().Is('+') || cursor.token().Is('-')) {
    const bool minus = cursor.token().Is('-');
    cursor.Advance();
    const Place place = cursor.place();
    Constant term;
    if (!ConstantParser(cursor).Binary(kAdditive + 1, &term)) return false;
    if (!term.IsInteger()) return cursor.Fail(place, "an offset must be an integer");
    const auto sum = static_cast<uint64_t>(*offset);
    *offset = static_cast<int64_t>(minus ? sum - term.bits : sum + term.bits);
  }
  return true;
}

}  // namespace stax::ptx
