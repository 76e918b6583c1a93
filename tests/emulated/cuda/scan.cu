// Inclusive prefix sums: within a block, and over the whole grid in a single pass with look-back.

constexpr unsigned kAll = 0xffffffff;

__device__ unsigned warp_inclusive_scan(unsigned value) {
  const int lane = threadIdx.x % 32;
  for (int offset = 1; offset < 32; offset *= 2) {
    const unsigned other = __shfl_up_sync(kAll, value, offset);
    if (lane >= offset) value += other;
  }
  return value;
}

// blockDim.x: a multiple of 32, at most 1024. All threads call it.
__device__ unsigned block_inclusive_scan(unsigned value) {
  __shared__ unsigned warp_sums[32];
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  value = warp_inclusive_scan(value);
  if (lane == 31) warp_sums[warp] = value;
  __syncthreads();
  if (warp == 0) {
    const unsigned sum = lane < blockDim.x / 32 ? warp_sums[lane] : 0;
    const unsigned scanned = warp_inclusive_scan(sum);
    if (lane < blockDim.x / 32) warp_sums[lane] = scanned;
  }
  __syncthreads();
  return warp > 0 ? value + warp_sums[warp - 1] : value;
}

// Each block scans its own blockDim.x elements.
extern "C" __global__ void block_scan(int n, const unsigned* in, unsigned* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned sum = block_inclusive_scan(i < n ? in[i] : 0);
  if (i < n) out[i] = sum;
}

// What a tile knows: 0 nothing; else in the upper half 1 (its own sum) or 2 (the sum up to its end), in the lower half
// that sum. One 64-bit word, so that state and sum are always seen together.
__device__ unsigned long long pack(unsigned state, unsigned sum) {
  return static_cast<unsigned long long>(state) << 32 | sum;
}

__device__ unsigned look_back(int tile, const unsigned long long* tiles) {
  unsigned before = 0;
  for (int other = tile - 1; other >= 0;) {
    const unsigned long long word = *static_cast<const volatile unsigned long long*>(tiles + other);
    const unsigned state = static_cast<unsigned>(word >> 32);
    if (state == 0) continue;
    before += static_cast<unsigned>(word);
    if (state == 2) break;
    --other;
  }
  return before;
}

// tiles: one zeroed word a block; next_tile: zero. Tiles are numbered in the order in which blocks start, so that a tile
// only ever waits for one that runs already.
extern "C" __global__ void scan_lookback(int n, const unsigned* in, unsigned* out, unsigned long long* tiles,
                                         int* next_tile) {
  __shared__ int shared_tile;
  __shared__ unsigned shared_before;
  if (threadIdx.x == 0) shared_tile = atomicAdd(next_tile, 1);
  __syncthreads();
  const int tile = shared_tile;
  const int i = tile * blockDim.x + threadIdx.x;
  const unsigned sum = block_inclusive_scan(i < n ? in[i] : 0);
  if (threadIdx.x == blockDim.x - 1) {
    atomicExch(tiles + tile, pack(tile == 0 ? 2 : 1, sum));
    const unsigned before = look_back(tile, tiles);
    if (tile > 0) atomicExch(tiles + tile, pack(2, before + sum));
    shared_before = before;
  }
  __syncthreads();
  if (i < n) out[i] = shared_before + sum;
}
