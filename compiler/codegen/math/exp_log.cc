// exp: x = n ln2 + r with n an integer and |r| <= ln2/2 (Cody and Waite, two-part ln2; the first
// Fma is exact), exp(r) = 1 + r (1 + r P(r)), times 2^n in two exact factors, so that only the last
// multiplication rounds and subnormal results are right.
// log: x = 2^e (1 + f). f32: log(1 + f) = f + f^2 (-1/2 + f P(f)). f64: with s = f / (2 + f),
// log(1 + f) = 2 atanh(s) written as f - (f^2/2 - s (f^2/2 + s^2 P(s^2))), the arrangement of
// FreeBSD's e_log.c (Sun Microsystems, 1993), which rounds only once at the size of f.
#include "compiler/codegen/math/exp_log.h"

#include <functional>
#include <limits>

#include "compiler/codegen/math/coefficients.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace stax::math {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLog2e = 0x1.71547652b82fep+0;
constexpr double kLn2 = 0x1.62e42fefa39efp-1;

// A constant as the nearest value of the type and the rest.
struct Split {
  double high, low;
};
Split Ln2(const Real& like) {
  if (like.f64()) return {kLn2, 0x1.abc9e3b39803fp-56};
  return {0x1.62e43p-1, -0x1.05c610ca86c39p-29};
}
Split Log2e(const Real& like) {
  if (like.f64()) return {kLog2e, 0x1.777d0ffda0d24p-56};
  return {0x1.715476p+0, 0x1.4ae0bf85ddf44p-26};
}

struct ExpReduction {
  Bits n;
  Real r;  // x - n ln2
};

ExpReduction ReduceExp(const Real& x) {
  const Real t = Fma(x, kLog2e, x.rounding_constant());
  const Real n = t - x.rounding_constant();
  const Split ln2 = Ln2(x);
  const Real r = Fma(n, -ln2.low, Fma(n, -ln2.high, x));
  return {ToBits(t) - x.rounding_constant_bits(), r};
}

// P of exp(r) = 1 + r + r^2 P(r) for |r| <= ln2/2.
Real ExpTail(const Real& r) { return r.brief() ? Polynomial(r, kExpF32) : Polynomial(r, kExpF64); }

Real ExpOfReduced(const Real& r) { return Fma(r, Fma(r, ExpTail(r), 1), 1); }

// m 2^n for any n that twice the exponent range can hold.
Real ScaleByPowerOfTwo(const Real& m, const Bits& n) {
  const Bits biased = n + 2 * m.bias();
  const Bits half = LogicalShiftRight(biased, 1);
  const Real first = FromBits(half << m.fraction_bits(), m);
  return m * first * FromBits((biased - half) << m.fraction_bits(), m);
}

// Beyond these exp is infinite or zero.
Real ClampForExp(const Real& x) {
  return x.f64() ? AtLeast(AtMost(x, 711), -747) : AtLeast(AtMost(x, 90), -105);
}

// The instruction: 2^x, subnormals flushed to zero.
Real ApproximateExp2(const Real& x) {
  llvm::IRBuilderBase& b = x.builder();
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(x.type());
  const llvm::Intrinsic::ID id = llvm::Intrinsic::nvvm_ex2_approx_ftz;
  if (vector == nullptr) {
    return {x.context(), b.CreateIntrinsic(id, {x.type()}, {x.value()})};
  }
  llvm::Value* result = llvm::PoisonValue::get(vector);
  for (unsigned i = 0; i < vector->getNumElements(); ++i) {
    llvm::Value* lane = b.CreateExtractElement(x.value(), i);
    lane = b.CreateIntrinsic(id, {lane->getType()}, {lane});
    result = b.CreateInsertElement(result, lane, i);
  }
  return {x.context(), result};
}

// 2^(j + f) = 2^j ex2.approx(f) as in CUDA's expf: j = floor(scale x) clamped to [-126, 126] by the
// saturating Fma, left biased in the low bits of t. f = remainder(j); what the clamp cut off stays
// in f and makes the product subnormal, zero or infinite. f is not negative since there, just below
// 1, the instruction is off by up to 2.06 ulp (else 1.40; exhaustive, H200, 2026-11-30).
Real NvptxExp2(const Real& x, double scale, const std::function<Real(const Real&)>& remainder) {
  const Real unit = CallLanewise(llvm::Intrinsic::nvvm_fma_rn_sat_f,
                                 {x, x.Constant(scale / 252), x.Constant(0.5)});
  const Real t = CallLanewise(llvm::Intrinsic::nvvm_fma_rm_f,
                              {unit, x.Constant(252), x.Constant(0x1.8p23 + 1)});
  const Real j = t - (0x1.8p23 + 127);
  return ApproximateExp2(remainder(j)) * FromBits(ToBits(t) << 23, x);
}

