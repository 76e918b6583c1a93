#include "ir/loop_nest_verify.h"

#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "ir/op_semantics.h"

namespace stax {
namespace {

std::string TypeName(DType t) { return std::string(DTypeName(t)); }

bool IsName(const std::string& s) {
  for (size_t i = 0; i < s.size(); ++i) {
    const char c = s[i];
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    if (!letter && (i == 0 || !((c >= '0' && c <= '9') || c == '.'))) return false;
  }
  return !s.empty();
}

bool IsNumber(DType t) { return IsInteger(t) || IsFloat(t); }

class Verifier {
 public:
  explicit Verifier(const LoopNest& nest) : nest_(nest), num_ops_(nest.body.size()) {}

  absl::Status Structure() {
    if (!IsName(nest_.name)) return Error(absl::StrCat("'", nest_.name, "' is not a name"));
    if (absl::Status s = Symbols(); !s.ok()) return s;
    if (absl::Status s = Dims(); !s.ok()) return s;
    if (absl::Status s = Buffers(); !s.ok()) return s;
    for (id_ = 0; id_ < num_ops_; ++id_)
      if (absl::Status s = Op(nest_.body[id_]); !s.ok()) return s;
    // Levels need operands known to be in order, so they come last.
    inner_ = InnerValues(nest_);
    for (id_ = 0; id_ < num_ops_; ++id_) {
      const LoopOp& op = nest_.body[id_];
      if (op.code != OpCode::kStore) continue;
      if (absl::Status s = WrittenOnce(op); !s.ok()) return s;
    }
    return absl::OkStatus();
  }

