// sin, cos, tan: |x| = q pi/2 + r with |r| <= pi/4 (or a little more), then short polynomials in
// r^2. Up to a limit r comes from three Fmas with pi/2 in three parts: q times a part is subtracted
// with one rounding, and the first difference is exact, so r is good to about half an ulp. Beyond,
// Payne and Hanek's method: the bits of 2/pi that matter for x's exponent times its significand, in
// integers (M. Payne, R. Hanek, "Radian reduction for trigonometric functions", SIGNUM 1983).
#include "compiler/codegen/math/trig.h"

#include <limits>

#include "compiler/codegen/math/coefficients.h"
#include "compiler/codegen/math/control_flow.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Module.h"

namespace stax::math {
namespace {

constexpr double kTwoOverPi = 0x1.45f306dc9c883p-1;
constexpr double kHalfPi = 0x1.921fb54442d18p+0;
constexpr double kHalfPiLow = 0x1.1a62633145c07p-54;

// 64 zero bits, then the bits of 2/pi after the binary point: enough for exponents up to 1023.
constexpr uint64_t kTwoOverPiBits[] = {0x0000000000000000, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0,
                                       0xdb6295993c439041, 0xfe5163abdebbc561, 0xb7246e3a424dd2e0,
                                       0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
                                       0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b,
                                       0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7,
                                       0x4f463f669e5fea2d, 0x7527bac7ebe5f17b, 0x3d0739f78a5292ea,
                                       0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab, 0xf0cfbc209af4361d};

// The 64 bits of the table from bit `position + 64 * word` on.
llvm::Value* TableBits(llvm::IRBuilderBase& b, llvm::GlobalVariable* table, llvm::Value* position,
                       int word) {
  llvm::Value* index = b.CreateAdd(b.CreateLShr(position, 6), b.getInt64(word));
  llvm::Type* i64 = b.getInt64Ty();
  llvm::Value* high = b.CreateLoad(i64, b.CreateInBoundsGEP(i64, table, index));
  index = b.CreateAdd(index, b.getInt64(1));
  llvm::Value* low = b.CreateLoad(i64, b.CreateInBoundsGEP(i64, table, index));
  return b.CreateIntrinsic(llvm::Intrinsic::fshl, {i64},
                           {high, low, b.CreateAnd(position, b.getInt64(63))});
}

llvm::GlobalVariable* TwoOverPiTable(llvm::Module* module) {
  constexpr char kName[] = "stax.two_over_pi";
  if (auto* existing = module->getGlobalVariable(kName, /*AllowInternal=*/true)) return existing;
  llvm::Constant* words = llvm::ConstantDataArray::get(module->getContext(), kTwoOverPiBits);
  const unsigned global_space = module->getTargetTriple().isNVPTX() ? 1 : 0;
  return new llvm::GlobalVariable(*module, words->getType(), /*isConstant=*/true,
                                  llvm::GlobalValue::InternalLinkage, words, kName,
                                  /*InsertBefore=*/nullptr, llvm::GlobalValue::NotThreadLocal,
                                  global_space);
}

// (double x) -> {double r, i64 q, double tail}: Payne and Hanek's reduction of a finite x >= 2^10
// or so; NaN for infinity. x = m 2^e with an integer m of 53 bits. Bits of 2/pi weighing so much
// that m 2^e times them is a multiple of 4 are skipped; m times the next 192, modulo 2^192, has the
// quadrant in its top two bits and the fraction of pi/2 below.
void EmitPayneHanek(llvm::IRBuilderBase& b, llvm::Function* f) {
  llvm::Value* x = f->getArg(0);
  llvm::Type* i128 = b.getInt128Ty();
  llvm::Type* i64 = b.getInt64Ty();
  llvm::Value* bits = b.CreateBitCast(x, i64);
  llvm::Value* fraction_mask = b.getInt64((uint64_t{1} << 52) - 1);
  llvm::Value* m = b.CreateOr(b.CreateAnd(bits, fraction_mask), b.getInt64(uint64_t{1} << 52));
  // e = field - 1075; the window starts at bit e - 2 behind the point, 64 later in the table.
  llvm::Value* field = b.CreateAnd(b.CreateLShr(bits, 52), b.getInt64(2047));
  llvm::Value* position = b.CreateSub(field, b.getInt64(1075 + 2 - 64));
  llvm::GlobalVariable* table = TwoOverPiTable(f->getParent());

  const auto wide = [&](llvm::Value* v) { return b.CreateZExt(v, i128); };
  const auto product = [&](int word) {
    return b.CreateMul(wide(m), wide(TableBits(b, table, position, word)));
  };
  llvm::Value* low = b.CreateLShr(product(2), 64);
  llvm::Value* middle = b.CreateAdd(product(1), low);
  llvm::Value* top = b.CreateAdd(b.CreateMul(m, TableBits(b, table, position, 0)),
                                 b.CreateTrunc(b.CreateLShr(middle, 64), i64));
  llvm::Value* next = b.CreateTrunc(middle, i64);

  // The fraction of a quadrant in 126 bits: one half and more counts up the quadrant and is
  // negative. Its magnitude (less 2^-128) in two doubles, 53 bits and what follows.
  const auto shift_in = [&](llvm::Value* upper, llvm::Value* lower, int count) {
    return b.CreateIntrinsic(llvm::Intrinsic::fshl, {i64}, {upper, lower, b.getInt64(count)});
  };
  llvm::Value* fraction = shift_in(top, next, 2);
  llvm::Value* q = b.CreateAdd(b.CreateLShr(top, 62), b.CreateLShr(fraction, 63));
  llvm::Value* sign = b.CreateAShr(fraction, 63);
  llvm::Value* magnitude = b.CreateXor(fraction, sign);
  llvm::Value* below = b.CreateXor(b.CreateShl(next, 2), sign);
  const auto constant = [&](double v) { return llvm::ConstantFP::get(b.getDoubleTy(), v); };
  const auto to_double = [&](llvm::Value* v, double unit) {
    return b.CreateFMul(b.CreateUIToFP(v, b.getDoubleTy()), constant(unit));
  };
  llvm::Value* upper = to_double(b.CreateAnd(magnitude, b.getInt64(~uint64_t{2047})), 0x1p-64);
  llvm::Value* lower = to_double(shift_in(magnitude, below, 53), 0x1p-117);

  // Times pi/2, rounded once, and the rest.
  const auto fma = [&](llvm::Value* u, llvm::Value* v, llvm::Value* w) {
    return b.CreateIntrinsic(llvm::Intrinsic::fma, {b.getDoubleTy()}, {u, v, w});
  };
  llvm::Value* product_high = b.CreateFMul(upper, constant(kHalfPi));
  llvm::Value* product_low = fma(upper, constant(kHalfPi), b.CreateFNeg(product_high));
  product_low = b.CreateFAdd(
      product_low, fma(lower, constant(kHalfPi), b.CreateFMul(upper, constant(kHalfPiLow))));
  llvm::Value* r = b.CreateFAdd(product_high, product_low);
  llvm::Value* tail = b.CreateFAdd(b.CreateFSub(product_high, r), product_low);
  const auto with_sign = [&](llvm::Value* v) {
    return b.CreateSelect(b.CreateICmpSLT(sign, b.getInt64(0)), b.CreateFNeg(v), v);
  };
  r = b.CreateFAdd(with_sign(r), b.CreateFSub(x, x));  // NaN for infinity
  llvm::Value* members[] = {r, q, with_sign(tail)};
  b.CreateAggregateRet(members, 3);
}

struct Split {
  double high, low;
};
Split HalfPi(const Real& like) {
  if (like.f64()) return {kHalfPi, kHalfPiLow};
  return {0x1.921fb6p+0, -0x1.777a5cp-25};
}

struct Quadrant {
  Bits q;  // the two low bits count
  Real r;
  Real tail;  // r + tail is closer than r; only if wanted
};

// `x` >= 0 or NaN.
Quadrant ReduceToQuadrant(const Real& x, bool want_tail = false) {
  const Real t = Fma(x, kTwoOverPi, x.rounding_constant());
  const Real n = -(t - x.rounding_constant());
  const Split half_pi = HalfPi(x);
  const double third = x.f64() ? -0x1.f1976b7ed8fbcp-110 : -0x1.ee59dap-50;
  const Real first = Fma(n, half_pi.high, x);
  Real r = Fma(n, half_pi.low, first);
  Real tail = x.Constant(0);
  if (want_tail) {
    const Real second = n * half_pi.low;
    r = first + second;
    tail = (first - r) + second + Fma(n, half_pi.low, -second) + n * third;
  } else if (!x.f64() || !x.brief()) {
    r = Fma(n, third, r);
  }
  const double limit = x.f64() ? 1e9 : 1e5;
  const Values usual = {r.value(), ToBits(t).value(), tail.value()};
  const Values merged = RareBranch(x > limit, usual, [&x] {
    llvm::IRBuilderBase& b = x.builder();
    auto* type = llvm::FunctionType::get(
        llvm::StructType::get(b.getDoubleTy(), b.getInt64Ty(), b.getDoubleTy()), {b.getDoubleTy()},
        false);
    llvm::Function* f = HelperFunction(b, "stax.reduce_to_quadrant", type, EmitPayneHanek);
    return CallForEachLane(f, {AtLeast(x, 1e5)});  // other lanes are discarded
  });
  return {Bits(x.context(), merged[1]), Real(x.context(), merged[0]), Real(x.context(), merged[2])};
}

Real SinOfReduced(const Real& r, const Real& z) {
  const Real p = r.brief() ? Polynomial(z, kSinF32) : Polynomial(z, kSinF64);
  return Fma(r * z, p, r);
}

Real CosOfReduced(const Real& z) {
  const Real p = z.brief() ? Polynomial(z, kCosF32) : Polynomial(z, kCosF64);
  return Fma(z * z, p, Fma(z, -0.5, 1));
}

// sin(r + q pi/2) up to the sign.
Real SinOrCos(const Bits& q, const Real& r) {
  const Real z = r * r;
  return Select(Equal(q & uint64_t{1}, 0), SinOfReduced(r, z), CosOfReduced(z));
}

Real AtanOfSmall(const Real& t) {
  const Real z = t * t;
  const Real p = t.f64() ? Polynomial(z, kAtanF64) : Polynomial(z, kAtanF32);
  return Fma(t * z, p, t);
}

// P of asin(s) = s + s z P(z), z = s^2 <= 1/4.
Real AsinTail(const Real& z) { return z.f64() ? Polynomial(z, kAsinF64) : Polynomial(z, kAsinF32); }

// multiple * pi/2 - r, rounded once: the factors' product is pi/2 to 2^-42 (2^-71 in f64), which no
// single number of the type is (found by search; the idea is N. Juffa's).
Real HalfPisMinus(double multiple, const Real& r) {
  const double a = r.f64() ? 0x1.d378852ac233ap-1 : 0x1.9eee82p-1;
  const double b = r.f64() ? 0x1.b86dacaffbcb0p+0 : 0x1.f0322ap+0;
  return Fma(r.Constant(multiple * a), b, -r);
}

}  // namespace

Real Sin(const Real& x) {
  const auto [q, r, tail] = ReduceToQuadrant(Abs(x));
  const int shift = x.f64() ? 62 : 30;
  return FlipSign(SinOrCos(q, r), (q << shift) ^ ToBits(x));
}

Real Cos(const Real& x) {
  const auto [q, r, tail] = ReduceToQuadrant(Abs(x));
  const Bits next = q + 1;
  return FlipSign(SinOrCos(next, r), next << (x.f64() ? 62 : 30));
}

// sin / cos, or -cos / sin in the odd quadrants. Neither is zero there but for x = 0.
Real Tan(const Real& x) {
  const auto [q, r, tail] = ReduceToQuadrant(Abs(x), /*want_tail=*/!x.brief());
  const Real z = r * r;
  Real sine = SinOfReduced(r, z);
  Real cosine = CosOfReduced(z);
  if (!x.brief()) {
    sine = r + Fma(r * z, Polynomial(z, kSinF64), tail);
    cosine = Fma(-r, tail, cosine);
  }
  const Mask even = Equal(q & uint64_t{1}, 0);
  const Real t = BenignQuotient(Select(even, sine, cosine), Select(even, cosine, sine));
  return FlipSign(t, (q << 63) ^ ToBits(x));
}

// Above 1/2: asin(x) = pi/2 - 2 asin(s), s = sqrt((1 - x) / 2), subtracted in an order that rounds
// once at the size of the result.
Real Asin(const Real& x) {
  const Real a = Abs(x);
  const Mask large = a > 0.5;
  const Real z = Select(large, Fma(a, -0.5, 0.5), a * a);
  const Real s = Sqrt(z);
  const Real tail = AsinTail(z);
  const Split half_pi = HalfPi(x);
  const Real most = Fma(s, -2, half_pi.high);
  const Real lost = Fma(s, -2, half_pi.high - most);
  const Real from_end = most + Fma(-2 * (s * z), tail, lost + half_pi.low);
  return CopySign(Select(large, from_end, Fma(a * z, tail, a)), x);
}

// base - (v + v z P(z)): base and v are pi/2 and x for |x| <= 1/2, else 0 and -2 s, or pi and 2 s.
Real Acos(const Real& x) {
  const Real a = Abs(x);
  const Mask large = a > 0.5;
  const Mask negative = x < 0.0;
  const Real z = Select(large, Fma(a, -0.5, 0.5), a * a);
  const Real twice = 2 * Sqrt(z);
  const Real v = Select(large, Select(negative, twice, -twice), x);
  const Split half_pi = HalfPi(x);
  const auto base = [&](double part) {
    return Select(large, Select(negative, x.Constant(2 * part), 0.0), part);
  };
  return base(half_pi.high) - (v + Fma(v * z, AsinTail(z), -base(half_pi.low)));
}

// Above 1: pi/2 - atan(1/x). Where the argument is cut off, for the quotient's sake, the result is
// pi/2 already.
Real Atan(const Real& x) {
  const Real a = x.f64() ? AtMost(Abs(x), 1e18) : Abs(x);
  const Mask large = a > 1;
  const Real inverse = x.approximate_f32() ? ApproximateReciprocal(a) : BenignQuotient(1, a);
  const Real r = AtanOfSmall(Select(large, inverse, a));
  return CopySign(Select(large, HalfPisMinus(1, r), r), x);
}

// atan of smaller over larger magnitude, moved to the octant.
Real Atan2(const Real& y, const Real& x) {
  const Real ax = Abs(x);
  const Real ay = Abs(y);
  const Mask steep = ay > ax;
  const Real larger = Select(steep, ay, ax);
  const Real smaller = Select(steep, ax, ay);
  const double infinity = std::numeric_limits<double>::infinity();
  Real t = smaller / Select(larger == 0.0, 1, larger);
  t = Select(smaller == infinity, 1, t);
  Real r = AtanOfSmall(t);
  r = Select(steep, HalfPisMinus(1, r), r);
  const Bits x_sign = ToBits(x) & x.sign_bit();
  r = Select(Equal(x_sign, 0), r, HalfPisMinus(2, r));
  return Select(IsUnordered(x, y), x + y, CopySign(r, y));
}

}  // namespace stax::math
