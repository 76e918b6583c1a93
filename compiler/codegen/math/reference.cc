#include "compiler/codegen/math/reference.h"

#include <mpfr.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/check.h"

namespace stax::math {
namespace {

constexpr mpfr_prec_t kPrecision = 200;
constexpr mpfr_rnd_t kRound = MPFR_RNDN;

class Number {
 public:
  explicit Number(double v = 0) {
    mpfr_init2(x, kPrecision);
    mpfr_set_d(x, v, kRound);
  }
  Number(const Number&) = delete;
  ~Number() { mpfr_clear(x); }
  mpfr_t x;
};

void Sigmoid(mpfr_ptr r, mpfr_srcptr x) {
  mpfr_neg(r, x, kRound);
  mpfr_exp(r, r, kRound);
  mpfr_add_ui(r, r, 1, kRound);
  mpfr_ui_div(r, 1, r, kRound);
}

// mpfr_rec_sqrt gives +inf for -0; 1 / sqrt(-0) is -inf.
void Rsqrt(mpfr_ptr r, mpfr_srcptr x) {
  if (mpfr_zero_p(x)) {
    mpfr_ui_div(r, 1, x, kRound);
  } else {
    mpfr_rec_sqrt(r, x, kRound);
  }
}

void Mod(mpfr_ptr r, mpfr_srcptr x, mpfr_srcptr y) {
  mpfr_fmod(r, x, y, kRound);
  if (!mpfr_zero_p(r) && !mpfr_nan_p(r) && mpfr_signbit(r) != mpfr_signbit(y)) {
    mpfr_add(r, r, y, kRound);
  }
}

void Evaluate(OpCode code, mpfr_ptr r, mpfr_srcptr x, mpfr_srcptr y) {
  switch (code) {
    case OpCode::kRsqrt:
      Rsqrt(r, x);
      return;
    case OpCode::kSqrt:
      mpfr_sqrt(r, x, kRound);
      return;
    case OpCode::kDiv:
      mpfr_div(r, x, y, kRound);
      return;
    case OpCode::kExp:
      mpfr_exp(r, x, kRound);
      return;
    case OpCode::kExp2:
      mpfr_exp2(r, x, kRound);
      return;
    case OpCode::kExpm1:
      mpfr_expm1(r, x, kRound);
      return;
    case OpCode::kLog:
      mpfr_log(r, x, kRound);
      return;
    case OpCode::kLog2:
      mpfr_log2(r, x, kRound);
      return;
    case OpCode::kLog1p:
      mpfr_log1p(r, x, kRound);
      return;
    case OpCode::kSin:
      mpfr_sin(r, x, kRound);
      return;
    case OpCode::kCos:
      mpfr_cos(r, x, kRound);
      return;
    case OpCode::kTan:
      mpfr_tan(r, x, kRound);
      return;
    case OpCode::kAsin:
      mpfr_asin(r, x, kRound);
      return;
    case OpCode::kAcos:
      mpfr_acos(r, x, kRound);
      return;
    case OpCode::kAtan:
      mpfr_atan(r, x, kRound);
      return;
    case OpCode::kSinh:
      mpfr_sinh(r, x, kRound);
      return;
    case OpCode::kCosh:
      mpfr_cosh(r, x, kRound);
      return;
    case OpCode::kTanh:
      mpfr_tanh(r, x, kRound);
      return;
    case OpCode::kAsinh:
      mpfr_asinh(r, x, kRound);
      return;
    case OpCode::kAcosh:
      mpfr_acosh(r, x, kRound);
      return;
    case OpCode::kAtanh:
      mpfr_atanh(r, x, kRound);
      return;
    case OpCode::kErf:
      mpfr_erf(r, x, kRound);
      return;
    case OpCode::kSigmoid:
      Sigmoid(r, x);
      return;
    case OpCode::kPow:
      mpfr_pow(r, x, y, kRound);
      return;
    case OpCode::kAtan2:
      mpfr_atan2(r, x, y, kRound);
      return;
    case OpCode::kFmod:
      mpfr_fmod(r, x, y, kRound);
      return;
    case OpCode::kMod:
      Mod(r, x, y);
      return;
    default:
      STAX_CHECK(false, std::string(OpName(code)));
  }
}

struct Format {
  int precision;     // bits of the fraction, the leading one included
  int64_t limit;     // finite values are below 2^limit
  int64_t smallest;  // exponent of the smallest subnormal
};

Format FormatOf(DType type) {
  switch (type) {
    case DType::kF16:
      return {11, 16, -24};
    case DType::kBF16:
      return {8, 128, -133};
    case DType::kF64:
      return {53, 1024, -1074};
    default:
      return {24, 128, -149};
  }
}

// Exponent of the last place of a number with binary exponent `e` (0.5 <= m < 1).
int64_t LastPlace(int64_t e, const Format& format) {
  return std::max<int64_t>(e - format.precision, format.smallest);
}

constexpr double kWrong = std::numeric_limits<double>::infinity();

}  // namespace

double UlpErrorIn(OpCode code, DType type, double computed, double a, double b) {
  Number x(a), y(b), exact;
  Evaluate(code, exact.x, x.x, y.x);
  if (mpfr_nan_p(exact.x) || std::isnan(computed)) {
    return mpfr_nan_p(exact.x) && std::isnan(computed) ? 0 : kWrong;
  }
  const Format format = FormatOf(type);
  if (std::isinf(computed)) {
    const bool same_sign = (computed < 0) == (mpfr_sgn(exact.x) < 0);
    // Overflow: the exact value must reach the middle between the largest number and 2^limit.
    if (mpfr_inf_p(exact.x) || (mpfr_get_exp(exact.x) > format.limit))
      return same_sign ? 0 : kWrong;
    if (!same_sign) return kWrong;
  } else if (mpfr_inf_p(exact.x)) {
    return kWrong;
  }
  if (mpfr_zero_p(exact.x)) return computed == 0 ? 0 : kWrong;
  Number got(computed);
  if (std::isinf(computed)) {
    mpfr_set_si_2exp(got.x, computed < 0 ? -1 : 1, format.limit, kRound);
  }
  const int64_t place = LastPlace(std::min<int64_t>(mpfr_get_exp(exact.x), format.limit), format);
  mpfr_sub(got.x, got.x, exact.x, kRound);
  mpfr_abs(got.x, got.x, kRound);
  mpfr_mul_2si(got.x, got.x, -place, kRound);
  return mpfr_get_d(got.x, kRound);
}

double UlpError(OpCode code, bool f64, double computed, double a, double b) {
  return UlpErrorIn(code, f64 ? DType::kF64 : DType::kF32, computed, a, b);
}

double RelativeError(OpCode code, double computed, double a, double b, double floor) {
  Number x(a), y(b), exact;
  Evaluate(code, exact.x, x.x, y.x);
  if (mpfr_nan_p(exact.x) || std::isnan(computed)) {
    return mpfr_nan_p(exact.x) && std::isnan(computed) ? 0 : kWrong;
  }
  if (mpfr_inf_p(exact.x) || std::isinf(computed)) {
    // What rounds to infinity in f32 is infinite.
    const double rounded = mpfr_get_flt(exact.x, kRound);
    return rounded == computed ? 0 : kWrong;
  }
  Number got(computed), scale(floor);
  mpfr_sub(got.x, got.x, exact.x, kRound);
  mpfr_abs(got.x, got.x, kRound);
  mpfr_abs(exact.x, exact.x, kRound);
  mpfr_max(scale.x, scale.x, exact.x, kRound);
  if (mpfr_zero_p(scale.x)) return mpfr_zero_p(got.x) ? 0 : kWrong;
  mpfr_div(got.x, got.x, scale.x, kRound);
  return mpfr_get_d(got.x, kRound);
}

double LibmReference(OpCode code, double a, double b) {
  switch (code) {
    case OpCode::kSqrt:
      return std::sqrt(a);
    case OpCode::kDiv:
      return a / b;
    case OpCode::kRsqrt:
      return 1 / std::sqrt(a);
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
      return 1 / (1 + std::exp(-a));
    case OpCode::kPow:
      return std::pow(a, b);
    case OpCode::kAtan2:
      return std::atan2(a, b);
    case OpCode::kFmod:
      return std::fmod(a, b);
    case OpCode::kMod: {
      const double r = std::fmod(a, b);
      return r != 0 && std::signbit(r) != std::signbit(b) ? r + b : r;
    }
    default:
      STAX_CHECK(false, std::string(OpName(code)));
  }
}

double UlpErrorF32(float computed, double reference) {
  const double infinity = std::numeric_limits<double>::infinity();
  if (std::isnan(computed) || std::isnan(reference)) {
    return std::isnan(computed) && std::isnan(reference) ? 0 : infinity;
  }
  double got = computed;
  if (std::isinf(got)) {
    if ((got < 0) != (reference < 0)) return infinity;
    if (std::abs(reference) >= 0x1p128) return 0;
    got = std::copysign(0x1p128, got);
  } else if (std::isinf(reference)) {
    return infinity;
  }
  if (reference == 0) return got == 0 ? 0 : infinity;
  int e;
  std::frexp(reference, &e);
  return std::ldexp(std::abs(got - reference),
                    static_cast<int>(-LastPlace(std::min(e, 128), FormatOf(DType::kF32))));
}

}  // namespace stax::math
