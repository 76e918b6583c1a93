// cp.async: rows stream through two buffers in shared memory; while one is used, the next is on its way.


constexpr int kThreads = 64;
constexpr int kChunk = 4 * kThreads;  // floats: 16 bytes a thread

__device__ unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

__device__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

// Starts copying elements [start, start + kChunk) of a row, zeros beyond its end. The row is 16-byte aligned.
__device__ void fetch(float* buffer, const float* row, int columns, int start) {
  const int column = start + 4 * threadIdx.x;
  const int left = columns - column;
  const int wanted = left <= 0 ? 0 : left < 4 ? left : 4;
  // An address beyond the end is not even formed when nothing is wanted there.
  const float* const from = wanted > 0 ? row + column : row;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(buffer + 4 * threadIdx.x)),
               "l"(__cvta_generic_to_global(from)), "r"(4 * wanted)
               : "memory");
}

// maxima[row] and sums[row] of x[gridDim.x, pitch], columns of each; pitch is a multiple of 4.
extern "C" __global__ void row_statistics(int columns, int pitch, const float* x, float* maxima, float* sums) {
  __shared__ alignas(16) float buffers[2][kChunk];
  __shared__ float partial[2][kThreads / 32];
  const float* const row = x + blockIdx.x * pitch;
  const int chunks = (columns + kChunk - 1) / kChunk;
  float high = 0;  // the values are at least 0, and so are the zeros beyond the end
  float sum = 0;
  fetch(buffers[0], row, columns, 0);
  commit();
  for (int chunk = 0; chunk < chunks; ++chunk) {
    if (chunk + 1 < chunks) fetch(buffers[(chunk + 1) % 2], row, columns, (chunk + 1) * kChunk);
    commit();  // an empty group at the end keeps the count right
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();
    // Each thread reads what others have fetched.
    for (int i = threadIdx.x; i < kChunk; i += kThreads) {
      high = fmaxf(high, buffers[chunk % 2][i]);
      sum += buffers[chunk % 2][i];
    }
    __syncthreads();
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    high = fmaxf(high, __shfl_down_sync(0xffffffff, high, offset));
    sum += __shfl_down_sync(0xffffffff, sum, offset);
  }
  if (threadIdx.x % 32 == 0) {
    partial[0][threadIdx.x / 32] = high;
    partial[1][threadIdx.x / 32] = sum;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    maxima[blockIdx.x] = fmaxf(partial[0][0], partial[0][1]);
    sums[blockIdx.x] = partial[1][0] + partial[1][1];
  }
}

// Reverses each block's segment by single asynchronous copies of 4 bytes, in two groups.
extern "C" __global__ void reverse_segments(int n, const int* in, int* out) {
  __shared__ int segment[2 * kThreads];
  const int start = blockIdx.x * 2 * kThreads;
  for (int half = 0; half < 2; ++half) {
    const int j = half * kThreads + threadIdx.x;
    if (start + j < n) {
      asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared_address(segment + j)),
                   "l"(__cvta_generic_to_global(in + start + j))
                   : "memory");
    }
    commit();
  }
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  const int length = min(2 * kThreads, n - start);
  for (int j = threadIdx.x; j < length; j += kThreads) out[start + j] = segment[length - 1 - j];
}
