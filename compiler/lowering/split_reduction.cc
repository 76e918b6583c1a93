#include "compiler/lowering/split_reduction.h"

#include <algorithm>
#include <cmath>

#include "compiler/lowering/access_pattern.h"

namespace stax {
namespace {

// Elements. 8192 f32 are 32 KB: a program instance streams them at full bandwidth in a few
// iterations, so that starting it costs little (S9.4's example 6.2 cuts 16384 in two).
constexpr int64_t kRowPiece = 8192;
// The second stage's row is one piece at most.
constexpr int64_t kMaxRowPieces = kRowPiece;
// Elements in all below which one multiprocessor is done before a second kernel could start.
constexpr int64_t kSmallRows = int64_t{1} << 16;
constexpr int64_t kColumnPiece = 32;
constexpr int64_t kContractionPiece = 512;
// The same for columns, which are many tiles even unsplit.
constexpr int64_t kSmallColumns = int64_t{1} << 18;
// Lengths of pieces are multiples of this where they do not divide the row: keeps them aligned.
constexpr int64_t kPieceMultiple = 64;

// Pieces wanted, 1 for none.
int64_t WantedPieces(const LoopNest& nest, bool contraction, const TargetSpec& target) {
  const int64_t outputs = std::max<int64_t>(1, AtHint(nest.LoopNumel(), nest.symbols));
  const int64_t length = AtHint(nest.ReduceNumel(), nest.symbols);
  const int64_t sms = target.multiprocessors;
  if (ReducesContiguous(nest)) {
    if (outputs >= (target.is_cuda() ? 2 : 8) * sms) return 1;
    if (outputs * std::min(length, kSmallRows) < kSmallRows) return 1;
    return std::min(
        {length / kRowPiece, (target.is_cuda() ? 128 : 8) * sms / outputs, kMaxRowPieces});
  }
  if (outputs * std::min(length, kSmallColumns) < kSmallColumns) return 1;
  const int64_t shortest = contraction ? kContractionPiece : std::max(kColumnPiece, 2048 / outputs);
  return std::min(length / shortest, (target.is_cuda() ? 1024 : 128) * sms / outputs);
}

// The divisor of n closest to `wanted` in ratio, 0 if none is within a factor of 2.
int64_t NearbyDivisor(int64_t n, int64_t wanted) {
  int64_t best = 0;
  double best_ratio = 2.0;
  for (int64_t d = (wanted + 1) / 2; d <= 2 * wanted && d <= n; ++d) {
    const double ratio = std::max(static_cast<double>(d) / wanted, static_cast<double>(wanted) / d);
    if (n % d != 0 || ratio > best_ratio) continue;
    best = d;
    best_ratio = ratio;
  }
  return best;
}

void Cut(const IndexExpr& extent, int64_t wanted, SplitPlan* plan) {
  plan->pieces = wanted;
  if (!extent.IsConst()) {
    plan->chunk = kPieceMultiple * CeilDiv(extent, kPieceMultiple * wanted);
    return;
  }
  const int64_t n = extent.ConstOrDie();
  if (const int64_t divisor = NearbyDivisor(n, wanted); divisor > 1) {
    plan->pieces = divisor;
    plan->chunk = n / divisor;
    return;
  }
  int64_t chunk = (n + wanted - 1) / wanted;
  if (chunk >= 4 * kPieceMultiple)
    chunk = (chunk + kPieceMultiple - 1) / kPieceMultiple * kPieceMultiple;
  plan->pieces = (n + chunk - 1) / chunk;
  plan->chunk = chunk;
}

}  // namespace

std::optional<SplitPlan> ChooseSplit(const LoopNest& nest, bool contraction,
                                     const TargetSpec& target) {
  int64_t wanted = WantedPieces(nest, contraction, target);
  SplitPlan plan;
  for (int d : nest.ReduceDims()) {
    if (wanted < 2) break;
    const IndexExpr& extent = nest.dims[d].extent;
    // Half as many again are as good, and a dim taken whole needs no masks.
    if (extent.IsConst() && extent.ConstOrDie() <= wanted + wanted / 2) {
      plan.whole.push_back(d);
      wanted /= std::max<int64_t>(1, extent.ConstOrDie());
      continue;
    }
    plan.cut = d;
    Cut(extent, wanted, &plan);
    break;
  }
  if (plan.whole.empty() && !plan.cut.has_value()) return std::nullopt;
  // Something must be left to reduce in the first nest.
  if (!plan.cut.has_value() && plan.whole.size() == nest.ReduceDims().size()) return std::nullopt;
  return plan;
}

}  // namespace stax
