#include <cmath>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ir/check.h"
#include "ir/loop_nest.h"
#include "ir/op_semantics.h"

namespace stax {
namespace {

std::string TypeName(DType t) { return std::string(DTypeName(t)); }

bool IsCommutative(OpCode code) {
  switch (code) {
    case OpCode::kAdd:
    case OpCode::kMul:
    case OpCode::kMax:
    case OpCode::kMin:
    case OpCode::kAnd:
    case OpCode::kOr:
    case OpCode::kXor:
    case OpCode::kEq:
    case OpCode::kNe:
      return true;
    default:
      return false;
  }
}

// Equal for ops that compute the same value, whatever the order of commutative operands.
std::string Key(const LoopOp& op) {
  std::string key = absl::StrCat(static_cast<int>(op.code), " ", static_cast<int>(op.dtype), " ");
  if (IsCommutative(op.code) && op.operands[0] > op.operands[1]) {
    absl::StrAppend(&key, op.operands[1], ",", op.operands[0]);
  } else {
    for (ValueId v : op.operands) absl::StrAppend(&key, v, ",");
    if (IsCommutative(op.code)) key.pop_back();
  }
  switch (op.code) {
    case OpCode::kLoad:
      absl::StrAppend(&key, " ", op.buffer, " ", op.index.ToString());
      break;
    case OpCode::kIndex:
    case OpCode::kIndirect:
      absl::StrAppend(&key, " ", op.index.ToString());
      break;
    case OpCode::kConst:
      absl::StrAppend(&key, " ", ToText(op.literal));
      break;
    case OpCode::kReduce:
      absl::StrAppend(&key, " ", static_cast<int>(op.reduce));
      break;
    default:
      break;
  }
  return key;
}

int IntegerBits(DType t) { return 8 * DTypeBytes(t) - (IsSigned(t) ? 1 : 0); }

int SignificandBits(DType t) {
  switch (t) {
    case DType::kF16:
      return 11;
    case DType::kBF16:
      return 8;
    case DType::kF32:
      return 24;
    default:
      return 53;
  }
}

// Whether every value of `from` is a value of `to`.
bool IsLossless(DType from, DType to) {
  if (from == to || from == DType::kBool) return true;
  if (to == DType::kBool) return false;
  if (IsFloat(from)) return !IsHalf(to) && IsFloat(to) && DTypeBytes(to) > DTypeBytes(from);
  if (IsFloat(to)) return IntegerBits(from) <= SignificandBits(to);
  if (IsSigned(from) && !IsSigned(to)) return false;
  return IntegerBits(from) <= IntegerBits(to);
}

// Whether casting through `middle` is the same as casting directly. From an integer through a float
// only the way back is: direct casts to halves round differently.
bool CastsChain(DType from, DType middle, DType to) {
  if (!IsLossless(from, middle)) return false;
  return from == to || from == DType::kBool || IsFloat(from) == IsFloat(middle);
}

}  // namespace

int BodyBuilder::Buffer(std::string_view name, DType dtype, const IndexExpr& numel, bool written) {
  for (size_t i = 0; i < nest_->buffers.size(); ++i) {
    const NestBuffer& b = nest_->buffers[i];
    if (b.name != name) continue;
    STAX_CHECK(b.dtype == dtype && b.numel == numel && b.written == written,
               absl::StrCat("buffer ", b.name, " is there with another type, size or direction"));
    return static_cast<int>(i);
  }
  nest_->buffers.push_back({std::string(name), dtype, numel, written});
  return static_cast<int>(nest_->buffers.size()) - 1;
}

DType BodyBuilder::dtype(ValueId id) const {
  STAX_CHECK(id >= 0 && id < static_cast<int>(nest_->body.size()), absl::StrCat("no value %", id));
  return nest_->body[id].dtype;
}

ValueId BodyBuilder::Add(LoopOp op) {
  const ValueId next = static_cast<ValueId>(nest_->body.size());
  auto [it, inserted] = seen_.emplace(Key(op), next);
  if (inserted) nest_->body.push_back(std::move(op));
  return it->second;
}

bool BodyBuilder::IsConst(ValueId id) const { return nest_->body[id].code == OpCode::kConst; }

bool BodyBuilder::IsConst(ValueId id, double value) const {
  if (!IsConst(id)) return false;
  const Scalar& literal = nest_->body[id].literal;
  if (IsFloat(literal.dtype))
    return literal.f == value && std::signbit(literal.f) == std::signbit(value);
  return literal == Scalar::FromDouble(literal.dtype, value);
}

ValueId BodyBuilder::Const(const Scalar& value) {
  LoopOp op;
  op.code = OpCode::kConst;
  op.dtype = value.dtype;
  op.literal = value;
  return Add(std::move(op));
}

ValueId BodyBuilder::Index(const IndexExpr& value, DType dtype) {
  STAX_CHECK(dtype != DType::kBool, "an index value as bool");
  if (std::optional<int64_t> constant = value.AsConst()) {
    const Number n = EvalCast(DType::kI64, dtype, {0.0, *constant}, Precision::kTyped);
    return Const(ToScalar(dtype, n));
  }
  LoopOp op;
  op.code = OpCode::kIndex;
  op.dtype = dtype;
  op.index = value;
  return Add(std::move(op));
}

ValueId BodyBuilder::Load(int buffer, const IndexExpr& index) {
  LoopOp op;
  op.code = OpCode::kLoad;
  op.dtype = nest_->buffers[buffer].dtype;
  op.buffer = buffer;
  op.index = index;
  if (!masks_.empty()) {
    if (IsConst(masks_.back(), 0)) {
      return Const(Scalar::FromDouble(op.dtype, 0.0));
    }
    if (!IsConst(masks_.back())) op.operands = {masks_.back()};
  }
  return Add(std::move(op));
}

void BodyBuilder::Store(int buffer, const IndexExpr& index, ValueId value) {
  LoopOp op;
  op.code = OpCode::kStore;
  op.dtype = dtype(value);
  op.buffer = buffer;
  op.index = index;
  op.operands = {value};
  STAX_CHECK(op.dtype == nest_->buffers[buffer].dtype,
             absl::StrCat("store of ", TypeName(op.dtype), " to ", nest_->buffers[buffer].name,
                          " of ", TypeName(nest_->buffers[buffer].dtype)));
  nest_->body.push_back(std::move(op));
}

ValueId BodyBuilder::Op(OpCode code, std::vector<ValueId> operands) {
  STAX_CHECK(IsScalarOp(code), std::string(OpName(code)));
  STAX_CHECK(static_cast<int>(operands.size()) == OpArity(code), std::string(OpName(code)));
  const DType type = dtype(operands[0]);
  STAX_CHECK(OpAllowsType(code, type),
             absl::StrCat(std::string(OpName(code)), " of ", TypeName(type)));
  bool all_const = true;
  for (ValueId v : operands) {
    STAX_CHECK(dtype(v) == type, absl::StrCat(std::string(OpName(code)), " of ", TypeName(type),
                                              " and ", TypeName(dtype(v))));
    all_const = all_const && IsConst(v);
  }
  LoopOp op;
  op.code = code;
  op.dtype = ClassOf(code) == OpClass::kCompare ? DType::kBool : type;
  if (all_const && IsExactOp(code, type)) {
    const Number a = ToNumber(nest_->body[operands.front()].literal);
    const Number b = ToNumber(nest_->body[operands.back()].literal);
    return Const(ToScalar(op.dtype, EvalScalarOp(code, type, a, b, Precision::kTyped)));
  }
  if (std::optional<ValueId> same = Identity(code, operands)) return *same;
  op.operands = std::move(operands);
  return Add(std::move(op));
}

std::optional<ValueId> BodyBuilder::Identity(OpCode code, const std::vector<ValueId>& operands) {
  const ValueId a = operands.front(), b = operands.back();
  if (operands.size() == 1) {
    const LoopOp& inner = nest_->body[a];
    const bool undoes_itself = code == OpCode::kNeg || code == OpCode::kNot;
    if (undoes_itself && inner.code == code) return inner.operands[0];
    if (code == OpCode::kAbs && inner.code == OpCode::kAbs) return a;
    return std::nullopt;
  }
  if ((code == OpCode::kMax || code == OpCode::kMin) && a == b) return a;
  const DType type = dtype(a);
  if (IsFloat(type)) return FloatIdentity(code, a, b);
  if (type == DType::kBool) return BoolIdentity(code, a, b);
  return IntegerIdentity(code, a, b);
}

// Not here, because of what they do to NaN, infinity or -0.0: x + 0.0, x - x, x * 0.0, x == x.
std::optional<ValueId> BodyBuilder::FloatIdentity(OpCode code, ValueId a, ValueId b) {
  switch (code) {
    case OpCode::kAdd:
      if (IsConst(b, -0.0)) return a;
      if (IsConst(a, -0.0)) return b;
      return std::nullopt;
    case OpCode::kSub:
      if (IsConst(b, 0.0)) return a;
      return std::nullopt;
    case OpCode::kMul:
      if (IsConst(b, 1.0)) return a;
      if (IsConst(a, 1.0)) return b;
      return std::nullopt;
    case OpCode::kDiv: {
      if (!IsConst(b)) return std::nullopt;
      if (IsConst(b, 1.0)) return a;
      // Both the quotient by a power of two and the product with its exact inverse round the same
      // real number, and a product is many times faster on a GPU.
      int exponent = 0;
      const double divisor = nest_->body[b].literal.f;
      const bool power_of_two = std::fabs(std::frexp(divisor, &exponent)) == 0.5;
      const Scalar inverse = Scalar::Float(dtype(b), 1.0 / divisor);
      if (!power_of_two || inverse.f * divisor != 1.0) return std::nullopt;
      return Op(OpCode::kMul, {a, Const(inverse)});
    }
    default:
      return std::nullopt;
  }
}

std::optional<ValueId> BodyBuilder::IntegerIdentity(OpCode code, ValueId a, ValueId b) {
  const auto zero = [&] { return Const(Scalar::Int(dtype(a), 0)); };
  switch (code) {
    case OpCode::kAdd:
    case OpCode::kOr:
    case OpCode::kXor:
      if (IsConst(b, 0)) return a;
      if (IsConst(a, 0)) return b;
      if (code == OpCode::kOr && a == b) return a;
      if (code == OpCode::kXor && a == b) return zero();
      return std::nullopt;
    case OpCode::kSub:
      if (IsConst(b, 0)) return a;
      if (a == b) return zero();
      return std::nullopt;
    case OpCode::kMul:
      if (IsConst(b, 1)) return a;
      if (IsConst(a, 1)) return b;
      if (IsConst(a, 0) || IsConst(b, 0)) return zero();
      return std::nullopt;
    case OpCode::kAnd:
      if (a == b) return a;
      if (IsConst(a, 0) || IsConst(b, 0)) return zero();
      return std::nullopt;
    case OpCode::kDiv:
      if (IsConst(b, 1)) return a;
      return std::nullopt;
    case OpCode::kShl:
    case OpCode::kShr:
      if (IsConst(b, 0)) return a;
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

std::optional<ValueId> BodyBuilder::BoolIdentity(OpCode code, ValueId a, ValueId b) {
  // With a constant on either side `x` is the other one.
  const ValueId x = IsConst(a) ? b : a;
  const ValueId constant = IsConst(a) ? a : b;
  switch (code) {
    case OpCode::kAnd:
    case OpCode::kOr: {
      if (a == b) return a;
      if (!IsConst(constant)) return std::nullopt;
      const bool neutral = IsConst(constant, code == OpCode::kAnd ? 1 : 0);
      return neutral ? x : constant;
    }
    case OpCode::kXor:
      if (IsConst(constant, 0)) return x;
      if (IsConst(constant, 1)) return Op(OpCode::kNot, {x});
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

ValueId BodyBuilder::Cast(ValueId value, DType dtype) {
  const DType from = this->dtype(value);
  if (from == dtype) return value;
  const LoopOp& source = nest_->body[value];
  if (source.code == OpCode::kConst) {
    const Number n = EvalCast(from, dtype, ToNumber(source.literal), Precision::kTyped);
    return Const(ToScalar(dtype, n));
  }
  if (source.code == OpCode::kCast) {
    const ValueId original = source.operands[0];
    if (CastsChain(this->dtype(original), from, dtype)) return Cast(original, dtype);
  }
  LoopOp op;
  op.code = OpCode::kCast;
  op.dtype = dtype;
  op.operands = {value};
  return Add(std::move(op));
}

ValueId BodyBuilder::Select(ValueId condition, ValueId if_true, ValueId if_false) {
  STAX_CHECK(dtype(condition) == DType::kBool && dtype(if_true) == dtype(if_false),
             absl::StrCat("select of ", TypeName(dtype(condition)), " and ",
                          TypeName(dtype(if_true)), " and ", TypeName(dtype(if_false))));
  if (if_true == if_false) return if_true;
  if (IsConst(condition)) return IsConst(condition, 1) ? if_true : if_false;
  LoopOp op;
  op.code = OpCode::kSelect;
  op.dtype = dtype(if_true);
  op.operands = {condition, if_true, if_false};
  return Add(std::move(op));
}

ValueId BodyBuilder::Reduce(ReduceKind kind, ValueId value) {
  STAX_CHECK(dtype(value) != DType::kBool, "a reduction of bool");
  LoopOp op;
  op.code = OpCode::kReduce;
  op.dtype = IsArgReduce(kind) ? DType::kI64 : dtype(value);
  op.reduce = kind;
  op.operands = {value};
  return Add(std::move(op));
}

IndexExpr BodyBuilder::Indirect(ValueId value, const IndexExpr& extent) {
  const LoopOp& source = nest_->body[value];
  STAX_CHECK(IsInteger(dtype(value)), absl::StrCat("an index of ", TypeName(dtype(value))));
  if (source.code == OpCode::kConst && extent.IsConst())
    return ClampIndirect(source.dtype, source.literal.i, extent.ConstOrDie());
  // An index value that is in range needs no clamp, and stays analyzable.
  if (source.code == OpCode::kIndex && source.dtype == DType::kI64 &&
      Ranges().ProveLe(0, source.index) && Ranges().ProveLt(source.index, extent))
    return source.index;
  LoopOp op;
  op.code = OpCode::kIndirect;
  op.dtype = DType::kI64;
  op.index = extent;
  op.operands = {value};
  return IndexExpr::Var(IndirectVar(Add(std::move(op))));
}

ValueId BodyBuilder::InBounds(const IndexExpr& value, const IndexExpr& lo, const IndexExpr& hi) {
  const RangeContext& ranges = Ranges();
  const auto constant = [&](bool b) { return Const(Scalar::Int(DType::kBool, b)); };
  if (ranges.ProveLt(value, lo) || ranges.ProveLe(hi, value)) return constant(false);
  const bool above = ranges.ProveLe(lo, value), below = ranges.ProveLt(value, hi);
  if (above && below) return constant(true);
  const auto compare = [&](OpCode code, const IndexExpr& bound) {
    return Op(code, {Index(value, DType::kI64), Index(bound, DType::kI64)});
  };
  if (above) return compare(OpCode::kLt, hi);
  const ValueId not_below_lo = compare(OpCode::kGe, lo);
  if (below) return not_below_lo;
  return Op(OpCode::kAnd, {not_below_lo, compare(OpCode::kLt, hi)});
}

void BodyBuilder::PushMask(ValueId mask) {
  STAX_CHECK(dtype(mask) == DType::kBool, absl::StrCat("a mask of ", TypeName(dtype(mask))));
  masks_.push_back(masks_.empty() ? mask : Op(OpCode::kAnd, {masks_.back(), mask}));
}

void BodyBuilder::PopMask() {
  STAX_CHECK(!masks_.empty(), "PopMask without PushMask");
  masks_.pop_back();
}

const RangeContext& BodyBuilder::Ranges() {
  for (; symbols_seen_ < nest_->symbols.size(); ++symbols_seen_) {
    const SizeSymbol& s = nest_->symbols[symbols_seen_];
    ranges_.AddSize(s.name, s.lower, s.upper);
  }
  for (; dims_seen_ < nest_->dims.size(); ++dims_seen_)
    ranges_.AddLoop(nest_->dims[dims_seen_].name, nest_->dims[dims_seen_].extent);
  for (; ops_seen_ < nest_->body.size(); ++ops_seen_) {
    if (nest_->body[ops_seen_].code == OpCode::kIndirect)
      ranges_.AddLoop(IndirectVar(static_cast<ValueId>(ops_seen_)), nest_->body[ops_seen_].index);
  }
  return ranges_;
}

}  // namespace stax
