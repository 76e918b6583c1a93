#include "ir/testing/random_nest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ir/check.h"
#include "ir/op_semantics.h"

namespace stax {
namespace {

// Only raw bits are taken from the engine: the standard's distributions differ by library. For the
// same reason no expression in this file rolls twice: the order of evaluation differs by compiler.
class Dice {
 public:
  explicit Dice(uint64_t seed) : engine_(seed) {}
  int64_t Below(int64_t n) { return static_cast<int64_t>(engine_() % static_cast<uint64_t>(n)); }
  int64_t In(int64_t lo, int64_t hi) { return lo + Below(hi - lo + 1); }
  bool OneIn(int64_t n) { return Below(n) == 0; }
  template <typename T>
  const T& Of(const std::vector<T>& items) {
    return items[Below(static_cast<int64_t>(items.size()))];
  }

 private:
  std::mt19937_64 engine_;
};

// A number of type `t`, in a range where most ops have something to say.
Scalar RandomScalar(Dice& dice, DType t, bool specials) {
  if (t == DType::kBool) return Scalar::Int(t, dice.Below(2));
  const bool special = specials && dice.OneIn(8);
  if (IsFloat(t)) {
    const double kSpecials[] = {0.0,
                                -0.0,
                                -0.0,
                                1.0,
                                HUGE_VAL,
                                -HUGE_VAL,
                                std::numeric_limits<double>::quiet_NaN(),
                                t == DType::kF16 ? 6e-8 : 1e-40,
                                65504.0,
                                -3e38};
    if (special) return Scalar::Float(t, kSpecials[dice.Below(std::size(kSpecials))]);
    return Scalar::Float(t, static_cast<double>(dice.In(-4000, 4000)) / 1000);
  }
  const int64_t kSpecials[] = {0, 1, -1, INT64_MIN, INT64_MAX, 128, INT32_MIN};
  if (special) return Scalar::Int(t, kSpecials[dice.Below(std::size(kSpecials))]);
  return Scalar::Int(t, IsSigned(t) ? dice.In(-9, 9) : dice.In(0, 9));
}

class Generator {
 public:
  Generator(uint64_t seed, const RandomNestOptions& options)
      : dice_(seed), options_(options), builder_(&nest_) {
    dtypes_ = options.dtypes;
    if (dtypes_.empty()) {
      for (int i = 0; i < kNumDTypes; ++i) {
        const DType t = static_cast<DType>(i);
        if (t != DType::kBool) dtypes_.push_back(t);
        if (IsFloat(t)) dtypes_.push_back(t);  // twice: as often as integers
      }
    }
    for (int i = 0; i <= static_cast<int>(OpCode::kGe); ++i) {
      const OpCode code = static_cast<OpCode>(i);
      if (IsScalarOp(code) && (options.math || IsExactOp(code, DType::kF32)))
        codes_.push_back(code);
    }
  }

  LoopNest Make(uint64_t seed) {
    nest_.name = absl::StrCat("random_", seed);
    MakeDims();
    for (int64_t n = dice_.In(1, 3); n > 0; --n) values_.push_back(Load());
    for (int64_t n = dice_.In(1, options_.max_ops); n > 0; --n) Step();
    const int64_t num_outputs = std::min<int64_t>(dice_.In(1, 3), values_.size());
    for (int64_t n = 1; n < num_outputs; ++n) Store(dice_.Of(values_));
    Store(values_.back());
    return std::move(nest_);
  }

 private:
  struct Value {
    ValueId id;
    DType dtype;
    bool inner;
  };

  void MakeDims() {
    const int64_t num_dims = dice_.In(1, options_.max_dims);
    int loops = 0, reduces = 0;
    for (int64_t i = 0; i < num_dims; ++i) {
      const bool reduce = options_.reductions && dice_.OneIn(2);
      LoopDim dim;
      dim.reduce = reduce;
      dim.name = reduce ? absl::StrCat("r", reduces++) : absl::StrCat("i", loops++);
      dim.extent = RandomExtent();
      nest_.dims.push_back(std::move(dim));
    }
  }

