// c[m, n] = a[m, k] b[k, n] + bias[m, n], not below zero, through the WMMA interface: wmma.load, wmma.mma, wmma.store.
// Sizes are multiples of 16; a warp makes a tile, four of them a block.
#include <mma.h>

constexpr int kTile = 16;

extern "C" __global__ void wmma_gemm(int m, int n, int k, const half* a, const half* b, const float* bias, float* c) {
  using namespace nvcuda;
  const int tile = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  const int tiles_in_row = n / kTile;
  if (tile >= m / kTile * tiles_in_row) return;  // whole warps
  const int row = tile / tiles_in_row * kTile;
  const int column = tile % tiles_in_row * kTile;
  wmma::fragment<wmma::matrix_a, kTile, kTile, kTile, half, wmma::row_major> a_fragment;
  wmma::fragment<wmma::matrix_b, kTile, kTile, kTile, half, wmma::row_major> b_fragment;
  wmma::fragment<wmma::accumulator, kTile, kTile, kTile, float> sums;
  wmma::load_matrix_sync(sums, bias + row * n + column, n, wmma::mem_row_major);
  for (int start = 0; start < k; start += kTile) {
    wmma::load_matrix_sync(a_fragment, a + row * k + start, k);
    wmma::load_matrix_sync(b_fragment, b + start * n + column, n);
    wmma::mma_sync(sums, a_fragment, b_fragment, sums);
  }
  for (int i = 0; i < sums.num_elements; ++i) sums.x[i] = fmaxf(sums.x[i], 0.0f);
  wmma::store_matrix_sync(c + row * n + column, sums, n, wmma::mem_row_major);
}
