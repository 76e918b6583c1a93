#include "ir/op_semantics.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stax {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

double Sign(double x) {
  if (std::isnan(x) || x == 0) return x;
  return x > 0 ? 1.0 : -1.0;
}

// Python's: the sign of the divisor, also for a zero result.
double FloorMod(double a, double b) {
  const double r = std::fmod(a, b);
  if (r == 0) return std::copysign(0.0, b);
  return (r < 0) != (b < 0) ? r + b : r;
}

// IEEE 754-2019 maximum and minimum: NaN if any is, and -0.0 < 0.0.
double Maximum(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return kNaN;
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}
double Minimum(double a, double b) { return -Maximum(-a, -b); }

double EvalFloat(OpCode code, double a, double b) {
  switch (code) {
    case OpCode::kAbs:
      return std::fabs(a);
    case OpCode::kNeg:
      return -a;
    case OpCode::kSign:
      return Sign(a);
    case OpCode::kCeil:
      return std::ceil(a);
    case OpCode::kFloor:
      return std::floor(a);
    case OpCode::kRound:
      return std::nearbyint(a);
    case OpCode::kTrunc:
      return std::trunc(a);
    case OpCode::kSqrt:
      return std::sqrt(a);
    case OpCode::kRsqrt:
      return 1.0 / std::sqrt(a);
    case OpCode::kExp:
      return std::exp(a);
    case OpCode::kExp2:
      return std::exp2(a);
    case OpCode::kExpm1:
      return std::expm1(a);
    case OpCode::kLog:
      return std::log(a);
    case OpCode::kLog2:
      return std::log2(a);
    case OpCode::kLog1p:
      return std::log1p(a);
    case OpCode::kSin:
      return std::sin(a);
    case OpCode::kCos:
      return std::cos(a);
    case OpCode::kTan:
      return std::tan(a);
    case OpCode::kAsin:
      return std::asin(a);
    case OpCode::kAcos:
      return std::acos(a);
    case OpCode::kAtan:
      return std::atan(a);
    case OpCode::kSinh:
      return std::sinh(a);
    case OpCode::kCosh:
      return std::cosh(a);
    case OpCode::kTanh:
      return std::tanh(a);
    case OpCode::kAsinh:
      return std::asinh(a);
    case OpCode::kAcosh:
      return std::acosh(a);
    case OpCode::kAtanh:
      return std::atanh(a);
    case OpCode::kErf:
      return std::erf(a);
    case OpCode::kSigmoid:
      return 1.0 / (1.0 + std::exp(-a));
    case OpCode::kAdd:
      return a + b;
    case OpCode::kSub:
      return a - b;
    case OpCode::kMul:
      return a * b;
    case OpCode::kDiv:
      return a / b;
    case OpCode::kMod:
      return FloorMod(a, b);
    case OpCode::kFmod:
      return std::fmod(a, b);
    case OpCode::kPow:
      return std::pow(a, b);
    case OpCode::kMax:
      return Maximum(a, b);
    case OpCode::kMin:
      return Minimum(a, b);
    case OpCode::kAtan2:
      return std::atan2(a, b);
    default:
      return kNaN;
  }
}

// Ops whose result jumps where an operand moves by a rounding error, including to or from NaN.
bool Jumps(OpCode code) {
  switch (code) {
    case OpCode::kSign:
    case OpCode::kCeil:
    case OpCode::kFloor:
    case OpCode::kRound:
    case OpCode::kTrunc:
    case OpCode::kAsin:
    case OpCode::kAcos:
    case OpCode::kAcosh:
    case OpCode::kAtanh:
    case OpCode::kMod:
    case OpCode::kFmod:
    case OpCode::kPow:
      return true;
    default:
      return ClassOf(code) == OpClass::kCompare;
  }
}

template <typename T>
bool Compare(OpCode code, T a, T b) {
  switch (code) {
    case OpCode::kEq:
      return a == b;
    case OpCode::kNe:
      return a != b;
    case OpCode::kLt:
      return a < b;
    case OpCode::kLe:
      return a <= b;
    case OpCode::kGt:
      return a > b;
    default:
      return a >= b;
  }
}

// Square and multiply; wraps.
uint64_t PowUnsigned(uint64_t base, uint64_t exponent) {
  uint64_t result = 1;
  for (; exponent != 0; exponent >>= 1) {
    if (exponent & 1) result *= base;
    base *= base;
  }
  return result;
}

uint64_t PowSigned(int64_t base, int64_t exponent) {
  if (exponent >= 0) return PowUnsigned(base, exponent);
  if (base == 1) return 1;
  if (base == -1) return exponent % 2 == 0 ? 1 : -1;
  return 0;
}

// The ops where u64 differs from the narrower types, all of which fit in int64.
uint64_t EvalU64(OpCode code, uint64_t a, uint64_t b) {
  switch (code) {
    case OpCode::kDiv:
      return b == 0 ? 0 : a / b;
    case OpCode::kMod:
    case OpCode::kFmod:
      return b == 0 ? 0 : a % b;
    case OpCode::kPow:
      return PowUnsigned(a, b);
    case OpCode::kMax:
      return a > b ? a : b;
    case OpCode::kMin:
      return a < b ? a : b;
    case OpCode::kShr:
      return b >= 64 ? 0 : a >> b;
    case OpCode::kAbs:
      return a;
    default:  // kSign
      return a != 0;
  }
}

