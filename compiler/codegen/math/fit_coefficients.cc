// Fits the polynomial coefficients of this folder and prints coefficients.h.
//
// For each entry of `Fits()` a weighted minimax polynomial P of n terms, minimising
//   max over [lo, hi] of |weight(x) * (P(x) - target(x))|
// is found by the Remez exchange in 320-bit MPFR arithmetic. The coefficients are then rounded to
// the element type one after another from the lowest, the rest being fitted again each time, so
// that rounding costs almost nothing. The weight is chosen so that the error printed beside each
// array is the relative error of the function (unless the entry says otherwise).
//
// Usage: bazel run //compiler/codegen/math:fit_coefficients > compiler/codegen/math/coefficients.h,
// then clang-format.
#include <mpfr.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr mpfr_prec_t kPrecision = 320;
constexpr mpfr_rnd_t kRound = MPFR_RNDN;

// An MPFR number with operators.
class Real {
 public:
  Real(double v = 0) {  // NOLINT: a plain number where one is expected
    mpfr_init2(x_, kPrecision);
    mpfr_set_d(x_, v, kRound);
  }
  Real(const Real& o) : Real() { mpfr_set(x_, o.x_, kRound); }
  Real& operator=(const Real& o) {
    mpfr_set(x_, o.x_, kRound);
    return *this;
  }
  ~Real() { mpfr_clear(x_); }

  mpfr_ptr ptr() { return x_; }
  mpfr_srcptr ptr() const { return x_; }
  double ToDouble() const { return mpfr_get_d(x_, kRound); }
  bool negative() const { return mpfr_sgn(x_) < 0; }

 private:
  mpfr_t x_;
};

using BinaryFn = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t);
using UnaryFn = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);

Real Apply(BinaryFn fn, const Real& a, const Real& b) {
  Real r;
  fn(r.ptr(), a.ptr(), b.ptr(), kRound);
  return r;
}
Real Apply(UnaryFn fn, const Real& a) {
  Real r;
  fn(r.ptr(), a.ptr(), kRound);
  return r;
}
Real operator+(const Real& a, const Real& b) { return Apply(mpfr_add, a, b); }
Real operator-(const Real& a, const Real& b) { return Apply(mpfr_sub, a, b); }
Real operator*(const Real& a, const Real& b) { return Apply(mpfr_mul, a, b); }
Real operator/(const Real& a, const Real& b) { return Apply(mpfr_div, a, b); }
bool operator<(const Real& a, const Real& b) { return mpfr_less_p(a.ptr(), b.ptr()); }
Real Abs(const Real& a) { return Apply(mpfr_abs, a); }
Real Sqrt(const Real& a) { return Apply(mpfr_sqrt, a); }

using RealFn = std::function<Real(const Real&)>;

struct Fit {
  std::string name;
  bool f64;  // type the coefficients are rounded to
  double lo, hi;
  int terms;
  std::string comment;
  RealFn target, weight;
};

// Solves A x = b by Gaussian elimination with partial pivoting.
std::vector<Real> Solve(std::vector<std::vector<Real>> a, std::vector<Real> b) {
  const int n = static_cast<int>(b.size());
  for (int col = 0; col < n; ++col) {
    int pivot = col;
    for (int row = col + 1; row < n; ++row) {
      if (Abs(a[pivot][col]) < Abs(a[row][col])) pivot = row;
    }
    std::swap(a[col], a[pivot]);
    std::swap(b[col], b[pivot]);
    for (int row = col + 1; row < n; ++row) {
      const Real f = a[row][col] / a[col][col];
      for (int k = col; k < n; ++k) a[row][k] = a[row][k] - f * a[col][k];
      b[row] = b[row] - f * b[col];
    }
  }
  for (int row = n - 1; row >= 0; --row) {
    for (int k = row + 1; k < n; ++k) b[row] = b[row] - a[row][k] * b[k];
    b[row] = b[row] / a[row][row];
  }
  return b;
}

Real Evaluate(const std::vector<Real>& coefficients, const Real& x) {
  Real r;
  for (int i = static_cast<int>(coefficients.size()) - 1; i >= 0; --i) {
    r = r * x + coefficients[i];
  }
  return r;
}

// The samples of one fit: points of a Chebyshev grid with target and weight.
struct Samples {
  std::vector<Real> x, target, weight;
};

