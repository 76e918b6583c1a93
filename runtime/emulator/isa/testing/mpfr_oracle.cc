#include "runtime/emulator/isa/testing/mpfr_oracle.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "mpfr.h"

namespace stax::isa {
namespace {

// Products of f64 go from 2^-2148 to 2^2048, and there is room.
constexpr mpfr_prec_t kPrecision = 4400;

uint64_t SignOf(const OracleFormat& format) { return uint64_t{1} << (format.bits - 1); }
uint64_t InfinityOf(const OracleFormat& format) {
  const int fraction_bits = format.precision - 1;
  return (SignOf(format) - 1) >> fraction_bits << fraction_bits;
}

}  // namespace

BigFloat::BigFloat() { mpfr_init2(value_, kPrecision); }
BigFloat::BigFloat(double value) : BigFloat() { mpfr_set_d(value_, value, MPFR_RNDN); }
BigFloat::BigFloat(const OracleFormat& format, uint64_t bits)
    : BigFloat(OracleValue(format, bits)) {}
BigFloat::~BigFloat() { mpfr_clear(value_); }

uint64_t BigFloat::Round(const OracleFormat& format, mpfr_rnd_t rounding) {
  const mpfr_exp_t old_min = mpfr_get_emin(), old_max = mpfr_get_emax();
  // MPFR's significands are in [0.5, 1); its least exponent is that of the least subnormal number.
  mpfr_set_emin(format.min_exponent - format.precision + 2);
  mpfr_set_emax(format.max_exponent + 1);
  mpfr_t rounded;
  mpfr_init2(rounded, format.precision);
  int inexact = mpfr_set(rounded, value_, rounding);
  inexact = mpfr_check_range(rounded, inexact, rounding);
  mpfr_subnormalize(rounded, inexact, rounding);
  const double result = mpfr_get_d(rounded, MPFR_RNDN);
  mpfr_clear(rounded);
  mpfr_set_emin(old_min);
  mpfr_set_emax(old_max);
  return OracleBits(format, result);
}

double OracleValue(const OracleFormat& format, uint64_t bits) {
  const double sign = (bits & SignOf(format)) != 0 ? -1 : 1;
  const uint64_t magnitude = bits & (SignOf(format) - 1);
  if (magnitude > InfinityOf(format)) return std::numeric_limits<double>::quiet_NaN();
  if (magnitude == InfinityOf(format)) return sign * HUGE_VAL;
  const uint64_t one = uint64_t{1} << (format.precision - 1);
  const int field = static_cast<int>(magnitude / one);
  const auto fraction = static_cast<double>(magnitude % one);
  const int quantum = format.min_exponent - (format.precision - 1);
  if (field == 0) return sign * std::ldexp(fraction, quantum);
  return sign * std::ldexp(static_cast<double>(one) + fraction, quantum + field - 1);
}

uint64_t OracleBits(const OracleFormat& format, double value) {
  if (std::isnan(value)) return SignOf(format) - 1;
  const uint64_t sign = std::signbit(value) ? SignOf(format) : 0;
  const double magnitude = std::fabs(value);
  if (std::isinf(magnitude)) return sign | InfinityOf(format);
  const int fraction_bits = format.precision - 1;
  if (magnitude < std::ldexp(1.0, format.min_exponent)) {
    return sign | static_cast<uint64_t>(std::ldexp(magnitude, fraction_bits - format.min_exponent));
  }
  int exponent = 0;
  const double significand = 2 * std::frexp(magnitude, &exponent);  // in [1, 2)
  const int field = exponent - format.min_exponent;                 // 1 for the least normal number
  return sign | static_cast<uint64_t>(field) << fraction_bits |
         static_cast<uint64_t>(std::ldexp(significand - 1, fraction_bits));
}

bool OracleIsNan(const OracleFormat& format, uint64_t bits) {
  return std::isnan(OracleValue(format, bits));
}

uint64_t OracleFlush(const OracleFormat& format, uint64_t bits) {
  const double magnitude = std::fabs(OracleValue(format, bits));
  return magnitude < std::ldexp(1.0, format.min_exponent) ? bits & SignOf(format) : bits;
}

std::vector<uint64_t> SpecialBits(const OracleFormat& format) {
  const uint64_t infinity = InfinityOf(format);
  const uint64_t normal = uint64_t{1} << (format.precision - 1);
  const uint64_t one = OracleBits(format, 1);
  std::vector<uint64_t> result;
  for (const uint64_t positive : {uint64_t{0},
                                  uint64_t{1},
                                  uint64_t{2},
                                  uint64_t{3},
                                  normal / 2,
                                  normal - 1,
                                  normal,
                                  normal + 1,
                                  one / 2,
                                  one - normal,
                                  one - 1,
                                  one,
                                  one + 1,
                                  one + 2,
                                  one + normal / 2,
                                  one + normal,
                                  one + normal + 1,
                                  one + 2 * normal - 1,
                                  one + 5 * normal,
                                  infinity - normal,
                                  infinity - 2,
                                  infinity - 1,
                                  infinity,
                                  infinity + 1,
                                  SignOf(format) - 1}) {
    result.push_back(positive);
    result.push_back(positive | SignOf(format));
  }
  return result;
}

}  // namespace stax::isa
