// Arithmetic, comparison, logic and casts.
#include <limits>
#include <utility>

#include "absl/strings/ascii.h"
#include "compiler/frontend/onnx_ops.h"
#include "compiler/frontend/onnx_status.h"
#include "ir/graph_rules.h"

namespace stax {
namespace {

template <OpCode kCode>
absl::Status Unary(OnnxNode& n) {
  n.Set(0, n.b().Unary(kCode, n.In(0)));
  return absl::OkStatus();
}

// Operator sets before 7: operand 1 broadcasts only if `broadcast` says so, and is then aligned at
// `axis` of operand 0 instead of at its end.
absl::StatusOr<OnnxTensor> SecondOperand(OnnxNode& n) {
  const OnnxTensor y = n.In(1);
  if (n.opset() >= 7 || n.Int("broadcast", 0) == 0 || !n.HasAttr("axis")) return y;
  ONNX_ASSIGN_OR_RETURN(const int axis, n.Axis(n.Int("axis", 0), n.rank(0)));
  Dims dims = n.dims(1);
  if (axis + n.rank(1) > n.rank(0))
    return OnnxError("input 1 of rank ", n.rank(1), " does not fit at axis ", axis,
                     " of input 0 of rank ", n.rank(0));
  dims.resize(n.rank(0) - axis, 1);
  return n.b().Reshape(y, std::move(dims));
}

template <OpCode kCode>
absl::Status Binary(OnnxNode& n) {
  ONNX_ASSIGN_OR_RETURN(const OnnxTensor y, SecondOperand(n));
  n.Set(0, n.b().Binary(kCode, n.In(0), y));
  return absl::OkStatus();
}

// Max, Min and Sum of any number of inputs. More than two halves are summed in f32.
template <OpCode kCode>
OnnxTensor Fold(OnnxNode& n) {
  const DType dtype = n.dtype(0);
  const bool widen = kCode == OpCode::kAdd && IsHalf(dtype) && n.num_inputs() > 2;
  const auto input = [&](int i) { return widen ? n.b().Cast(n.In(i), DType::kF32) : n.In(i); };
  OnnxTensor result = input(0);
  for (int i = 1; i < n.num_inputs(); ++i) result = n.b().Binary(kCode, result, input(i));
  return result;
}

absl::Status CheckVariadic(OnnxNode& n) {
  for (int i = 0; i < n.num_inputs(); ++i) {
    if (!n.Has(i)) return OnnxError("input ", i, " is left out, but it is required");
    if (n.dtype(i) != n.dtype(0))
      return OnnxError("inputs 0 and ", i, " are ", DTypeName(n.dtype(0)), " and ",
                       DTypeName(n.dtype(i)), "; all must have one type");
  }
  return absl::OkStatus();
}

template <OpCode kCode>
absl::Status Variadic(OnnxNode& n) {
  ONNX_RETURN_IF_ERROR(CheckVariadic(n));
  n.Set(0, n.b().Cast(Fold<kCode>(n), n.dtype(0)));
  return absl::OkStatus();
}

absl::Status Mean(OnnxNode& n) {
  ONNX_RETURN_IF_ERROR(CheckVariadic(n));
  const OnnxTensor sum = Fold<OpCode::kAdd>(n);
  n.Set(0, n.b().Cast(n.b().Div(sum, n.Like(sum, n.num_inputs())), n.dtype(0)));
  return absl::OkStatus();
}

absl::Status Identity(OnnxNode& n) {
  n.Set(0, n.Operand(0));
  return absl::OkStatus();
}

absl::Status Abs(OnnxNode& n) {
  if (IsUnsigned(n.dtype(0))) return Identity(n);
  return Unary<OpCode::kAbs>(n);
}

absl::Status Sign(OnnxNode& n) {
  if (!IsUnsigned(n.dtype(0))) return Unary<OpCode::kSign>(n);
  const OnnxTensor x = n.In(0);
  n.Set(0, n.b().Binary(OpCode::kMin, x, n.Like(x, 1)));
  return absl::OkStatus();
}

absl::Status Reciprocal(OnnxNode& n) {
  const OnnxTensor x = n.In(0);
  n.Set(0, n.b().Div(n.Like(x, 1), x));
  return absl::OkStatus();
}

absl::Status Mod(OnnxNode& n) {
  if (n.Int("fmod", 0) != 0) return Binary<OpCode::kFmod>(n);
  if (IsFloat(n.dtype(0)))
    return OnnxError("input 0 is ", DTypeName(n.dtype(0)), "; floats need the attribute fmod = 1");
  return Binary<OpCode::kMod>(n);
}

// The result has the base's type. The power is taken in a type that holds both exactly enough:
// integers of different widths in i64, an integer base with a fractional exponent in f64.
absl::Status Pow(OnnxNode& n) {
  GraphBuilder& b = n.b();
  ONNX_ASSIGN_OR_RETURN(const OnnxTensor y, SecondOperand(n));
  const DType base = n.dtype(0), exponent = n.dtype(1);
  DType common = base;
  if (IsHalf(base)) common = DType::kF32;
  if (IsInteger(base) && base != exponent) common = IsFloat(exponent) ? DType::kF64 : DType::kI64;
  n.Set(0, b.Cast(b.Binary(OpCode::kPow, b.Cast(n.In(0), common), b.Cast(y, common)), base));
  return absl::OkStatus();
}

absl::Status BitShift(OnnxNode& n) {
  const std::string direction = n.Str("direction", "");
  if (direction != "LEFT" && direction != "RIGHT")
    return OnnxError("attribute direction is '", direction, "'; it must be LEFT or RIGHT");
  if (!IsUnsigned(n.dtype(0)))
    return OnnxError("input 0 is ", DTypeName(n.dtype(0)), "; it must be an unsigned integer");
  return direction == "LEFT" ? Binary<OpCode::kShl>(n) : Binary<OpCode::kShr>(n);
}

template <OpCode kCode, bool kIsBool>
absl::Status Bitwise(OnnxNode& n) {
  for (int i = 0; i < n.num_inputs(); ++i)
    if ((n.dtype(i) == DType::kBool) != kIsBool)
      return OnnxError("input ", i, " is ", DTypeName(n.dtype(i)), "; it must be ",
                       kIsBool ? "bool" : "an integer");
  return n.num_inputs() == 1 ? Unary<kCode>(n) : Binary<kCode>(n);
}

absl::Status IsNaN(OnnxNode& n) {
  const OnnxTensor x = n.In(0);
  n.Set(0, n.b().Binary(OpCode::kNe, x, x));
  return absl::OkStatus();
}

absl::Status IsInf(OnnxNode& n) {
  GraphBuilder& b = n.b();
  const OnnxTensor x = n.In(0);
  const double infinity = std::numeric_limits<double>::infinity();
  const bool positive = n.Int("detect_positive", 1) != 0;
  const bool negative = n.Int("detect_negative", 1) != 0;
  const auto equals = [&](OnnxTensor v, double value) {
    return b.Binary(OpCode::kEq, v, n.Like(v, value));
  };
  if (positive && negative) {
    n.Set(0, equals(b.Unary(OpCode::kAbs, x), infinity));
  } else if (positive || negative) {
    n.Set(0, equals(x, positive ? infinity : -infinity));
  } else {
    n.Set(0, b.Binary(OpCode::kLt, x, x));  // never
  }
  return absl::OkStatus();
}

absl::Status Where(OnnxNode& n) {
  n.Set(0, n.b().Where(n.In(0), n.In(1), n.In(2)));
  return absl::OkStatus();
}

// A bound is one number, whatever its rank.
absl::StatusOr<OnnxTensor> ClipBound(OnnxNode& n, int i, std::string_view what) {
  if (NumElements(n.dims(i)) != IndexExpr(1))
    return OnnxError(InputText(i, what), " has shape ", ShapeText(n.dims(i)),
                     "; it must be one number");
  return n.b().Reshape(n.In(i), {});
}

absl::Status Clip(OnnxNode& n) {
  GraphBuilder& b = n.b();
  OnnxTensor x = n.In(0);
  std::optional<OnnxTensor> low, high;
  if (n.opset() < 11) {
    if (n.HasAttr("min")) low = n.Like(x, n.Float("min", 0));
    if (n.HasAttr("max")) high = n.Like(x, n.Float("max", 0));
  } else {
    if (n.Has(1)) {
      ONNX_ASSIGN_OR_RETURN(low, ClipBound(n, 1, "min"));
    }
    if (n.Has(2)) {
      ONNX_ASSIGN_OR_RETURN(high, ClipBound(n, 2, "max"));
    }
  }
  // In this order: where min > max the result is max.
  if (low.has_value()) x = b.Binary(OpCode::kMax, x, *low);
  if (high.has_value()) x = b.Binary(OpCode::kMin, x, *high);
  n.Set(0, x);
  return absl::OkStatus();
}

absl::Status Cast(OnnxNode& n) {
  ONNX_ASSIGN_OR_RETURN(const DType to, CastTarget(n));
  n.Set(0, n.b().Cast(n.In(0), to));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<DType> CastTarget(OnnxNode& n) {
  if (n.op_type() == "CastLike") return n.dtype(1);
  if (n.opset() >= 6) {
    if (!n.HasAttr("to")) return OnnxError("attribute 'to' is required");
    return DTypeFromOnnx(static_cast<int>(n.Int("to", 0)));
  }
  // The name of the type, as in the proto: "FLOAT".
  const std::string name = absl::AsciiStrToUpper(n.Str("to", ""));
  onnx::TensorProto::DataType type;
  if (!onnx::TensorProto::DataType_Parse(name, &type))
    return OnnxError("attribute 'to' is '", name, "', which names no type");
  return DTypeFromOnnx(type);
}

absl::Span<const OnnxOp> OnnxElementwiseOps() {
  static constexpr OnnxOp kOps[] = {
      {"Abs", 1, 1, 1, Abs},
      {"Acos", 7, 1, 1, Unary<OpCode::kAcos>},
      {"Acosh", 9, 1, 1, Unary<OpCode::kAcosh>},
      {"Add", 1, 2, 2, Binary<OpCode::kAdd>},
      {"And", 1, 2, 2, Bitwise<OpCode::kAnd, true>},
      {"Asin", 7, 1, 1, Unary<OpCode::kAsin>},
      {"Asinh", 9, 1, 1, Unary<OpCode::kAsinh>},
      {"Atan", 7, 1, 1, Unary<OpCode::kAtan>},
      {"Atanh", 9, 1, 1, Unary<OpCode::kAtanh>},
      {"BitShift", 11, 2, 2, BitShift},
      {"BitwiseAnd", 18, 2, 2, Bitwise<OpCode::kAnd, false>},
      {"BitwiseNot", 18, 1, 1, Bitwise<OpCode::kNot, false>},
      {"BitwiseOr", 18, 2, 2, Bitwise<OpCode::kOr, false>},
      {"BitwiseXor", 18, 2, 2, Bitwise<OpCode::kXor, false>},
      {"Cast", 1, 1, 1, Cast},
      {"CastLike", 15, 2, 2, Cast},
      {"Ceil", 1, 1, 1, Unary<OpCode::kCeil>},
      {"Clip", 1, 1, 3, Clip},
      {"Cos", 7, 1, 1, Unary<OpCode::kCos>},
      {"Cosh", 9, 1, 1, Unary<OpCode::kCosh>},
      {"Div", 1, 2, 2, Binary<OpCode::kDiv>},
      {"Equal", 1, 2, 2, Binary<OpCode::kEq>},
      {"Erf", 9, 1, 1, Unary<OpCode::kErf>},
      {"Exp", 1, 1, 1, Unary<OpCode::kExp>},
      {"Floor", 1, 1, 1, Unary<OpCode::kFloor>},
      {"Greater", 1, 2, 2, Binary<OpCode::kGt>},
      {"GreaterOrEqual", 12, 2, 2, Binary<OpCode::kGe>},
      {"Identity", 1, 1, 1, Identity},
      {"IsInf", 10, 1, 1, IsInf},
      {"IsNaN", 9, 1, 1, IsNaN},
      {"Less", 1, 2, 2, Binary<OpCode::kLt>},
      {"LessOrEqual", 12, 2, 2, Binary<OpCode::kLe>},
      {"Log", 1, 1, 1, Unary<OpCode::kLog>},
      {"Max", 1, 1, kVariadic, Variadic<OpCode::kMax>},
      {"Mean", 1, 1, kVariadic, Mean},
      {"Min", 1, 1, kVariadic, Variadic<OpCode::kMin>},
      {"Mod", 10, 2, 2, Mod},
      {"Mul", 1, 2, 2, Binary<OpCode::kMul>},
      {"Neg", 1, 1, 1, Unary<OpCode::kNeg>},
      {"Not", 1, 1, 1, Bitwise<OpCode::kNot, true>},
      {"Or", 1, 2, 2, Bitwise<OpCode::kOr, true>},
      {"Pow", 1, 2, 2, Pow},
      {"Reciprocal", 1, 1, 1, Reciprocal},
      {"Round", 11, 1, 1, Unary<OpCode::kRound>},
      {"Sign", 9, 1, 1, Sign},
      {"Sin", 7, 1, 1, Unary<OpCode::kSin>},
      {"Sinh", 9, 1, 1, Unary<OpCode::kSinh>},
      {"Sqrt", 1, 1, 1, Unary<OpCode::kSqrt>},
      {"Sub", 1, 2, 2, Binary<OpCode::kSub>},
      {"Sum", 1, 1, kVariadic, Variadic<OpCode::kAdd>},
      {"Tan", 7, 1, 1, Unary<OpCode::kTan>},
      {"Tanh", 1, 1, 1, Unary<OpCode::kTanh>},
      {"Where", 9, 3, 3, Where},
      {"Xor", 1, 2, 2, Bitwise<OpCode::kXor, true>},
  };
  return kOps;
}

}  // namespace stax
