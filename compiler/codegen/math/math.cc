#include "compiler/codegen/math/math.h"

#include <string>

#include "compiler/codegen/math/erf.h"
#include "compiler/codegen/math/exp_log.h"
#include "compiler/codegen/math/expr.h"
#include "compiler/codegen/math/hyperbolic.h"
#include "compiler/codegen/math/pow.h"
#include "compiler/codegen/math/remainder.h"
#include "compiler/codegen/math/trig.h"
#include "ir/check.h"

namespace stax {
namespace {

using math::Real;

struct MathFunction {
  OpCode code;
  Real (*unary)(const Real&);
  Real (*binary)(const Real&, const Real&);
  // f32 is computed as f64 and rounded: where f32 arithmetic would need pairs of floats.
  bool through_f64;
};

constexpr MathFunction kFunctions[] = {
    {OpCode::kRsqrt, math::Rsqrt, nullptr, false},
    {OpCode::kExp, math::Exp, nullptr, false},
    {OpCode::kExp2, math::Exp2, nullptr, false},
    {OpCode::kExpm1, math::Expm1, nullptr, false},
    {OpCode::kLog, math::Log, nullptr, false},
    {OpCode::kLog2, math::Log2, nullptr, false},
    {OpCode::kLog1p, math::Log1p, nullptr, false},
    {OpCode::kSin, math::Sin, nullptr, false},
    {OpCode::kCos, math::Cos, nullptr, false},
    {OpCode::kTan, math::Tan, nullptr, true},
    {OpCode::kAsin, math::Asin, nullptr, false},
    {OpCode::kAcos, math::Acos, nullptr, false},
    {OpCode::kAtan, math::Atan, nullptr, false},
    {OpCode::kSinh, math::Sinh, nullptr, false},
    {OpCode::kCosh, math::Cosh, nullptr, false},
    {OpCode::kTanh, math::Tanh, nullptr, false},
    {OpCode::kAsinh, math::Asinh, nullptr, true},
    {OpCode::kAcosh, math::Acosh, nullptr, true},
    {OpCode::kAtanh, math::Atanh, nullptr, true},
    {OpCode::kErf, math::Erf, nullptr, false},
    {OpCode::kSigmoid, math::Sigmoid, nullptr, false},
    {OpCode::kPow, nullptr, math::Pow, true},
    {OpCode::kAtan2, nullptr, math::Atan2, false},
    {OpCode::kFmod, nullptr, math::Fmod, false},
    {OpCode::kMod, nullptr, math::Mod, false},
};

const MathFunction* Find(OpCode code) {
  for (const MathFunction& f : kFunctions) {
    if (f.code == code) return &f;
  }
  return nullptr;
}

}  // namespace

bool IsMathOp(OpCode code) { return Find(code) != nullptr; }

llvm::Value* EmitMath(llvm::IRBuilderBase& builder, OpCode code, llvm::ArrayRef<llvm::Value*> args,
                      const MathOptions& options) {
  const MathFunction* function = Find(code);
  STAX_CHECK(function != nullptr, std::string(OpName(code)));
  STAX_CHECK(args.size() == (function->unary != nullptr ? 1u : 2u), std::string(OpName(code)));
  llvm::IRBuilderBase::FastMathFlagGuard guard(builder);
  builder.setFastMathFlags(llvm::FastMathFlags());

  llvm::Type* type = args[0]->getType();
  const bool widen = function->through_f64 && type->getScalarType()->isFloatTy();
  const math::Context context{&builder, options.nvptx, /*brief=*/widen};
  llvm::SmallVector<Real, 2> operands;
  for (llvm::Value* arg : args) {
    if (widen) arg = builder.CreateFPExt(arg, type->getWithNewType(builder.getDoubleTy()));
    operands.emplace_back(&context, arg);
  }
  llvm::Value* result = function->unary != nullptr
                            ? function->unary(operands[0]).value()
                            : function->binary(operands[0], operands[1]).value();
  return widen ? builder.CreateFPTrunc(result, type) : result;
}

}  // namespace stax
