// One result a warp: by shfl.down, by shfl.bfly, by redux.sync, and in segments of eight lanes.

constexpr unsigned kAll = 0xffffffff;

extern "C" __global__ void warp_sum_down(int n, const float* x, float* sums) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float value = i < n ? x[i] : 0;
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(kAll, value, offset);
  if (threadIdx.x % 32 == 0 && i < n) sums[i / 32] = value;
}

// Every lane has the result and writes it.
extern "C" __global__ void warp_max_xor(int n, const double* x, double* maxima) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  double value = i < n ? x[i] : -1e300;
  for (int mask = 1; mask < 32; mask *= 2) value = fmax(value, __shfl_xor_sync(kAll, value, mask));
  if (i < n) maxima[i] = value;
}

// Segments of 8 lanes: lane 0 of each broadcasts.
extern "C" __global__ void segment_broadcast(int n, const int* x, int* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int value = i < n ? x[i] : 0;
  const int first = __shfl_sync(kAll, value, 0, 8);
  if (i < n) y[i] = value - first;
}

// results: [warps, 7]: sum, minimum, maximum (signed), minimum, maximum (unsigned), and, xor. n: a multiple of 32.
extern "C" __global__ void warp_redux(int n, const int* x, int* results) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;  // whole warps only
  const int value = x[i];
  const unsigned bits = value;
  const int sum = __reduce_add_sync(kAll, value);
  const int low = __reduce_min_sync(kAll, value);
  const int high = __reduce_max_sync(kAll, value);
  const unsigned unsigned_low = __reduce_min_sync(kAll, bits);
  const unsigned unsigned_high = __reduce_max_sync(kAll, bits);
  const unsigned all = __reduce_and_sync(kAll, bits);
  const unsigned parity = __reduce_xor_sync(kAll, bits);
  if (threadIdx.x % 32 == 0) {
    int* mine = results + i / 32 * 7;
    mine[0] = sum;
    mine[1] = low;
    mine[2] = high;
    mine[3] = unsigned_low;
    mine[4] = unsigned_high;
    mine[5] = all;
    mine[6] = parity;
  }
}

// Only the lanes with an odd value take part, so the mask of the redux is a real one.
extern "C" __global__ void odd_lanes_sum(int n, const int* x, int* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int value = i < n ? x[i] : 0;
  const unsigned odd = __ballot_sync(kAll, value & 1);
  int sum = 0;
  if (value & 1) sum = __reduce_add_sync(odd, value);
  if (i < n) y[i] = sum;
}
