#include "compiler/lowering/testing/random_graph.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ir/check.h"
#include "ir/graph_builder.h"

namespace stax {
namespace {

using Tensor = GraphBuilder::Tensor;

// Keeps interpretation of a graph in milliseconds.
constexpr int64_t kMaxElements = 600;
constexpr int64_t kMaxElementsOfLongDims = 10000;

class Generator {
 public:
  Generator(uint64_t seed, const RandomGraphOptions& options)
      : random_(seed), options_(options), b_(absl::StrCat("random_", seed)) {
    if (!options.symbolic) return;
    b_.Symbol({"n", 2, 9, 4});
    b_.Symbol({"m", 2, 1000, 6});
  }

  Graph Run() {
    const Dims shape = RandomDims();
    AddInput(DType::kF32, shape);
    AddInput(Chance(3) ? DType::kF16 : DType::kF32, shape);
    AddInput(Chance(2) ? DType::kI32 : DType::kBF16, Chance(2) ? shape : RandomDims());
    for (int k = 0; k < options_.ops; ++k) Keep(Step());
    const int outputs = 1 + Below(3);
    for (int k = 0; k < outputs; ++k) b_.Output(absl::StrCat("out", k), PickRecent());
    absl::StatusOr<Graph> graph = b_.Build();
    STAX_CHECK(graph.ok(), graph.status().ToString());
    return *std::move(graph);
  }

 private:
  int Below(int n) { return static_cast<int>(random_() % n); }
  bool Chance(int n) { return Below(n) == 0; }

  Dims RandomDims() {
    Dims dims;
    const int rank = 1 + Below(3);
    for (int d = 0; d < rank; ++d) {
      constexpr int64_t kShort[] = {1, 2, 3, 4, 5, 6, 8}, kLong[] = {1, 3, 16, 31, 64, 100, 300};
      const int k = Below(7);
      const int64_t literal = options_.long_dims ? kLong[k] : kShort[k];
      const bool symbol = options_.symbolic && Chance(2);
      dims.push_back(symbol ? IndexExpr::Var(Chance(2) ? "n" : "m") : IndexExpr(literal));
    }
    return dims;
  }

  void AddInput(DType type, const Dims& dims) {
    pool_.push_back(b_.Input(absl::StrCat("in", pool_.size()), type, dims));
  }

  Tensor Pick() { return pool_[Below(static_cast<int>(pool_.size()))]; }
  Tensor PickRecent() {
    const int n = static_cast<int>(pool_.size());
    return pool_[std::max(0, n - 1 - Below(std::min(n, 5)))];
  }
  Tensor PickFloat() {
    const Tensor x = PickRecent();
    return IsFloat(b_.dtype(x)) ? x : b_.Cast(x, DType::kF32);
  }

  // At the symbols' hints; sizes are small, so their ratio matters little.
  int64_t Elements(Tensor x) {
    return NumElements(b_.dims(x)).Evaluate({{"n", 4}, {"m", 6}}).value();
  }

  void Keep(Tensor x) {
    const int64_t most = options_.long_dims ? kMaxElementsOfLongDims : kMaxElements;
    if (x.id >= 0 && Elements(x) <= most) pool_.push_back(x);
  }

  Tensor Step() {
    switch (Below(16)) {
      case 0:
      case 1:
        return Unary();
      case 2:
      case 3:
      case 4:
        return Binary();
      case 5:
        return Choose();
      case 6:
      case 7:
        return Reduce();
      case 8:
        return Reshape();
      case 9:
        return Transpose();
      case 10:
        return Slice();
      case 11:
        return Chance(2) ? Pad() : Concat();
      case 12:
        return Gather();
      case 13:
        return Chance(2) ? Cumulative() : Contract();
      case 14:
        return Normalise();
      default:
        return CastOrConstant();
    }
  }

  Tensor Unary() {
    const Tensor x = PickFloat();
    switch (Below(7)) {
      case 0:
        return b_.Unary(OpCode::kTanh, x);
      case 1:
        return b_.Unary(OpCode::kSigmoid, x);
      case 2:
        return b_.Unary(OpCode::kNeg, x);
      case 3:
        return b_.Unary(OpCode::kExp, b_.Unary(OpCode::kTanh, x));
      case 4:
        return b_.Unary(OpCode::kSqrt, b_.Unary(OpCode::kAbs, x));
      case 5:
        return b_.Gelu(x);
      default:
        return b_.Relu(x);
    }
  }

