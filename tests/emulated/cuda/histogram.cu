// Counts of bytes: atomics in shared memory, then one global atomic a bin and block.

constexpr int kBins = 256;

extern "C" __global__ void histogram(int n, const unsigned char* bytes, unsigned* counts) {
  __shared__ unsigned bins[kBins];
  for (int bin = threadIdx.x; bin < kBins; bin += blockDim.x) bins[bin] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&bins[bytes[i]], 1u);
  __syncthreads();
  for (int bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
    if (bins[bin] > 0) atomicAdd(counts + bin, bins[bin]);
  }
}
