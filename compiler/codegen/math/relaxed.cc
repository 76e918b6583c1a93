// Each form is an instruction of the special function unit with what its range needs around it.
// ex2.approx is within 2^-22 of its value, rcp.approx.ftz within an ulp, lg2.approx within 2^-22
// (absolute between 1/2 and 2, else relative), tanh.approx within 2^-11, sqrt.approx and div.full
// within 2 ulp (PTX ISA 8.3). The .ftz forms are one machine instruction, the others three to five:
// where results may be subnormal they are scaled here, which is cheaper.
#include "compiler/codegen/math/relaxed.h"

#include <cmath>

#include "compiler/codegen/math/coefficients.h"
#include "compiler/codegen/math/expr.h"
#include "compiler/codegen/math/relaxed_forms.h"
#include "ir/check.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace stax {
namespace {

using math::CallLanewise;
using math::Real;

constexpr double kLog2e = 0x1.71547652b82fep+0;
constexpr double kLn2 = 0x1.62e42fefa39efp-1;
constexpr double kTwoOverSqrtPi = 0x1.20dd750429b6dp+0;
// Below this tanh and erf are two terms of their series, good to 2^-18.9 there. Above, 1 is
// subtracted, which leaves 2^-17.5 of the 2^-22 that the instructions are off.
constexpr double kSmall = 0x1p-4;

// 2^x, zero where that is subnormal.
Real Exp2Instruction(const Real& x) {
  return {x.context(), x.builder().CreateIntrinsic(llvm::Intrinsic::nvvm_ex2_approx_ftz, {x.type()},
                                                   {x.value()})};
}

// The square of half the way: subnormal results are rounded once, by the multiplication.
Real SquaredExp2(const Real& half_exponent) {
  const Real root = Exp2Instruction(half_exponent);
  return root * root;
}

// 1 / (1 + 2^-t), all scaled by 2^24: without, results below 2^-126 would be flushed to zero, and
// 2^-t be infinite while the result is not.
Real Sigmoid(const Real& x) {
  const Real e = Exp2Instruction(Fma(x, -kLog2e, -24));
  return math::ApproximateReciprocal(e + 0x1p-24) * 0x1p-24;
}

// tanh.approx.f32 is what LLVM makes of the intrinsic when approximations are allowed.
Real TanhInstruction(const Real& x) {
  llvm::CallInst* call = llvm::cast<llvm::CallInst>(
      x.builder().CreateUnaryIntrinsic(llvm::Intrinsic::tanh, x.value()));
  call->setHasApproxFunc(true);
  return {x.context(), call};
}

// 1 - 2 / (exp(2x) + 1), and x - x^3/3 where that cancels.
Real Tanh(const Real& x) {
  const Real e = Exp2Instruction(x * (2 * kLog2e));
  const Real large = Fma(math::ApproximateReciprocal(e + 1), -2, 1);
  const Real small = x * Fma(x * x, -1.0 / 3, 1);
  return Select(Abs(x) < kSmall, small, large);
}

// 1 - 2^(|x| P(|x|)), and 2 / sqrt(pi) (x - x^3/3) where that cancels. P is negative and falls
// beyond the interval of its fit too.
Real Erf(const Real& x) {
  const Real a = Abs(x);
  const Real large = 1 - Exp2Instruction(a * Polynomial(a, math::kErfRelaxed));
  const Real small = x * Fma(x * x, -kTwoOverSqrtPi / 3, kTwoOverSqrtPi);
  return Select(a < kSmall, small, CopySign(large, x));
}

Real Log2Instruction(const Real& x) {
  return CallLanewise(llvm::Intrinsic::nvvm_lg2_approx_f, {x});
}

Real FullQuotient(const Real& a, const Real& b) {
  return CallLanewise(llvm::Intrinsic::nvvm_div_full, {a, b});
}

Real Quotient(const Real& a, const Real& b) {
  const auto* divisor = llvm::dyn_cast<llvm::ConstantFP>(b.value());
  if (divisor == nullptr) return FullQuotient(a, b);
  const float value = divisor->getValueAPF().convertToFloat();
  const float reciprocal = 1 / value;
  if (!std::isnormal(value) || !std::isnormal(reciprocal)) return FullQuotient(a, b);
  return a * reciprocal;
}

Real EmitForm(const RelaxedForm& form, const Real& x, const Real* y) {
  switch (form.code) {
    case OpCode::kExp:
      return SquaredExp2(x * (kLog2e / 2));
    case OpCode::kExp2:
      return SquaredExp2(x * 0.5);
    case OpCode::kSigmoid:
      return Sigmoid(x);
    case OpCode::kTanh:
      return form.error >= 0x1p-11 ? TanhInstruction(x) : Tanh(x);
    case OpCode::kErf:
      return Erf(x);
    case OpCode::kLog:
      return Log2Instruction(x) * kLn2;
    case OpCode::kLog2:
      return Log2Instruction(x);
    case OpCode::kSqrt:
      return CallLanewise(llvm::Intrinsic::nvvm_sqrt_approx_f, {x});
    case OpCode::kDiv:
      return Quotient(x, *y);
    default:
      STAX_CHECK(false, "no relaxed form: " + std::string(OpName(form.code)));
  }
}

}  // namespace

