#include "ir/loop_nest.h"

#include <map>
#include <set>

#include "absl/strings/str_cat.h"

namespace stax {
namespace {

std::vector<int> DimsWhere(const LoopNest& nest, bool reduce) {
  std::vector<int> positions;
  for (int i = 0; i < static_cast<int>(nest.dims.size()); ++i)
    if (nest.dims[i].reduce == reduce) positions.push_back(i);
  return positions;
}

IndexExpr Points(const LoopNest& nest, bool reduce) {
  std::vector<IndexExpr> extents;
  for (int i : DimsWhere(nest, reduce)) extents.push_back(nest.dims[i].extent);
  return Product(extents);
}

}  // namespace

bool LoopOp::operator==(const LoopOp& other) const {
  if (code != other.code || dtype != other.dtype || operands != other.operands) return false;
  switch (code) {  // fields that the op does not use do not count
    case OpCode::kLoad:
    case OpCode::kStore:
      return buffer == other.buffer && index == other.index;
    case OpCode::kIndex:
    case OpCode::kIndirect:
      return index == other.index;
    case OpCode::kConst:
      return literal == other.literal;
    case OpCode::kReduce:
      return reduce == other.reduce;
    default:
      return true;
  }
}

bool LoopNest::HasReduction() const {
  for (const LoopDim& dim : dims)
    if (dim.reduce) return true;
  return false;
}

std::vector<int> LoopNest::LoopDims() const { return DimsWhere(*this, false); }

std::vector<int> LoopNest::ReduceDims() const { return DimsWhere(*this, true); }

IndexExpr LoopNest::LoopNumel() const { return Points(*this, false); }

IndexExpr LoopNest::ReduceNumel() const { return Points(*this, true); }

RangeContext LoopNest::Ranges() const {
  RangeContext ranges;
  for (const SizeSymbol& s : symbols) ranges.AddSize(s.name, s.lower, s.upper);
  for (const LoopDim& dim : dims) ranges.AddLoop(dim.name, dim.extent);
  for (ValueId id = 0; id < static_cast<int>(body.size()); ++id)
    if (body[id].code == OpCode::kIndirect) ranges.AddLoop(IndirectVar(id), body[id].index);
  return ranges;
}

std::string IndirectVar(ValueId id) { return absl::StrCat("t", id); }

std::vector<bool> InnerValues(const LoopNest& nest) {
  std::set<std::string> inner_vars;
  for (const LoopDim& dim : nest.dims)
    if (dim.reduce) inner_vars.insert(dim.name);
  std::vector<bool> inner(nest.body.size(), false);
  if (inner_vars.empty()) return inner;
  for (ValueId id = 0; id < static_cast<int>(nest.body.size()); ++id) {
    const LoopOp& op = nest.body[id];
    if (op.code == OpCode::kReduce) continue;
    bool is_inner = false;
    for (ValueId v : op.operands) is_inner = is_inner || inner[v];
    if (!is_inner && HasIndex(op.code)) {
      for (const std::string& var : op.index.Vars())
        is_inner = is_inner || inner_vars.count(var) > 0;
    }
    if (is_inner && op.code == OpCode::kIndirect) inner_vars.insert(IndirectVar(id));
    inner[id] = is_inner;
  }
  return inner;
}

std::vector<std::vector<ValueId>> Dependencies(const LoopNest& nest) {
  std::map<std::string, ValueId> indirect;
  std::vector<std::vector<ValueId>> uses(nest.body.size());
  for (ValueId id = 0; id < static_cast<int>(nest.body.size()); ++id) {
    const LoopOp& op = nest.body[id];
    uses[id] = op.operands;
    if (!indirect.empty() && HasIndex(op.code)) {
      for (const std::string& var : op.index.Vars())
        if (auto it = indirect.find(var); it != indirect.end()) uses[id].push_back(it->second);
    }
    if (op.code == OpCode::kIndirect) indirect[IndirectVar(id)] = id;
  }
  return uses;
}

}  // namespace stax