  // After Structure().
  absl::Status Indices() {
    const RangeContext ranges = nest_.Ranges();
    const bool no_outer_point = HasEmptyDim(false);
    const bool no_inner_point = no_outer_point || HasEmptyDim(true);
    for (id_ = 0; id_ < num_ops_; ++id_) {
      const LoopOp& op = nest_.body[id_];
      const bool masked = op.code == OpCode::kLoad && !op.operands.empty();
      if ((op.code != OpCode::kLoad && op.code != OpCode::kStore) || masked) continue;
      if (inner_[id_] ? no_inner_point : no_outer_point) continue;  // never executed
      const NestBuffer& buffer = nest_.buffers[op.buffer];
      if (absl::Status s = IndirectsExist(op); !s.ok()) return s;
      if (ranges.ProveLe(0, op.index) && ranges.ProveLt(op.index, buffer.numel)) continue;
      return OpError(absl::StrCat(std::string(OpName(op.code)), " ", buffer.name, "[",
                                  op.index.ToString(), "]: index is not provably in [0, ",
                                  buffer.numel.ToString(), ")"));
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Error(const std::string& what) const {
    return absl::InternalError(absl::StrCat("nest ", nest_.name, ": ", what));
  }
  absl::Status OpError(const std::string& what) const {
    return absl::InternalError(absl::StrCat("nest ", nest_.name, ", %", id_, ": ", what));
  }

  absl::Status Symbols() {
    std::string previous;
    for (const SizeSymbol& s : nest_.symbols) {
      if (!IsName(s.name)) return Error(absl::StrCat("size '", s.name, "' is not a name"));
      if (s.name <= previous)
        return Error(absl::StrCat("size ", s.name, " after ", previous,
                                  ": sizes are sorted by name, each once"));
      if (s.lower < 0 || s.lower > s.hint || s.hint > s.upper)
        return Error(absl::StrCat("size ", s.name, ": expected 0 <= lower <= hint <= upper, got ",
                                  s.lower, ", ", s.hint, ", ", s.upper));
      previous = s.name;
      sizes_.insert(s.name);
      size_ranges_.AddSize(s.name, s.lower, s.upper);
    }
    vars_ = sizes_;
    return absl::OkStatus();
  }

  absl::Status Dims() {
    std::vector<IndexExpr> extents;
    for (const LoopDim& d : nest_.dims) {
      extents.push_back(d.extent);
      if (!IsName(d.name)) return Error(absl::StrCat("dim '", d.name, "' is not a name"));
      if (!vars_.insert(d.name).second)
        return Error(absl::StrCat("dim ", d.name, ": the name is taken"));
      if (absl::Status s = Size("extent", d.extent); !s.ok())
        return Error(absl::StrCat("dim ", d.name, ": ", std::string(s.message())));
    }
    if (!TryProduct(extents).has_value())
      return Error("the dims make more points than int64 holds");
    return absl::OkStatus();
  }

  absl::Status Buffers() {
    std::set<std::string> names;
    for (const NestBuffer& b : nest_.buffers) {
      if (!IsName(b.name)) return Error(absl::StrCat("buffer '", b.name, "' is not a name"));
      if (!names.insert(b.name).second)
        return Error(absl::StrCat("buffer ", b.name, " is there twice"));
      if (absl::Status s = Size("numel", b.numel); !s.ok())
        return Error(absl::StrCat("buffer ", b.name, ": ", std::string(s.message())));
    }
    return absl::OkStatus();
  }

  // A size: over the size symbols only, and never negative.
  absl::Status Size(const std::string& what, const IndexExpr& size) const {
    for (const std::string& var : size.Vars())
      if (sizes_.count(var) == 0)
        return absl::InternalError(
            absl::StrCat(what, " ", size.ToString(), " uses ", var, ", which is not a size"));
    if (size_ranges_.ProveLe(0, size)) return absl::OkStatus();
    return absl::InternalError(absl::StrCat(what, " ", size.ToString(), " may be negative"));
  }

  absl::Status Op(const LoopOp& op) {
    if (absl::Status s = Operands(op); !s.ok()) return s;
    if (HasIndex(op.code)) {
      for (const std::string& var : op.index.Vars())
        if (vars_.count(var) == 0)
          return OpError(absl::StrCat("index ", op.index.ToString(), " uses ", var,
                                      ", which is not defined above"));
    }
    switch (op.code) {
      case OpCode::kConst:
        return Const(op);
      case OpCode::kIndex:
        if (IsNumber(op.dtype)) return absl::OkStatus();
        return OpError(absl::StrCat("index as ", TypeName(op.dtype)));
      case OpCode::kLoad:
      case OpCode::kStore:
        return Access(op);
      case OpCode::kCast:
        return absl::OkStatus();
      case OpCode::kSelect:
        return Select(op);
      case OpCode::kIndirect:
        return Indirect(op);
      case OpCode::kReduce:
        return Reduce(op);
      default:
        return ScalarOp(op);
    }
  }

  absl::Status Operands(const LoopOp& op) const {
    const int arity = OpArity(op.code);
    const int count = static_cast<int>(op.operands.size());
    if (arity >= 0 ? count != arity : count > 1)
      return OpError(absl::StrCat(std::string(OpName(op.code)), " of ", count, " operands"));
    for (ValueId v : op.operands) {
      if (v < 0 || v >= id_) return OpError(absl::StrCat("operand %", v, " is not defined above"));
      if (nest_.body[v].code == OpCode::kStore)
        return OpError(absl::StrCat("operand %", v, " is a store and has no value"));
    }
    return absl::OkStatus();
  }

  DType TypeOf(const LoopOp& op, int k) const { return nest_.body[op.operands[k]].dtype; }

  // "max of f32 and i64"
  absl::Status BadTypes(const LoopOp& op) const {
    std::string what(OpName(op.code));
    if (op.code == OpCode::kReduce) absl::StrAppend(&what, ".", std::string(ReduceName(op.reduce)));
    for (size_t k = 0; k < op.operands.size(); ++k)
      absl::StrAppend(&what, k == 0 ? " of " : " and ", TypeName(TypeOf(op, k)));
    return OpError(what);
  }

  absl::Status Result(const LoopOp& op, DType expected) const {
    if (op.dtype == expected) return absl::OkStatus();
    return OpError(absl::StrCat("result of ", std::string(OpName(op.code)), " is ",
                                TypeName(op.dtype), ", expected ", TypeName(expected)));
  }

  absl::Status Const(const LoopOp& op) const {
    if (op.literal.dtype != op.dtype)
      return OpError(absl::StrCat("literal of type ", TypeName(op.literal.dtype), " in a const of ",
                                  TypeName(op.dtype)));
    const Scalar held = IsFloat(op.dtype) ? Scalar::Float(op.dtype, op.literal.f)
                                          : Scalar::Int(op.dtype, op.literal.i);
    if (held == op.literal) return absl::OkStatus();
    return OpError(absl::StrCat("literal is not a value of type ", TypeName(op.dtype)));
  }

  absl::Status Access(const LoopOp& op) const {
    const bool store = op.code == OpCode::kStore;
    if (op.buffer < 0 || op.buffer >= static_cast<int>(nest_.buffers.size()))
      return OpError(absl::StrCat("no buffer ", op.buffer));
    const NestBuffer& buffer = nest_.buffers[op.buffer];
    if (buffer.written != store)
      return OpError(absl::StrCat(store ? "store to " : "load of ", buffer.name, ", which is ",
                                  store ? "only read" : "only written"));
    if (op.dtype != buffer.dtype)
      return OpError(absl::StrCat(store ? "store" : "load", " of ", TypeName(op.dtype),
                                  store ? " to " : " from ", buffer.name, " of ",
                                  TypeName(buffer.dtype)));
    if (op.operands.empty()) return absl::OkStatus();
    if (store) return Result(op, TypeOf(op, 0));
    if (TypeOf(op, 0) == DType::kBool) return absl::OkStatus();
    return OpError(absl::StrCat("mask of type ", TypeName(TypeOf(op, 0))));
  }

  absl::Status Select(const LoopOp& op) const {
    if (TypeOf(op, 0) != DType::kBool || TypeOf(op, 1) != TypeOf(op, 2)) return BadTypes(op);
    return Result(op, TypeOf(op, 1));
  }

  absl::Status Indirect(const LoopOp& op) {
    if (!IsInteger(TypeOf(op, 0))) return BadTypes(op);
    if (absl::Status s = Result(op, DType::kI64); !s.ok()) return s;
    if (absl::Status s = Size("extent", op.index); !s.ok())
      return OpError(std::string(s.message()));
    if (vars_.insert(IndirectVar(id_)).second) return absl::OkStatus();
    return OpError(absl::StrCat("the name ", IndirectVar(id_), " is taken"));
  }

  absl::Status Reduce(const LoopOp& op) const {
    if (!nest_.HasReduction()) return OpError("reduce in a nest without reduction dims");
    if (!IsNumber(TypeOf(op, 0))) return BadTypes(op);
    return Result(op, IsArgReduce(op.reduce) ? DType::kI64 : TypeOf(op, 0));
  }

  absl::Status ScalarOp(const LoopOp& op) const {
    const DType type = TypeOf(op, 0);
    if (!OpAllowsType(op.code, type) || (op.operands.size() == 2 && TypeOf(op, 1) != type))
      return BadTypes(op);
    return Result(op, ClassOf(op.code) == OpClass::kCompare ? DType::kBool : type);
  }

  // Each element is written once. What is checked is necessary for that: an index that leaves out
  // a dim it is executed for writes the same element again. (Scatters depend on their data.)
  absl::Status WrittenOnce(const LoopOp& op) const {
    const std::set<std::string> used = op.index.Vars();
    for (const std::string& var : used)
      if (IsIndirectVar(var)) return absl::OkStatus();
    for (const LoopDim& d : nest_.dims) {
      if (d.reduce && !inner_[id_]) continue;
      if (used.count(d.name) > 0 || size_ranges_.Bounds(d.extent).hi <= 1) continue;
      return OpError(absl::StrCat("store ", nest_.buffers[op.buffer].name, "[", op.index.ToString(),
                                  "] writes the same element for every ", d.name));
    }
    return absl::OkStatus();
  }

  bool IsIndirectVar(const std::string& var) const {
    if (sizes_.count(var) > 0) return false;
    for (const LoopDim& d : nest_.dims)
      if (d.name == var) return false;
    return true;
  }

  // A dim without points executes nothing, but an indirect op has its value, 0, even where its
  // extent is 0 and no element is valid: bounds do not see that.
  absl::Status IndirectsExist(const LoopOp& op) const {
    for (ValueId id = 0; id < id_; ++id) {
      const LoopOp& indirect = nest_.body[id];
      if (indirect.code != OpCode::kIndirect || !op.index.Mentions(IndirectVar(id))) continue;
      if (size_ranges_.ProveLe(1, indirect.index)) continue;
      return OpError(absl::StrCat("index ", op.index.ToString(), " uses ", IndirectVar(id),
                                  ", whose extent ", indirect.index.ToString(),
                                  " may be 0; the load needs a mask"));
    }
    return absl::OkStatus();
  }

  bool HasEmptyDim(bool reduce) const {
    for (const LoopDim& d : nest_.dims)
      if (d.reduce == reduce && d.extent == IndexExpr(0)) return true;
    return false;
  }

  const LoopNest& nest_;
  const int num_ops_;
  ValueId id_ = 0;
  RangeContext size_ranges_;
  std::set<std::string> sizes_;
  std::set<std::string> vars_;  // sizes, dims, and indirect variables so far
  std::vector<bool> inner_;
};

}  // namespace

absl::Status VerifyStructure(const LoopNest& nest) { return Verifier(nest).Structure(); }

absl::Status Verify(const LoopNest& nest) {
  Verifier verifier(nest);
  if (absl::Status s = verifier.Structure(); !s.ok()) return s;
  return verifier.Indices();
}

}  // namespace stax
