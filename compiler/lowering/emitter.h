// Lazy tensors: the body that computes one element of a graph tensor.
//
// A tensor that is stored (an input, a constant, a materialised tensor) is a load; everything else
// is its operator applied to the operands at the indices the operator asks for. Views are index
// arithmetic, pad and concat masks, gather an indirect index. Within one nest each (tensor, index)
// is emitted once, so shared subexpressions stay linear.
#ifndef STAX_COMPILER_LOWERING_EMITTER_H_
#define STAX_COMPILER_LOWERING_EMITTER_H_

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "compiler/lowering/einsum.h"
#include "compiler/lowering/index_map.h"
#include "ir/graph.h"
#include "ir/loop_nest.h"

namespace stax {

// Where a tensor's elements are in memory, row-major over the tensor's dims.
struct StoredTensor {
  std::string buffer;
};

// By TensorId; nullopt: the tensor is computed wherever it is read.
using Storage = std::vector<std::optional<StoredTensor>>;

// The op that defines each tensor.
std::vector<const GraphOp*> DefiningOps(const Graph& graph);

// A constant all of whose elements are equal, as that scalar.
std::optional<Scalar> SplatValue(const GraphTensor& tensor, const GraphOp& op);

class Emitter {
 public:
  // `nest` has its symbols and dims; the references must outlive the emitter.
  Emitter(const Graph& graph, const std::vector<const GraphOp*>& defs, const Storage& storage,
          LoopNest* nest);

  // Element of `tensor` at `index`, an expression a dim over the nest's variables.
  ValueId Emit(TensorId tensor, const Index& index);
  // The same by the tensor's operator even if the tensor is stored: what is to be stored. Not for
  // inputs and reductions.
  ValueId EmitDefinition(TensorId tensor, const Index& index);
  // Product of an einsum's operands in the accumulator's type; `at` gives each label an index.
  ValueId EmitProduct(const GraphOp& op, const Contraction& einsum,
                      const std::map<char, IndexExpr>& at);

  // Element of a buffer made by lowering itself.
  ValueId Load(const StoredTensor& at, DType dtype, const Dims& dims, const Index& index);
  void Store(const StoredTensor& at, DType dtype, const Dims& dims, const Index& index,
             ValueId value);
  // `emit()` under a mask, `otherwise` where the mask is false. Emits no select for a mask that
  // is always true.
  template <typename F>
  ValueId Masked(ValueId mask, F emit, const std::optional<ValueId>& otherwise);

  BodyBuilder& body() { return body_; }
  IndexExpr Simple(const IndexExpr& e) const { return Simplify(e, ranges_); }

 private:
  bool IsTrue(ValueId mask) const;
  ValueId AndInBounds(std::optional<ValueId> mask, const IndexExpr& value, const IndexExpr& lo,
                      const IndexExpr& hi);
  ValueId EmitShapeValue(const GraphOp& op, const Index& index);
  ValueId EmitReduceOfOnes(const GraphOp& op, const Index& index);
  ValueId EmitCumulativeOfOne(const GraphOp& op, const Index& index);
  // Row-major position of `index`, provably inside the tensor unless masks are pushed.
  IndexExpr Position(const Index& index, const Dims& dims) const;
  ValueId EmitEinsum(const GraphOp& op, const Index& index);
  ValueId EmitPad(const GraphOp& op, const Index& index);
  ValueId EmitConcat(const GraphOp& op, const Index& index);
  ValueId EmitGather(const GraphOp& op, const Index& index);
  ValueId EmitView(const GraphOp& op, const Index& index);
  IndexExpr IndirectAt(TensorId indices, const Index& at, const IndexExpr& extent);
  // Whether a variable is not the result of an indirect op.
  bool IsDimOrSize(const std::string& name) const;

  const Graph& graph_;
  const std::vector<const GraphOp*>& defs_;
  const Storage& storage_;
  BodyBuilder body_;
  RangeContext ranges_;
  std::vector<ValueId> masks_;  // pushed on body_
  std::map<std::tuple<TensorId, std::vector<ValueId>, Index>, ValueId> memo_;
};

template <typename F>
ValueId Emitter::Masked(ValueId mask, F emit, const std::optional<ValueId>& otherwise) {
  if (IsTrue(mask)) return emit();
  body_.PushMask(mask);
  masks_.push_back(mask);
  const ValueId value = emit();
  masks_.pop_back();
  body_.PopMask();
  return otherwise.has_value() ? body_.Select(mask, value, *otherwise) : value;
}

}  // namespace stax

#endif  // STAX_COMPILER_LOWERING_EMITTER_H_