  IndexExpr RandomExtent() {
    if (!options_.symbols || !dice_.OneIn(3)) return dice_.In(1, options_.max_extent);
    const std::string name = dice_.OneIn(2) ? "m" : "n";
    auto at =
        std::lower_bound(nest_.symbols.begin(), nest_.symbols.end(), name,
                         [](const SizeSymbol& s, const std::string& n) { return s.name < n; });
    if (at == nest_.symbols.end() || at->name != name)
      nest_.symbols.insert(at, SizeSymbol{name, 2, 4096, 64});
    return dice_.OneIn(3) ? 2 * IndexExpr::Var(name) : IndexExpr::Var(name);
  }

  // One op more on the values so far.
  void Step() {
    const int64_t kind = dice_.Below(16);
    if (kind < 2) {
      values_.push_back(Load());
    } else if (kind < 4) {
      const DType t = dice_.Of(dtypes_);
      values_.push_back(Constant(RandomScalar(dice_, t, true)));
    } else if (kind == 4) {
      const Value v = dice_.Of(values_);
      values_.push_back(Cast(v, dice_.OneIn(6) ? DType::kBool : dice_.Of(dtypes_)));
    } else if (kind == 5) {
      values_.push_back(Select());
    } else if (kind == 6) {
      const IndexExpr var = IndexExpr::Var(dice_.Of(nest_.dims).name);
      const int64_t offset = dice_.In(-2, 2);
      values_.push_back(Index(var + offset, dice_.Of(dtypes_)));
    } else if (kind < 9 && nest_.HasReduction()) {
      values_.push_back(Reduce());
    } else {
      values_.push_back(ScalarOp());
    }
  }

  // ----- Ops, in either style.

  Value Emit(LoopOp op, bool inner) {
    const Value v{static_cast<ValueId>(nest_.body.size()), op.dtype, inner};
    nest_.body.push_back(std::move(op));
    return v;
  }
  bool raw() const { return options_.style == RandomNestOptions::Style::kRaw; }

  Value Constant(const Scalar& s) {
    if (!raw()) return {builder_.Const(s), s.dtype, false};
    LoopOp op;
    op.dtype = s.dtype;
    op.literal = s;
    return Emit(std::move(op), false);
  }

  Value Cast(const Value& v, DType t) {
    if (!raw()) return {builder_.Cast(v.id, t), t, v.inner};
    LoopOp op;
    op.code = OpCode::kCast;
    op.dtype = t;
    op.operands = {v.id};
    return Emit(std::move(op), v.inner);
  }

  Value Select() {
    const Value c = Cast(dice_.Of(values_), DType::kBool);
    const Value a = dice_.Of(values_);
    const Value b = dice_.OneIn(5) ? a : Cast(dice_.Of(values_), a.dtype);
    const bool inner = c.inner || a.inner || b.inner;
    if (!raw()) return {builder_.Select(c.id, a.id, b.id), a.dtype, inner};
    LoopOp op;
    op.code = OpCode::kSelect;
    op.dtype = a.dtype;
    op.operands = {c.id, a.id, b.id};
    return Emit(std::move(op), inner);
  }

  Value Index(const IndexExpr& e, DType t) {
    bool inner = false;
    for (const LoopDim& d : nest_.dims) inner = inner || (d.reduce && e.Mentions(d.name));
    if (!raw()) return {builder_.Index(e, t), t, inner};
    LoopOp op;
    op.code = OpCode::kIndex;
    op.dtype = t;
    op.index = e;
    return Emit(std::move(op), inner);
  }

  Value Reduce() {
    Value v = dice_.Of(values_);
    if (v.dtype == DType::kBool) v = Cast(v, dice_.Of(dtypes_));
    const auto kind = static_cast<ReduceKind>(dice_.Below(8));
    const DType t = IsArgReduce(kind) ? DType::kI64 : v.dtype;
    if (!raw()) return {builder_.Reduce(kind, v.id), t, false};
    LoopOp op;
    op.code = OpCode::kReduce;
    op.dtype = t;
    op.reduce = kind;
    op.operands = {v.id};
    return Emit(std::move(op), false);
  }

  Value Scalars(OpCode code, const std::vector<Value>& operands) {
    bool inner = false;
    std::vector<ValueId> ids;
    for (const Value& v : operands) {
      inner = inner || v.inner;
      ids.push_back(v.id);
    }
    const DType t = ClassOf(code) == OpClass::kCompare ? DType::kBool : operands[0].dtype;
    if (!raw()) return {builder_.Op(code, std::move(ids)), t, inner};
    LoopOp op;
    op.code = code;
    op.dtype = t;
    op.operands = std::move(ids);
    return Emit(std::move(op), inner);
  }