// exp(x) for x <= 0 and f32 on the NVIDIA targets, within 0.9 ulp: on the FMA pipe, since
// ex2.approx leaves no room for further roundings.
Real NvptxAccurateExp(const Real& x) {
  const Real c = Maximum(x, -105);
  // The low bits of t hold n + 24, biased: n can be -151.
  constexpr double kRounding = 0x1.8p23 + 127 + 24;
  const Real t = Fma(c, kLog2e, kRounding);
  const Real n = t - kRounding;
  const Split ln2 = Ln2(x);
  const Real r = Fma(n, -ln2.low, Fma(n, -ln2.high, c));
  return ExpOfReduced(r) * FromBits(ToBits(t) << 23, x) * 0x1p-24;
}

// e ln2 + log(1 + f) for |f| up to 1/2, f64.
Real LogFromParts(const Real& e, const Real& f) {
  const Real s = BenignQuotient(f, 2 + f);
  const Real z = s * s;
  if (f.brief()) {
    return Fma(e, kLn2, Fma(s * z, Polynomial(z, kLogBrief), s + s));
  }
  const Split ln2 = Ln2(f);
  const Real half_square = 0.5 * f * f;
  const Real rest = Fma(s, Fma(z, Polynomial(z, kLogF64), half_square), e * ln2.low);
  return Fma(e, ln2.high, f - (half_square - rest));
}

// `result` where x is positive and finite, else the limits. `argument` is x or, for log1p, 1 + x.
Real WithLogLimits(const Real& result, const Real& argument, const Real& x) {
  const Mask special = UnsignedAtLeast(ToBits(argument), x.infinity_bits());
  const Real limit = Fma(x, kInfinity, kInfinity);  // inf for inf, NaN for NaN and below 0
  return Select(argument == 0.0, -kInfinity, Select(special, limit, result));
}

}  // namespace

Real ScaledExp(const Real& x, int k) {
  const ExpReduction e = ReduceExp(ClampForExp(x));
  return ScaleByPowerOfTwo(ExpOfReduced(e.r), e.n + k);
}

Real Exp(const Real& x) {
  if (!x.approximate_f32()) return ScaledExp(x, 0);
  return NvptxExp2(x, kLog2e, [&x](const Real& j) {
    const Split log2e = Log2e(x);
    return Fma(x, log2e.low, Fma(x, log2e.high, -j));
  });
}

Real ExpOfSum(const Real& x, const Real& low) {
  const ExpReduction e = ReduceExp(ClampForExp(x));
  return ScaleByPowerOfTwo(ExpOfReduced(e.r + low), e.n);
}

Real BoundedExp(const Real& x) {
  const ExpReduction e = ReduceExp(x);
  return ExpOfReduced(e.r) * PowerOfTwo(e.n, x);
}

Real BoundedExp2(const Real& x) {
  if (x.approximate_f32()) return ApproximateExp2(x);
  const Real t = x + x.rounding_constant();
  const Real r = (x - (t - x.rounding_constant())) * kLn2;
  return ExpOfReduced(r) * PowerOfTwo(ToBits(t) - x.rounding_constant_bits(), x);
}

Real Exp2(const Real& x) {
  if (x.approximate_f32()) {
    return NvptxExp2(x, 1, [&x](const Real& j) { return x - j; });
  }
  const Real c = x.f64() ? AtLeast(AtMost(x, 1025), -1077) : AtLeast(AtMost(x, 129), -151);
  const Real t = c + x.rounding_constant();
  const Real r = (c - (t - x.rounding_constant())) * kLn2;
  return ScaleByPowerOfTwo(ExpOfReduced(r), ToBits(t) - x.rounding_constant_bits());
}

// 2^n (1 + p) - 1 = 2 (p s + (s - 1/2)) with s = 2^(n-1), which does not overflow.
Real Expm1(const Real& x) {
  const Real c = x.f64() ? AtLeast(AtMost(x, 710), -50) : AtLeast(AtMost(x, 88.9), -30);
  const ExpReduction e = ReduceExp(c);
  const Real p = Fma(e.r * e.r, ExpTail(e.r), e.r);
  const Real s = PowerOfTwo(e.n - 1, x);
  const Real y = 2 * Fma(p, s, s - 0.5);
  return CopySign(Select(Equal(e.n, 0), p, y), x);
}

