// LoopNest: the loop-level IR. An iteration space and one body of scalar operations in SSA form,
// executed for every point of the space. CPU and GPU kernels come from the same LoopNest.
//
// Example 1.1, (relu(x + w) * 2).sum(-1) on f32 [64, 128]:
//
//   nest sum_0 {
//     buffer x: f32[8192] in
//     buffer w: f32[8192] in
//     buffer sum: f32[64] out
//     loop i0: 64
//     reduce r0: 128
//     %0 = load x[128*i0 + r0] : f32
//     %1 = load w[128*i0 + r0] : f32
//     %2 = add %0, %1 : f32
//     %3 = const 0.0 : f32
//     %4 = max %2, %3 : f32
//     %5 = const 2.0 : f32
//     %6 = mul %4, %5 : f32
//     %7 = reduce.sum %6 : f32
//     store sum[i0], %7
//   }
//
// Levels. A value is *inner* when it depends on a reduction variable (directly or through
// operands) and *outer* otherwise; a reduce turns an inner (or outer) value into an outer one.
// Inner values may use outer ones, including results of earlier reductions: softmax is one nest
// with two reductions. Meaning: for each point of the loop dims, operations are taken in order;
// every inner operation stands for all points of the reduction dims. Stores of inner values happen
// at every point, of outer values once per loop point.
//
// Dims are kept in the natural (row-major) order of the tensor that is traversed; loop and
// reduction dims may be mixed. A nest has no aliasing: a buffer is read or written, never both, and
// each element is written once.
//
// Indirect indices (gather): `%3 = indirect %2 : n` makes the integer value %2 usable as the
// variable "t3" in index expressions; a negative value counts from the end (n is added once), then
// the result is clamped to [0, n). The op's own value is the clamped position, an i64.
//
// A store is inner when its value or its index is. Other forms in the text: a masked load
// `%5 = load x[i0 + r0 - 1] if %4 : f32`, a size symbol `size n in [2, 4096] hint 64`, comments
// from '#' to the end of the line (ir/loop_nest_text.cc has the grammar).
#ifndef STAX_IR_LOOP_NEST_H_
#define STAX_IR_LOOP_NEST_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir/dtype.h"
#include "ir/index_expr.h"
#include "ir/loop_op.h"
#include "ir/scalar.h"

namespace stax {

using ValueId = int;  // position of the defining op in LoopNest::body

// A size that is not known at compile time, e.g. a batch size. lower <= hint <= upper.
struct SizeSymbol {
  std::string name;
  int64_t lower = 2;
  int64_t upper = (int64_t{1} << 31) - 1;
  int64_t hint = 64;
};

struct LoopDim {
  std::string name;  // "i0", "i1", ... for loops; "r0", ... for reductions
  IndexExpr extent;
  bool reduce = false;
};

struct NestBuffer {
  std::string name;
  DType dtype = DType::kF32;
  IndexExpr numel;
  bool written = false;
};

struct LoopOp {
  OpCode code = OpCode::kConst;
  DType dtype = DType::kF32;             // of the result; of the stored value for kStore
  std::vector<ValueId> operands;         // kLoad: empty or {mask}
  int buffer = -1;                       // kLoad, kStore: position in LoopNest::buffers
  IndexExpr index;                       // kLoad, kStore, kIndex; kIndirect: the extent n
  Scalar literal;                        // kConst
  ReduceKind reduce = ReduceKind::kSum;  // kReduce

  bool operator==(const LoopOp& other) const;
};

struct LoopNest {
  std::string name;
  std::vector<SizeSymbol> symbols;  // those used below, sorted by name
  std::vector<NestBuffer> buffers;
  std::vector<LoopDim> dims;
  std::vector<LoopOp> body;