  Value ScalarOp() {
    // Half of the ops are those that BodyBuilder has identities for.
    const std::vector<OpCode> kWithIdentities = {
        OpCode::kNeg, OpCode::kAbs, OpCode::kNot, OpCode::kAdd, OpCode::kSub,
        OpCode::kMul, OpCode::kDiv, OpCode::kMax, OpCode::kMin, OpCode::kAnd,
        OpCode::kOr,  OpCode::kXor, OpCode::kShl, OpCode::kShr};
    const OpCode code = dice_.OneIn(2) ? dice_.Of(kWithIdentities) : dice_.Of(codes_);
    Value a = dice_.Of(values_);
    if (!OpAllowsType(code, a.dtype)) {
      std::vector<DType> fitting;
      for (DType t : dtypes_)
        if (OpAllowsType(code, t)) fitting.push_back(t);
      if (fitting.empty()) return a;
      a = Cast(a, dice_.Of(fitting));
    }
    if (OpArity(code) == 1) return Scalars(code, {a});
    Value b = a;
    if (dice_.OneIn(3)) {
      // Often one that an identity might be wrong about.
      const std::vector<double> kNeutral = {0.0, 0.0, -0.0, -0.0, 1.0, 1.0, -1.0, 2.0};
      const bool neutral = a.dtype != DType::kBool && !dice_.OneIn(4);
      b = Constant(neutral ? Scalar::FromDouble(a.dtype, dice_.Of(kNeutral))
                           : RandomScalar(dice_, a.dtype, true));
    } else if (!dice_.OneIn(8)) {
      b = Cast(dice_.Of(values_), a.dtype);
    }
    return dice_.OneIn(2) ? Scalars(code, {a, b}) : Scalars(code, {b, a});
  }

  // ----- Memory. Each load has a buffer of its own, made to fit the index.

  int NewBuffer(DType t, const IndexExpr& numel, bool written) {
    const std::string name = absl::StrCat(written ? "out" : "in", nest_.buffers.size());
    nest_.buffers.push_back({name, t, numel, written});
    return static_cast<int>(nest_.buffers.size()) - 1;
  }

  struct Subscript {
    IndexExpr index = 0;
    IndexExpr numel = 1;
    bool inner = false;
    // A shifted coordinate and its extent: the load needs a mask for where it is outside.
    std::optional<std::pair<IndexExpr, IndexExpr>> masked;
  };

  // Row-major position in a tensor over some of the dims, in any order: leaving dims out makes
  // broadcasts. Coordinates may be reversed, strided, or shifted under a mask.
  Subscript RandomSubscript() {
    std::vector<int> order(nest_.dims.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
    for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[dice_.Below(i)]);
    Subscript s;
    for (int d : order) {
      if (dice_.OneIn(4)) continue;
      const LoopDim& dim = nest_.dims[d];
      IndexExpr coordinate = IndexExpr::Var(dim.name), extent = dim.extent;
      const int64_t form = dice_.Below(6);
      if (form == 0) {
        coordinate = extent - 1 - coordinate;
      } else if (form == 1) {
        const int64_t offset = dice_.Below(3);
        coordinate = 2 * coordinate + offset;
        extent = 2 * extent + offset;
      } else if (form == 2 && options_.masks && !s.masked) {
        coordinate = coordinate + (dice_.OneIn(2) ? -1 : 2);
        s.masked.emplace(coordinate, extent);
      }
      s.index = s.index * extent + coordinate;
      s.numel = s.numel * extent;
      s.inner = s.inner || dim.reduce;
    }
    return s;
  }

  Value Load() {
    Subscript s = RandomSubscript();
    if (options_.indirect && dice_.OneIn(6)) Gather(&s);
    const DType t = dice_.OneIn(8) ? DType::kBool : dice_.Of(dtypes_);
    std::optional<Value> mask;
    if (s.masked) {
      const Value value = Index(s.masked->first, DType::kI64);
      const Value above = Scalars(OpCode::kGe, {value, Constant(Scalar::Int(DType::kI64, 0))});
      const Value below = Scalars(OpCode::kLt, {value, Index(s.masked->second, DType::kI64)});
      mask = Scalars(OpCode::kAnd, {above, below});
    }
    const int buffer = NewBuffer(t, s.numel, false);
    return LoadFrom(buffer, s, mask);
  }