Samples MakeSamples(const Fit& fit) {
  constexpr int kPoints = 3000;
  Samples s;
  Real pi;
  mpfr_const_pi(pi.ptr(), kRound);
  for (int i = 0; i <= kPoints; ++i) {
    const Real c = Apply(mpfr_cos, pi * Real(kPoints - i) / Real(kPoints));
    Real x = Real((fit.lo + fit.hi) / 2) + Real((fit.hi - fit.lo) / 2) * c;
    if (Abs(x) < Real(1e-20)) x = Real(1e-20);  // removable singularities at 0
    s.x.push_back(x);
    s.target.push_back(fit.target(x));
    s.weight.push_back(Abs(fit.weight(x)));
  }
  return s;
}

std::vector<Real> Errors(const Samples& s, const std::vector<Real>& coefficients) {
  std::vector<Real> e;
  for (size_t i = 0; i < s.x.size(); ++i) {
    e.push_back(s.weight[i] * (Evaluate(coefficients, s.x[i]) - s.target[i]));
  }
  return e;
}

// Indices of the largest error in each run of equal sign, cut to `count` alternating points: the
// smallest goes first, an inner one together with its smaller neighbour, so signs still alternate.
std::vector<int> Extrema(const std::vector<Real>& e, int count) {
  std::vector<int> points;
  for (int i = 0; i < static_cast<int>(e.size()); ++i) {
    if (!points.empty() && e[i].negative() == e[points.back()].negative()) {
      if (Abs(e[points.back()]) < Abs(e[i])) points.back() = i;
    } else {
      points.push_back(i);
    }
  }
  const auto smaller = [&e, &points](int i, int k) {
    return Abs(e[points[i]]) < Abs(e[points[k]]);
  };
  while (static_cast<int>(points.size()) > count) {
    const int last = static_cast<int>(points.size()) - 1;
    int drop = smaller(0, last) ? 0 : last;
    if (last > count) {
      for (int i = 1; i < last; ++i) {
        if (smaller(i, drop)) drop = i;
      }
    }
    if (drop > 0 && drop < last) {
      const int first = smaller(drop - 1, drop + 1) ? drop - 1 : drop;
      points.erase(points.begin() + first, points.begin() + first + 2);
    } else {
      points.erase(points.begin() + drop);
    }
  }
  return points;
}

// Minimax coefficients of `terms` terms for the samples.
std::vector<Real> Remez(const Samples& s, int terms) {
  const int n = static_cast<int>(s.x.size());
  std::vector<int> points;
  for (int i = 0; i <= terms; ++i) {
    points.push_back(std::min(n - 1, (i * (n - 1) + terms / 2) / terms));
  }
  std::vector<Real> best;
  for (int iteration = 0; iteration < 25; ++iteration) {
    std::vector<std::vector<Real>> a;
    std::vector<Real> b;
    for (int i = 0; i <= terms; ++i) {
      const int p = points[i];
      std::vector<Real> row;
      Real power = s.weight[p];
      for (int k = 0; k < terms; ++k, power = power * s.x[p]) row.push_back(power);
      row.emplace_back(i % 2 == 0 ? 1 : -1);
      a.push_back(row);
      b.push_back(s.weight[p] * s.target[p]);
    }
    std::vector<Real> solution = Solve(a, b);
    const Real level = Abs(solution.back());
    solution.pop_back();
    best = solution;
    const std::vector<Real> e = Errors(s, best);
    const std::vector<int> next = Extrema(e, terms + 1);
    if (static_cast<int>(next.size()) <= terms) break;  // the error is at the noise
    Real largest;
    for (const Real& v : e) largest = std::max(largest, Abs(v));
    points = next;
    if (largest < level * Real(1.0001)) break;
  }
  return best;
}

double RoundTo(const Real& v, bool f64) {
  return f64 ? v.ToDouble() : static_cast<double>(mpfr_get_flt(v.ptr(), kRound));
}

void PrintFit(const Fit& fit) {
  const Samples samples = MakeSamples(fit);
  std::vector<double> rounded;
  Samples rest = samples;
  for (int k = 0; k < fit.terms; ++k) {
    const double c = RoundTo(Remez(rest, fit.terms - k)[0], fit.f64);
    rounded.push_back(c);
    for (size_t i = 0; i < rest.x.size(); ++i) {
      rest.target[i] = (rest.target[i] - Real(c)) / rest.x[i];
      rest.weight[i] = rest.weight[i] * Abs(rest.x[i]);
    }
  }
  Real largest;
  for (const Real& e : Errors(samples, {rounded.begin(), rounded.end()})) {
    largest = std::max(largest, Abs(e));
  }
  const double bits = Apply(mpfr_log2, largest).ToDouble();
  std::printf("// %s on [%.6g, %.6g]: 2^%.1f\n", fit.comment.c_str(), fit.lo, fit.hi, bits);
  std::printf("inline constexpr double %s[] = {\n", fit.name.c_str());
  for (int i = 0; i < fit.terms; ++i) {
    std::printf("%s%a,%s", i % 4 == 0 ? "    " : " ", rounded[i],
                i % 4 == 3 || i == fit.terms - 1 ? "\n" : "");
  }
  std::printf("};\n\n");
}

