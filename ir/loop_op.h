// The one vocabulary of scalar operations in loop bodies, used by every stage: lowering emits it,
// printing, verifying, analysis, interpretation and code generation handle it.
//
// Semantics, for all targets and the interpreter alike:
// - Integers wrap in their width. Division truncates towards zero; dividing by zero gives 0;
//   INT_MIN / -1 wraps. `mod` has the divisor's sign (Python), `fmod` the dividend's (C); both give
//   0 for a zero integer divisor. Shift counts >= the width give 0.
// - f16 and bf16 operations compute in f32 and round to nearest even. f32 and f64 are IEEE with
//   denormals; add, sub, mul, div, sqrt are correctly rounded and never contracted to FMA.
//   The math functions are within 2 ulp of the exact result in f32 (4 ulp in f64). Where results
//   can be seen only after a rounding to f16 or bf16, a target may do with less for these, div and
//   sqrt, such that the rounded result is within 1 ulp of its type (compiler/codegen/precision.h).
//   A sum of exp(x - max(x)) may have terms that are off as a sum of which one term is 1 forgives
//   (compiler/codegen/reduce_online.cc).
// - max, min, relu, clip and the max/min reductions return NaN if any operand is NaN.
//   argmax/argmin treat NaN as the extreme, like NumPy.
// - Comparisons with NaN are false, except ne. `sign` of NaN is NaN; of -0.0 is -0.0.
// - Cast float -> integer truncates and saturates (NaN gives 0); integer -> narrower integer keeps
//   the low bits; to bool is x != 0 (NaN is true); from bool gives 0 or 1; float -> narrower float
//   rounds to nearest even, overflow gives infinity.
// - `select c, a, b` evaluates both; no operation traps, so values computed under a false mask are
//   harmless. A load with a false mask touches no memory and gives 0.
// - `round` is to nearest even. `sigmoid` is 1 / (1 + exp(-x)). `pow` of integers is exact in the
//   width (negative exponents: 0 except for bases 1 and -1).
#ifndef STAX_IR_LOOP_OP_H_
#define STAX_IR_LOOP_OP_H_

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"

