#include "compiler/codegen/math/expr.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Support/Casting.h"

namespace stax::math {
namespace {

llvm::Value* Intrinsic(llvm::Intrinsic::ID id, const Real& a) {
  return a.builder().CreateUnaryIntrinsic(id, a.value());
}

// `element` with the shape of `shape`: itself, or the vector of as many.
llvm::Type* Shaped(llvm::Type* shape, llvm::Type* element) {
  if (auto* v = llvm::dyn_cast<llvm::VectorType>(shape)) {
    return llvm::VectorType::get(element, v->getElementCount());
  }
  return element;
}

}  // namespace

Mask operator&(const Mask& a, const Mask& b) {
  return {a.context(), a.builder().CreateAnd(a.value(), b.value())};
}
Mask operator|(const Mask& a, const Mask& b) {
  return {a.context(), a.builder().CreateOr(a.value(), b.value())};
}
Mask operator^(const Mask& a, const Mask& b) {
  return {a.context(), a.builder().CreateXor(a.value(), b.value())};
}
Mask operator!(const Mask& a) { return {a.context(), a.builder().CreateNot(a.value())}; }

Bits Bits::Constant(uint64_t v) const {
  const llvm::APInt wide(64, v);
  return {context(), llvm::ConstantInt::get(type(), wide.trunc(type()->getScalarSizeInBits()))};
}
Bits operator+(const Bits& a, const Bits& b) {
  return {a.context(), a.builder().CreateAdd(a.value(), b.value())};
}
Bits operator-(const Bits& a, const Bits& b) {
  return {a.context(), a.builder().CreateSub(a.value(), b.value())};
}
Bits operator&(const Bits& a, const Bits& b) {
  return {a.context(), a.builder().CreateAnd(a.value(), b.value())};
}
Bits operator^(const Bits& a, const Bits& b) {
  return {a.context(), a.builder().CreateXor(a.value(), b.value())};
}
Bits operator+(const Bits& a, int64_t b) { return a + a.Constant(b); }
Bits operator-(const Bits& a, int64_t b) { return a - a.Constant(b); }
Bits operator-(int64_t a, const Bits& b) { return b.Constant(a) - b; }
Bits operator&(const Bits& a, uint64_t b) { return a & a.Constant(b); }
Bits operator<<(const Bits& a, int count) {
  return {a.context(), a.builder().CreateShl(a.value(), count)};
}
Bits operator>>(const Bits& a, int count) {
  return {a.context(), a.builder().CreateAShr(a.value(), count)};
}
Bits LogicalShiftRight(const Bits& a, int count) {
  return {a.context(), a.builder().CreateLShr(a.value(), count)};
}
Mask Equal(const Bits& a, uint64_t b) {
  return {a.context(), a.builder().CreateICmpEQ(a.value(), a.Constant(b).value())};
}
Mask UnsignedAtLeast(const Bits& a, uint64_t b) {
  return {a.context(), a.builder().CreateICmpUGE(a.value(), a.Constant(b).value())};
}

Real Real::Constant(double v) const { return {context(), llvm::ConstantFP::get(type(), v)}; }
llvm::Type* Real::IntegerType() const {
  return Shaped(type(), builder().getIntNTy(f64() ? 64 : 32));
}

Real operator+(const Real& a, RealArg b) {
  return {a.context(), a.builder().CreateFAdd(a.value(), b.For(a).value())};
}
Real operator-(const Real& a, RealArg b) {
  return {a.context(), a.builder().CreateFSub(a.value(), b.For(a).value())};
}
Real operator*(const Real& a, RealArg b) {
  return {a.context(), a.builder().CreateFMul(a.value(), b.For(a).value())};
}
Real operator/(const Real& a, RealArg b) {
  return {a.context(), a.builder().CreateFDiv(a.value(), b.For(a).value())};
}
Real operator-(const Real& a) { return {a.context(), a.builder().CreateFNeg(a.value())}; }
Mask operator<(const Real& a, RealArg b) {
  return {a.context(), a.builder().CreateFCmpOLT(a.value(), b.For(a).value())};
}
Mask operator>(const Real& a, RealArg b) {
  return {a.context(), a.builder().CreateFCmpOGT(a.value(), b.For(a).value())};
}
Mask operator>=(const Real& a, RealArg b) {
  return {a.context(), a.builder().CreateFCmpOGE(a.value(), b.For(a).value())};
}
Mask operator==(const Real& a, RealArg b) {
  return {a.context(), a.builder().CreateFCmpOEQ(a.value(), b.For(a).value())};
}
Mask operator!=(const Real& a, RealArg b) {
  return {a.context(), a.builder().CreateFCmpUNE(a.value(), b.For(a).value())};
}
Mask IsUnordered(const Real& a, const Real& b) {
  return {a.context(), a.builder().CreateFCmpUNO(a.value(), b.value())};
}

Real Fma(const Real& a, RealArg b, RealArg c) {
  return {a.context(),
          a.builder().CreateIntrinsic(llvm::Intrinsic::fma, {a.type()},
                                      {a.value(), b.For(a).value(), c.For(a).value()})};
}
Real Abs(const Real& a) { return {a.context(), Intrinsic(llvm::Intrinsic::fabs, a)}; }
Real Sqrt(const Real& a) { return {a.context(), Intrinsic(llvm::Intrinsic::sqrt, a)}; }
Real Trunc(const Real& a) { return {a.context(), Intrinsic(llvm::Intrinsic::trunc, a)}; }
Real RoundEven(const Real& a) { return {a.context(), Intrinsic(llvm::Intrinsic::roundeven, a)}; }
Real CopySign(const Real& magnitude, const Real& sign) {
  return {sign.context(), sign.builder().CreateBinaryIntrinsic(llvm::Intrinsic::copysign,
                                                               magnitude.value(), sign.value())};
}
Real Select(const Mask& c, const Real& a, RealArg b) {
  return {a.context(), a.builder().CreateSelect(c.value(), a.value(), b.For(a).value())};
}
Real AtMost(const Real& a, double limit) { return Select(a > limit, limit, a); }
Real AtLeast(const Real& a, double limit) { return Select(a < limit, limit, a); }

Real Maximum(const Real& a, double limit) {
  return {a.context(), a.builder().CreateBinaryIntrinsic(llvm::Intrinsic::maximum, a.value(),
                                                         a.Constant(limit).value())};
}

Real Polynomial(const Real& x, llvm::ArrayRef<double> c) {
  Real r = x.Constant(c.back());
  for (double next : llvm::reverse(c.drop_back())) r = Fma(r, x, next);
  return r;
}

Bits ToBits(const Real& a) {
  return {a.context(), a.builder().CreateBitCast(a.value(), a.IntegerType())};
}
Real FromBits(const Bits& a, const Real& like) {
  return {a.context(), a.builder().CreateBitCast(a.value(), like.type())};
}
Real FromInteger(const Bits& a, const Real& like) {
  // Through i32: below AVX-512 there is no vector conversion from i64.
  llvm::Value* narrow =
      a.builder().CreateTrunc(a.value(), Shaped(a.type(), a.builder().getInt32Ty()));
  return {a.context(), a.builder().CreateSIToFP(narrow, like.type())};
}
Real PowerOfTwo(const Bits& e, const Real& like) {
  return FromBits((e + like.bias()) << like.fraction_bits(), like);
}
Real FlipSign(const Real& a, const Bits& b) { return FromBits(ToBits(a) ^ (b & a.sign_bit()), a); }

Real CallLanewise(llvm::Intrinsic::ID id, llvm::ArrayRef<Real> args) {
  const Real& first = args.front();
  llvm::IRBuilderBase& b = first.builder();
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(first.type());
  const unsigned lanes = vector != nullptr ? vector->getNumElements() : 1;
  llvm::Value* result = llvm::PoisonValue::get(first.type());
  for (unsigned lane = 0; lane < lanes; ++lane) {
    llvm::SmallVector<llvm::Value*, 3> operands;
    for (const Real& arg : args) {
      operands.push_back(vector != nullptr ? b.CreateExtractElement(arg.value(), lane)
                                           : arg.value());
    }
    llvm::Value* r = b.CreateIntrinsic(id, {}, operands);
    result = vector != nullptr ? b.CreateInsertElement(result, r, lane) : r;
  }
  return {first.context(), result};
}

Real ApproximateReciprocal(const Real& b) {
  return CallLanewise(
      b.f64() ? llvm::Intrinsic::nvvm_rcp_approx_ftz_d : llvm::Intrinsic::nvvm_rcp_approx_ftz_f,
      {b});
}

Real BenignQuotient(RealArg a, const Real& b) {
  const Real n = a.For(b);
  if (!b.context()->nvptx) return n / b;
  // rcp.approx.ftz.f64 is good to 2^-20: one Newton step gives 2^-40, a second all of f64.
  Real y = ApproximateReciprocal(b);
  if (b.f64()) y = Fma(y, Fma(-b, y, 1), y);
  if (b.f64() && b.brief()) return n * y;
  if (b.f64()) y = Fma(y, Fma(-b, y, 1), y);
  const Real q = n * y;
  return Fma(y, Fma(-b, q, n), q);
}

}  // namespace stax::math