  Value LoadFrom(int buffer, const Subscript& s, const std::optional<Value>& mask) {
    const DType t = nest_.buffers[buffer].dtype;
    const bool inner = s.inner || (mask && mask->inner);
    if (!raw()) {
      if (mask) builder_.PushMask(mask->id);
      const ValueId id = builder_.Load(buffer, s.index);
      if (mask) builder_.PopMask();
      return {id, t, inner};
    }
    LoopOp op;
    op.code = OpCode::kLoad;
    op.dtype = t;
    op.buffer = buffer;
    op.index = s.index;
    if (mask) op.operands = {mask->id};
    return Emit(std::move(op), inner);
  }

  // Puts a leading axis before `s` that a loaded integer picks from.
  void Gather(Subscript* s) {
    Subscript at = RandomSubscript();
    if (at.masked) return;
    const std::vector<DType> kTypes = {DType::kI32, DType::kI64, DType::kU8};
    const Value v = LoadFrom(NewBuffer(dice_.Of(kTypes), at.numel, false), at, std::nullopt);
    const IndexExpr extent = dice_.In(1, 9);
    IndexExpr picked;
    if (raw()) {
      LoopOp op;
      op.code = OpCode::kIndirect;
      op.dtype = DType::kI64;
      op.index = extent;
      op.operands = {v.id};
      picked = IndexExpr::Var(IndirectVar(Emit(std::move(op), v.inner).id));
    } else {
      picked = builder_.Indirect(v.id, extent);
    }
    s->index = picked * s->numel + s->index;
    s->numel = extent * s->numel;
    s->inner = s->inner || v.inner;
  }

  void Store(const Value& v) {
    IndexExpr index = 0, numel = 1;
    const bool reversed = dice_.OneIn(4);
    for (size_t i = 0; i < nest_.dims.size(); ++i) {
      const LoopDim& dim = nest_.dims[reversed ? nest_.dims.size() - 1 - i : i];
      if (dim.reduce && !v.inner) continue;
      index = index * dim.extent + IndexExpr::Var(dim.name);
      numel = numel * dim.extent;
    }
    const int buffer = NewBuffer(v.dtype, numel, true);
    if (!raw()) return builder_.Store(buffer, index, v.id);
    LoopOp op;
    op.code = OpCode::kStore;
    op.dtype = v.dtype;
    op.buffer = buffer;
    op.index = index;
    op.operands = {v.id};
    nest_.body.push_back(std::move(op));
  }

  Dice dice_;
  const RandomNestOptions options_;
  LoopNest nest_;
  BodyBuilder builder_;
  std::vector<DType> dtypes_;
  std::vector<OpCode> codes_;
  std::vector<Value> values_;
};

}  // namespace

LoopNest RandomNest(uint64_t seed, const RandomNestOptions& options) {
  return Generator(seed, options).Make(seed);
}

std::map<std::string, int64_t> RandomSizes(const LoopNest& nest, uint64_t seed) {
  Dice dice(seed + 1);
  std::map<std::string, int64_t> sizes;
  for (const SizeSymbol& s : nest.symbols)
    sizes[s.name] = dice.In(s.lower, std::min(s.upper, s.lower + 5));
  return sizes;
}

std::map<std::string, Bytes> RandomInputs(const LoopNest& nest,
                                          const std::map<std::string, int64_t>& sizes,
                                          uint64_t seed, bool specials) {
  Dice dice(seed + 2);
  std::map<std::string, Bytes> memory;
  for (const NestBuffer& b : nest.buffers) {
    if (b.written) continue;
    const absl::StatusOr<int64_t> numel = b.numel.Evaluate(sizes);
    STAX_CHECK(numel.ok(), b.name);
    const int element_bytes = DTypeBytes(b.dtype);
    Bytes& bytes = memory[b.name];
    bytes.resize(*numel * element_bytes);
    for (int64_t i = 0; i < *numel; ++i)
      StoreScalar(RandomScalar(dice, b.dtype, specials), bytes.data() + i * element_bytes);
  }
  return memory;
}

}  // namespace stax
