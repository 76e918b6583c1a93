#include "compiler/schedule/traffic.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/lowering/access_pattern.h"

namespace stax {
namespace {

IndexExpr Points(const LoopNest& nest, const std::vector<int>& dims) {
  std::vector<IndexExpr> extents;
  for (int d : dims) extents.push_back(nest.dims[d].extent);
  return Product(extents);
}

// Dims that the index of a load or store runs over.
std::vector<int> IndexDims(const LoopNest& nest, const std::vector<std::vector<int>>& dependent,
                           const LoopOp& op) {
  std::set<int> dims;
  for (const std::string& var : op.index.Vars()) {
    for (int d = 0; d < static_cast<int>(nest.dims.size()); ++d)
      if (nest.dims[d].name == var) dims.insert(d);
    for (ValueId v = 0; v < static_cast<int>(nest.body.size()); ++v)
      if (nest.body[v].code == OpCode::kIndirect && IndirectVar(v) == var)
        dims.insert(dependent[v].begin(), dependent[v].end());
  }
  return std::vector<int>(dims.begin(), dims.end());
}

bool CountsAsFlop(const LoopNest& nest, const LoopOp& op) {
  if (op.code == OpCode::kReduce) return IsFloat(nest.body[op.operands[0]].dtype);
  return IsScalarOp(op.code) && ClassOf(op.code) != OpClass::kCompare && IsFloat(op.dtype);
}

}  // namespace

Traffic CountTraffic(const LoopNest& nest) {
  const RangeContext ranges = nest.Ranges();
  const std::vector<std::vector<int>> dependent = DependentDims(nest);
  std::vector<IndexExpr> elements(nest.buffers.size(), 0);
  std::set<std::pair<int, IndexExpr>> counted;
  Traffic traffic;
  for (ValueId id = 0; id < static_cast<int>(nest.body.size()); ++id) {
    const LoopOp& op = nest.body[id];
    const bool access = op.code == OpCode::kLoad || op.code == OpCode::kStore;
    if (access && counted.emplace(op.buffer, op.index).second)
      elements[op.buffer] = elements[op.buffer] + Points(nest, IndexDims(nest, dependent, op));
    if (!CountsAsFlop(nest, op)) continue;
    const ValueId over = op.code == OpCode::kReduce ? op.operands[0] : id;
    traffic.flops = traffic.flops + Points(nest, dependent[over]);
  }
  for (size_t b = 0; b < nest.buffers.size(); ++b) {
    const NestBuffer& buffer = nest.buffers[b];
    const IndexExpr once = Simplify(Min(elements[b], buffer.numel), ranges);
    IndexExpr& bytes = buffer.written ? traffic.write_bytes : traffic.read_bytes;
    bytes = bytes + DTypeBytes(buffer.dtype) * once;
  }
  return traffic;
}

}  // namespace stax
