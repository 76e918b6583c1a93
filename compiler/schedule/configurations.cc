#include "compiler/schedule/configurations.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/lowering/access_pattern.h"
#include "compiler/lowering/op_weight.h"
#include "compiler/schedule/choose_form.h"

namespace stax {
namespace {

constexpr int kWarpLanes = 32;
constexpr int kMaxWarps = 32;  // 1024 threads a block
// Register slots: tile elements a lane. Beyond these the values of a few ops alone fill the
// register file (cuda: 255 registers a thread; cpu: 16 or 32 vectors, and the code is unrolled
// over the slots).
constexpr int64_t kMaxCudaSlots = 64;
constexpr int64_t kMaxCpuSlots = 32;
constexpr size_t kMaxCandidates = 6;
// Candidates hold the weight of the body times the slots to this: what a kernel of a long body
// gains from more slots is little, and its code is unrolled over them.
constexpr int64_t kUnrolledWeight = 4096;
// ... and their live values times the slots to this, of 255 registers a thread, since addresses and
// intermediate values need some, too. (CPUs keep the rest in the first-level cache.)
constexpr int64_t kLiveRegisters = 160;

int64_t PowerOfTwoAtMost(int64_t n) {
  const int64_t power = PowerOfTwoAtLeast(n);
  return power > n && power > 1 ? power / 2 : power;
}

// What the heuristics know of a kernel. Sizes at the hints; 1 for axes that are not there.
struct Shape {
  int64_t y = 1, x = 1, r = 1;
  int64_t y_upper = 1, x_upper = 1, r_upper = 1;
  bool has_y = false, has_r = false;
  bool inner = false;       // reduces along contiguous memory
  bool transposes = false;  // some access is contiguous along y only
  bool x_loads = false;     // some load is contiguous along x
  int64_t vector = 4;       // elements of the main streams in 16 bytes
  int64_t multiprocessors = 1, lanes = 1;
  int64_t body_weight = 1;
  int64_t live_values = 1;  // a slot: what is loaded in an iteration and accumulated over them
};

int64_t AxisSize(const LoopNest& nest, const TileAxis& axis) {
  std::vector<IndexExpr> extents;
  for (int d : axis.dims) extents.push_back(nest.dims[d].extent);
  return AtHint(Product(extents), nest.symbols);
}

int64_t AxisUpper(const LoopNest& nest, const TileAxis& axis) {
  std::vector<IndexExpr> extents;
  for (int d : axis.dims) extents.push_back(nest.dims[d].extent);
  return nest.Ranges().Bounds(Product(extents)).hi;
}

// Whether the access is one of the large ones.
bool IsStream(const std::vector<Access>& accesses, const Access& access) {
  int64_t largest = 0;
  for (const Access& a : accesses) largest = std::max(largest, a.elements);
  return access.elements >= largest / 2;
}

// Elements of the smallest type among the streams that make a 16-byte vector.
int64_t VectorElements(const std::vector<Access>& accesses) {
  int64_t bytes = 16;
  for (const Access& a : accesses)
    if (IsStream(accesses, a)) bytes = std::min<int64_t>(bytes, a.element_bytes);
  return std::clamp<int64_t>(16 / bytes, 1, 8);
}

Shape DescribeShape(const LoopNest& nest, const TileChoice& tile, const TargetSpec& target) {
  Shape shape;
  const std::vector<Access> accesses = Accesses(nest);
  int y_inner = -1, x_inner = -1;
  for (const TileAxis& axis : tile.axes) {
    const int64_t size = AxisSize(nest, axis), upper = AxisUpper(nest, axis);
    const int innermost = axis.dims.empty() ? -1 : axis.dims.back();
    if (axis.name == "y") {
      shape.has_y = true;
      shape.y = size, shape.y_upper = upper, y_inner = innermost;
    } else if (axis.name == "x") {
      shape.x = size, shape.x_upper = upper, x_inner = innermost;
    } else {
      shape.has_r = true;
      shape.r = size, shape.r_upper = upper;
    }
  }
  for (const Access& a : accesses) {
    shape.transposes |= y_inner >= 0 && x_inner >= 0 && a.strides[y_inner] == 1 &&
                        a.strides[x_inner] != 1 && a.strides[x_inner] != 0;
    shape.x_loads |= x_inner >= 0 && !a.store && a.strides[x_inner] == 1;
  }
  shape.inner = nest.HasReduction() && ReducesContiguous(nest);
  shape.vector = VectorElements(accesses);
  shape.multiprocessors = target.multiprocessors;
  shape.lanes = target.is_cuda() ? kWarpLanes : target.lanes;
  shape.body_weight = std::max(1, BodyWeight(nest));
  for (const Access& a : accesses) shape.live_values += !a.store && IsStream(accesses, a);
  for (const LoopOp& op : nest.body) shape.live_values += op.code == OpCode::kReduce;
  return shape;
}

// Collects candidates: brings each into the space, drops repetitions.
class Proposals {
 public:
  Proposals(const Shape& shape, KernelForm form, const TargetSpec& target)
      : shape_(shape), cuda_(target.is_cuda()) {
    r_block_ = form == KernelForm::kPersistent ? PowerOfTwoAtLeast(shape.r_upper) : 0;
    // A persistent row may need more slots than the limit: then it is the only choice.
    max_slots_ = std::max(cuda_ ? kMaxCudaSlots : kMaxCpuSlots,
                          cuda_ ? r_block_ / (kWarpLanes * kMaxWarps) : r_block_ / shape.lanes);
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

  void Add(int64_t y, int64_t x, int64_t r, int64_t warps = 1) {
    y = std::clamp<int64_t>(y, 1, max_y_);
    x = std::clamp<int64_t>(x, 1, max_x_);
    r = r_block_ > 0 ? r_block_ : std::clamp<int64_t>(r, 1, max_r_);
    while (y * x * r < shape_.lanes) Grow(&y, &x, &r);
    if (cuda_) {
      while (warps > 1 && warps * kWarpLanes > y * x * r) warps /= 2;
      // A persistent row can't be cut, but shared by more warps.
      while (r_block_ > preferred_slots_ * kWarpLanes * warps && warps < kMaxWarps) warps *= 2;
    }
    const int64_t least = std::max<int64_t>(r_block_, shape_.lanes);
    while (y * x * r > preferred_slots_ * shape_.lanes * warps && y * x * r > least)
      Shrink(&y, &x, &r);
    Config config = {{"XBLOCK", x}};
    if (shape_.has_y) config["YBLOCK"] = y;
    if (shape_.has_r) config["RBLOCK"] = r;
    if (cuda_) config["WARPS"] = warps;
    const bool known = std::find(result_.begin(), result_.end(), config) != result_.end();
    if (!known && result_.size() < kMaxCandidates) result_.push_back(std::move(config));
  }

  Configurations Finish() {
    Configurations c;
    const auto add = [&](const char* name, int64_t from, int64_t to) {
      ConfigParameter p{name, {}};
      for (int64_t v = from; v <= to; v *= 2) p.values.push_back(v);
      c.space.push_back(std::move(p));
    };
    std::vector<std::string> tile = {"XBLOCK"};
    add("XBLOCK", 1, max_x_);
    if (shape_.has_y) add("YBLOCK", 1, max_y_), tile.emplace_back("YBLOCK");
    if (shape_.has_r)
      add("RBLOCK", r_block_ > 0 ? r_block_ : 1, max_r_), tile.emplace_back("RBLOCK");
    if (cuda_) add("WARPS", 1, kMaxWarps);
    const std::string elements = absl::StrJoin(tile, "*");
    const std::string warps = cuda_ ? "*WARPS" : "";
    c.constraints = {absl::StrCat(elements, " - ", shape_.lanes, warps),
                     absl::StrCat(max_slots_ * shape_.lanes, warps, " - ", elements)};
    c.candidates = std::move(result_);
    return c;
  }

 private:
  static int64_t Limit(int64_t extent, int64_t most) {
    return std::min(most, PowerOfTwoAtLeast(std::min(extent, most)));
  }

  void Grow(int64_t* y, int64_t* x, int64_t* r) const {
    if (*x < max_x_) {
      *x *= 2;
    } else if (r_block_ == 0 && *r < max_r_) {
      *r *= 2;
    } else {
      *y *= 2;
    }
  }

  void Shrink(int64_t* y, int64_t* x, int64_t* r) const {
    if (r_block_ == 0 && *r > 1) {
      *r /= 2;
    } else if (*x >= *y && *x > 1) {
      *x /= 2;
    } else {
      *y /= 2;
    }
  }

  const Shape& shape_;
  const bool cuda_;
  int64_t r_block_;  // 0: free
  int64_t max_slots_, preferred_slots_, max_x_, max_y_, max_r_;
  std::vector<Config> result_;
};

// ---- cuda. Measurements are from an H200, 2026-11-29: facts about memory-bound kernels.

// 128 to 256 threads with one 16-byte vector an input each are at the speed of a copy.
void CudaPointwise(const Shape& s, Proposals* out) {
  if (s.has_y) {
    if (s.transposes) {
      // Both sides contiguous: square tiles of 64 or 32 go through shared memory at full width.
      for (const auto& [y, x, w] : {std::tuple{64, 64, 8}, {32, 32, 4}, {64, 32, 8}, {32, 64, 8}})
        out->Add(y, x, 1, w);
      return;
    }
    for (const auto& [y, x, w] : {std::tuple{1, 1024, 8}, {4, 256, 8}, {16, 64, 8}})
      out->Add(y, x, 1, w);
    return;
  }
  // Fewer points than fill the device: smaller blocks, so that all multiprocessors take part.
  const int64_t full = s.multiprocessors * 256 * s.vector;
  if (s.x < full) {
    const int64_t block = std::clamp<int64_t>(PowerOfTwoAtMost(s.x / s.multiprocessors), 128, 1024);
    out->Add(1, block, 1, 4);
    out->Add(1, 2 * block, 1, 4);
    out->Add(1, block, 1, 2);
    return;
  }
  for (const auto& [w, vectors] : {std::pair{8, 1}, {4, 1}, {4, 2}, {8, 2}})
    out->Add(1, kWarpLanes * w * s.vector * vectors, 1, w);
}

// One row a block, two 16-byte vectors a thread; short rows share a block, but not so many that
// multiprocessors go without.
void CudaPersistentRows(const Shape& s, Proposals* out) {
  const int64_t row = PowerOfTwoAtLeast(s.r_upper);
  const int64_t per_thread = 2 * s.vector;
  const int64_t warps = std::max<int64_t>(1, row / (kWarpLanes * per_thread));
  const int64_t spare = std::max<int64_t>(1, PowerOfTwoAtMost(s.x / (2 * s.multiprocessors)));
  const int64_t rows = std::min(spare, std::max<int64_t>(1, 4 * kWarpLanes * per_thread / row));
  out->Add(1, rows, row, std::max(warps, rows * row / (kWarpLanes * per_thread)));
  out->Add(1, 1, row, warps);
  out->Add(1, 1, row, 2 * warps);
  out->Add(1, std::min<int64_t>(spare, 4 * rows), row, std::max<int64_t>(4, warps));
  if (warps > 1) out->Add(1, 1, row, warps / 2);
}

// Lanes along the columns, the short reduction in registers and over warps.
void CudaPersistentColumns(const Shape& s, Proposals* out) {
  const int64_t r = PowerOfTwoAtLeast(s.r_upper);
  for (int64_t elements : {4096, 2048, 8192}) {
    const int64_t x = std::clamp<int64_t>(elements / r, kWarpLanes, 512);
    out->Add(1, x, r, std::max<int64_t>(1, x * r / (kWarpLanes * 16)));
    out->Add(1, x, r, std::max<int64_t>(1, x * r / (kWarpLanes * 32)));
  }
}

// 512 threads with four vectors in flight each stream a long row best; a row of a few thousand
// elements is best shared by fewer threads with two vectors each.
void CudaLoopedRows(const Shape& s, Proposals* out) {
  const int64_t two_vectors = PowerOfTwoAtLeast(s.r) / (kWarpLanes * 2 * s.vector);
  if (two_vectors < 16) {
    const int64_t w = std::max<int64_t>(two_vectors, 4);
    out->Add(1, 1, kWarpLanes * w * s.vector * 2, w);
  }
  for (const auto& [w, vectors] : {std::pair{16, 4}, {8, 4}, {16, 2}, {8, 2}, {32, 2}, {4, 4}})
    out->Add(1, 1, kWarpLanes * w * s.vector * vectors, w);
}

// A warp's lanes take one vector each along the columns (one element if there are few columns);
// warps and slots go down the rows.
void CudaLoopedColumns(const Shape& s, Proposals* out) {
  const int64_t spread = PowerOfTwoAtMost(s.x / s.multiprocessors);
  const int64_t wide = std::clamp<int64_t>(spread, kWarpLanes, kWarpLanes * s.vector);
  for (const auto& [x, r, w] : {std::tuple{wide, 8 * 8, 8},
                                {wide / 2, 16 * 8, 8},
                                {wide, 4 * 16, 16},
                                {2 * wide, 4 * 8, 8},
                                {wide / 2, 32 * 4, 16},
                                {wide, 4 * 8, 8}})
    out->Add(1, x, r, w);
}

// A fallback to the matmul templates: small register tiles, both operands reused.
void CudaContraction(const Shape&, Proposals* out) {
  for (const auto& [y, x, r, w] : {std::tuple{32, 32, 8, 8},
                                   {32, 64, 4, 8},
                                   {16, 64, 8, 8},
                                   {16, 32, 16, 8},
                                   {16, 16, 16, 4},
                                   {64, 32, 4, 8}})
    out->Add(y, x, r, w);
}

// ---- cpu. Slots are vectors of `lanes` elements; an instance is one iteration of a loop over the
// instances of a thread, so tiles need not be large to be worth starting.

void CpuPointwise(const Shape& s, Proposals* out) {
  if (s.transposes) {
    for (const auto& [y, x] : {std::pair{s.lanes, s.lanes},
                               {s.lanes, 2 * s.lanes},
                               {2 * s.lanes, s.lanes},
                               {int64_t{4}, 4 * s.lanes}})
      out->Add(y, x, 1);
    return;
  }
  for (int64_t vectors : {4, 8, 2, 16}) out->Add(1, vectors * s.lanes, 1);
}

void CpuPersistent(const Shape& s, Proposals* out) {
  const int64_t r = PowerOfTwoAtLeast(s.r_upper);
  if (s.inner) {
    const int64_t rows = std::max<int64_t>(1, s.lanes / r);
    for (int64_t k : {1, 2, 4}) out->Add(1, rows * k, r);
    return;
  }
  for (int64_t vectors : {2, 1, 4}) out->Add(1, vectors * s.lanes, r);
}

void CpuLooped(const Shape& s, Proposals* out) {
  if (s.inner) {
    for (const auto& [x, vectors] : {std::pair{1, 8}, {1, 4}, {1, 16}, {2, 4}, {4, 4}})
      out->Add(1, x, vectors * s.lanes);
    return;
  }
  // Few rows at a time: the accumulators are the columns of the tile.
  for (const auto& [vectors, r] : {std::pair{8, 1}, {4, 2}, {4, 1}, {8, 2}, {2, 4}})
    out->Add(1, vectors * s.lanes, r);
}

void CpuContraction(const Shape& s, Proposals* out) {
  const int64_t l = s.lanes;
  if (!s.x_loads) {  // both operands contiguous along the summed dim
    for (const auto& [y, x, r] : {std::tuple{4, 4, l}, {2, 4, l}, {4, 4, 2 * l}, {2, 2, 2 * l}})
      out->Add(y, x, r);
    return;
  }
  // One step of the sum at a time: vectors of one operand times broadcast elements of the other.
  for (const auto& [y, vectors] : {std::pair{4, 2}, {8, 2}, {4, 4}, {2, 4}, {8, 1}})
    out->Add(y, vectors * l, 1);
}

}  // namespace

Configurations ChooseConfigurations(const LoopNest& nest, const TileChoice& tile, KernelForm form,
                                    const TargetSpec& target) {
  const Shape shape = DescribeShape(nest, tile, target);
  Proposals proposals(shape, form, target);
  const bool looped = form == KernelForm::kLooped;
  if (target.is_cuda()) {
    if (form == KernelForm::kPointwise) {
      CudaPointwise(shape, &proposals);
    } else if (tile.contraction) {
      CudaContraction(shape, &proposals);
    } else if (shape.inner) {
      (looped ? CudaLoopedRows : CudaPersistentRows)(shape, &proposals);
    } else {
      (looped ? CudaLoopedColumns : CudaPersistentColumns)(shape, &proposals);
    }
  } else if (form == KernelForm::kPointwise) {
    CpuPointwise(shape, &proposals);
  } else if (tile.contraction) {
    CpuContraction(shape, &proposals);
  } else {
    (looped ? CpuLooped : CpuPersistent)(shape, &proposals);
  }
  return proposals.Finish();
}

}  // namespace stax
