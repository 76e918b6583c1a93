#include "compiler/lowering/materialise.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/lowering/access_pattern.h"
#include "compiler/lowering/einsum.h"
#include "compiler/lowering/emitter.h"
#include "compiler/lowering/op_weight.h"

namespace stax {
namespace {

// Limits of what is inlined into readers, by how often a reader computes it again. A value read
// once is limited by the size of a body only: beyond it compile time and register pressure grow,
// and one store is little against that much arithmetic.
struct Limit {
  int weight;
  int loads;
};
constexpr Limit kReadOnce = {512, 32};
constexpr Limit kReadTwice = {8, 4};   // by several readers: nothing transcendental
constexpr Limit kBroadcast = {32, 4};  // along a dim; usually invariant in the reader's tile
constexpr Limit kBranch = {32, 4};     // of a concat: computed at every point, used at some
constexpr Limit kReused = {3, 1};      // by a contraction or a gather: many times

// One op or load of an inlined expression. The key tells the same tensor seen through different
// views apart.
struct Part {
  uint64_t key;
  int weight;
  bool load;
  bool operator<(const Part& other) const { return key < other.key; }
};
using Expression = std::vector<Part>;  // sorted by key, each once

uint64_t Mix(uint64_t a, uint64_t b) {
  uint64_t h = (a ^ (b + 0x9e3779b97f4a7c15u + (a << 6) + (a >> 2))) * 0xff51afd7ed558ccdu;
  return h ^ (h >> 33);
}

Expression Union(const Expression& a, const Expression& b) {
  Expression result;
  result.reserve(a.size() + b.size());
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(result));
  return result;
}

Expression Through(uint64_t view, Expression e) {
  for (Part& part : e) part.key = Mix(part.key, view);
  std::sort(e.begin(), e.end());
  return e;
}

bool Within(const Expression& e, const Limit& limit) {
  int weight = 0, loads = 0;
  for (const Part& part : e) (part.load ? loads : weight) += part.load ? 1 : part.weight;
  return weight <= limit.weight && loads <= limit.loads;
}

bool IsView(const GraphOp& op) {
  return op.kind == GraphOpKind::kReshape || op.kind == GraphOpKind::kTranspose ||
         op.kind == GraphOpKind::kExpand || op.kind == GraphOpKind::kSlice;
}

class Chooser {
 public:
  Chooser(const Graph& graph, const std::vector<const GraphOp*>& defs,
          const std::vector<bool>& live, const std::vector<bool>& forced)
      : graph_(graph),
        defs_(defs),
        live_(live),
        stored_(forced),
        expressions_(graph.tensors.size()),
        uses_(graph.tensors.size(), 0) {}

  std::vector<bool> Run() {
    CountUses();
    for (const GraphOp& op : graph_.ops) {
      if (!live_[op.result]) continue;
      LimitOperands(op);
      expressions_[op.result] = ExpressionOf(op);
      if (ShouldStore(op)) Store(op.result);
    }
    return std::move(stored_);
  }

 private:
  double Elements(TensorId t) const {
    return static_cast<double>(AtHint(NumElements(graph_.tensors[t].dims), graph_.symbols));
  }

  // How often each element is read, views followed through. Slices that share a tensor out
  // between them (a Split) are one use.
  void CountUses() {
    for (TensorId t : graph_.outputs) uses_[t] += 1;
    for (auto op = graph_.ops.rbegin(); op != graph_.ops.rend(); ++op) {
      if (!live_[op->result]) continue;
      double uses = IsView(*op) && !stored_[op->result] ? uses_[op->result] : 1;
      if (op->kind == GraphOpKind::kSlice)
        uses *= Elements(op->result) / std::max(1.0, Elements(op->operands[0]));
      for (TensorId t : std::set<TensorId>(op->operands.begin(), op->operands.end()))
        uses_[t] += uses;
    }
  }

  // Stores operands that the op would compute too often.
  void LimitOperands(const GraphOp& op) {
    switch (op.kind) {
      case GraphOpKind::kExpand:
        return LimitOperand(op.operands[0], kBroadcast);
      case GraphOpKind::kConcat:
        for (TensorId t : op.operands) LimitOperand(t, kBranch);
        return;
      case GraphOpKind::kCumulative:
        return LimitOperand(op.operands[0], kReused);
      case GraphOpKind::kGather:
      case GraphOpKind::kGatherElements:
        LimitOperand(op.operands[0], kReused);
        return LimitOperand(op.operands[1], kBroadcast);
      case GraphOpKind::kEinsum:
        if (!IsReduction(graph_, op)) return;
        for (TensorId t : op.operands) LimitOperand(t, kReused);
        return;
      default:
        return;
    }
  }

  void LimitOperand(TensorId t, const Limit& limit) {
    if (!Within(expressions_[t], limit)) Store(t);
  }

  bool ShouldStore(const GraphOp& op) const {
    if (stored_[op.result]) return true;
    if (IsView(op)) return false;
    const Expression& e = expressions_[op.result];
    // A little above 1: uses are fractions that add up to 1 inexactly.
    return !Within(e, uses_[op.result] > 1.01 ? kReadTwice : kReadOnce);
  }

