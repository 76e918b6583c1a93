// Blocks that wait for each other: smoothing steps over a line of n floats, a barrier of the whole grid after each.
// All blocks must be able to run together, as in a cooperative launch.

__device__ void wait_volatile(const unsigned* count, unsigned goal) {
  while (*static_cast<const volatile unsigned*>(count) < goal) {
  }
}

__device__ void wait_acquire(const unsigned* count, unsigned goal) {
  unsigned seen;
  do {
    asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(seen) : "l"(count) : "memory");
  } while (seen < goal);
}

// count only grows: block arrivals since the start of the grid.
template <bool kAcquire>
__device__ void grid_barrier(unsigned* count) {
  __syncthreads();
  if (threadIdx.x == 0) {
    unsigned ticket;
    if (kAcquire) {
      asm volatile("atom.add.release.gpu.u32 %0, [%1], 1;" : "=r"(ticket) : "l"(count) : "memory");
    } else {
      __threadfence();
      ticket = atomicAdd(count, 1);
    }
    const unsigned goal = (ticket / gridDim.x + 1) * gridDim.x;
    if (kAcquire) {
      wait_acquire(count, goal);
    } else {
      wait_volatile(count, goal);
      __threadfence();
    }
  }
  __syncthreads();
}

template <bool kAcquire>
__device__ void smooth(int n, int steps, float* from, float* to, unsigned* count) {
  for (int step = 0; step < steps; ++step) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
      const float left = from[i > 0 ? i - 1 : 0];
      const float right = from[i < n - 1 ? i + 1 : n - 1];
      to[i] = (left + from[i] + right) * 0.25f;
    }
    grid_barrier<kAcquire>(count);
    float* const swap = from;
    from = to;
    to = swap;
  }
}

extern "C" __global__ void smooth_volatile(int n, int steps, float* a, float* b, unsigned* count) {
  smooth<false>(n, steps, a, b, count);
}

extern "C" __global__ void smooth_acquire(int n, int steps, float* a, float* b, unsigned* count) {
  smooth<true>(n, steps, a, b, count);
}
