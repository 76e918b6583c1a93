// Softmax over rows of bf16 in one pass over the input: each thread keeps the largest value so far and the sum of
// exponentials relative to it, and such pairs are merged across the block.
#include <cuda_bf16.h>

struct Running {
  float high;
  float sum;
};

__device__ Running merge(Running a, Running b) {
  const float high = fmaxf(a.high, b.high);
  return {high, a.sum * __expf(a.high - high) + b.sum * __expf(b.high - high)};
}

__device__ Running merge_warp(Running mine) {
  for (int mask = 16; mask > 0; mask /= 2) {
    const Running other = {__shfl_xor_sync(0xffffffff, mine.high, mask), __shfl_xor_sync(0xffffffff, mine.sum, mask)};
    mine = merge(mine, other);
  }
  return mine;
}

// Row blockIdx.x; blockDim.x a multiple of 32 up to 256.
extern "C" __global__ void softmax_bf16(int columns, const __nv_bfloat16* x, __nv_bfloat16* y) {
  __shared__ Running warps[8];
  const __nv_bfloat16* const row = x + static_cast<long long>(blockIdx.x) * columns;
  // Threads without an element: finite, so that no difference is NaN.
  Running mine = {-3e38f, 0};
  for (int i = threadIdx.x; i < columns; i += blockDim.x) mine = merge(mine, {__bfloat162float(row[i]), 1});
  mine = merge_warp(mine);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = mine;
  __syncthreads();
  Running all = warps[0];
  for (int warp = 1; warp < blockDim.x / 32; ++warp) all = merge(all, warps[warp]);
  for (int i = threadIdx.x; i < columns; i += blockDim.x) {
    const float value = __expf(__bfloat162float(row[i]) - all.high) / all.sum;
    y[static_cast<long long>(blockIdx.x) * columns + i] = __float2bfloat16(value);
  }
}