  // Stores `t`, or what it is a view of: that is as good for all readers and has no gaps. Not
  // through a slice, behind which there is more than is needed.
  void Store(TensorId t) {
    const GraphOp& op = *defs_[t];
    const bool through = IsView(op) && op.kind != GraphOpKind::kSlice && !stored_[t];
    if (through) {
      Store(op.operands[0]);
      expressions_[t] = ExpressionOf(op);
      return;
    }
    if (HasBuffer(op)) return;
    stored_[t] = true;
    expressions_[t] = LoadOf(t);
  }

  static bool HasBuffer(const GraphOp& op) {
    return op.kind == GraphOpKind::kInput || op.kind == GraphOpKind::kConstant;
  }

  static Expression LoadOf(TensorId t) { return {{Mix(1, t), 0, true}}; }

  // Equal for views that map indices alike, so that a value broadcast by two ops is seen as one.
  uint64_t ViewKey(const GraphOp& op, size_t operand) {
    std::string text = absl::StrCat(static_cast<int>(op.kind), ";", operand, ";", op.axis, ";",
                                    op.start.ToString(), ";", op.step.ToString());
    for (int axis : op.axes) absl::StrAppend(&text, ";", axis);
    for (const IndexExpr& pad : op.pads_before) absl::StrAppend(&text, ";", pad.ToString());
    for (const IndexExpr& dim : graph_.tensors[op.result].dims)
      absl::StrAppend(&text, ",", dim.ToString());
    const bool gathers = op.kind == GraphOpKind::kGather || op.kind == GraphOpKind::kGatherElements;
    if (gathers) absl::StrAppend(&text, ";", op.operands[1]);
    return Mix(2, views_.emplace(text, views_.size()).first->second);
  }

  Expression ExpressionOf(const GraphOp& op) {
    if (stored_[op.result] || op.kind == GraphOpKind::kInput) return LoadOf(op.result);
    int weight = kCheapWeight;
    Expression e;
    switch (op.kind) {
      case GraphOpKind::kConstant:
        if (SplatValue(graph_.tensors[op.result], op).has_value()) return {};
        return LoadOf(op.result);
      case GraphOpKind::kShapeValue:
        weight = 2 * static_cast<int>(op.values.size());
        break;
      case GraphOpKind::kElementwise:
        weight = OpWeight(op.code);
        break;
      case GraphOpKind::kReshape:
      case GraphOpKind::kTranspose:
      case GraphOpKind::kExpand:
      case GraphOpKind::kSlice:
        return Through(ViewKey(op, 0), expressions_[op.operands[0]]);
      case GraphOpKind::kGather:
      case GraphOpKind::kGatherElements:
        return Union(Through(ViewKey(op, 0), expressions_[op.operands[0]]),
                     expressions_[op.operands[1]]);
      case GraphOpKind::kPad:
      case GraphOpKind::kConcat:
        weight = 3 * static_cast<int>(op.operands.size());
        for (size_t k = 0; k < op.operands.size(); ++k)
          e = Union(e, Through(ViewKey(op, k), expressions_[op.operands[k]]));
        break;
      default:
        break;
    }
    if (e.empty())
      for (TensorId t : op.operands) e = Union(e, expressions_[t]);
    return Union(e, {{Mix(3, op.result), weight, false}});
  }

  const Graph& graph_;
  const std::vector<const GraphOp*>& defs_;
  const std::vector<bool>& live_;
  std::vector<bool> stored_;
  std::vector<Expression> expressions_;
  std::vector<double> uses_;
  std::map<std::string, uint64_t> views_;
};

}  // namespace

bool IsReduction(const Graph& graph, const GraphOp& op) {
  const auto all_ones = [](const Dims& dims) {
    return std::all_of(dims.begin(), dims.end(),
                       [](const IndexExpr& d) { return d == IndexExpr(1); });
  };
  Dims reduced;
  switch (op.kind) {
    case GraphOpKind::kReduce:
      for (int axis : op.axes) reduced.push_back(graph.tensors[op.operands[0]].dims[axis]);
      return !all_ones(reduced);
    case GraphOpKind::kCumulative:
      return graph.tensors[op.result].dims[op.axis] != IndexExpr(1);
    case GraphOpKind::kEinsum:
      return !all_ones(DescribeEinsum(graph, op).summed_dims);
    default:
      return false;
  }
}

std::vector<bool> LiveTensors(const Graph& graph, const std::vector<const GraphOp*>& defs) {
  std::vector<bool> live(graph.tensors.size(), false);
  std::vector<TensorId> work = graph.outputs;
  while (!work.empty()) {
    const TensorId t = work.back();
    work.pop_back();
    if (live[t]) continue;
    live[t] = true;
    work.insert(work.end(), defs[t]->operands.begin(), defs[t]->operands.end());
  }
  return live;
}

std::vector<bool> ChooseStored(const Graph& graph, const std::vector<const GraphOp*>& defs,
                               const std::vector<bool>& live, const std::vector<bool>& forced) {
  return Chooser(graph, defs, live, forced).Run();
}

}  // namespace stax