uint64_t EvalI64(OpCode code, int64_t a, int64_t b, int width_bits) {
  switch (code) {
    case OpCode::kDiv:
      if (b == -1) return -static_cast<uint64_t>(a);  // INT64_MIN / -1 traps on the host
      return b == 0 ? 0 : a / b;
    case OpCode::kMod: {
      if (b == 0 || b == -1) return 0;
      const int64_t r = a % b;
      return r != 0 && (r < 0) != (b < 0) ? r + b : r;
    }
    case OpCode::kFmod:
      return b == 0 || b == -1 ? 0 : a % b;
    case OpCode::kPow:
      return PowSigned(a, b);
    case OpCode::kMax:
      return a > b ? a : b;
    case OpCode::kMin:
      return a < b ? a : b;
    case OpCode::kShr:  // a negative count, as an unsigned number, is beyond the width
      return static_cast<uint64_t>(b) >= static_cast<uint64_t>(width_bits) ? 0 : a >> b;
    case OpCode::kAbs:
      return a < 0 ? -static_cast<uint64_t>(a) : a;
    default:  // kSign
      return (a > 0) - (a < 0);
  }
}

// Wraps in 64 bits; the caller wraps to the type.
uint64_t EvalInteger(OpCode code, DType type, int64_t a, int64_t b) {
  const uint64_t ua = a, ub = b;
  const int width_bits = 8 * DTypeBytes(type);
  switch (code) {
    case OpCode::kNeg:
      return -ua;
    case OpCode::kNot:
      return type == DType::kBool ? a == 0 : ~ua;
    case OpCode::kAdd:
      return ua + ub;
    case OpCode::kSub:
      return ua - ub;
    case OpCode::kMul:
      return ua * ub;
    case OpCode::kAnd:
      return ua & ub;
    case OpCode::kOr:
      return ua | ub;
    case OpCode::kXor:
      return ua ^ ub;
    case OpCode::kShl:
      return ub >= static_cast<uint64_t>(width_bits) ? 0 : ua << ub;
    default:
      return type == DType::kU64 ? EvalU64(code, ua, ub) : EvalI64(code, a, b, width_bits);
  }
}

Number EvalCompare(OpCode code, DType type, Number a, Number b) {
  if (IsFloat(type)) return {0.0, Compare(code, a.f, b.f)};
  if (type == DType::kU64)
    return {0.0, Compare(code, static_cast<uint64_t>(a.i), static_cast<uint64_t>(b.i))};
  return {0.0, Compare(code, a.i, b.i)};
}

float IntegerToF32(DType from, int64_t value) {
  return from == DType::kU64 ? static_cast<float>(static_cast<uint64_t>(value))
                             : static_cast<float>(value);
}

double IntegerToFloat(DType from, DType to, int64_t value) {
  if (to != DType::kF64) return RoundTo(to, IntegerToF32(from, value));
  return from == DType::kU64 ? static_cast<double>(static_cast<uint64_t>(value))
                             : static_cast<double>(value);
}

}  // namespace

bool OpAllowsType(OpCode code, DType type) {
  switch (ClassOf(code)) {
    case OpClass::kSame:
      return type != DType::kBool;
    case OpClass::kFloat:
      return IsFloat(type);
    case OpClass::kInt:
      if (type == DType::kBool) return code != OpCode::kShl && code != OpCode::kShr;
      return IsInteger(type);
    default:
      return true;
  }
}

double RoundResult(DType t, double value, Precision precision) {
  if (t == DType::kF64) return value;
  const float narrow = static_cast<float>(value);
  if (t != DType::kF32) return RoundTo(t, narrow);
  const bool keep_wide = precision == Precision::kDouble && narrow != 0 && !std::isinf(narrow);
  return keep_wide ? value : narrow;
}

Number EvalScalarOp(OpCode code, DType type, Number a, Number b, Precision precision) {
  if (type == DType::kF32 && precision == Precision::kDouble && Jumps(code)) {
    a.f = static_cast<float>(a.f);
    b.f = static_cast<float>(b.f);
  }
  if (ClassOf(code) == OpClass::kCompare) return EvalCompare(code, type, a, b);
  if (IsFloat(type)) return {RoundResult(type, EvalFloat(code, a.f, b.f), precision), 0};
  const int64_t wide = static_cast<int64_t>(EvalInteger(code, type, a.i, b.i));
  return {0.0, Scalar::Int(type, wide).i};
}

Number EvalCast(DType from, DType to, Number value, Precision precision) {
  if (from == to) return value;
  if (!IsFloat(from)) {
    if (IsFloat(to)) return {IntegerToFloat(from, to, value.i), 0};
    return {0.0, Scalar::Int(to, value.i).i};
  }
  const bool to_wide = to == DType::kF32 || to == DType::kF64;
  if (from == DType::kF32 && !to_wide && precision == Precision::kDouble)
    value.f = static_cast<float>(value.f);
  const Scalar result = Scalar::FromDouble(to, value.f);
  return {result.f, result.i};
}

int64_t ClampIndirect(DType type, int64_t value, int64_t extent) {
  if (extent <= 0) return 0;
  if (type == DType::kU64 && value < 0) return extent - 1;  // above INT64_MAX, not negative
  if (value < 0) value += extent;
  return std::clamp<int64_t>(value, 0, extent - 1);
}

bool IsExactOp(OpCode code, DType type) {
  if (!IsFloat(type) || ClassOf(code) == OpClass::kCompare) return true;
  switch (code) {
    case OpCode::kAbs:
    case OpCode::kNeg:
    case OpCode::kSign:
    case OpCode::kCeil:
    case OpCode::kFloor:
    case OpCode::kRound:
    case OpCode::kTrunc:
    case OpCode::kSqrt:
    case OpCode::kAdd:
    case OpCode::kSub:
    case OpCode::kMul:
    case OpCode::kDiv:
    case OpCode::kMod:
    case OpCode::kFmod:
    case OpCode::kMax:
    case OpCode::kMin:
      return true;
    default:
      return false;
  }
}

}  // namespace stax
