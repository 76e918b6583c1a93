// What programs that use cooperative groups compile to: tiles of 16 lanes, and groups of whoever is there.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

// sums[row] of x[rows, columns]: a tile of 16 lanes a row.
extern "C" __global__ void tile_row_sums(int rows, int columns, const float* x, float* sums) {
  const cg::thread_block block = cg::this_thread_block();
  const cg::thread_block_tile<16> tile = cg::tiled_partition<16>(block);
  const int row = blockIdx.x * tile.meta_group_size() + tile.meta_group_rank();
  if (row >= rows) return;  // a whole tile, perhaps half a warp
  float sum = 0;
  for (int i = tile.thread_rank(); i < columns; i += tile.size()) sum += x[row * columns + i];
  for (int offset = tile.size() / 2; offset > 0; offset /= 2) sum += tile.shfl_down(sum, offset);
  if (tile.thread_rank() == 0) sums[row] = sum;
}

// The same with the library's reduction, of integers by redux.sync.
extern "C" __global__ void tile_row_maxima(int rows, int columns, const int* x, int* maxima) {
  const cg::thread_block_tile<32> tile = cg::tiled_partition<32>(cg::this_thread_block());
  const int row = blockIdx.x * tile.meta_group_size() + tile.meta_group_rank();
  if (row >= rows) return;
  int high = -2147483647 - 1;
  for (int i = tile.thread_rank(); i < columns; i += tile.size()) high = max(high, x[row * columns + i]);
  high = cg::reduce(tile, high, cg::greater<int>());
  if (tile.thread_rank() == 0) maxima[row] = high;
}

// Keeps what is positive, in any order: the lanes that found something share one atomic.
extern "C" __global__ void keep_positive(int n, const int* x, int* kept, int* count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n || x[i] <= 0) return;
  const cg::coalesced_group group = cg::coalesced_threads();
  int base = 0;
  if (group.thread_rank() == 0) base = atomicAdd(count, group.size());
  base = group.shfl(base, 0);
  kept[base + group.thread_rank()] = x[i];
}
