// Scalar ops as LLVM IR: the semantics of ir/loop_op.h, for scalars and SIMD vectors alike.
//
// Registers hold bool as i1, integers in their width, f32 and f64 as they are, and the half types
// as f32 that is always a value of the half type. So the result of a half op has to be rounded
// (RoundToHalf) before it is used; that is separate because on CUDA one instruction rounds two.
#ifndef STAX_COMPILER_CODEGEN_SCALAR_EMITTER_H_
#define STAX_COMPILER_CODEGEN_SCALAR_EMITTER_H_

#include "ir/dtype.h"
#include "ir/loop_op.h"
#include "ir/scalar.h"
#include "llvm/IR/IRBuilder.h"

namespace stax {

class ScalarEmitter {
 public:
  ScalarEmitter(llvm::IRBuilder<>& builder, bool nvptx) : b_(builder), nvptx_(nvptx) {}

  // Type of a register that holds `t`.
  llvm::Type* RegType(DType t) const;
  llvm::Constant* Const(const Scalar& value) const;

  // A scalar op on operands of type `type`, all scalars or all vectors of one length. A half
  // result is not rounded yet. `tolerance`: how far off an f32 or half result may be, see
  // precision.h; made use of on CUDA only.
  llvm::Value* Op(OpCode code, DType type, llvm::ArrayRef<llvm::Value*> args, double tolerance = 0);
  // Conversion; a half result is not rounded yet.
  llvm::Value* Cast(DType from, DType to, llvm::Value* value);
  // CUDA, f32: each of `dividends` divided by `divisor`, in place, as Op does it (correctly rounded
  // if `tolerance` is 0) but at half the instructions or less when there are many.
  void DivideAll(llvm::MutableArrayRef<llvm::Value*> dividends, llvm::Value* divisor,
                 double tolerance = 0);
  // Rounds f32 values to `t`, f16 or bf16, in place.
  void RoundToHalf(DType t, llvm::MutableArrayRef<llvm::Value*> values);

  // What a reduction starts from, and one step of it (not for the arg reductions).
  llvm::Constant* Identity(ReduceKind kind, DType t) const;
  llvm::Value* Combine(ReduceKind kind, DType t, llvm::Value* a, llvm::Value* b);

 private:
  llvm::Value* FloatOp(OpCode code, DType type, llvm::ArrayRef<llvm::Value*> args);
  llvm::Value* IntegerOp(OpCode code, DType type, llvm::ArrayRef<llvm::Value*> args);
  llvm::Value* BoolOp(OpCode code, llvm::ArrayRef<llvm::Value*> args);
  llvm::Value* Compare(OpCode code, DType type, llvm::Value* a, llvm::Value* b);
  llvm::Value* DivMod(OpCode code, bool is_signed, llvm::Value* a, llvm::Value* b);
  llvm::Value* Shift(OpCode code, bool is_signed, llvm::Value* a, llvm::Value* b);
  llvm::Value* Pow(bool is_signed, llvm::Value* a, llvm::Value* b);
  void DivideAllExactly(llvm::MutableArrayRef<llvm::Value*> dividends, llvm::Value* divisor);
  llvm::Value* IsModerate(llvm::Value* value);
  llvm::Value* PowLoop(llvm::Value* base, llvm::Value* exponent);
  llvm::Value* NarrowToOdd(llvm::Value* wide);
  llvm::Value* RoundBF16Bits(llvm::Value* value);
  void RoundPair(DType t, llvm::Value*& low, llvm::Value*& high);
  // A constant of the type (scalar or vector) of `like`.
  static llvm::Constant* ConstLike(llvm::Value* like, int64_t value) {
    return llvm::ConstantInt::get(like->getType(), value, /*IsSigned=*/true);
  }

  llvm::IRBuilder<>& b_;
  bool nvptx_;
};

// The type with `like`'s number of elements and element type `element`.
llvm::Type* TypeLike(llvm::Value* like, llvm::Type* element);

}  // namespace stax

#endif  // STAX_COMPILER_CODEGEN_SCALAR_EMITTER_H_
