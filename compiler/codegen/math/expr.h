// Real, Bits, Mask: IR values of one floating-point type (a scalar or a fixed vector), of the
// integer type as wide, and of i1, with arithmetic operators, so that a formula in C++ reads like
// the formula it emits:
//
//   const Real z = x * x;
//   return Fma(x * z, Polynomial(z, kSinF32), x);
//
// Plain numbers stand for constants of the type of the other operand. Nothing is reordered or
// contracted: each operator is one IEEE operation, Fma is a fused one.
#ifndef STAX_COMPILER_CODEGEN_MATH_EXPR_H_
#define STAX_COMPILER_CODEGEN_MATH_EXPR_H_

#include <cstdint>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Intrinsics.h"

namespace stax::math {

// What the formulas depend on besides their operands. Outlives the values made with it.
struct Context {
  llvm::IRBuilderBase* builder;
  bool nvptx;  // approximate instructions of the NVIDIA targets may be used
  bool brief;  // f64 values that will be rounded to f32: 2^-33 suffices
};

class Expr {
 public:
  Expr(const Context* context, llvm::Value* value) : context_(context), value_(value) {}
  llvm::Value* value() const { return value_; }
  llvm::Type* type() const { return value_->getType(); }
  const Context* context() const { return context_; }
  llvm::IRBuilderBase& builder() const { return *context_->builder; }

 private:
  const Context* context_;
  llvm::Value* value_;
};

class Mask : public Expr {
 public:
  using Expr::Expr;
};
Mask operator&(const Mask& a, const Mask& b);
Mask operator|(const Mask& a, const Mask& b);
Mask operator^(const Mask& a, const Mask& b);
Mask operator!(const Mask& a);

class Bits : public Expr {
 public:
  using Expr::Expr;
  Bits Constant(uint64_t v) const;
};
Bits operator+(const Bits& a, const Bits& b);
Bits operator-(const Bits& a, const Bits& b);
Bits operator&(const Bits& a, const Bits& b);
Bits operator^(const Bits& a, const Bits& b);
Bits operator+(const Bits& a, int64_t b);
Bits operator-(const Bits& a, int64_t b);
Bits operator-(int64_t a, const Bits& b);
Bits operator&(const Bits& a, uint64_t b);
Bits operator<<(const Bits& a, int count);
Bits operator>>(const Bits& a, int count);  // arithmetic
Bits LogicalShiftRight(const Bits& a, int count);
Mask Equal(const Bits& a, uint64_t b);
Mask UnsignedAtLeast(const Bits& a, uint64_t b);

class Real : public Expr {
 public:
  using Expr::Expr;
  bool f64() const { return type()->getScalarType()->isDoubleTy(); }
  // Enough precision for an f32 result only: f32, or f64 in a brief context.
  bool brief() const { return !f64() || context()->brief; }
  // Approximate f32 instructions may be used.
  bool approximate_f32() const { return context()->nvptx && !f64(); }
  Real Constant(double v) const;
  llvm::Type* IntegerType() const;

  // Layout of the type.
  int fraction_bits() const { return f64() ? 52 : 23; }
  int bias() const { return f64() ? 1023 : 127; }
  uint64_t sign_bit() const { return f64() ? uint64_t{1} << 63 : uint64_t{1} << 31; }
  uint64_t infinity_bits() const {
    return static_cast<uint64_t>(2 * bias() + 1) << fraction_bits();
  }
  // 1.5 * 2^fraction_bits: adding it rounds to an integer, left in the low bits of the sum.
  double rounding_constant() const { return f64() ? 0x1.8p52 : 0x1.8p23; }
  uint64_t rounding_constant_bits() const { return f64() ? 0x4338000000000000 : 0x4b400000; }
};

// A Real, or a number that becomes a constant of the type of the operand beside it.
class RealArg {
 public:
  RealArg(const Real& r) : value_(r.value()) {}         // NOLINT
  RealArg(double c) : constant_(c), value_(nullptr) {}  // NOLINT
  Real For(const Real& other) const {
    return value_ != nullptr ? Real(other.context(), value_) : other.Constant(constant_);
  }

 private:
  double constant_ = 0;
  llvm::Value* value_;
};

Real operator+(const Real& a, RealArg b);
Real operator-(const Real& a, RealArg b);
Real operator*(const Real& a, RealArg b);
Real operator/(const Real& a, RealArg b);
inline Real operator+(double a, const Real& b) { return b.Constant(a) + b; }
inline Real operator-(double a, const Real& b) { return b.Constant(a) - b; }
inline Real operator*(double a, const Real& b) { return b * a; }
inline Real operator/(double a, const Real& b) { return b.Constant(a) / b; }
Real operator-(const Real& a);
Mask operator<(const Real& a, RealArg b);
Mask operator>(const Real& a, RealArg b);
Mask operator>=(const Real& a, RealArg b);
Mask operator==(const Real& a, RealArg b);
Mask operator!=(const Real& a, RealArg b);  // true if either is NaN
Mask IsUnordered(const Real& a, const Real& b);

Real Fma(const Real& a, RealArg b, RealArg c);  // a * b + c
Real Abs(const Real& a);
Real Sqrt(const Real& a);
Real Trunc(const Real& a);
Real RoundEven(const Real& a);
Real CopySign(const Real& magnitude, const Real& sign);
Real Select(const Mask& c, const Real& a, RealArg b);
inline Real Select(const Mask& c, double a, const Real& b) { return Select(c, b.Constant(a), b); }
// Clamped from above / below; NaN stays.
Real AtMost(const Real& a, double limit);
Real AtLeast(const Real& a, double limit);
// The same as AtLeast in one instruction of the NVIDIA targets (max.NaN).
Real Maximum(const Real& a, double limit);

// c[0] + c[1] x + c[2] x^2 + ... by Horner's rule.
Real Polynomial(const Real& x, llvm::ArrayRef<double> c);

Bits ToBits(const Real& a);
Real FromBits(const Bits& a, const Real& like);
Real FromInteger(const Bits& a, const Real& like);  // |a| < 2^31
// 2^e for -bias < e <= bias.
Real PowerOfTwo(const Bits& e, const Real& like);
// `a` with its sign flipped where the sign bit of `b` is set.
Real FlipSign(const Real& a, const Bits& b);

// a / b for b normal and not near the ends of the range (the quotient too, or zero): within 1 ulp
// (2^-33 in a brief context), and cheaper than a division on the NVIDIA targets.
Real BenignQuotient(RealArg a, const Real& b);
// The NVIDIA instruction: 1/b within 1 ulp, subnormals flushed to zero.
Real ApproximateReciprocal(const Real& b);
// A one-operand intrinsic, lane by lane.
Real CallLanewise(llvm::Intrinsic::ID id, llvm::ArrayRef<Real> args);

}  // namespace stax::math

#endif  // STAX_COMPILER_CODEGEN_MATH_EXPR_H_