  // `y` made to fit `x`: the same dims, a row or column of it, or one element.
  Tensor Fit(Tensor y, Tensor x) {
    y = b_.Cast(y, b_.dtype(x));
    if (b_.dims(y) == b_.dims(x)) return y;
    Tensor scalar = b_.Reduce(ReduceKind::kMax, y, b_.AllAxes(y));
    if (b_.rank(x) == 0 || Chance(2)) return scalar;
    const int axis = Below(b_.rank(x));
    return b_.Add(b_.Reduce(ReduceKind::kMin, x, {axis}, true), scalar);
  }

  Tensor Binary() {
    const Tensor x = PickRecent();
    if (b_.dtype(x) == DType::kBool) return b_.Binary(OpCode::kXor, x, x);
    const Tensor y = Fit(Pick(), x);
    const OpCode codes[] = {OpCode::kAdd, OpCode::kSub, OpCode::kMul, OpCode::kMax, OpCode::kMin};
    return b_.Binary(codes[Below(5)], x, y);
  }

  Tensor Choose() {
    const Tensor x = PickRecent();
    if (b_.dtype(x) == DType::kBool) return b_.Unary(OpCode::kNot, x);
    const Tensor zero = b_.Cast(b_.Scalar(DType::kF32, 0), b_.dtype(x));
    const Tensor condition = b_.Binary(OpCode::kLt, x, zero);
    return Chance(4) ? condition : b_.Where(condition, Fit(Pick(), x), x);
  }

  Tensor Reduce() {
    Tensor x = PickRecent();
    if (b_.rank(x) == 0) return x;
    if (b_.dtype(x) == DType::kBool) x = b_.Cast(x, DType::kI32);
    std::vector<int> axes;
    for (int d = 0; d < b_.rank(x); ++d)
      if (Chance(2)) axes.push_back(d);
    if (axes.empty()) axes.push_back(b_.rank(x) - 1);
    const ReduceKind kinds[] = {ReduceKind::kSum, ReduceKind::kMax,    ReduceKind::kMin,
                                ReduceKind::kSum, ReduceKind::kArgMax, ReduceKind::kArgMinLast};
    const ReduceKind kind = kinds[Below(6)];
    const Tensor y = b_.Reduce(kind, x, axes, Chance(2));
    return IsArgReduce(kind) ? b_.Cast(y, DType::kI32) : y;
  }

  Tensor Reshape() {
    const Tensor x = PickRecent();
    Dims dims = b_.dims(x);
    if (dims.size() >= 2 && Chance(2)) {
      const int d = Below(static_cast<int>(dims.size()) - 1);
      dims[d] = dims[d] * dims[d + 1];
      dims.erase(dims.begin() + d + 1);
    } else if (Chance(2)) {
      dims = {NumElements(dims)};
    } else {
      dims.insert(dims.begin() + Below(static_cast<int>(dims.size()) + 1), 1);
    }
    for (size_t d = 0; d < dims.size(); ++d) {
      if (!dims[d].IsConst() || dims[d].ConstOrDie() % 2 != 0 || dims.size() >= 4) continue;
      dims[d] = dims[d].ConstOrDie() / 2;
      dims.insert(dims.begin() + d, 2);
      break;
    }
    return b_.Reshape(x, dims);
  }

  Tensor Transpose() {
    const Tensor x = PickRecent();
    std::vector<int> perm(b_.rank(x));
    std::iota(perm.begin(), perm.end(), 0);
    std::shuffle(perm.begin(), perm.end(), random_);
    return b_.Transpose(x, perm);
  }

  Tensor Slice() {
    const Tensor x = PickRecent();
    if (b_.rank(x) == 0) return x;
    const int axis = Below(b_.rank(x));
    const IndexExpr n = b_.dims(x)[axis];
    if (!b_.ranges().ProveLe(1, n)) return x;
    if (Chance(3)) return b_.Slice(x, axis, n - 1, -1, n);
    if (!n.IsConst() && Chance(2)) return b_.Slice(x, axis, 0, 2, CeilDiv(n, 2));
    if (!n.IsConst()) return b_.Slice(x, axis, 1, 1, n - 1);
    const int64_t extent = n.ConstOrDie();
    if (extent < 2) return x;
    const int64_t start = Below(static_cast<int>(extent));
    const int64_t step = 1 + Below(2);
    return b_.Slice(x, axis, start, step, (extent - start + step - 1) / step);
  }

