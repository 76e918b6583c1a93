// Errors of every math function on the CPU: samples, edges, subnormals, all f16 and bf16 numbers;
// as scalars and as vectors, which must agree bit for bit. f32 is judged by the C library in f64,
// and its worst argument and a part by MPFR; f64 by MPFR.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "compiler/codegen/math/math_jit.h"
#include "compiler/codegen/math/math_sweep.h"
#include "compiler/codegen/math/reference.h"
#include "compiler/codegen/math/samples.h"
#include "gtest/gtest.h"

namespace stax::math {
namespace {

// The largest errors measured (README.md), rounded up. The contract is 2 and 4.
struct Bound {
  OpCode code;
  double f32, f64;
};
constexpr Bound kBounds[] = {
    {OpCode::kRsqrt, 1.6, 1.6}, {OpCode::kExp, 1.0, 1.0},   {OpCode::kExp2, 1.0, 1.1},
    {OpCode::kExpm1, 1.6, 2.1}, {OpCode::kLog, 1.0, 1.0},   {OpCode::kLog2, 1.5, 1.6},
    {OpCode::kLog1p, 1.4, 1.6}, {OpCode::kSin, 1.7, 1.7},   {OpCode::kCos, 1.7, 1.7},
    {OpCode::kTan, 0.6, 3.0},   {OpCode::kAsin, 1.3, 1.3},  {OpCode::kAcos, 1.3, 1.3},
    {OpCode::kAtan, 1.5, 1.7},  {OpCode::kSinh, 1.8, 1.8},  {OpCode::kCosh, 1.5, 1.5},
    {OpCode::kTanh, 1.5, 2.7},  {OpCode::kAsinh, 0.6, 1.9}, {OpCode::kAcosh, 0.6, 2.3},
    {OpCode::kAtanh, 0.6, 2.2}, {OpCode::kErf, 1.4, 1.3},   {OpCode::kSigmoid, 1.8, 1.8},
    {OpCode::kPow, 0.6, 1.2},   {OpCode::kAtan2, 1.6, 1.6}, {OpCode::kFmod, 0.0, 0.0},
    {OpCode::kMod, 0.5, 0.5},
};

void Append(const Arguments& from, Arguments* to) {
  to->a.insert(to->a.end(), from.a.begin(), from.a.end());
  to->b.insert(to->b.end(), from.b.begin(), from.b.end());
}

// For vectors of 16.
void MakeWhole(Arguments* arguments) {
  arguments->a.resize(arguments->a.size() / 16 * 16);
  arguments->b.resize(arguments->a.size());
}

Arguments F32Arguments() {
  Arguments all = RandomArguments(/*f64=*/false, 1 << 20, /*seed=*/3);
  Append(EdgeArguments(/*f64=*/false), &all);
  Append(HalfArguments(), &all);
  for (int i = 1; i < 1 << 13; ++i) {  // subnormals
    all.a.push_back(std::ldexp(i * 1023, -149));
    all.b.push_back(std::ldexp(i % 2 == 0 ? 3 : -i, -149 + i % 100));
  }
  MakeWhole(&all);
  return all;
}

Arguments F64Arguments() {
  Arguments all = RandomArguments(/*f64=*/true, 1 << 14, /*seed=*/4);
  Append(EdgeArguments(/*f64=*/true), &all);
  MakeWhole(&all);
  return all;
}

// One compilation for all cases. The -v4 code runs where the processor has AVX-512.
const MathJit& Jit() {
  static const MathJit jit("x86-64-v3", MathOps(), {{false, 1}, {false, 8}, {true, 1}, {true, 4}});
  return jit;
}

template <typename T>
std::vector<T> Compute(const MathJit& jit, OpCode code, int lanes, const Arguments& arguments) {
  const std::vector<T> a(arguments.a.begin(), arguments.a.end());
  const std::vector<T> b(arguments.b.begin(), arguments.b.end());
  std::vector<T> out(a.size());
  jit.Find(code, {sizeof(T) == 8, lanes})(a.data(), b.data(), out.data(),
                                          static_cast<int64_t>(a.size()));
  return out;
}

template <typename T>
void ExpectSame(const std::vector<T>& x, const std::vector<T>& y, const Arguments& arguments) {
  for (size_t i = 0; i < x.size(); ++i) {
    if (std::isnan(x[i]) && std::isnan(y[i])) continue;
    ASSERT_TRUE(x[i] == y[i] && std::signbit(x[i]) == std::signbit(y[i]))
        << "at " << arguments.a[i] << ", " << arguments.b[i] << ": " << x[i] << " and " << y[i];
  }
}

class MathAccuracyTest : public testing::TestWithParam<Bound> {};

TEST_P(MathAccuracyTest, F32) {
  const auto [code, bound, unused] = GetParam();
  static const Arguments& arguments = *new Arguments(F32Arguments());
  const std::vector<float> out = Compute<float>(Jit(), code, 1, arguments);
  ExpectSame(out, Compute<float>(Jit(), code, 8, arguments), arguments);
  double largest = 0;
  size_t worst = 0;
  for (size_t i = 0; i < out.size(); ++i) {
    const double a = arguments.a[i], b = arguments.b[i];
    const double error = UlpErrorF32(out[i], LibmReference(code, a, b));
    if (error > largest) largest = error, worst = i;
    if (i % 256 == 0) {
      ASSERT_LE(UlpError(code, false, out[i], a, b), bound) << a << ", " << b;
    }
  }
  std::printf("%s f32: %.3f ulp at %a, %a\n", std::string(OpName(code)).c_str(), largest,
              arguments.a[worst], arguments.b[worst]);
  EXPECT_LE(largest, bound);
  EXPECT_NEAR(UlpError(code, false, out[worst], arguments.a[worst], arguments.b[worst]), largest,
              1e-3)
      << "the C library is wrong";
}

TEST_P(MathAccuracyTest, F64) {
  const auto [code, unused, bound] = GetParam();
  static const Arguments& arguments = *new Arguments(F64Arguments());
  const std::vector<double> out = Compute<double>(Jit(), code, 1, arguments);
  ExpectSame(out, Compute<double>(Jit(), code, 4, arguments), arguments);
  double largest = 0;
  size_t worst = 0;
  for (size_t i = 0; i < out.size(); ++i) {
    const double error = UlpError(code, true, out[i], arguments.a[i], arguments.b[i]);
    if (error > largest) largest = error, worst = i;
  }
  std::printf("%s f64: %.3f ulp at %a, %a\n", std::string(OpName(code)).c_str(), largest,
              arguments.a[worst], arguments.b[worst]);
  EXPECT_LE(largest, bound);
}

INSTANTIATE_TEST_SUITE_P(All, MathAccuracyTest, testing::ValuesIn(kBounds),
                         [](const auto& info) { return std::string(OpName(info.param.code)); });

TEST(MathAccuracyTest, EveryOpHasABoundWithinTheContract) {
  EXPECT_EQ(std::size(kBounds), MathOps().size());
  for (const Bound& bound : kBounds) {
    EXPECT_LE(bound.f32, 2);
    EXPECT_LE(bound.f64, 4);
  }
}

TEST(MathAccuracyTest, WideVectorsGiveTheSame) {
  if (!__builtin_cpu_supports("avx512vl")) GTEST_SKIP() << "no AVX-512";
  const MathJit wide("x86-64-v4", MathOps(), {{false, 16}, {true, 8}});
  Arguments f32 = RandomArguments(/*f64=*/false, 1 << 14, /*seed=*/5);
  Append(EdgeArguments(/*f64=*/false), &f32);
  MakeWhole(&f32);
  Arguments f64 = RandomArguments(/*f64=*/true, 1 << 14, /*seed=*/6);
  Append(EdgeArguments(/*f64=*/true), &f64);
  MakeWhole(&f64);
  for (OpCode code : MathOps()) {
    SCOPED_TRACE(std::string(OpName(code)));
    ExpectSame(Compute<float>(Jit(), code, 1, f32), Compute<float>(wide, code, 16, f32), f32);
    ExpectSame(Compute<double>(Jit(), code, 1, f64), Compute<double>(wide, code, 8, f64), f64);
  }
}

// The f64 number closest to a multiple of pi/2, and neighbours of others.
TEST(MathAccuracyTest, RangeReductionOfTheHardestArguments) {
  Arguments hard;
  for (double x : {6381956970095103.0 * 0x1p797, 0x1.6c6cbc45dc8dep+5, 0x1.6c6cbc45dc8dep+6,
                   0x1.921fb54442d18p+0, 0x1.921fb54442d18p+1, 0x1.2d97c7f3321d2p+2, 1e9,
                   1000000001.0, 1e22, 0x1.fffffffffffffp1023, 0x1p-1022, 5e-324}) {
    hard.a.push_back(x);
    hard.a.push_back(-x);
  }
  hard.a.resize(32, 1);
  hard.b.resize(32, 0);
  for (OpCode code : {OpCode::kSin, OpCode::kCos, OpCode::kTan}) {
    const std::vector<double> out = Compute<double>(Jit(), code, 4, hard);
    for (size_t i = 0; i < out.size(); ++i) {
      EXPECT_LE(UlpError(code, true, out[i], hard.a[i], 0), 3)
          << std::string(OpName(code)) << " of " << hard.a[i];
    }
  }
}

}  // namespace
}  // namespace stax::math
