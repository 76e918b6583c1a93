// Lanes of a warp that exchange values from the arms of a branch: each arm has its own instructions, with the same mask.

// Each lane adds its neighbour's value, which the neighbour has scaled in its own way.
extern "C" __global__ void arms_shuffle(int n, const int* x, int* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int value = i < n ? x[i] : 0;
  int sum;
  if (threadIdx.x % 3 == 0) {
    sum = value + __shfl_xor_sync(0xffffffffu, value * 3, 1);
  } else if (threadIdx.x % 3 == 1) {
    sum = value - __shfl_xor_sync(0xffffffffu, value + 100, 1);
  } else {
    const int other = __shfl_xor_sync(0xffffffffu, value ^ 5, 1);
    sum = value * other;
  }
  if (i < n) y[i] = sum;
}

// Mirrors each warp's values in shared memory; the upper and the lower half wait at barriers of their own.
extern "C" __global__ void arms_barrier(int n, const int* x, int* y) {
  __shared__ int words[128];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int mirror = threadIdx.x ^ 31;
  int got;
  if (threadIdx.x % 32 < 16) {
    words[threadIdx.x] = i < n ? x[i] : 0;
    __syncwarp();
    got = words[mirror];
  } else {
    words[threadIdx.x] = i < n ? -x[i] : 0;
    __syncwarp();
    got = words[mirror] + 7;
  }
  if (i < n) y[i] = got;
}