LogParts SplitForLog(const Real& x) {
  const bool subnormals = !(x.f64() && x.brief());  // an f32 is never subnormal in f64
  const double scale = x.f64() ? 0x1p54 : 0x1p25;
  const Mask small = x < (x.f64() ? 0x1p-1022 : 0x1p-126);
  const Bits bits = ToBits(subnormals ? Select(small, x * scale, x) : x);
  const uint64_t low_end = x.f64() ? 0x3fe6a09e667f3bcd : 0x3f2aaaab;
  const Bits e = (bits - low_end) & ~((uint64_t{1} << x.fraction_bits()) - 1);
  const Real f = FromBits(bits - e, x) - 1;
  if (!x.f64()) return {Fma(FromInteger(e, x), 0x1p-23, Select(small, x.Constant(-25), 0.0)), f};
  const Real exponent = FromInteger(e >> 52, x);
  return {subnormals ? exponent + Select(small, x.Constant(-54), 0.0) : exponent, f};
}

Real Log(const Real& x) {
  const auto [e, f] = SplitForLog(x);
  if (x.f64()) return WithLogLimits(LogFromParts(e, f), x, x);
  const Real r = Fma(f * f, Fma(f, Polynomial(f, kLogF32), -0.5), f);
  return WithLogLimits(Fma(e, kLn2, r), x, x);
}

// f32: log2(1 + f) = f log2(e) + f^2 P(f); f64: log(1 + f) times log2(e). Both with a two-part
// log2(e).
Real Log2(const Real& x) {
  const auto [e, f] = SplitForLog(x);
  const Split log2e = Log2e(x);
  if (x.f64()) {
    const Real l = LogFromParts(x.Constant(0), f);
    return WithLogLimits(e + Fma(l, log2e.high, l * log2e.low), x, x);
  }
  const Real rest = f * Fma(f, Polynomial(f, kLog2F32), log2e.low);
  return WithLogLimits(e + Fma(f, log2e.high, rest), x, x);
}

// 1 + x = 2^e (1 + f): e from the rounded sum, f = x 2^-e + (2^-e - 1) with x scaled exactly
// (after N. Juffa's log1pf).
Real Log1p(const Real& x) {
  const Real u = 1 + x;
  const uint64_t low_end = x.f64() ? 0x3fe6a09e667f3bcd : 0x3f400000;
  const Bits e = (ToBits(u) - low_end) >> x.fraction_bits();
  const Real scaled = FromBits(ToBits(x) - (e << x.fraction_bits()), x);
  const Real four_over_power = PowerOfTwo(2 - e, x);
  const Real f = scaled + Fma(four_over_power, 0.25, -1);
  const Real exponent = FromInteger(e, x);
  if (x.f64()) return CopySign(WithLogLimits(LogFromParts(exponent, f), u, x), x);
  const Real r = Fma(f * f, Fma(f, Polynomial(f, kLog1pF32), -0.5), f);
  return CopySign(WithLogLimits(Fma(exponent, kLn2, r), u, x), x);
}

// With e = exp(-|x|) and w = e / (1 + e): 1 - w, and e - e w for negative x, so that tiny results
// keep their accuracy.
Real Sigmoid(const Real& x) {
  const Real e = x.approximate_f32() ? NvptxAccurateExp(-Abs(x)) : ScaledExp(-Abs(x), 0);
  const Real w = BenignQuotient(e, 1 + e);
  const Real n = Select(x < 0.0, e, 1.0);
  return Fma(-n, w, n);
}

Real Rsqrt(const Real& x) {
  if (!x.context()->nvptx) return 1 / Sqrt(x);
  if (!x.f64()) return CallLanewise(llvm::Intrinsic::nvvm_rsqrt_approx_f, {x});
  // rsqrt.approx.ftz.f64 is good to about 2^-20: a third-order step makes it 2^-59. Subnormals are
  // scaled; for 0 and infinity the instruction's result stands.
  const Mask small = x < 0x1p-1000;
  const Real scaled = Select(small, x * 0x1p54, x);
  const Real y = CallLanewise(llvm::Intrinsic::nvvm_rsqrt_approx_ftz_d, {scaled});
  const Real e = Fma(-(scaled * y), y, 1);
  const Real better = Fma(y * e, Fma(e, 0.375, 0.5), y);
  const Real r = Select((scaled == 0.0) | (scaled == kInfinity), y, better);
  return Select(small, r * 0x1p27, r);
}

}  // namespace stax::math
