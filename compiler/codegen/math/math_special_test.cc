// Special values as in C99 annex F: signed zeros, infinities, NaN, pow's table.
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "compiler/codegen/math/math_jit.h"
#include "compiler/codegen/math/math_sweep.h"
#include "gtest/gtest.h"

namespace stax::math {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kHalfPi = 0x1.921fb54442d18p+0;
constexpr double kPi = 0x1.921fb54442d18p+1;

struct Case {
  OpCode code;
  double a, b, want;
};

const Case kCases[] = {
    {OpCode::kRsqrt, 0.0, 0, kInf},
    {OpCode::kRsqrt, -0.0, 0, -kInf},
    {OpCode::kRsqrt, kInf, 0, 0.0},
    {OpCode::kRsqrt, -1, 0, kNan},
    {OpCode::kRsqrt, kNan, 0, kNan},
    {OpCode::kRsqrt, 4, 0, 0.5},
    {OpCode::kExp, 0.0, 0, 1},
    {OpCode::kExp, -0.0, 0, 1},
    {OpCode::kExp, kInf, 0, kInf},
    {OpCode::kExp, -kInf, 0, 0.0},
    {OpCode::kExp, 1000, 0, kInf},
    {OpCode::kExp, -1000, 0, 0.0},
    {OpCode::kExp, kNan, 0, kNan},
    {OpCode::kExp2, 10, 0, 1024},
    {OpCode::kExp2, -10, 0, 0x1p-10},
    {OpCode::kExp2, -140, 0, 0x1p-140},
    {OpCode::kExp2, kInf, 0, kInf},
    {OpCode::kExp2, -kInf, 0, 0.0},
    {OpCode::kExp2, kNan, 0, kNan},
    {OpCode::kExpm1, 0.0, 0, 0.0},
    {OpCode::kExpm1, -0.0, 0, -0.0},
    {OpCode::kExpm1, 0x1p-140, 0, 0x1p-140},
    {OpCode::kExpm1, kInf, 0, kInf},
    {OpCode::kExpm1, -kInf, 0, -1},
    {OpCode::kExpm1, kNan, 0, kNan},
    {OpCode::kLog, 1, 0, 0.0},
    {OpCode::kLog, 0.0, 0, -kInf},
    {OpCode::kLog, -0.0, 0, -kInf},
    {OpCode::kLog, kInf, 0, kInf},
    {OpCode::kLog, -1, 0, kNan},
    {OpCode::kLog, -kInf, 0, kNan},
    {OpCode::kLog, kNan, 0, kNan},
    {OpCode::kLog2, 1, 0, 0.0},
    {OpCode::kLog2, 8, 0, 3},
    {OpCode::kLog2, 0x1p-149, 0, -149},
    {OpCode::kLog2, 0.0, 0, -kInf},
    {OpCode::kLog2, kInf, 0, kInf},
    {OpCode::kLog2, -1, 0, kNan},
    {OpCode::kLog1p, 0.0, 0, 0.0},
    {OpCode::kLog1p, -0.0, 0, -0.0},
    {OpCode::kLog1p, 0x1p-140, 0, 0x1p-140},
    {OpCode::kLog1p, -1, 0, -kInf},
    {OpCode::kLog1p, -2, 0, kNan},
    {OpCode::kLog1p, kInf, 0, kInf},
    {OpCode::kLog1p, kNan, 0, kNan},
    {OpCode::kSin, 0.0, 0, 0.0},
    {OpCode::kSin, -0.0, 0, -0.0},
    {OpCode::kSin, 0x1p-140, 0, 0x1p-140},
    {OpCode::kSin, kInf, 0, kNan},
    {OpCode::kSin, -kInf, 0, kNan},
    {OpCode::kSin, kNan, 0, kNan},
    {OpCode::kCos, 0.0, 0, 1},
    {OpCode::kCos, -0.0, 0, 1},
    {OpCode::kCos, kInf, 0, kNan},
    {OpCode::kCos, kNan, 0, kNan},
    {OpCode::kTan, 0.0, 0, 0.0},
    {OpCode::kTan, -0.0, 0, -0.0},
    {OpCode::kTan, kInf, 0, kNan},
    {OpCode::kTan, kNan, 0, kNan},
    {OpCode::kAsin, 0.0, 0, 0.0},
    {OpCode::kAsin, -0.0, 0, -0.0},
    {OpCode::kAsin, 1, 0, kHalfPi},
    {OpCode::kAsin, -1, 0, -kHalfPi},
    {OpCode::kAsin, 1.5, 0, kNan},
    {OpCode::kAsin, -kInf, 0, kNan},
    {OpCode::kAsin, kNan, 0, kNan},
    {OpCode::kAcos, 1, 0, 0.0},
    {OpCode::kAcos, -1, 0, kPi},
    {OpCode::kAcos, 0.0, 0, kHalfPi},
    {OpCode::kAcos, 1.5, 0, kNan},
    {OpCode::kAcos, kInf, 0, kNan},
    {OpCode::kAcos, kNan, 0, kNan},
    {OpCode::kAtan, 0.0, 0, 0.0},
    {OpCode::kAtan, -0.0, 0, -0.0},
    {OpCode::kAtan, kInf, 0, kHalfPi},
    {OpCode::kAtan, -kInf, 0, -kHalfPi},
    {OpCode::kAtan, kNan, 0, kNan},
    {OpCode::kSinh, 0.0, 0, 0.0},
    {OpCode::kSinh, -0.0, 0, -0.0},
    {OpCode::kSinh, kInf, 0, kInf},
    {OpCode::kSinh, -kInf, 0, -kInf},
    {OpCode::kSinh, kNan, 0, kNan},
    {OpCode::kCosh, -0.0, 0, 1},
    {OpCode::kCosh, kInf, 0, kInf},
    {OpCode::kCosh, -kInf, 0, kInf},
    {OpCode::kCosh, kNan, 0, kNan},
    {OpCode::kTanh, 0.0, 0, 0.0},
    {OpCode::kTanh, -0.0, 0, -0.0},
    {OpCode::kTanh, kInf, 0, 1},
    {OpCode::kTanh, -kInf, 0, -1},
    {OpCode::kTanh, kNan, 0, kNan},
    {OpCode::kAsinh, 0.0, 0, 0.0},
    {OpCode::kAsinh, -0.0, 0, -0.0},
    {OpCode::kAsinh, kInf, 0, kInf},
    {OpCode::kAsinh, -kInf, 0, -kInf},
    {OpCode::kAsinh, kNan, 0, kNan},
    {OpCode::kAcosh, 1, 0, 0.0},
    {OpCode::kAcosh, 0.5, 0, kNan},
    {OpCode::kAcosh, -kInf, 0, kNan},
    {OpCode::kAcosh, kInf, 0, kInf},
    {OpCode::kAcosh, kNan, 0, kNan},
    {OpCode::kAtanh, 0.0, 0, 0.0},
    {OpCode::kAtanh, -0.0, 0, -0.0},
    {OpCode::kAtanh, 1, 0, kInf},
    {OpCode::kAtanh, -1, 0, -kInf},
    {OpCode::kAtanh, 2, 0, kNan},
    {OpCode::kAtanh, kInf, 0, kNan},
    {OpCode::kAtanh, kNan, 0, kNan},
    {OpCode::kErf, 0.0, 0, 0.0},
    {OpCode::kErf, -0.0, 0, -0.0},
    {OpCode::kErf, kInf, 0, 1},
    {OpCode::kErf, -kInf, 0, -1},
    {OpCode::kErf, kNan, 0, kNan},
    {OpCode::kSigmoid, 0.0, 0, 0.5},
    {OpCode::kSigmoid, -0.0, 0, 0.5},
    {OpCode::kSigmoid, kInf, 0, 1},
    {OpCode::kSigmoid, -kInf, 0, 0.0},
    {OpCode::kSigmoid, kNan, 0, kNan},
    // pow, in the order of C99 F.9.4.4.
    {OpCode::kPow, 0.0, -3, kInf},
    {OpCode::kPow, -0.0, -3, -kInf},
    {OpCode::kPow, 0.0, -2, kInf},
    {OpCode::kPow, -0.0, -2, kInf},
    {OpCode::kPow, -0.0, -2.5, kInf},
    {OpCode::kPow, -0.0, -kInf, kInf},
    {OpCode::kPow, 0.0, 3, 0.0},
    {OpCode::kPow, -0.0, 3, -0.0},
    {OpCode::kPow, -0.0, 2, 0.0},
    {OpCode::kPow, -0.0, 2.5, 0.0},
    {OpCode::kPow, -1, kInf, 1},
    {OpCode::kPow, -1, -kInf, 1},
    {OpCode::kPow, 1, kNan, 1},
    {OpCode::kPow, 1, kInf, 1},
    {OpCode::kPow, kNan, 0.0, 1},
    {OpCode::kPow, kNan, -0.0, 1},
    {OpCode::kPow, kInf, 0.0, 1},
    {OpCode::kPow, -2, 0.5, kNan},
    {OpCode::kPow, -2, 3, -8},
    {OpCode::kPow, -2, 2, 4},
    {OpCode::kPow, 0.5, -kInf, kInf},
    {OpCode::kPow, -0.5, -kInf, kInf},
    {OpCode::kPow, 2, -kInf, 0.0},
    {OpCode::kPow, -0.5, kInf, 0.0},
    {OpCode::kPow, 0.0, kInf, 0.0},
    {OpCode::kPow, -2, kInf, kInf},
    {OpCode::kPow, -kInf, -3, -0.0},
    {OpCode::kPow, -kInf, -2, 0.0},
    {OpCode::kPow, -kInf, 3, -kInf},
    {OpCode::kPow, -kInf, 2.5, kInf},
    {OpCode::kPow, -kInf, -2.5, 0.0},
    {OpCode::kPow, kInf, -1, 0.0},
    {OpCode::kPow, kInf, 1, kInf},
    {OpCode::kPow, kInf, kInf, kInf},
    {OpCode::kPow, kNan, 1, kNan},
    {OpCode::kPow, 2, kNan, kNan},
    {OpCode::kPow, -1, kNan, kNan},
    {OpCode::kPow, 0.0, kNan, kNan},
    {OpCode::kPow, 0x1p-149, 1, 0x1p-149},
    {OpCode::kPow, 0x1p-70, 2, 0x1p-140},
    {OpCode::kPow, 3, 4, 81},
    // atan2(y, x).
    {OpCode::kAtan2, 0.0, -0.0, kPi},
    {OpCode::kAtan2, -0.0, -0.0, -kPi},
    {OpCode::kAtan2, 0.0, 0.0, 0.0},
    {OpCode::kAtan2, -0.0, 0.0, -0.0},
    {OpCode::kAtan2, 0.0, -1, kPi},
    {OpCode::kAtan2, -0.0, -1, -kPi},
    {OpCode::kAtan2, 0.0, 1, 0.0},
    {OpCode::kAtan2, -0.0, 1, -0.0},
    {OpCode::kAtan2, -1, 0.0, -kHalfPi},
    {OpCode::kAtan2, 1, -0.0, kHalfPi},
    {OpCode::kAtan2, 1, -kInf, kPi},
    {OpCode::kAtan2, -1, -kInf, -kPi},
    {OpCode::kAtan2, 1, kInf, 0.0},
    {OpCode::kAtan2, -1, kInf, -0.0},
    {OpCode::kAtan2, kInf, 1, kHalfPi},
    {OpCode::kAtan2, -kInf, 1, -kHalfPi},
    {OpCode::kAtan2, kInf, -kInf, 3 * kPi / 4},
    {OpCode::kAtan2, -kInf, -kInf, -3 * kPi / 4},
    {OpCode::kAtan2, kInf, kInf, kPi / 4},
    {OpCode::kAtan2, kNan, 1, kNan},
    {OpCode::kAtan2, 1, kNan, kNan},
    {OpCode::kAtan2, 0.0, kNan, kNan},
    // fmod, and Python's %.
    {OpCode::kFmod, 0.0, 3, 0.0},
    {OpCode::kFmod, -0.0, 3, -0.0},
    {OpCode::kFmod, 5, 0.0, kNan},
    {OpCode::kFmod, 0.0, 0.0, kNan},
    {OpCode::kFmod, kInf, 3, kNan},
    {OpCode::kFmod, kInf, kInf, kNan},
    {OpCode::kFmod, 5, kInf, 5},
    {OpCode::kFmod, -5, -kInf, -5},
    {OpCode::kFmod, 5, 3, 2},
    {OpCode::kFmod, -5, 3, -2},
    {OpCode::kFmod, 5, -3, 2},
    {OpCode::kFmod, -6, 3, -0.0},
    {OpCode::kFmod, 0x1.fffffep127, 0x1.8p-148, 0.0},
    {OpCode::kFmod, 0x1p127, 0x1.8p-148, 0x1p-149},
    {OpCode::kFmod, kNan, 1, kNan},
    {OpCode::kFmod, 1, kNan, kNan},
    {OpCode::kMod, 5, 3, 2},
    {OpCode::kMod, -5, 3, 1},
    {OpCode::kMod, 5, -3, -1},
    {OpCode::kMod, -5, -3, -2},
    {OpCode::kMod, -6, 3, 0.0},
    {OpCode::kMod, 6, -3, -0.0},
    {OpCode::kMod, 5, kInf, 5},
    {OpCode::kMod, -5, kInf, kInf},
    {OpCode::kMod, 5, -kInf, -kInf},
    {OpCode::kMod, 5, 0.0, kNan},
    {OpCode::kMod, kInf, 3, kNan},
    {OpCode::kMod, kNan, 3, kNan},
};

// Values within an ulp or two of `want`; NaN, infinity, zero and its sign exactly.
template <typename T>
bool Matches(T got, double exact) {
  const T want = static_cast<T>(exact);
  if (std::isnan(want)) return std::isnan(got);
  if (std::isinf(want) || want == 0) return got == want && std::signbit(got) == std::signbit(want);
  return std::abs(got - want) <= 2 * std::numeric_limits<T>::epsilon() * std::abs(want);
}

template <typename T>
void CheckCases(int lanes) {
  const SweepType type = {sizeof(T) == 8, lanes};
  const MathJit jit("x86-64-v3", MathOps(), {type});
  for (const Case& c : kCases) {
    const std::vector<T> a(lanes, static_cast<T>(c.a)), b(lanes, static_cast<T>(c.b));
    std::vector<T> out(lanes);
    jit.Find(c.code, type)(a.data(), b.data(), out.data(), lanes);
    EXPECT_TRUE(Matches(out.back(), c.want)) << SweepName(c.code, type) << "(" << c.a << ", " << c.b
                                             << ") = " << out.back() << ", expected " << c.want;
  }
}

TEST(MathSpecialTest, F32Scalar) { CheckCases<float>(1); }
TEST(MathSpecialTest, F32Vector) { CheckCases<float>(8); }
TEST(MathSpecialTest, F64Scalar) { CheckCases<double>(1); }
TEST(MathSpecialTest, F64Vector) { CheckCases<double>(4); }

}  // namespace
}  // namespace stax::math
