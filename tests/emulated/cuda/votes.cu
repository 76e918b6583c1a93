// Votes and matches. results: [8, n].

constexpr unsigned kAll = 0xffffffff;

// n: a multiple of 32; blocks of whole warps.
extern "C" __global__ void votes(int n, const int* x, unsigned* results) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int value = x[i];
  results[0 * n + i] = __ballot_sync(kAll, value > 0);
  results[1 * n + i] = __any_sync(kAll, value == 3);
  results[2 * n + i] = __all_sync(kAll, value > -4);
  results[3 * n + i] = __match_any_sync(kAll, value);
  int same;
  const unsigned everybody = __match_all_sync(kAll, value / 8, &same);
  results[4 * n + i] = everybody;
  results[5 * n + i] = same;
  // Two groups of one warp vote apart, each with its own mask.
  const unsigned mask = threadIdx.x % 2 == 0 ? 0x55555555 : 0xaaaaaaaa;
  if (threadIdx.x % 2 == 0) {
    results[6 * n + i] = __ballot_sync(mask, value & 1);
  } else {
    results[6 * n + i] = __ballot_sync(mask, value & 2);
  }
  results[7 * n + i] = static_cast<unsigned>(__match_any_sync(kAll, static_cast<unsigned long long>(value) << 40));
}