// Functions whose fits follow. Each target is what remains of the function once the terms that the
// code adds exactly are taken away.
Real Square(const Real& x) { return x * x; }
Real Cube(const Real& x) { return x * x * x; }

// For odd f with f(x) = x + x^3 P(x^2): the target in z = x^2, relative to f.
Fit Odd(const std::string& name, bool f64, double hi, int terms, const std::string& f, UnaryFn fn) {
  return {name,
          f64,
          0,
          hi,
          terms,
          "(" + f + " - x) / x^3 in x^2",
          [fn](const Real& z) {
            const Real x = Sqrt(z);
            return (Apply(fn, x) - x) / Cube(x);
          },
          [fn](const Real& z) { return Cube(Sqrt(z)) / Apply(fn, Sqrt(z)); }};
}

Fit Expm1(const std::string& name, bool f64, int terms) {
  return {name,
          f64,
          -0.34661,
          0.34661,
          terms,
          "(exp(x) - 1 - x) / x^2, relative to expm1",
          [](const Real& x) { return (Apply(mpfr_expm1, x) - x) / Square(x); },
          [](const Real& x) { return Square(x) / Apply(mpfr_expm1, x); }};
}

// log(1 + f) = f - f^2/2 + f^3 P(f).
Fit Log1pCubic(const std::string& name, double lo, double hi, int terms) {
  return {name,
          false,
          lo,
          hi,
          terms,
          "(log1p(x) - x + x^2/2) / x^3, relative to log1p",
          [](const Real& x) { return (Apply(mpfr_log1p, x) - x + Square(x) / Real(2)) / Cube(x); },
          [](const Real& x) { return Cube(x) / Apply(mpfr_log1p, x); }};
}

// log2(1 + x) = x * (P0 + P1 x + ...) with P0 = log2(e) kept as two floats by the code.
Fit Log2(const std::string& name, double lo, double hi, int terms) {
  const auto log2_1p = [](const Real& x) {
    return Apply(mpfr_log1p, x) / Apply(mpfr_log, Real(2));
  };
  return {name,
          false,
          lo,
          hi,
          terms,
          "(log2(1 + x) / x - log2(e)) / x, relative to log2(1 + x)",
          [log2_1p](const Real& x) {
            return (log2_1p(x) / x - Real(1) / Apply(mpfr_log, Real(2))) / x;
          },
          [log2_1p](const Real& x) { return Square(x) / log2_1p(x); }};
}

// log((1 + s) / (1 - s)) = 2 atanh(s) = 2 s + s z P(z), z = s^2.
Fit LogAtanh(const std::string& name, int terms) {
  const auto twice = [](const Real& s) { return Real(2) * Apply(mpfr_atanh, s); };
  return {name,
          true,
          0,
          0.02945,
          terms,
          "(2 atanh(s) - 2 s) / s^3 in s^2",
          [twice](const Real& z) {
            const Real s = Sqrt(z);
            return (twice(s) - Real(2) * s) / Cube(s);
          },
          [twice](const Real& z) { return Cube(Sqrt(z)) / twice(Sqrt(z)); }};
}

// atanh(s) = s + s z (1/3 + z P(z)): what pow adds to a double-double 1/3.
Fit PowLog(const std::string& name, int terms) {
  return {name,
          true,
          0,
          0.02945,
          terms,
          "(atanh(s) - s - s^3/3) / s^5 in s^2",
          [](const Real& z) {
            const Real s = Sqrt(z);
            return (Apply(mpfr_atanh, s) - s - Cube(s) / Real(3)) / (Cube(s) * z);
          },
          [](const Real& z) {
            const Real s = Sqrt(z);
            return Cube(s) * z / Apply(mpfr_atanh, s);
          }};
}

Fit Cos(const std::string& name, bool f64, int terms) {
  return {
      name,
      f64,
      0,
      0.6175,
      terms,
      "(cos(x) - 1 + x^2/2) / x^4 in x^2",
      [](const Real& z) { return (Apply(mpfr_cos, Sqrt(z)) - Real(1) + z / Real(2)) / Square(z); },
      [](const Real& z) { return Square(z) / Apply(mpfr_cos, Sqrt(z)); }};
}