namespace stax {

// STAX_OP(enumerator, text, arity, class). Classes: how dtypes relate, checked by verify():
//   kSame    operands and result have one type (float or integer as the op allows)
//   kFloat   like kSame, floats only
//   kInt     like kSame, integers only (bool allowed for and/or/xor/not)
//   kCompare operands have one type, the result is bool
#define STAX_SCALAR_OPS(STAX_OP)          \
  STAX_OP(kAbs, "abs", 1, kSame)          \
  STAX_OP(kNeg, "neg", 1, kSame)          \
  STAX_OP(kSign, "sign", 1, kSame)        \
  STAX_OP(kCeil, "ceil", 1, kFloat)       \
  STAX_OP(kFloor, "floor", 1, kFloat)     \
  STAX_OP(kRound, "round", 1, kFloat)     \
  STAX_OP(kTrunc, "trunc", 1, kFloat)     \
  STAX_OP(kSqrt, "sqrt", 1, kFloat)       \
  STAX_OP(kRsqrt, "rsqrt", 1, kFloat)     \
  STAX_OP(kExp, "exp", 1, kFloat)         \
  STAX_OP(kExp2, "exp2", 1, kFloat)       \
  STAX_OP(kExpm1, "expm1", 1, kFloat)     \
  STAX_OP(kLog, "log", 1, kFloat)         \
  STAX_OP(kLog2, "log2", 1, kFloat)       \
  STAX_OP(kLog1p, "log1p", 1, kFloat)     \
  STAX_OP(kSin, "sin", 1, kFloat)         \
  STAX_OP(kCos, "cos", 1, kFloat)         \
  STAX_OP(kTan, "tan", 1, kFloat)         \
  STAX_OP(kAsin, "asin", 1, kFloat)       \
  STAX_OP(kAcos, "acos", 1, kFloat)       \
  STAX_OP(kAtan, "atan", 1, kFloat)       \
  STAX_OP(kSinh, "sinh", 1, kFloat)       \
  STAX_OP(kCosh, "cosh", 1, kFloat)       \
  STAX_OP(kTanh, "tanh", 1, kFloat)       \
  STAX_OP(kAsinh, "asinh", 1, kFloat)     \
  STAX_OP(kAcosh, "acosh", 1, kFloat)     \
  STAX_OP(kAtanh, "atanh", 1, kFloat)     \
  STAX_OP(kErf, "erf", 1, kFloat)         \
  STAX_OP(kSigmoid, "sigmoid", 1, kFloat) \
  STAX_OP(kNot, "not", 1, kInt)           \
  STAX_OP(kAdd, "add", 2, kSame)          \
  STAX_OP(kSub, "sub", 2, kSame)          \
  STAX_OP(kMul, "mul", 2, kSame)          \
  STAX_OP(kDiv, "div", 2, kSame)          \
  STAX_OP(kMod, "mod", 2, kSame)          \
  STAX_OP(kFmod, "fmod", 2, kSame)        \
  STAX_OP(kPow, "pow", 2, kSame)          \
  STAX_OP(kMax, "max", 2, kSame)          \
  STAX_OP(kMin, "min", 2, kSame)          \
  STAX_OP(kAtan2, "atan2", 2, kFloat)     \
  STAX_OP(kAnd, "and", 2, kInt)           \
  STAX_OP(kOr, "or", 2, kInt)             \
  STAX_OP(kXor, "xor", 2, kInt)           \
  STAX_OP(kShl, "shl", 2, kInt)           \
  STAX_OP(kShr, "shr", 2, kInt)           \
  STAX_OP(kEq, "eq", 2, kCompare)         \
  STAX_OP(kNe, "ne", 2, kCompare)         \
  STAX_OP(kLt, "lt", 2, kCompare)         \
  STAX_OP(kLe, "le", 2, kCompare)         \
  STAX_OP(kGt, "gt", 2, kCompare)         \
  STAX_OP(kGe, "ge", 2, kCompare)

enum class OpCode : uint8_t {
  kConst,     // a literal
  kIndex,     // value of an IndexExpr, converted to the op's integer or float type
  kLoad,      // buffer[index]; optional mask operand
  kStore,     // buffer[index] = operand; no result
  kCast,      // operand converted to the op's type
  kSelect,    // operand 0 (bool) ? operand 1 : operand 2
  kIndirect,  // makes an integer operand usable in IndexExprs, see LoopNest
  kReduce,    // reduction of the operand over all reduction dims
#define STAX_OP_ENUM(name, text, arity, cls) name,
  STAX_SCALAR_OPS(STAX_OP_ENUM)
#undef STAX_OP_ENUM
};

enum class OpClass : uint8_t { kSpecial, kSame, kFloat, kInt, kCompare };

enum class ReduceKind : uint8_t {
  kSum,
  kProd,
  kMax,
  kMin,
  kArgMax,      // i64 position (row-major over the reduction dims) of the first maximum
  kArgMin,      // ... of the first minimum
  kArgMaxLast,  // ... of the last one
  kArgMinLast,
};

std::string_view OpName(OpCode code);  // "add", "load", ...
absl::StatusOr<OpCode> ParseOpCode(std::string_view name);
// Number of operands; -1 for load (0 or 1).
int OpArity(OpCode code);
OpClass ClassOf(OpCode code);
inline bool IsScalarOp(OpCode code) { return ClassOf(code) != OpClass::kSpecial; }

std::string_view ReduceName(ReduceKind kind);  // "sum", "argmax", "argmax_last", ...
absl::StatusOr<ReduceKind> ParseReduceKind(std::string_view name);
inline bool IsArgReduce(ReduceKind k) { return k >= ReduceKind::kArgMax; }

}  // namespace stax

#endif  // STAX_IR_LOOP_OP_H_