  bool HasReduction() const;
  std::vector<int> LoopDims() const;    // positions in `dims`
  std::vector<int> ReduceDims() const;  // positions in `dims`
  IndexExpr LoopNumel() const;          // points of the loop dims
  IndexExpr ReduceNumel() const;        // points of the reduction dims; 1 when there are none
  // Symbols and dims as ranges, indirect variables with their extents.
  RangeContext Ranges() const;
};

// Variable that stands for the result of the kIndirect op `id` in index expressions.
std::string IndirectVar(ValueId id);

// Whether each value is inner (see above), by op position.
std::vector<bool> InnerValues(const LoopNest& nest);

// Whether ops have an index over dims; that of an indirect op is its extent, a size.
inline bool HasIndex(OpCode code) {
  return code == OpCode::kLoad || code == OpCode::kStore || code == OpCode::kIndex;
}

// For each op the ops whose values it uses: its operands and the indirect ops its index mentions.
std::vector<std::vector<ValueId>> Dependencies(const LoopNest& nest);

// Text form; ParseLoopNest(ToText(n)) gives n again, and ToText is deterministic.
std::string ToText(const LoopNest& nest);
// Lines of ToText, from 1: of an op, and of the first reduction dim (1, the header, without one).
int OpLine(const LoopNest& nest, ValueId id);
int ReductionLine(const LoopNest& nest);
// InvalidArgument with line and column and what was expected.
absl::StatusOr<LoopNest> ParseLoopNest(std::string_view text);

// The executable specification of a well-formed nest: SSA order, arities, dtypes by op class,
// levels, names defined, extents, indices provably inside their buffers unless masked,
// each buffer read or written only. Internal error naming the op otherwise.
absl::Status Verify(const LoopNest& nest);

// Builds a body: removes common subexpressions, folds constants exactly representable, and applies
// the identities that hold for every input including NaN and signed zeros. The nest's symbols and
// dims come first: bounds are proved with them. Ops and types must fit (CHECK). Constants that
// folding leaves unused stay in the body.
class BodyBuilder {
 public:
  explicit BodyBuilder(LoopNest* nest) : nest_(nest) {}

  // Adds or finds a buffer by name.
  int Buffer(std::string_view name, DType dtype, const IndexExpr& numel, bool written);

  ValueId Const(const Scalar& value);
  ValueId Index(const IndexExpr& value, DType dtype);
  // While masks are pushed, loads get their conjunction as mask.
  ValueId Load(int buffer, const IndexExpr& index);
  void Store(int buffer, const IndexExpr& index, ValueId value);
  ValueId Op(OpCode code, std::vector<ValueId> operands);  // scalar ops; dtype follows
  ValueId Cast(ValueId value, DType dtype);
  ValueId Select(ValueId condition, ValueId if_true, ValueId if_false);
  ValueId Reduce(ReduceKind kind, ValueId value);
  // Returns the variable to be used in indices.
  IndexExpr Indirect(ValueId value, const IndexExpr& extent);
  // lo <= value < hi as a bool value; a bound that holds always is left out.
  ValueId InBounds(const IndexExpr& value, const IndexExpr& lo, const IndexExpr& hi);

  void PushMask(ValueId mask);
  void PopMask();

  DType dtype(ValueId id) const;
  LoopNest* nest() const { return nest_; }

 private:
  // The op as it is, or the equal one that is there already.
  ValueId Add(LoopOp op);
  bool IsConst(ValueId id) const;
  // Whether `id` is the constant `value`; 0.0 and -0.0 differ in float types.
  bool IsConst(ValueId id, double value) const;
  // The value that the op is equal to by an identity, or nullopt.
  std::optional<ValueId> Identity(OpCode code, const std::vector<ValueId>& operands);
  std::optional<ValueId> FloatIdentity(OpCode code, ValueId a, ValueId b);
  std::optional<ValueId> IntegerIdentity(OpCode code, ValueId a, ValueId b);
  std::optional<ValueId> BoolIdentity(OpCode code, ValueId a, ValueId b);
  // The nest's ranges, kept up to date as symbols, dims and indirect ops are added.
  const RangeContext& Ranges();

  LoopNest* nest_;
  std::vector<ValueId> masks_;           // each already the conjunction with those before it
  std::map<std::string, ValueId> seen_;  // printed op -> value, for common subexpressions
  RangeContext ranges_;
  size_t symbols_seen_ = 0, dims_seen_ = 0, ops_seen_ = 0;  // what ranges_ covers
};

}  // namespace stax

#endif  // STAX_IR_LOOP_NEST_H_
