#include "ir/scalar.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace stax {
namespace {

// A binary floating format narrower than f32. `precision` counts the implicit bit.
struct HalfFormat {
  int precision;
  int min_exponent;  // of normal numbers: the smallest is 2^min_exponent
  int max_exponent;  // the largest is just below 2^(max_exponent + 1)
};
constexpr HalfFormat kF16Format = {11, -14, 15};
constexpr HalfFormat kBF16Format = {8, -126, 127};

const HalfFormat& FormatOf(DType t) { return t == DType::kF16 ? kF16Format : kBF16Format; }

// Rounds once, from the full double. The spacing of the format at `value` is a power of two, so
// scaling by it is exact and nearbyint does the only rounding (to even, the default mode).
double RoundToHalf(const HalfFormat& format, double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  const int exponent = std::max(std::ilogb(value), format.min_exponent);
  if (exponent > format.max_exponent) return std::copysign(HUGE_VAL, value);
  const int spacing = exponent - (format.precision - 1);
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(value, -spacing)), spacing);
  if (std::fabs(rounded) >= std::ldexp(1.0, format.max_exponent + 1))
    return std::copysign(HUGE_VAL, value);
  return rounded;
}

uint16_t EncodeHalf(const HalfFormat& format, double value) {
  const int fraction_bits = format.precision - 1;
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const uint16_t infinity = static_cast<uint16_t>(0x7fff >> fraction_bits << fraction_bits);
  if (std::isnan(value)) return infinity | static_cast<uint16_t>(1 << (fraction_bits - 1));
  if (std::isinf(value)) return sign | infinity;
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return sign;
  const int exponent = std::max(std::ilogb(magnitude), format.min_exponent);
  // Includes the implicit bit, which carries into the exponent field; without it (denormals) the
  // field stays 0, as it should.
  const int fraction = static_cast<int>(std::ldexp(magnitude, fraction_bits - exponent));
  const int biased = exponent - format.min_exponent;
  return static_cast<uint16_t>(sign | ((biased << fraction_bits) + fraction));
}

double DecodeHalf(const HalfFormat& format, uint16_t bits) {
  const int fraction_bits = format.precision - 1;
  const int max_field = 0x7fff >> fraction_bits;
  const int field = (bits & 0x7fff) >> fraction_bits;
  const int fraction = bits & ((1 << fraction_bits) - 1);
  double magnitude;
  if (field == max_field) {
    magnitude = fraction == 0 ? HUGE_VAL : std::numeric_limits<double>::quiet_NaN();
  } else if (field == 0) {
    magnitude = std::ldexp(fraction, format.min_exponent - fraction_bits);
  } else {
    magnitude = std::ldexp(fraction + (1 << fraction_bits),
                           field - 1 + format.min_exponent - fraction_bits);
  }
  return bits & 0x8000 ? -magnitude : magnitude;
}

