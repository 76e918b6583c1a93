#include "compiler/schedule/choose_tile.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "compiler/lowering/access_pattern.h"

namespace stax {
namespace {

// Bytes that must be contiguous for an access to count in full: a sector of the memory system.
constexpr int64_t kSectorBytes = 32;
// A second loop axis must make one byte in so many coalesced: a vector of row statistics, say, is
// read from cache anyway.
constexpr int kAxisMargin = 16;
// On a CPU lanes of a vector are cheapest along a dim that needs no division; shorter dims than
// this are better flattened with the others.
constexpr int64_t kMinCpuInnerExtent = 16;

using DimList = std::vector<int>;

struct Candidate {
  DimList y, x, r;
  double score = 0;
};

class TileChooser {
 public:
  TileChooser(const LoopNest& nest, const TargetSpec& target)
      : nest_(nest),
        target_(target),
        accesses_(Accesses(nest)),
        loops_(nest.LoopDims()),
        reductions_(nest.ReduceDims()) {}

  bool IsContraction() const { return ContractionSplit().has_value(); }

  TileChoice Run() {
    TileChoice choice;
    std::vector<Candidate> candidates = Candidates();
    if (std::optional<size_t> split = ContractionSplit(); split.has_value()) {
      choice.contraction = true;
      candidates = {Natural(*split)};
    }
    for (const Access& a : accesses_) choice.bytes += a.elements * a.element_bytes;
    Candidate* best = nullptr;
    for (Candidate& c : candidates) {
      c.score = Score(c);
      if (best == nullptr || c.score > best->score + Margin(*best, c, choice.bytes)) best = &c;
    }
    if (!best->y.empty()) choice.axes.push_back({"y", best->y});
    choice.axes.push_back({"x", best->x});
    if (!best->r.empty()) choice.axes.push_back({"r", best->r});
    choice.coalesced_bytes = static_cast<int64_t>(best->score);
    return choice;
  }

 private:
  // What a candidate must be better by; among equals the earlier one wins, which is more usual.
  static double Margin(const Candidate& best, const Candidate& c, int64_t bytes) {
    return best.y.empty() && !c.y.empty() ? static_cast<double>(bytes) / kAxisMargin : 0;
  }

  // y: the first `split` loop dims, x: the others.
  Candidate Natural(size_t split) const {
    return {DimList(loops_.begin(), loops_.begin() + split),
            DimList(loops_.begin() + split, loops_.end()), reductions_};
  }

  static DimList MovedLast(DimList dims, size_t k) {
    std::rotate(dims.begin() + k, dims.begin() + k + 1, dims.end());
    return dims;
  }

  // From the least to the most unusual.
  std::vector<Candidate> Candidates() const {
    std::vector<Candidate> result;
    if (PrefersInnerAxis()) result.push_back(Natural(loops_.size() - 1));
    result.push_back(Natural(0));
    for (size_t k = 0; k + 1 < reductions_.size() && !HasArgReduce(); ++k) {
      result.push_back(Natural(0));
      result.back().r = MovedLast(reductions_, k);
    }
    for (size_t k = 0; k + 1 < loops_.size(); ++k) {
      result.push_back(Natural(0));
      result.back().x = MovedLast(loops_, k);
    }
    for (size_t split = loops_.size(); split-- > 1;) result.push_back(Natural(split));
    return result;
  }

  bool PrefersInnerAxis() const {
    return !target_.is_cuda() && reductions_.empty() && loops_.size() > 1 &&
           AtHint(nest_.dims[loops_.back()].extent, nest_.symbols) >= kMinCpuInnerExtent;
  }

  // Positions of arg-reductions are row-major over the dims in their order.
  bool HasArgReduce() const {
    return std::any_of(nest_.body.begin(), nest_.body.end(), [](const LoopOp& op) {
      return op.code == OpCode::kReduce && IsArgReduce(op.reduce);
    });
  }

  double Score(const Candidate& candidate) const {
    double score = 0;
    for (const Access& access : accesses_) {
      double best = 0;
      for (const DimList* axis : {&candidate.y, &candidate.x, &candidate.r})
        if (!axis->empty()) best = std::max(best, CoalescedBytes(access, axis->back()));
      score += best;
    }
    return score;
  }

  double CoalescedBytes(const Access& access, int dim) const {
    if (access.strides[dim] != 1 && access.strides[dim] != -1) return 0;
    const double run =
        static_cast<double>(AtHint(nest_.dims[dim].extent, nest_.symbols)) * access.element_bytes;
    return static_cast<double>(access.elements) * access.element_bytes *
           std::min(1.0, run / kSectorBytes);
  }

  // The number of leading loop dims that form y in a contraction: one load depends on the last of
  // them but on no dim of x, another on the last of x but not on the last of y.
  std::optional<size_t> ContractionSplit() const {
    if (reductions_.empty()) return std::nullopt;
    for (size_t split = loops_.size(); split-- > 1;) {
      const int y = loops_[split - 1], x = loops_.back();
      bool reused_along_x = false, reused_along_y = false;
      for (const Access& access : accesses_) {
        if (access.store || !IsInner(access)) continue;
        bool any_x = false;
        for (size_t k = split; k < loops_.size(); ++k) any_x |= access.strides[loops_[k]] != 0;
        reused_along_x |= access.strides[y] != 0 && !any_x;
        reused_along_y |= access.strides[x] != 0 && access.strides[y] == 0;
      }
      if (reused_along_x && reused_along_y) return split;
    }
    return std::nullopt;
  }

  bool IsInner(const Access& access) const {
    return std::any_of(reductions_.begin(), reductions_.end(),
                       [&](int d) { return access.strides[d] != 0; });
  }

  const LoopNest& nest_;
  const TargetSpec& target_;
  const std::vector<Access> accesses_;
  const DimList loops_, reductions_;
};

}  // namespace

bool IsContraction(const LoopNest& nest) {
  const TargetSpec any;
  return nest.HasReduction() && TileChooser(nest, any).IsContraction();
}

TileChoice ChooseTile(const LoopNest& nest, const TargetSpec& target) {
  return TileChooser(nest, target).Run();
}

}  // namespace stax
