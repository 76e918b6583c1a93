#include "compiler/lowering/pass_plan.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace stax {
namespace {

// Whether `shift` is `max`, or max made zero where it is infinite (then *guarded).
bool IsShiftOf(const LoopNest& nest, ValueId shift, ValueId max, bool* guarded) {
  *guarded = false;
  if (shift == max) return true;
  *guarded = true;
  const LoopOp& select = nest.body[shift];
  if (select.code != OpCode::kSelect || select.operands[2] != max) return false;
  const LoopOp& zero = nest.body[select.operands[1]];
  const LoopOp& is_infinite = nest.body[select.operands[0]];
  if (zero.code != OpCode::kConst || zero.literal.f != 0 || is_infinite.code != OpCode::kEq)
    return false;
  for (int k : {0, 1}) {
    const LoopOp& magnitude = nest.body[is_infinite.operands[k]];
    const LoopOp& infinity = nest.body[is_infinite.operands[1 - k]];
    if (magnitude.code == OpCode::kAbs && magnitude.operands[0] == max &&
        infinity.code == OpCode::kConst && infinity.literal.f == HUGE_VAL)
      return true;
  }
  return false;
}

std::vector<OnlineSum> FindOnlineSums(const LoopNest& nest) {
  std::vector<OnlineSum> found;
  for (ValueId sum = 0; sum < static_cast<int>(nest.body.size()); ++sum) {
    const LoopOp& op = nest.body[sum];
    // The half types round every term, which this order of operations would not reproduce.
    if (op.code != OpCode::kReduce || op.reduce != ReduceKind::kSum || !IsFloat(op.dtype) ||
        IsHalf(op.dtype))
      continue;
    const LoopOp& exp = nest.body[op.operands[0]];
    if (exp.code != OpCode::kExp) continue;
    const LoopOp& sub = nest.body[exp.operands[0]];
    if (sub.code != OpCode::kSub) continue;
    for (ValueId max = 0; max < sum; ++max) {
      const LoopOp& reduce = nest.body[max];
      OnlineSum pair{max, sum, false};
      if (reduce.code != OpCode::kReduce || reduce.reduce != ReduceKind::kMax ||
          reduce.operands[0] != sub.operands[0] ||
          !IsShiftOf(nest, sub.operands[1], max, &pair.guarded))
        continue;
      // One sum a maximum.
      const bool taken =
          std::any_of(found.begin(), found.end(), [&](const OnlineSum& o) { return o.max == max; });
      if (!taken) found.push_back(pair);
      break;
    }
  }
  return found;
}

class Planner {
 public:
  Planner(const LoopNest& nest, bool online)
      : nest_(nest), deps_(Dependencies(nest)), inner_(InnerValues(nest)) {
    if (online) online_ = FindOnlineSums(nest);
    // An online sum depends on what its maximum depends on.
    for (const OnlineSum& pair : online_) deps_[pair.sum] = deps_[pair.max];
    depth_.resize(nest.body.size(), 0);
    for (ValueId id = 0; id < size(); ++id) {
      for (ValueId v : deps_[id])
        depth_[id] = std::max(depth_[id], depth_[v] + (IsReduce(v) ? 1 : 0));
    }
  }

  PassPlan Plan() const {
    const std::vector<bool> live = Closure([&](ValueId id) { return IsStore(id); }, /*cut=*/false);
    // A reduction at depth d, and an inner store at depth d, need pass d.
    int num_passes = 0;
    for (ValueId id = 0; id < size(); ++id)
      if (live[id] && (IsReduce(id) || (IsStore(id) && inner_[id])))
        num_passes = std::max(num_passes, depth_[id] + 1);
    PassPlan plan;
    for (int d = 0; d < num_passes; ++d) plan.passes.push_back(PlanPass(d, live));
    for (ValueId id = 0; id < size(); ++id)
      if (live[id] && IsOuter(id) && depth_[id] >= num_passes) plan.after.push_back(id);
    plan.after = LoadsFirst(plan.after);
    return plan;
  }

 private:
  int size() const { return static_cast<int>(nest_.body.size()); }
  bool IsReduce(ValueId id) const { return nest_.body[id].code == OpCode::kReduce; }
  bool IsOnlineSum(ValueId id) const {
    return std::any_of(online_.begin(), online_.end(),
                       [&](const OnlineSum& pair) { return pair.sum == id; });
  }
  bool IsStore(ValueId id) const { return nest_.body[id].code == OpCode::kStore; }
  bool IsOuter(ValueId id) const { return !inner_[id] && !IsReduce(id); }

  PassPlan::Pass PlanPass(int d, const std::vector<bool>& live) const {
    PassPlan::Pass pass;
    for (ValueId id = 0; id < size(); ++id) {
      if (!live[id] || depth_[id] != d) continue;
      if (IsOuter(id)) pass.before.push_back(id);
      if (IsReduce(id) && !IsOnlineSum(id)) pass.reduces.push_back(id);
    }
    for (const OnlineSum& pair : online_) {
      if (depth_[pair.max] != d || !live[pair.sum]) continue;
      pass.online.push_back(pair);
      // The maximum alone may have no other use.
      if (!live[pair.max]) pass.reduces.push_back(pair.max);
    }
    const std::vector<bool> needed = Closure(
        [&](ValueId id) {
          return live[id] && depth_[id] == d && (IsReduce(id) || (IsStore(id) && inner_[id]));
        },
        /*cut=*/true);
    for (ValueId id = 0; id < size(); ++id)
      if (needed[id] && inner_[id]) pass.inner.push_back(id);
    pass.before = LoadsFirst(pass.before);
    pass.inner = LoadsFirst(pass.inner);
    return pass;
  }

  // The ops that `root` holds for and all they depend on; with `cut` not through outer values,
  // which are there already.
  template <typename Root>
  std::vector<bool> Closure(const Root& root, bool cut) const {
    std::vector<bool> needed(nest_.body.size(), false);
    for (ValueId id = size() - 1; id >= 0; --id) {
      const bool is_root = root(id);
      needed[id] = needed[id] || is_root;
      if (!needed[id] || (cut && !inner_[id] && !is_root)) continue;
      for (ValueId v : deps_[id]) needed[v] = true;
    }
    return needed;
  }

  // The same ops, each load with what it depends on moved to the front.
  std::vector<ValueId> LoadsFirst(const std::vector<ValueId>& ids) const {
    std::vector<bool> wanted(nest_.body.size(), false), done(nest_.body.size(), false);
    for (ValueId id : ids) wanted[id] = true;
    std::vector<ValueId> order;
    auto visit = [&](auto& self, ValueId id) -> void {
      if (!wanted[id] || done[id]) return;
      done[id] = true;
      for (ValueId v : deps_[id]) self(self, v);
      order.push_back(id);
    };
    for (ValueId id : ids)
      if (nest_.body[id].code == OpCode::kLoad) visit(visit, id);
    for (ValueId id : ids) visit(visit, id);
    return order;
  }

  const LoopNest& nest_;
  std::vector<std::vector<ValueId>> deps_;
  std::vector<bool> inner_;
  std::vector<int> depth_;
  std::vector<OnlineSum> online_;
};

}  // namespace

PassPlan MakePassPlan(const LoopNest& nest, bool online) { return Planner(nest, online).Plan(); }

}  // namespace stax