  Tensor Pad() {
    const Tensor x = PickRecent();
    std::vector<IndexExpr> before, after;
    bool edge = true, reflect = true;
    for (const IndexExpr& dim : b_.dims(x)) {
      before.emplace_back(Below(2));
      after.emplace_back(Below(3));
      edge = edge && dim.IsConst() && dim.ConstOrDie() > 0;
      reflect = reflect && dim.IsConst() && dim.ConstOrDie() > 2;
    }
    const PadMode mode = reflect && Chance(2) ? PadMode::kReflect
                         : edge && Chance(2)  ? PadMode::kEdge
                                              : PadMode::kConstant;
    return b_.Pad(x, before, after, mode, std::nullopt);
  }

  Tensor Concat() {
    const Tensor x = PickRecent();
    if (b_.rank(x) == 0) return x;
    const int axis = Below(b_.rank(x));
    if (!b_.ranges().ProveLe(1, b_.dims(x)[axis])) return x;
    std::vector<Tensor> parts = {x, b_.Slice(x, axis, 0, 1, 1)};
    return b_.Concat(parts, axis);
  }

  Tensor Gather() {
    const Tensor x = PickRecent();
    if (b_.rank(x) == 0) return x;
    const int axis = Below(b_.rank(x));
    if (!b_.ranges().ProveLe(1, b_.dims(x)[axis])) return x;  // no index is valid
    Tensor indices = Pick();
    if (b_.dtype(indices) == DType::kBool || IsFloat(b_.dtype(indices)))
      indices = b_.Iota(DType::kI64, {3, 2}, Below(2));
    if (Chance(2)) return b_.Gather(x, indices, axis);
    Dims dims = b_.dims(x);
    dims[axis] = 3;
    return b_.GatherElements(x, b_.Iota(DType::kI64, dims, Below(b_.rank(x))), axis);
  }

  Tensor Cumulative() {
    Tensor x = PickRecent();
    if (b_.rank(x) == 0) return x;
    if (b_.dtype(x) == DType::kBool) x = b_.Cast(x, DType::kI32);
    const ReduceKind kind = Chance(2) ? ReduceKind::kSum : ReduceKind::kMax;
    return b_.Cumulative(kind, x, Below(b_.rank(x)), Chance(2), Chance(2));
  }

  Tensor Contract() {
    const Tensor x = PickFloat();
    if (b_.rank(x) < 1) return x;
    if (b_.rank(x) == 1) return b_.Einsum(Chance(2) ? "i,j->ij" : "i,i->", {x, x});
    std::vector<int> perm(b_.rank(x));
    std::iota(perm.begin(), perm.end(), 0);
    std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
    return b_.MatMul(x, b_.Transpose(x, perm));
  }

  Tensor Normalise() {
    const Tensor x = PickFloat();
    if (b_.rank(x) == 0) return x;
    const int axis = Below(b_.rank(x));
    if (Chance(2)) return b_.Softmax(x, axis);
    return b_.LayerNorm(x, axis, std::nullopt, std::nullopt, 1e-3);
  }

  Tensor CastOrConstant() {
    const DType types[] = {DType::kF32, DType::kF16, DType::kBF16, DType::kI32, DType::kF64};
    const Tensor x = PickRecent();
    if (Chance(2)) return b_.Cast(x, types[Below(5)]);
    return b_.Cast(b_.Iota(DType::kI64, RandomDims(), 0), DType::kF32);
  }

  std::mt19937_64 random_;
  const RandomGraphOptions options_;
  GraphBuilder b_;
  std::vector<Tensor> pool_;
};

}  // namespace

Graph RandomGraph(uint64_t seed, const RandomGraphOptions& options) {
  return Generator(seed, options).Run();
}

Sizes RandomSizes(uint64_t seed) {
  std::mt19937_64 random(seed);
  return {{"n", 2 + static_cast<int64_t>(random() % 8)},
          {"m", 2 + static_cast<int64_t>(random() % 8)}};
}

}  // namespace stax
