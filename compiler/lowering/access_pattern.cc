#include "compiler/lowering/access_pattern.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace stax {
namespace {

// Far above any size that fits a machine, far below overflow of a few products.
constexpr int64_t kHuge = int64_t{1} << 60;

int64_t SaturatingMul(int64_t a, int64_t b) {
  int64_t product;
  return __builtin_mul_overflow(a, b, &product) ? kHuge : std::min(product, kHuge);
}

int64_t StrideAlong(const IndexExpr& index, const std::string& var) {
  if (!index.Mentions(var)) return 0;
  const std::optional<IndexExpr> stride = index.StrideOf(var);
  if (!stride.has_value() || !stride->IsConst()) return Access::kOther;
  return stride->ConstOrDie();
}

}  // namespace

int64_t AtHint(const IndexExpr& size, const std::vector<SizeSymbol>& symbols) {
  if (size.IsConst()) return std::clamp<int64_t>(size.ConstOrDie(), 0, kHuge);
  std::map<std::string, int64_t> hints;
  for (const SizeSymbol& s : symbols) hints[s.name] = s.hint;
  const absl::StatusOr<int64_t> value = size.Evaluate(hints);
  return value.ok() ? std::clamp<int64_t>(*value, 0, kHuge) : kHuge;
}

std::vector<std::vector<int>> DependentDims(const LoopNest& nest) {
  std::map<std::string, std::set<int>> dims_of_var;
  for (int d = 0; d < static_cast<int>(nest.dims.size()); ++d) dims_of_var[nest.dims[d].name] = {d};
  std::vector<std::vector<int>> result(nest.body.size());
  for (ValueId id = 0; id < static_cast<int>(nest.body.size()); ++id) {
    const LoopOp& op = nest.body[id];
    std::set<int> dims;
    for (ValueId v : op.operands) dims.insert(result[v].begin(), result[v].end());
    if (HasIndex(op.code)) {
      for (const std::string& var : op.index.Vars()) {
        const auto it = dims_of_var.find(var);
        if (it != dims_of_var.end()) dims.insert(it->second.begin(), it->second.end());
      }
    }
    if (op.code == OpCode::kIndirect) dims_of_var[IndirectVar(id)] = dims;
    for (int d : dims)
      if (op.code != OpCode::kReduce || !nest.dims[d].reduce) result[id].push_back(d);
  }
  return result;
}

std::vector<Access> Accesses(const LoopNest& nest) {
  const std::vector<std::vector<int>> dependent = DependentDims(nest);
  std::set<std::string> indirect;
  for (ValueId id = 0; id < static_cast<int>(nest.body.size()); ++id)
    if (nest.body[id].code == OpCode::kIndirect) indirect.insert(IndirectVar(id));
  std::vector<Access> accesses;
  for (ValueId id = 0; id < static_cast<int>(nest.body.size()); ++id) {
    const LoopOp& op = nest.body[id];
    if (op.code != OpCode::kLoad && op.code != OpCode::kStore) continue;
    const NestBuffer& buffer = nest.buffers[op.buffer];
    Access access;
    access.op = id;
    access.store = op.code == OpCode::kStore;
    access.element_bytes = DTypeBytes(buffer.dtype);
    access.strides.assign(nest.dims.size(), 0);
    bool gathers = false;
    for (const std::string& var : op.index.Vars()) gathers |= indirect.count(var) > 0;
    int64_t elements = 1;
    for (int d = 0; d < static_cast<int>(nest.dims.size()); ++d) {
      const std::string& var = nest.dims[d].name;
      const bool depends = std::binary_search(dependent[id].begin(), dependent[id].end(), d);
      access.strides[d] = StrideAlong(op.index, var);
      // A stored value or a mask may depend on more dims than the index.
      if (gathers && depends && access.strides[d] == 0) access.strides[d] = Access::kOther;
      if (access.strides[d] != 0)
        elements = SaturatingMul(elements, AtHint(nest.dims[d].extent, nest.symbols));
    }
    access.elements = std::min(elements, AtHint(buffer.numel, nest.symbols));
    accesses.push_back(std::move(access));
  }
  return accesses;
}

bool IndicesAreProvable(const LoopNest& nest) {
  const RangeContext ranges = nest.Ranges();
  return std::all_of(nest.body.begin(), nest.body.end(), [&](const LoopOp& op) {
    const bool unmasked_load = op.code == OpCode::kLoad && op.operands.empty();
    if (!unmasked_load && op.code != OpCode::kStore) return true;
    return ranges.ProveLe(0, op.index) && ranges.ProveLt(op.index, nest.buffers[op.buffer].numel);
  });
}

bool ReducesContiguous(const LoopNest& nest) {
  double along_reduction = 0, along_loops = 0;  // bytes
  for (const Access& access : Accesses(nest)) {
    if (access.store) continue;
    const double bytes = static_cast<double>(access.elements) * access.element_bytes;
    for (size_t d = 0; d < nest.dims.size(); ++d) {
      if (access.strides[d] != 1 && access.strides[d] != -1) continue;
      (nest.dims[d].reduce ? along_reduction : along_loops) += bytes;
    }
  }
  return along_reduction >= along_loops;
}

}  // namespace stax
