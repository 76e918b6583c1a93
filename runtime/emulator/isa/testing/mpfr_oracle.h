// What floating-point results should be, by MPFR: computed exactly or to many digits, then rounded
// once. Shares no code with what it tests, formats included.
#ifndef STAX_RUNTIME_EMULATOR_ISA_TESTING_MPFR_ORACLE_H_
#define STAX_RUNTIME_EMULATOR_ISA_TESTING_MPFR_ORACLE_H_

#include <cstdint>
#include <vector>

#include "mpfr.h"

namespace stax::isa {

// An IEEE binary format.
struct OracleFormat {
  int bits;
  int precision;
  int min_exponent;
  int max_exponent;  // the largest number is just below 2^(max_exponent + 1)
};
inline constexpr OracleFormat kOracleF16 = {16, 11, -14, 15};
inline constexpr OracleFormat kOracleBF16 = {16, 8, -126, 127};
inline constexpr OracleFormat kOracleF32 = {32, 24, -126, 127};
inline constexpr OracleFormat kOracleF64 = {64, 53, -1022, 1023};

// A number with enough bits for every sum of a number and a product of f64.
class BigFloat {
 public:
  BigFloat();
  explicit BigFloat(double value);
  // The value of the bits.
  BigFloat(const OracleFormat& format, uint64_t bits);
  ~BigFloat();
  BigFloat(const BigFloat&) = delete;
  BigFloat& operator=(const BigFloat&) = delete;

  mpfr_ptr get() { return value_; }

  // Rounded to the format: its bits; NaN as all ones but the sign.
  uint64_t Round(const OracleFormat& format, mpfr_rnd_t rounding);

 private:
  mpfr_t value_;
};

double OracleValue(const OracleFormat& format, uint64_t bits);
// The bits of a value that the format has.
uint64_t OracleBits(const OracleFormat& format, double value);

bool OracleIsNan(const OracleFormat& format, uint64_t bits);
// With .ftz: subnormal numbers become zeros.
uint64_t OracleFlush(const OracleFormat& format, uint64_t bits);

// Bits worth trying: zeros, ones, the ends of the ranges and their neighbours, infinities, NaNs.
std::vector<uint64_t> SpecialBits(const OracleFormat& format);

}  // namespace stax::isa

#endif  // STAX_RUNTIME_EMULATOR_ISA_TESTING_MPFR_ORACLE_H_
