#include "compiler/lowering/rewrite_body.h"

#include <algorithm>
#include <set>
#include <utility>

namespace stax {
namespace {

class Copier {
 public:
  Copier(const LoopNest& from, const BodyCopy& how, BodyBuilder* to)
      : from_(from), how_(how), to_(*to), vars_(how.vars), ranges_(to->nest()->Ranges()) {}

  std::vector<ValueId> Run() {
    ids_.assign(from_.body.size(), -1);
    for (ValueId id = 0; id < static_cast<int>(from_.body.size()); ++id)
      if (how_.live.empty() || how_.live[id]) ids_[id] = Copy(id);
    return std::move(ids_);
  }

 private:
  IndexExpr NewIndex(const IndexExpr& index) const {
    const IndexExpr replaced = index.Substitute(vars_);
    return how_.rewrite_index ? how_.rewrite_index(replaced) : Simplify(replaced, ranges_);
  }

  int NewBuffer(const LoopOp& op) {
    const NestBuffer& b = from_.buffers[op.buffer];
    return to_.Buffer(b.name, b.dtype, b.numel, b.written);
  }

  ValueId Copy(ValueId id) {
    const LoopOp& op = from_.body[id];
    std::vector<ValueId> operands;
    for (ValueId v : op.operands) operands.push_back(ids_[v]);
    switch (op.code) {
      case OpCode::kConst:
        return to_.Const(op.literal);
      case OpCode::kIndex:
        return to_.Index(NewIndex(op.index), op.dtype);
      case OpCode::kLoad:
        return Load(op, operands);
      case OpCode::kStore:
        to_.Store(NewBuffer(op), NewIndex(op.index), operands[0]);
        return -1;
      case OpCode::kCast:
        return to_.Cast(operands[0], op.dtype);
      case OpCode::kSelect:
        return to_.Select(operands[0], operands[1], operands[2]);
      case OpCode::kIndirect: {
        const IndexExpr var = to_.Indirect(operands[0], op.index);
        vars_[IndirectVar(id)] = var;
        if (const auto name = var.AsVar(); name.has_value()) ranges_.AddLoop(*name, op.index);
        return -1;  // no op reads the value itself
      }
      case OpCode::kReduce:
        return to_.Reduce(op.reduce, operands[0]);
      default:
        return to_.Op(op.code, std::move(operands));
    }
  }

  ValueId Load(const LoopOp& op, const std::vector<ValueId>& mask) {
    const IndexExpr index = NewIndex(op.index);
    std::optional<ValueId> value;
    if (how_.replace_load) value = how_.replace_load(op, index);
    if (value.has_value()) {
      if (mask.empty()) return *value;
      return to_.Select(mask[0], *value, to_.Const(Scalar::FromDouble(op.dtype, 0)));
    }
    if (!mask.empty()) to_.PushMask(mask[0]);
    const ValueId id = to_.Load(NewBuffer(op), index);
    if (!mask.empty()) to_.PopMask();
    return id;
  }

  const LoopNest& from_;
  const BodyCopy& how_;
  BodyBuilder& to_;
  std::map<std::string, IndexExpr> vars_;
  RangeContext ranges_;
  std::vector<ValueId> ids_;
};

std::vector<SizeSymbol> UsedSymbols(const LoopNest& nest) {
  std::set<std::string> names;
  const auto use = [&](const IndexExpr& e) {
    for (const std::string& name : e.Vars()) names.insert(name);
  };
  for (const LoopDim& d : nest.dims) use(d.extent);
  for (const NestBuffer& b : nest.buffers) use(b.numel);
  for (const LoopOp& op : nest.body)
    if (HasIndex(op.code) || op.code == OpCode::kIndirect) use(op.index);
  std::vector<SizeSymbol> used;
  for (const SizeSymbol& s : nest.symbols)
    if (names.count(s.name) > 0) used.push_back(s);
  return used;
}

}  // namespace

std::vector<ValueId> CopyBody(const LoopNest& from, const BodyCopy& how, BodyBuilder* to) {
  return Copier(from, how, to).Run();
}

std::vector<bool> LiveOps(const LoopNest& nest,
                          const std::function<bool(const LoopOp&)>& keep_store) {
  const std::vector<std::vector<ValueId>> uses = Dependencies(nest);
  std::vector<bool> live(nest.body.size(), false);
  for (ValueId id = static_cast<int>(nest.body.size()); id-- > 0;) {
    const LoopOp& op = nest.body[id];
    if (op.code == OpCode::kStore) live[id] = !keep_store || keep_store(op);
    if (!live[id]) continue;
    for (ValueId v : uses[id]) live[v] = true;
  }
  return live;
}

LoopNest KeepOps(const LoopNest& nest, const std::vector<bool>& live) {
  LoopNest clean;
  clean.name = nest.name;
  clean.symbols = nest.symbols;
  clean.dims = nest.dims;
  BodyCopy how;
  how.live = live;
  how.rewrite_index = [](const IndexExpr& index) { return index; };
  BodyBuilder body(&clean);
  CopyBody(nest, how, &body);
  clean.symbols = UsedSymbols(clean);
  return clean;
}

LoopNest RemoveDeadOps(const LoopNest& nest) { return KeepOps(nest, LiveOps(nest, nullptr)); }

}  // namespace stax
