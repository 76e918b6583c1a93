// The sum of n floats in one launch: each block leaves a partial sum, and the block that finishes last adds them up.

__device__ float block_sum(float value) {
  __shared__ float sums[256];
  sums[threadIdx.x] = value;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  const float sum = sums[0];
  __syncthreads();
  return sum;
}

// partial: gridDim.x floats; finished: zero, and zero again afterwards. blockDim.x: a power of two up to 256.
extern "C" __global__ void reduce_last_block(int n, const float* x, float* partial, unsigned* finished, float* sum) {
  __shared__ bool last;
  float mine = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) mine += x[i];
  mine = block_sum(mine);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = mine;
    __threadfence();  // the partial sum is there before the ticket says so
    last = atomicInc(finished, gridDim.x - 1) == gridDim.x - 1;
    __threadfence();  // no partial sum is read before all tickets were
  }
  __syncthreads();
  if (!last) return;
  float total = 0;
  for (int i = threadIdx.x; i < gridDim.x; i += blockDim.x) total += partial[i];
  total = block_sum(total);
  if (threadIdx.x == 0) *sum = total;
}
