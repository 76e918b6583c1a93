// Loops that every lane leaves at another time.

extern "C" __global__ void collatz(int n, const unsigned* start, int* steps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned long long value = start[i];
  int count = 0;
  while (value != 1) {
    value = value % 2 == 0 ? value / 2 : 3 * value + 1;
    ++count;
  }
  steps[i] = count;
}

// Roundings are spelt out, so that counts do not depend on which operations the compiler fuses.
extern "C" __global__ void mandelbrot(int width, int height, int limit, int* counts) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column >= width || row >= height) return;
  const float cx = __fsub_rn(__fmul_rn(3.0f / 64, column), 2.0f);
  const float cy = __fsub_rn(__fmul_rn(2.0f / 64, row), 1.0f);
  float x = 0;
  float y = 0;
  int count = 0;
  for (; count < limit; ++count) {
    const float xx = __fmul_rn(x, x);
    const float yy = __fmul_rn(y, y);
    if (__fadd_rn(xx, yy) > 4) break;
    const float xy = __fmul_rn(x, y);
    x = __fadd_rn(__fsub_rn(xx, yy), cx);
    y = __fadd_rn(__fadd_rn(xy, xy), cy);
  }
  counts[row * width + column] = count;
}

// Loops in loops with early exits: the smallest divisor above 1 of each of x[i] .. x[i] + 3, summed; primes count 0.
extern "C" __global__ void smallest_divisors(int n, const unsigned* x, unsigned* sums) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned sum = 0;
  for (unsigned value = x[i]; value < x[i] + 4; ++value) {
    if (value < 4) continue;
    for (unsigned divisor = 2; divisor * divisor <= value; ++divisor) {
      if (value % divisor == 0) {
        sum += divisor;
        break;
      }
    }
  }
  sums[i] = sum;
}
