#include "compiler/schedule/cuda_candidates.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "compiler/schedule/choose_form.h"

namespace stax {
namespace {

constexpr int kWarpLanes = 32;

// Measurements are from an H200, 2026-11-29.

// 128 to 256 threads with one 16-byte vector an input each are at the speed of a copy.
void CudaPointwise(const TileShape& s, TileProposals* out) {
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
void CudaPersistentRows(const TileShape& s, TileProposals* out) {
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
void CudaPersistentColumns(const TileShape& s, TileProposals* out) {
  const int64_t r = PowerOfTwoAtLeast(s.r_upper);
  for (int64_t elements : {4096, 2048, 8192}) {
    const int64_t x = std::clamp<int64_t>(elements / r, kWarpLanes, 512);
    out->Add(1, x, r, std::max<int64_t>(1, x * r / (kWarpLanes * 16)));
    out->Add(1, x, r, std::max<int64_t>(1, x * r / (kWarpLanes * 32)));
  }
}

// 512 threads with four vectors in flight each stream a long row best; a row of a few thousand
// elements is best shared by fewer threads with two vectors each.
void CudaLoopedRows(const TileShape& s, TileProposals* out) {
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
void CudaLoopedColumns(const TileShape& s, TileProposals* out) {
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
void CudaContraction(const TileShape&, TileProposals* out) {
  for (const auto& [y, x, r, w] : {std::tuple{32, 32, 8, 8},
                                   {32, 64, 4, 8},
                                   {16, 64, 8, 8},
                                   {16, 32, 16, 8},
                                   {16, 16, 16, 4},
                                   {64, 32, 4, 8}})
    out->Add(y, x, r, w);
}

// How a row that is kept is spread, and how many such blocks a multiprocessor must hold.
struct Spread {
  int64_t warps = 1, cluster = 1;
  int64_t min_blocks = 0;  // 0: as many as the registers have room for
};

// The best of a sweep over warps, clusters and blocks: softmax, layer and RMS normalization, rows
// of 512 to 262144 (H200, 2026-11-30). 16 elements a thread while that makes no more than 8 warps,
// then more of both; clusters beyond what one multiprocessor keeps.
Spread BestSpread(int64_t elements, bool halves) {
  if (elements <= 8192)
    return {std::clamp<int64_t>(elements / (kWarpLanes * 16), 1, halves ? 8 : 16)};
  if (elements <= 16384) return {16};
  if (elements <= 32768) return {halves ? 16 : 32};
  if (elements <= 65536) return halves ? Spread{16, 2} : Spread{8, 4};
  if (elements <= 131072) return {8, 8};
  return halves ? Spread{16, 8} : Spread{32, 8};
}

// How many blocks the registers have room for that a row takes and the work on it; ptxas, left
// alone, would take more of them. Halves are packed beyond 32 a thread (codegen).
int64_t BlocksThatFit(int64_t elements, const Spread& spread, bool halves) {
  constexpr int64_t kRegisters = 65536, kWork = 24, kPackedWork = 32;
  const int64_t threads = kWarpLanes * spread.warps;
  const int64_t slots = elements / (threads * spread.cluster);
  const bool packed = halves && slots > 32;
  const int64_t registers = packed ? slots / 2 + kPackedWork : slots + kWork;
  return std::max<int64_t>(1, kRegisters / (threads * registers));
}

void CudaSpreadRows(const TileShape& s, TileProposals* out) {
  const int64_t row = PowerOfTwoAtLeast(s.r_upper);
  const int64_t elements = row * std::max<int64_t>(1, PowerOfTwoAtLeast(s.kept.loads));
  const bool halves = s.kept.loads > 0 && s.kept.bytes <= 2 * s.kept.loads;
  const auto add = [&](Spread spread, int64_t rows = 1) {
    TileProposal p{1, rows, row, spread.warps};
    p.cluster = spread.cluster;
    // With several rows kept, what the work on them takes is not known that well.
    if (s.kept.loads <= 1) p.min_blocks = BlocksThatFit(elements, spread, halves);
    if (spread.min_blocks > 0) p.min_blocks = spread.min_blocks;
    out->Add(p);
  };
  const Spread best = BestSpread(elements, halves);
  // Rows that start anywhere: short ones go two at a time, of long ones each thread takes more.
  const bool ragged = s.r_upper % s.vector != 0;
  if (ragged && halves && row <= 2048) add({4}, 2);
  if (ragged && row <= 2048) add({2});
  if (ragged && halves && elements == 65536) add({8, 2, 3});
  add(best);
  add({best.warps / 2, best.cluster});
  add({best.warps * 2, best.cluster});
  if (best.cluster < 8) add({best.warps / 2, best.cluster * 2});
  add({best.warps, best.cluster, 3});
  add({best.warps, best.cluster, 4});
}

}  // namespace

void ProposeForCuda(const TileShape& shape, KernelForm form, bool contraction, TileProposals* out) {
  if (form == KernelForm::kPointwise) return CudaPointwise(shape, out);
  if (contraction) return CudaContraction(shape, out);
  if (out->spreads_rows()) return CudaSpreadRows(shape, out);
  const bool looped = form == KernelForm::kLooped;
  if (shape.inner) return (looped ? CudaLoopedRows : CudaPersistentRows)(shape, out);
  (looped ? CudaLoopedColumns : CudaPersistentColumns)(shape, out);
}

}  // namespace stax
