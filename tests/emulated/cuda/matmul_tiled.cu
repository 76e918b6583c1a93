// c[m, n] = a[m, k] b[k, n], all row-major, in 16 x 16 tiles through shared memory. Block (16, 16).

constexpr int kTile = 16;

extern "C" __global__ void matmul_tiled(int m, int n, int k, const float* a, const float* b, float* c) {
  __shared__ float a_tile[kTile][kTile];
  __shared__ float b_tile[kTile][kTile];
  const int row = blockIdx.y * kTile + threadIdx.y;
  const int column = blockIdx.x * kTile + threadIdx.x;
  float sum = 0;
  for (int start = 0; start < k; start += kTile) {
    const int a_column = start + threadIdx.x;
    const int b_row = start + threadIdx.y;
    a_tile[threadIdx.y][threadIdx.x] = row < m && a_column < k ? a[row * k + a_column] : 0;
    b_tile[threadIdx.y][threadIdx.x] = b_row < k && column < n ? b[b_row * n + column] : 0;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kTile; ++i) sum += a_tile[threadIdx.y][i] * b_tile[i][threadIdx.x];
    // Nobody may overwrite the tiles while others still read them.
    __syncthreads();
  }
  if (row < m && column < n) c[row * n + column] = sum;
}
