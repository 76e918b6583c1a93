#include "compiler/codegen/math/samples.h"

#include <cmath>
#include <cstring>
#include <random>

namespace stax::math {
namespace {

float FloatFromBits(uint32_t bits) {
  float f;
  std::memcpy(&f, &bits, sizeof f);
  return f;
}

double DoubleFromBits(uint64_t bits) {
  double d;
  std::memcpy(&d, &bits, sizeof d);
  return d;
}

// Even beyond the range of float a conversion must be defined.
double ToType(double v, bool f64) {
  if (f64 || std::isnan(v)) return v;
  if (std::abs(v) >= 0x1p128) return std::copysign(INFINITY, v);
  return static_cast<float>(v);
}

class Generator {
 public:
  Generator(bool f64, uint64_t seed) : f64_(f64), rng_(seed) {}

  void Next(int64_t kind, double* a, double* b) {
    switch (kind % 5) {
      case 0:
        *a = RandomBits();
        *b = RandomBits();
        break;
      case 1:
        *a = Moderate(16);
        *b = Moderate(16);
        break;
      case 2:
        *a = std::copysign(1 + std::ldexp(Unit(), -static_cast<int>(rng_() % 52)), Unit());
        *b = Moderate(60);
        break;
      case 3:
        *a = std::ldexp(Unit(), static_cast<int>(rng_() % 32));
        *a = std::rint(*a) * 1.5707963267948966 + (rng_() % 2 ? std::ldexp(Unit(), -30) : 0);
        *b = rng_() % 2 ? *a : Moderate(16);
        break;
      default:
        *a = std::abs(rng_() % 2 ? RandomBits()
                                 : 1 + std::ldexp(Unit(), -static_cast<int>(rng_() % 20)));
        *b = Unit() * (f64_ ? 1080 : 152) / std::log2(*a);
    }
    *a = ToType(*a, f64_);
    *b = ToType(*b, f64_);
  }

 private:
  double Unit() { return static_cast<double>(static_cast<int64_t>(rng_())) * 0x1p-63; }
  double Moderate(int exponents) {
    return std::ldexp(Unit(), static_cast<int>(rng_() % exponents) - exponents / 3);
  }
  double RandomBits() {
    return f64_ ? DoubleFromBits(rng_()) : FloatFromBits(static_cast<uint32_t>(rng_()));
  }

  bool f64_;
  std::mt19937_64 rng_;
};

}  // namespace

Arguments RandomArguments(bool f64, int64_t count, uint64_t seed) {
  Arguments r;
  r.a.resize(count);
  r.b.resize(count);
  Generator generator(f64, seed);
  for (int64_t i = 0; i < count; ++i) generator.Next(i, &r.a[i], &r.b[i]);
  return r;
}

Arguments EdgeArguments(bool f64) {
  Arguments r;
  const int exponents = f64 ? 2048 : 256;
  const int fraction_bits = f64 ? 52 : 23;
  const uint64_t all = (uint64_t{1} << fraction_bits) - 1;
  for (int e = 0; e < exponents; ++e) {
    for (uint64_t fraction : {uint64_t{0}, uint64_t{1}, all / 3, all / 2, all - 1, all}) {
      for (uint64_t sign : {0, 1}) {
        const uint64_t bits = ((sign * exponents + e) << fraction_bits) | fraction;
        r.a.push_back(f64 ? DoubleFromBits(bits) : FloatFromBits(static_cast<uint32_t>(bits)));
      }
    }
  }
  for (size_t i = 0; i < r.a.size(); ++i) r.b.push_back(r.a[(i * 1009 + 5) % r.a.size()]);
  return r;
}

Arguments HalfArguments() {
  Arguments r;
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    r.a.push_back(FloatFromBits(bits << 16));
    const int exponent = bits >> 10 & 31;
    const double fraction = (bits & 1023) / 1024.0;
    double half = exponent == 0    ? std::ldexp(fraction, -14)
                  : exponent == 31 ? (fraction == 0 ? INFINITY : NAN)
                                   : std::ldexp(1 + fraction, exponent - 15);
    r.a.push_back(bits >> 15 ? -half : half);
  }
  for (size_t i = 0; i < r.a.size(); ++i) r.b.push_back(r.a[(i * 40503 + 7) % r.a.size()]);
  return r;
}

}  // namespace stax::math