llvm::Value* EmitRelaxed(llvm::IRBuilderBase& builder, OpCode code,
                         llvm::ArrayRef<llvm::Value*> args, double tolerance) {
  const RelaxedForm* form = FindRelaxedForm(code, tolerance);
  if (form == nullptr) return nullptr;
  llvm::IRBuilderBase::FastMathFlagGuard guard(builder);
  builder.setFastMathFlags(llvm::FastMathFlags());
  const math::Context context{&builder, /*nvptx=*/true, /*brief=*/true};
  const Real x(&context, args[0]);
  if (args.size() == 1) return EmitForm(*form, x, nullptr).value();
  const Real y(&context, args[1]);
  return EmitForm(*form, x, &y).value();
}

// A product with the reciprocal, which is normal for divisors in [2^-126, 2^125). The others take
// the division instruction, in a branch that is hardly ever taken. Scaling them would be shorter,
// but such a branch ptxas turns into predicated instructions, and then works on many groups of
// quotients at once, for which it has not the registers (ptxas 13.0, rows of 32768 halves).
void EmitRelaxedQuotients(llvm::IRBuilderBase& builder,
                          llvm::MutableArrayRef<llvm::Value*> dividends, llvm::Value* divisor) {
  llvm::IRBuilderBase::FastMathFlagGuard guard(builder);
  builder.setFastMathFlags(llvm::FastMathFlags());
  const math::Context context{&builder, /*nvptx=*/true, /*brief=*/true};
  const Real b(&context, divisor);
  const Real reciprocal = math::ApproximateReciprocal(b);
  const math::Mask normal = (Abs(b) >= 0x1p-126) & (Abs(b) < 0x1p125);
  llvm::SmallVector<llvm::Value*, 8> fast, slow;
  for (llvm::Value* a : dividends) fast.push_back((Real(&context, a) * reciprocal).value());
  llvm::BasicBlock* before = builder.GetInsertBlock();
  auto* exact = llvm::BasicBlock::Create(builder.getContext(), "divide", before->getParent());
  auto* after = llvm::BasicBlock::Create(builder.getContext(), "divided", before->getParent());
  builder.CreateCondBr(normal.value(), after, exact);
  builder.SetInsertPoint(exact);
  for (llvm::Value* a : dividends) slow.push_back(builder.CreateFDiv(a, divisor));
  builder.CreateBr(after);
  builder.SetInsertPoint(after);
  for (size_t i = 0; i < dividends.size(); ++i) {
    llvm::PHINode* phi = builder.CreatePHI(fast[i]->getType(), 2);
    phi->addIncoming(fast[i], before);
    phi->addIncoming(slow[i], exact);
    dividends[i] = phi;
  }
}

}  // namespace stax
