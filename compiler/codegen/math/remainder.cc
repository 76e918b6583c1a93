// fmod is exact. With q = trunc(x / y), the division correctly rounded, q is the true quotient or
// one too many (never too few), so |x - q y| <= |y|: it is a multiple of y's last bit and no larger
// than y, hence representable, and one Fma gives it without rounding as long as q itself is exact,
// that is below 2^23 (2^52). Larger ratios, rare, take a loop that removes 51 bits of the quotient
// at a time in f64.
#include "compiler/codegen/math/remainder.h"

#include <limits>

#include "compiler/codegen/math/control_flow.h"
#include "llvm/IR/Constants.h"

namespace stax::math {
namespace {

// The exponent field of positive `v`, as if subnormals were normal numbers.
llvm::Value* Exponent(llvm::IRBuilderBase& b, llvm::Value* v) {
  llvm::Type* type = b.getDoubleTy();
  llvm::Value* small = b.CreateFCmpOLT(v, llvm::ConstantFP::get(type, 0x1p-1022));
  llvm::Value* scaled = b.CreateFMul(v, llvm::ConstantFP::get(type, 0x1p54));
  llvm::Value* bits = b.CreateBitCast(b.CreateSelect(small, scaled, v), b.getInt64Ty());
  return b.CreateSub(b.CreateLShr(bits, 52), b.CreateSelect(small, b.getInt64(54), b.getInt64(0)));
}

// v 2^k for 0 <= k <= 2100, exact here since the product is at most x.
llvm::Value* ScaleUp(llvm::IRBuilderBase& b, llvm::Value* v, llvm::Value* k) {
  llvm::Value* rest = k;
  for (int i = 0; i < 3; ++i) {
    llvm::Value* step = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, rest, b.getInt64(1000));
    llvm::Value* bits = b.CreateShl(b.CreateAdd(step, b.getInt64(1023)), 52);
    v = b.CreateFMul(v, b.CreateBitCast(bits, b.getDoubleTy()));
    rest = b.CreateSub(rest, step);
  }
  return v;
}

// (double x, double y) -> double: fmod of positive finite x by positive y, NaN for others.
//   r = x; while (r >= y) { s = y 2^k, the largest k >= 0 with r / s < 2^52 or so;
//                           r -= trunc(r / s) s; if (r < 0) r += s; }
void EmitLongDivision(llvm::IRBuilderBase& b, llvm::Function* f) {
  llvm::LLVMContext& c = b.getContext();
  llvm::Value* x = f->getArg(0);
  llvm::Value* y = f->getArg(1);
  llvm::Type* type = b.getDoubleTy();
  auto* entry = b.GetInsertBlock();
  auto* loop = llvm::BasicBlock::Create(c, "loop", f);
  auto* done = llvm::BasicBlock::Create(c, "done", f);
  llvm::Value* infinity = llvm::ConstantFP::getInfinity(type);
  llvm::Value* zero = llvm::ConstantFP::get(type, 0);
  llvm::Value* valid = b.CreateAnd(b.CreateFCmpOGT(y, zero), b.CreateFCmpOLT(x, infinity));
  b.CreateCondBr(valid, loop, done);

  b.SetInsertPoint(loop);
  llvm::PHINode* r = b.CreatePHI(type, 2);
  r->addIncoming(x, entry);
  llvm::Value* gap = b.CreateSub(b.CreateSub(Exponent(b, r), Exponent(b, y)), b.getInt64(51));
  llvm::Value* k = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, gap, b.getInt64(0));
  llvm::Value* s = ScaleUp(b, y, k);
  llvm::Value* q = b.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, b.CreateFDiv(r, s));
  llvm::Value* next = b.CreateIntrinsic(llvm::Intrinsic::fma, {type}, {b.CreateFNeg(q), s, r});
  next = b.CreateSelect(b.CreateFCmpOLT(next, zero), b.CreateFAdd(next, s), next);
  r->addIncoming(next, loop);
  b.CreateCondBr(b.CreateFCmpOGE(next, y), loop, done);

  b.SetInsertPoint(done);
  llvm::PHINode* result = b.CreatePHI(type, 2);
  result->addIncoming(llvm::ConstantFP::getNaN(type), entry);
  result->addIncoming(next, loop);
  b.CreateRet(result);
}

}  // namespace

Real Fmod(const Real& x, const Real& y) {
  const Real ax = Abs(x);
  const Real ay = Abs(y);
  const Real q = Trunc(ax / ay);
  Real r = Fma(-q, ay, ax);
  r = Select(r < 0.0, r + ay, r);
  r = Select(ax < ay, ax, r);
  const Mask far = ax >= ay * (x.f64() ? 0x1p52 : 0x1p23);
  const Values merged = RareBranch(far, {r.value()}, [&ax, &ay] {
    llvm::IRBuilderBase& b = ax.builder();
    llvm::Type* f64 = b.getDoubleTy();
    auto* type = llvm::FunctionType::get(f64, {f64, f64}, false);
    return CallForEachLane(HelperFunction(b, "stax.long_division", type, EmitLongDivision),
                           {ax, ay});
  });
  return CopySign(Real(x.context(), merged[0]), x);
}

Real Mod(const Real& x, const Real& y) {
  const Real r = Fmod(x, y);
  const Mask signs_differ = (r < 0.0) ^ (y < 0.0);
  const Real moved = Select(signs_differ, r + y, r);
  return Select(r == 0.0, CopySign(r, y), moved);
}

}  // namespace stax::math
