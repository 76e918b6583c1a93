// Layer norm over rows of f16, eight values a load, the variance by Welford's method merged across a warp.
#include <cuda_fp16.h>

struct Moments {
  float count;
  float mean;
  float squares;  // sum of squared distances from the mean
};

__device__ Moments merge(Moments a, Moments b) {
  const float count = a.count + b.count;
  if (count == 0) return a;
  const float distance = b.mean - a.mean;
  return {count, a.mean + distance * (b.count / count),
          a.squares + b.squares + distance * distance * (a.count * b.count / count)};
}

union Eight {
  uint4 words;
  __half values[8];
};

// columns: a multiple of 8. A warp a row, blockDim.y rows a block; block (32, rows).
extern "C" __global__ void layernorm_f16(int rows, int columns, float epsilon, const __half* x, const __half* scale,
                                         __half* y) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  const uint4* const in = reinterpret_cast<const uint4*>(x + row * columns);
  Moments mine = {};
  for (int i = threadIdx.x; i < columns / 8; i += 32) {
    Eight eight;
    eight.words = in[i];
    for (int j = 0; j < 8; ++j) mine = merge(mine, {1, __half2float(eight.values[j]), 0});
  }
  for (int mask = 16; mask > 0; mask /= 2) {
    mine = merge(mine, {__shfl_xor_sync(0xffffffff, mine.count, mask), __shfl_xor_sync(0xffffffff, mine.mean, mask),
                        __shfl_xor_sync(0xffffffff, mine.squares, mask)});
  }
  const float factor = rsqrtf(mine.squares / columns + epsilon);
  uint4* const out = reinterpret_cast<uint4*>(y + row * columns);
  for (int i = threadIdx.x; i < columns / 8; i += 32) {
    Eight eight;
    Eight scales;
    eight.words = in[i];
    scales.words = reinterpret_cast<const uint4*>(scale)[i];
    for (int j = 0; j < 8; ++j) {
      const float value = (__half2float(eight.values[j]) - mine.mean) * factor * __half2float(scales.values[j]);
      eight.values[j] = __float2half(value);
    }
    out[i] = eight.words;
  }
}