template <typename T>
T ReadAs(const void* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

template <typename T>
void WriteAs(T value, void* bytes) {
  std::memcpy(bytes, &value, sizeof(T));
}

// `value` truncated, saturated to the range of T, NaN to 0.
template <typename T>
int64_t SaturateTo(double value) {
  if (std::isnan(value)) return 0;
  // The limits as doubles: the lower one is exact, the upper one is exact or rounds up to the
  // power of two just above, which is out of range all the same.
  constexpr double kLow = static_cast<double>(std::numeric_limits<T>::min());
  constexpr double kHigh = static_cast<double>(std::numeric_limits<T>::max());
  if (value <= kLow) return static_cast<int64_t>(std::numeric_limits<T>::min());
  if (value >= kHigh) return static_cast<int64_t>(std::numeric_limits<T>::max());
  return static_cast<int64_t>(static_cast<T>(value));
}

int64_t SaturateToInteger(DType t, double value) {
  switch (t) {
    case DType::kI8:
      return SaturateTo<int8_t>(value);
    case DType::kI16:
      return SaturateTo<int16_t>(value);
    case DType::kI32:
      return SaturateTo<int32_t>(value);
    case DType::kU8:
      return SaturateTo<uint8_t>(value);
    case DType::kU16:
      return SaturateTo<uint16_t>(value);
    case DType::kU32:
      return SaturateTo<uint32_t>(value);
    case DType::kU64:
      return SaturateTo<uint64_t>(value);
    default:
      return SaturateTo<int64_t>(value);
  }
}

int64_t WrapTo(DType t, int64_t value) {
  switch (t) {
    case DType::kBool:
      return value != 0;
    case DType::kI8:
      return static_cast<int8_t>(value);
    case DType::kI16:
      return static_cast<int16_t>(value);
    case DType::kI32:
      return static_cast<int32_t>(value);
    case DType::kU8:
      return static_cast<uint8_t>(value);
    case DType::kU16:
      return static_cast<uint16_t>(value);
    case DType::kU32:
      return static_cast<uint32_t>(value);
    default:
      return value;
  }
}

absl::StatusOr<double> ParseDecimal(DType t, std::string_view text) {
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (text == "inf") return HUGE_VAL;
  if (text == "-inf") return -HUGE_VAL;
  const absl::string_view digits(text.data(), text.size());
  double value = 0;
  float narrow = 0;
  // The character check keeps out the other spellings that absl takes (" 1", "0x1p3", "Infinity").
  bool ok = text.find_first_not_of("0123456789+-.eE") == std::string_view::npos;
  if (ok && t == DType::kF32) {  // straight to f32: through double it could round twice
    ok = absl::SimpleAtof(digits, &narrow);
    value = narrow;
  } else if (ok) {
    ok = absl::SimpleAtod(digits, &value);
  }
  value = RoundTo(t, value);
  if (!ok || std::isinf(value)) {
    return absl::InvalidArgumentError(absl::StrCat("expected a literal of type ",
                                                   std::string(DTypeName(t)), ", got '",
                                                   std::string(text), "'"));
  }
  return value;
}

std::string ShortestDecimal(DType t, double value) {
  char buffer[64];
  char* end = buffer;
  if (t == DType::kF64) {
    end = std::to_chars(buffer, buffer + sizeof(buffer), value).ptr;
  } else if (t == DType::kF32) {
    end = std::to_chars(buffer, buffer + sizeof(buffer), static_cast<float>(value)).ptr;
  } else {
    // 5 digits tell all f16 and bf16 numbers apart.
    for (int digits = 1; digits <= 5; ++digits) {
      end = buffer + std::snprintf(buffer, sizeof(buffer), "%.*g", digits, value);
      if (RoundTo(t, std::strtod(buffer, nullptr)) == value) break;
    }
  }
  std::string text(buffer, end);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

}  // namespace

double RoundTo(DType t, double value) {
  if (t == DType::kF32) return static_cast<float>(value);
  if (IsHalf(t)) return RoundToHalf(FormatOf(t), value);
  return value;
}

Scalar Scalar::Float(DType t, double value) {
  Scalar s;
  s.dtype = t;
  s.f = RoundTo(t, value);
  return s;
}

Scalar Scalar::Int(DType t, int64_t value) {
  Scalar s;
  s.dtype = t;
  s.i = WrapTo(t, value);
  return s;
}

Scalar Scalar::FromDouble(DType t, double value) {
  if (IsFloat(t)) return Float(t, value);
  if (t == DType::kBool) return Int(t, value != 0);
  return Int(t, SaturateToInteger(t, value));
}

bool Scalar::operator==(const Scalar& other) const {
  if (dtype != other.dtype) return false;
  if (!IsFloat(dtype)) return i == other.i;
  if (std::isnan(f) || std::isnan(other.f)) return std::isnan(f) && std::isnan(other.f);
  return f == other.f && std::signbit(f) == std::signbit(other.f);
}

std::string ToText(const Scalar& s) {
  if (s.dtype == DType::kBool) return s.i != 0 ? "true" : "false";
  if (s.dtype == DType::kU64) return absl::StrCat(static_cast<uint64_t>(s.i));
  if (!IsFloat(s.dtype)) return absl::StrCat(s.i);
  if (std::isnan(s.f)) return "nan";
  if (std::isinf(s.f)) return s.f > 0 ? "inf" : "-inf";
  return ShortestDecimal(s.dtype, s.f);
}

absl::StatusOr<Scalar> ParseScalar(DType t, std::string_view text) {
  if (IsFloat(t)) {
    absl::StatusOr<double> value = ParseDecimal(t, text);
    if (!value.ok()) return value.status();
    return Scalar::Float(t, *value);
  }
  if (t == DType::kBool) {
    if (text == "true" || text == "false") return Scalar::Int(t, text == "true");
  } else {
    const char *begin = text.data(), *end = begin + text.size();
    int64_t value = 0;
    uint64_t unsigned_value = 0;
    std::from_chars_result parsed = t == DType::kU64 ? std::from_chars(begin, end, unsigned_value)
                                                     : std::from_chars(begin, end, value);
    if (t == DType::kU64) value = static_cast<int64_t>(unsigned_value);
    if (parsed.ec == std::errc() && parsed.ptr == end && WrapTo(t, value) == value)
      return Scalar::Int(t, value);
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "expected a literal of type ", std::string(DTypeName(t)), ", got '", std::string(text), "'"));
}

Scalar LoadScalar(DType t, const void* bytes) {
  switch (t) {
    case DType::kBool:
      return Scalar::Int(t, ReadAs<uint8_t>(bytes));
    case DType::kI8:
      return Scalar::Int(t, ReadAs<int8_t>(bytes));
    case DType::kI16:
      return Scalar::Int(t, ReadAs<int16_t>(bytes));
    case DType::kI32:
      return Scalar::Int(t, ReadAs<int32_t>(bytes));
    case DType::kI64:
    case DType::kU64:
      return Scalar::Int(t, ReadAs<int64_t>(bytes));
    case DType::kU8:
      return Scalar::Int(t, ReadAs<uint8_t>(bytes));
    case DType::kU16:
      return Scalar::Int(t, ReadAs<uint16_t>(bytes));
    case DType::kU32:
      return Scalar::Int(t, ReadAs<uint32_t>(bytes));
    case DType::kF16:
    case DType::kBF16:
      return Scalar::Float(t, DecodeHalf(FormatOf(t), ReadAs<uint16_t>(bytes)));
    case DType::kF32:
      return Scalar::Float(t, ReadAs<float>(bytes));
    case DType::kF64:
      break;
  }
  return Scalar::Float(t, ReadAs<double>(bytes));
}

void StoreScalar(const Scalar& s, void* bytes) {
  if (IsHalf(s.dtype)) return WriteAs(EncodeHalf(FormatOf(s.dtype), s.f), bytes);
  // One NaN for all: sign and payload would tell how a value was computed.
  const double f = std::isnan(s.f) ? std::numeric_limits<double>::quiet_NaN() : s.f;
  if (s.dtype == DType::kF32) return WriteAs(static_cast<float>(f), bytes);
  if (s.dtype == DType::kF64) return WriteAs(f, bytes);
  // Integers are kept wrapped, so the low bytes (this is a little-endian library) are the value.
  std::memcpy(bytes, &s.i, DTypeBytes(s.dtype));
}

}  // namespace stax
