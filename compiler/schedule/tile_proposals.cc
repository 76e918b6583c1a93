#include "compiler/schedule/tile_proposals.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/schedule/choose_form.h"

namespace stax {
namespace {

constexpr int kWarpLanes = 32;
constexpr int kMaxWarps = 32;  // 1024 threads a block
constexpr int kMaxCluster = 8;
constexpr int kMaxThreads = 2048;  // of a multiprocessor
// Register slots: tile elements a lane. Beyond these the values of a few ops alone fill the
// register file (cuda: 255 registers a thread; cpu: 16 or 32 vectors, and the code is unrolled
// over the slots).
constexpr int64_t kMaxCudaSlots = 64;
constexpr int64_t kMaxCpuSlots = 32;
// Of rows that are kept packed: 64 registers of halves.
constexpr int64_t kMaxRowSlots = 128;
constexpr size_t kMaxCandidates = 6;
constexpr int64_t kMinBlocks[] = {1, 2, 3, 4, 6, 8, 12, 16};
// Candidates hold the weight of the body times the slots to this: what a kernel of a long body
// gains from more slots is little, and its code is unrolled over them.
constexpr int64_t kUnrolledWeight = 4096;
// ... and their live values times the slots to this, of 255 registers a thread, since addresses and
// intermediate values need some, too. (CPUs keep the rest in the first-level cache.)
constexpr int64_t kLiveRegisters = 160;

bool IsMinBlocks(int64_t blocks) {
  return std::find(std::begin(kMinBlocks), std::end(kMinBlocks), blocks) != std::end(kMinBlocks);
}

}  // namespace

int64_t PowerOfTwoAtMost(int64_t n) {
  const int64_t power = PowerOfTwoAtLeast(n);
  return power > n && power > 1 ? power / 2 : power;
}

TileProposals::TileProposals(const TileShape& shape, KernelForm form, const TargetSpec& target)
    : shape_(shape), cuda_(target.is_cuda()), clusters_(target.has_clusters()) {
  r_block_ = form == KernelForm::kPersistent ? PowerOfTwoAtLeast(shape.r_upper) : 0;
  spreads_rows_ = cuda_ && shape.inner && r_block_ > kMaxInnerPersistent;
  // Rows that start anywhere are read from the aligned address before them (codegen's row shift),
  // which then needs room: 1.04 to 1.8 times the speed for rows of 2^k - 1 (softmax, 2047 to
  // 262143, H200, 2026-12-01). What all rows share is at other addresses then, and costs more than
  // it saves.
  if (spreads_rows_ && shape.r_upper % shape.vector != 0 && shape.shared_rows == 0)
    r_block_ = PowerOfTwoAtLeast(shape.r_upper + shape.vector - 1);
  // A persistent row may need more slots than the limit: then it is the only choice.
  max_slots_ = std::max(cuda_ ? kMaxCudaSlots : kMaxCpuSlots,
                        cuda_ ? r_block_ / (kWarpLanes * kMaxWarps) : r_block_ / shape.lanes);
  if (spreads_rows_) max_slots_ = kMaxRowSlots;
  if (!cuda_ && form == KernelForm::kPersistent) max_slots_ = std::max<int64_t>(max_slots_, 64);
  preferred_slots_ =
      std::min(kUnrolledWeight / shape.body_weight, kLiveRegisters / shape.live_values);
  preferred_slots_ = std::clamp<int64_t>(preferred_slots_, 1, max_slots_);
  max_x_ = Limit(shape.x_upper, form == KernelForm::kPointwise && !shape.has_y ? 8192 : 1024);
  max_y_ = shape.has_y ? Limit(shape.y_upper, 256) : 1;
  max_r_ = r_block_ > 0 ? r_block_ : shape.has_r ? Limit(shape.r_upper, 32768) : 1;
  // A tile has an element a lane at least, even if the kernel has fewer points.
  if (max_x_ * max_y_ * max_r_ < shape.lanes) max_x_ = shape.lanes / (max_y_ * max_r_);
}

void TileProposals::Add(TileProposal p) {
  if (spreads_rows_) {
    FitRow(&p);
  } else {
    Fit(&p);
  }
  Config config = {{"XBLOCK", p.x}};
  if (shape_.has_y) config["YBLOCK"] = p.y;
  if (shape_.has_r) config["RBLOCK"] = p.r;
  if (cuda_) config["WARPS"] = p.warps;
  if (spreads_rows_) config["MIN_BLOCKS"] = p.min_blocks;
  if (spreads_rows_ && clusters_) config["CLUSTER"] = p.cluster;
  const bool known = std::find(result_.begin(), result_.end(), config) != result_.end();
  if (!known && result_.size() < kMaxCandidates) result_.push_back(std::move(config));
}

void TileProposals::Fit(TileProposal* p) const {
  p->y = std::clamp<int64_t>(p->y, 1, max_y_);
  p->x = std::clamp<int64_t>(p->x, 1, max_x_);
  p->r = r_block_ > 0 ? r_block_ : std::clamp<int64_t>(p->r, 1, max_r_);
  while (p->y * p->x * p->r < shape_.lanes) Grow(p);
  if (cuda_) {
    while (p->warps > 1 && p->warps * kWarpLanes > p->y * p->x * p->r) p->warps /= 2;
    // A persistent row can't be cut, but shared by more warps.
    while (r_block_ > preferred_slots_ * kWarpLanes * p->warps && p->warps < kMaxWarps)
      p->warps *= 2;
  }
  const int64_t least = std::max<int64_t>(r_block_, shape_.lanes);
  while (p->y * p->x * p->r > preferred_slots_ * shape_.lanes * p->warps &&
         p->y * p->x * p->r > least)
    Shrink(p);
}

// A row, or a few short ones, shared by as many threads as it needs.
void TileProposals::FitRow(TileProposal* p) const {
  p->y = 1;
  p->x = std::min(p->x, max_x_);
  p->r = r_block_;
  const int64_t max_cluster = clusters_ ? kMaxCluster : 1;
  p->warps = std::clamp<int64_t>(p->warps, 1, kMaxWarps);
  p->cluster = std::clamp<int64_t>(p->cluster, 1, max_cluster);
  const auto slots = [&] { return p->x * p->r / (kWarpLanes * p->warps * p->cluster); };
  while (slots() > max_slots_ && p->warps < kMaxWarps) p->warps *= 2;
  while (slots() > max_slots_ && p->cluster < max_cluster) p->cluster *= 2;
  while (slots() < 1) (p->cluster > 1 ? p->cluster : p->warps) /= 2;
  p->min_blocks = std::clamp<int64_t>(p->min_blocks, 1, kMaxThreads / (kWarpLanes * p->warps));
  while (!IsMinBlocks(p->min_blocks)) --p->min_blocks;
}

Configurations TileProposals::Finish() {
  Configurations c;
  const auto add = [&](const char* name, int64_t from, int64_t to) {
    ConfigParameter p{name, {}};
    for (int64_t v = from; v <= to; v *= 2) p.values.push_back(v);
    c.space.push_back(std::move(p));
  };
  std::vector<std::string> tile = {"XBLOCK"};
  add("XBLOCK", 1, max_x_);
  if (shape_.has_y) add("YBLOCK", 1, max_y_), tile.emplace_back("YBLOCK");
  if (shape_.has_r) add("RBLOCK", r_block_ > 0 ? r_block_ : 1, max_r_), tile.emplace_back("RBLOCK");
  if (cuda_) add("WARPS", 1, kMaxWarps);
  const std::string elements = absl::StrJoin(tile, "*");
  std::string warps = cuda_ ? "*WARPS" : "";
  if (spreads_rows_) {
    c.space.push_back({"MIN_BLOCKS", {std::begin(kMinBlocks), std::end(kMinBlocks)}});
    c.constraints.push_back(absl::StrCat(kMaxThreads / kWarpLanes, " - MIN_BLOCKS*WARPS"));
    if (clusters_) {
      add("CLUSTER", 1, kMaxCluster);
      absl::StrAppend(&warps, "*CLUSTER");
    }
  }
  c.constraints.push_back(absl::StrCat(elements, " - ", shape_.lanes, warps));
  c.constraints.push_back(absl::StrCat(max_slots_ * shape_.lanes, warps, " - ", elements));
  c.candidates = std::move(result_);
  return c;
}

int64_t TileProposals::Limit(int64_t extent, int64_t most) {
  return std::min(most, PowerOfTwoAtLeast(std::min(extent, most)));
}

void TileProposals::Grow(TileProposal* p) const {
  if (p->x < max_x_) {
    p->x *= 2;
  } else if (r_block_ == 0 && p->r < max_r_) {
    p->r *= 2;
  } else {
    p->y *= 2;
  }
}

void TileProposals::Shrink(TileProposal* p) const {
  if (r_block_ == 0 && p->r > 1) {
    p->r /= 2;
  } else if (p->x >= p->y && p->x > 1) {
    p->x /= 2;
  } else {
    p->y /= 2;
  }
}

}  // namespace stax