// erf(x) = x + x P(x^2) for small x.
Fit ErfSmall(const std::string& name, bool f64, double hi, int terms) {
  return {name,
          f64,
          0,
          hi * hi,
          terms,
          "erf(x) / x - 1 in x^2",
          [](const Real& z) { return Apply(mpfr_erf, Sqrt(z)) / Sqrt(z) - Real(1); },
          [](const Real& z) { return Sqrt(z) / Apply(mpfr_erf, Sqrt(z)); }};
}

// erf(x) = 1 - base^P(x - shift): the weight is the effect of P's error on erf.
Fit ErfLarge(const std::string& name, bool f64, double lo, double hi, double shift, int terms) {
  const auto log_erfc = [f64, shift](const Real& x) {
    const Real l = Apply(mpfr_log, Apply(mpfr_erfc, x + Real(shift)));
    return f64 ? l : l / Apply(mpfr_log, Real(2));
  };
  return {name,
          f64,
          lo - shift,
          hi - shift,
          terms,
          f64 ? "log(erfc(x)), relative to erf" : "log2(erfc(x)), relative to erf",
          log_erfc,
          [shift](const Real& x) {
            const Real y = x + Real(shift);
            return Apply(mpfr_erfc, y) / Apply(mpfr_erf, y);
          }};
}

// erf(x) = 1 - 2^(x P(x)), for results that are rounded to a half type.
Fit ErfRelaxed(const std::string& name, double lo, double hi, int terms) {
  return {name,
          false,
          lo,
          hi,
          terms,
          "log2(erfc(x)) / x, relative to erf",
          [](const Real& x) {
            return Apply(mpfr_log, Apply(mpfr_erfc, x)) / Apply(mpfr_log, Real(2)) / x;
          },
          [](const Real& x) {
            return x * Apply(mpfr_log, Real(2)) * Apply(mpfr_erfc, x) / Apply(mpfr_erf, x);
          }};
}

std::vector<Fit> Fits() {
  return {
      Expm1("kExpF32", false, 5),
      Expm1("kExpF64", true, 10),
      Log1pCubic("kLogF32", -1.0 / 3, 1.0 / 3, 8),
      Log1pCubic("kLog1pF32", -0.25, 0.5, 8),
      Log2("kLog2F32", -1.0 / 3, 1.0 / 3, 9),
      LogAtanh("kLogBrief", 4),
      LogAtanh("kLogF64", 7),
      PowLog("kPowLog", 7),
      Odd("kSinF32", false, 0.6175, 3, "sin(x)", mpfr_sin),
      Odd("kSinF64", true, 0.6175, 6, "sin(x)", mpfr_sin),
      Cos("kCosF32", false, 3),
      Cos("kCosF64", true, 6),
      Odd("kAsinF32", false, 0.25, 5, "asin(x)", mpfr_asin),
      Odd("kAsinF64", true, 0.25, 12, "asin(x)", mpfr_asin),
      Odd("kAtanF32", false, 1, 9, "atan(x)", mpfr_atan),
      Odd("kAtanF64", true, 1, 20, "atan(x)", mpfr_atan),
      Odd("kSinhF32", false, 1, 4, "sinh(x)", mpfr_sinh),
      Odd("kSinhF64", true, 1, 7, "sinh(x)", mpfr_sinh),
      Odd("kTanhF32", false, 0.36, 5, "tanh(x)", mpfr_tanh),
      ErfSmall("kErfSmallF32", false, 0.9375, 6),
      ErfLarge("kErfLargeF32", false, 0.9375, 4.0, 0, 7),
      ErfRelaxed("kErfRelaxed", 0.0625, 4.0, 5),
      ErfSmall("kErfSmallF64", true, 1.0, 13),
      ErfLarge("kErfLargeF64", true, 1.0, 6.0, 2, 19),
  };
}

}  // namespace

int main(int argc, char** argv) {
  std::printf(
      "// Minimax polynomial coefficients, lowest power first. Generated by fit_coefficients.cc.\n"
      "// Beside each: what is approximated, where, and the largest error of the rounded fit.\n"
      "#ifndef STAX_COMPILER_CODEGEN_MATH_COEFFICIENTS_H_\n"
      "#define STAX_COMPILER_CODEGEN_MATH_COEFFICIENTS_H_\n\n"
      "namespace stax::math {\n\n");
  for (const Fit& fit : Fits()) {
    if (argc < 2 || fit.name == argv[1]) PrintFit(fit);
  }
  std::printf(
      "}  // namespace stax::math\n\n#endif  // STAX_COMPILER_CODEGEN_MATH_COEFFICIENTS_H_\n");
  return 0;
}
