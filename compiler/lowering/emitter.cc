#include "compiler/lowering/emitter.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ir/check.h"
#include "ir/reducer.h"

namespace stax {

std::vector<const GraphOp*> DefiningOps(const Graph& graph) {
  std::vector<const GraphOp*> defs(graph.tensors.size(), nullptr);
  for (const GraphOp& op : graph.ops) defs[op.result] = &op;
  return defs;
}

std::optional<Scalar> SplatValue(const GraphTensor& tensor, const GraphOp& op) {
  if (op.kind != GraphOpKind::kConstant || op.data == nullptr || op.data->empty())
    return std::nullopt;
  const size_t size = DTypeBytes(tensor.dtype);
  const std::byte* bytes = op.data->data();
  for (size_t i = size; i < op.data->size(); ++i)
    if (bytes[i] != bytes[i - size]) return std::nullopt;
  return LoadScalar(tensor.dtype, bytes);
}

Emitter::Emitter(const Graph& graph, const std::vector<const GraphOp*>& defs,
                 const Storage& storage, LoopNest* nest)
    : graph_(graph), defs_(defs), storage_(storage), body_(nest), ranges_(nest->Ranges()) {}

ValueId Emitter::Emit(TensorId tensor, const Index& index) {
  const GraphTensor& t = graph_.tensors[tensor];
  if (storage_[tensor].has_value()) {
    // A constant that is an output has a buffer, but reading it would be a waste.
    if (const auto splat = SplatValue(t, *defs_[tensor])) return body_.Const(*splat);
    return Load(*storage_[tensor], t.dtype, t.dims, index);
  }
  const auto key = std::make_tuple(tensor, masks_, index);
  if (auto it = memo_.find(key); it != memo_.end()) return it->second;
  const ValueId value = EmitDefinition(tensor, index);
  memo_.emplace(key, value);
  return value;
}

ValueId Emitter::EmitDefinition(TensorId tensor, const Index& index) {
  const GraphOp& op = *defs_[tensor];
  const DType dtype = graph_.tensors[tensor].dtype;
  switch (op.kind) {
    case GraphOpKind::kConstant:
      return body_.Const(SplatValue(graph_.tensors[tensor], op).value());
    case GraphOpKind::kShapeValue:
      return EmitShapeValue(op, index);
    case GraphOpKind::kIota:
      return body_.Index(index[op.axis], dtype);
    case GraphOpKind::kElementwise: {
      std::vector<ValueId> operands;
      for (TensorId t : op.operands) operands.push_back(Emit(t, index));
      return body_.Op(op.code, std::move(operands));
    }
    case GraphOpKind::kCast:
      return body_.Cast(Emit(op.operands[0], index), dtype);
    case GraphOpKind::kSelect: {
      const ValueId condition = Emit(op.operands[0], index);
      const ValueId if_true = Emit(op.operands[1], index);
      return body_.Select(condition, if_true, Emit(op.operands[2], index));
    }
    case GraphOpKind::kReduce:
      return EmitReduceOfOnes(op, index);
    case GraphOpKind::kCumulative:
      return EmitCumulativeOfOne(op, index);
    case GraphOpKind::kEinsum:
      return EmitEinsum(op, index);
    case GraphOpKind::kPad:
      return EmitPad(op, index);
    case GraphOpKind::kConcat:
      return EmitConcat(op, index);
    case GraphOpKind::kGather:
    case GraphOpKind::kGatherElements:
      return EmitGather(op, index);
    default:
      return EmitView(op, index);
  }
}

IndexExpr Emitter::Position(const Index& index, const Dims& dims) const {
  IndexExpr position = Simple(FlatIndex(index, dims));
  const IndexExpr numel = NumElements(dims);
  if (!masks_.empty()) return position;
  if (ranges_.ProveLe(0, position) && ranges_.ProveLt(position, numel)) return position;
  // It is inside, but the simplified form of several views' divisions hides it.
  return Max(Min(position, numel - 1), 0);
}

ValueId Emitter::Load(const StoredTensor& at, DType dtype, const Dims& dims, const Index& index) {
  // There is no element: the load is part of an empty sum or of a branch that is never taken.
  if (NumElements(dims) == IndexExpr(0)) return body_.Const(Scalar::FromDouble(dtype, 0));
  const int buffer = body_.Buffer(at.buffer, dtype, NumElements(dims), /*written=*/false);
  return body_.Load(buffer, Position(index, dims));
}

void Emitter::Store(const StoredTensor& at, DType dtype, const Dims& dims, const Index& index,
                    ValueId value) {
  const int buffer = body_.Buffer(at.buffer, dtype, NumElements(dims), /*written=*/true);
  body_.Store(buffer, Simple(FlatIndex(index, dims)), value);
}

bool Emitter::IsTrue(ValueId mask) const {
  const LoopOp& op = body_.nest()->body[mask];
  return op.code == OpCode::kConst && op.literal.i != 0;
}

ValueId Emitter::AndInBounds(std::optional<ValueId> mask, const IndexExpr& value,
                             const IndexExpr& lo, const IndexExpr& hi) {
  const ValueId inside = body_.InBounds(value, lo, hi);
  return mask.has_value() ? body_.Op(OpCode::kAnd, {*mask, inside}) : inside;
}

// A select chain over the row-major position: such tensors are shapes, so they have few elements.
ValueId Emitter::EmitShapeValue(const GraphOp& op, const Index& index) {
  const DType dtype = graph_.tensors[op.result].dtype;
  const auto value = [&](size_t k) { return body_.Index(op.values[k], dtype); };
  if (op.values.empty()) return body_.Const(Scalar::Int(dtype, 0));  // no element is ever read
  const ValueId position =
      body_.Index(Simple(FlatIndex(index, graph_.tensors[op.result].dims)), DType::kI64);
  ValueId result = value(op.values.size() - 1);
  for (size_t k = op.values.size() - 1; k-- > 0;) {
    const ValueId at_k =
        body_.Op(OpCode::kEq, {position, body_.Const(Scalar::Int(DType::kI64, k))});
    result = body_.Select(at_k, value(k), result);
  }
  return result;
}

// A reduction over dims of size 1 is its operand; the position of an extreme is 0.
ValueId Emitter::EmitReduceOfOnes(const GraphOp& op, const Index& index) {
  if (IsArgReduce(op.reduce)) return body_.Const(Scalar::Int(graph_.tensors[op.result].dtype, 0));
  Index operand_index;
  size_t next = 0;
  for (size_t d = 0; d < graph_.tensors[op.operands[0]].dims.size(); ++d) {
    const bool reduced =
        std::find(op.axes.begin(), op.axes.end(), static_cast<int>(d)) != op.axes.end();
    operand_index.push_back(reduced ? IndexExpr(0) : index[next++]);
  }
  return Emit(op.operands[0], operand_index);
}

ValueId Emitter::EmitCumulativeOfOne(const GraphOp& op, const Index& index) {
  if (op.exclusive) return body_.Const(ReduceIdentity(op.reduce, graph_.tensors[op.result].dtype));
  return Emit(op.operands[0], index);
}

ValueId Emitter::EmitEinsum(const GraphOp& op, const Index& index) {
  const Contraction einsum = DescribeEinsum(graph_, op);
  std::map<char, IndexExpr> at;
  for (char label : einsum.summed) at[label] = 0;  // of size 1
  for (size_t d = 0; d < index.size(); ++d) at[einsum.equation.result[d]] = index[d];
  return body_.Cast(EmitProduct(op, einsum, at), graph_.tensors[op.result].dtype);
}

ValueId Emitter::EmitProduct(const GraphOp& op, const Contraction& einsum,
                             const std::map<char, IndexExpr>& at) {
  std::optional<ValueId> product;
  for (size_t k = 0; k < op.operands.size(); ++k) {
    Index index;
    for (char label : einsum.equation.operands[k]) index.push_back(at.at(label));
    const DType dtype = graph_.tensors[op.operands[k]].dtype;
    const ValueId factor = body_.Cast(Emit(op.operands[k], index), AccumulatorType(dtype));
    product = product.has_value() ? body_.Op(OpCode::kMul, {*product, factor}) : factor;
  }
  return *product;
}

ValueId Emitter::EmitPad(const GraphOp& op, const Index& index) {
  const Dims& dims = graph_.tensors[op.operands[0]].dims;
  Index inner;
  std::optional<ValueId> mask;
  for (size_t d = 0; d < dims.size(); ++d) {
    IndexExpr at = index[d] - op.pads_before[d];
    if (op.pad_mode == PadMode::kConstant) {
      mask = AndInBounds(mask, at, 0, dims[d]);
    } else if (op.pad_mode == PadMode::kReflect) {
      at = Max(at, -at);                     // left of the first element
      at = Min(at, 2 * (dims[d] - 1) - at);  // right of the last one
    }
    // Reflected positions are inside already; the clamp lets that be proved.
    if (op.pad_mode != PadMode::kConstant) at = Min(Max(at, 0), dims[d] - 1);
    inner.push_back(Simple(at));
  }
  if (!mask.has_value()) return Emit(op.operands[0], inner);
  const DType dtype = graph_.tensors[op.result].dtype;
  const ValueId fill =
      op.operands.size() > 1 ? Emit(op.operands[1], {}) : body_.Const(Scalar::FromDouble(dtype, 0));
  return Masked(*mask, [&] { return Emit(op.operands[0], inner); }, fill);
}

ValueId Emitter::EmitConcat(const GraphOp& op, const Index& index) {
  const IndexExpr& along = index[op.axis];
  std::vector<IndexExpr> starts = {0};
  for (TensorId t : op.operands) starts.push_back(starts.back() + graph_.tensors[t].dims[op.axis]);
  std::optional<ValueId> result;
  for (size_t k = op.operands.size(); k-- > 0;) {
    // An operand without elements has nothing to load, even under a mask.
    if (starts[k + 1] == starts[k]) continue;
    Index inner = index;
    inner[op.axis] = along - starts[k];
    const ValueId mask = body_.InBounds(along, starts[k], starts[k + 1]);
    result = Masked(mask, [&] { return Emit(op.operands[k], inner); }, result);
  }
  if (result.has_value()) return *result;
  return body_.Const(Scalar::FromDouble(graph_.tensors[op.result].dtype, 0));
}

IndexExpr Emitter::IndirectAt(TensorId indices, const Index& at, const IndexExpr& extent) {
  const IndexExpr var = body_.Indirect(Emit(indices, at), extent);
  if (const auto name = var.AsVar(); name.has_value() && !ranges_.Extent(*name).has_value())
    ranges_.AddLoop(*name, extent);
  return var;
}

bool Emitter::IsDimOrSize(const std::string& name) const {
  const LoopNest& nest = *body_.nest();
  const auto is_it = [&](const auto& named) { return named.name == name; };
  return std::any_of(nest.dims.begin(), nest.dims.end(), is_it) ||
         std::any_of(nest.symbols.begin(), nest.symbols.end(), is_it);
}

ValueId Emitter::EmitGather(const GraphOp& op, const Index& index) {
  const TensorId data = op.operands[0], indices = op.operands[1];
  const IndexExpr& extent = graph_.tensors[data].dims[op.axis];
  const auto first = index.begin() + op.axis;
  const bool elements = op.kind == GraphOpKind::kGatherElements;
  const auto last = first + (elements ? 1 : graph_.tensors[indices].dims.size());
  Index inner(index.begin(), first);
  inner.push_back(IndirectAt(indices, elements ? index : Index(first, last), extent));
  inner.insert(inner.end(), last, index.end());
  // Of an axis that may be empty the clamped position 0 may not be there.
  const bool is_clamped =
      inner[op.axis].AsVar().has_value() && !IsDimOrSize(*inner[op.axis].AsVar());
  if (!is_clamped || ranges_.ProveLe(1, extent)) return Emit(data, inner);
  const ValueId zero = body_.Const(Scalar::FromDouble(graph_.tensors[op.result].dtype, 0));
  return Masked(body_.InBounds(0, 0, extent), [&] { return Emit(data, inner); }, zero);
}

ValueId Emitter::EmitView(const GraphOp& op, const Index& index) {
  const TensorId x = op.operands[0];
  const Dims& dims = graph_.tensors[x].dims;
  Index inner = index;
  switch (op.kind) {
    case GraphOpKind::kReshape:
      inner = ReshapeIndex(dims, graph_.tensors[op.result].dims, index, ranges_);
      break;
    case GraphOpKind::kTranspose:
      for (size_t d = 0; d < index.size(); ++d) inner[op.axes[d]] = index[d];
      break;
    case GraphOpKind::kExpand:
      for (size_t d = 0; d < dims.size(); ++d)
        if (dims[d] == IndexExpr(1)) inner[d] = 0;
      break;
    case GraphOpKind::kSlice:
      inner[op.axis] = op.start + op.step * index[op.axis];
      break;
    default:
      STAX_CHECK(false, absl::StrCat("tensor ", graph_.tensors[op.result].name,
                                     " is not computed by an op"));
  }
  return Emit(x, inner);
}

}  // namespace stax
