// Sorts blockDim.x values a block in shared memory (a power of two), by a network with a barrier a stage.

extern "C" __global__ void bitonic_sort(const float* in, float* out) {
  extern __shared__ float values[];
  const unsigned i = threadIdx.x;
  values[i] = in[blockIdx.x * blockDim.x + i];
  __syncthreads();
  for (unsigned size = 2; size <= blockDim.x; size *= 2) {
    for (unsigned distance = size / 2; distance > 0; distance /= 2) {
      const unsigned partner = i ^ distance;
      if (partner > i) {
        const float mine = values[i];
        const float other = values[partner];
        const bool ascending = (i & size) == 0;
        if (mine > other == ascending) {
          values[i] = other;
          values[partner] = mine;
        }
      }
      __syncthreads();
    }
  }
  out[blockIdx.x * blockDim.x + i] = values[i];
}
