// Quotients and remainders, of which 64-bit ones are long sequences on every GPU. results: [rows, n].

extern "C" __global__ void division64(int n, const long long* a, const long long* b, long long* results) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  results[0 * n + i] = a[i] / b[i];
  results[1 * n + i] = a[i] % b[i];
  results[2 * n + i] = static_cast<unsigned long long>(a[i]) / static_cast<unsigned long long>(b[i]);
  results[3 * n + i] = static_cast<unsigned long long>(a[i]) % static_cast<unsigned long long>(b[i]);
}

extern "C" __global__ void division32(int n, const int* a, const int* b, int* results) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  results[0 * n + i] = a[i] / b[i];
  results[1 * n + i] = a[i] % b[i];
  results[2 * n + i] = static_cast<unsigned>(a[i]) / static_cast<unsigned>(b[i]);
  results[3 * n + i] = static_cast<unsigned>(a[i]) % static_cast<unsigned>(b[i]);
  results[4 * n + i] = a[i] / 7 + a[i] % 1000;  // constants become multiplications
}
