// mbarrier objects of sm_80 as barriers of a block that one arrives at and waits for apart.

__device__ unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

__device__ unsigned long long arrive(unsigned barrier) {
  unsigned long long state;
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(barrier) : "memory");
  return state;
}

__device__ void wait(unsigned barrier, unsigned long long state) {
  unsigned done;
  do {
    asm volatile(
        "{\n\t.reg .pred complete;\n\tmbarrier.test_wait.shared.b64 complete, [%1], %2;\n\t"
        "selp.u32 %0, 1, 0, complete;\n\t}"
        : "=r"(done)
        : "r"(barrier), "l"(state)
        : "memory");
  } while (!done);
}

// Rotates values round the block `steps` times, by as many places as the step's number.
extern "C" __global__ void rotate_rounds(int steps, const int* in, int* out) {
  __shared__ unsigned long long storage;
  __shared__ int values[2][256];
  const unsigned barrier = shared_address(&storage);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(barrier), "r"(blockDim.x) : "memory");
  }
  values[0][threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  for (int step = 0; step < steps; ++step) {
    const int from = (threadIdx.x + step) % blockDim.x;
    values[(step + 1) % 2][threadIdx.x] = values[step % 2][from] + step;
    wait(barrier, arrive(barrier));
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = values[steps % 2][threadIdx.x];
}
