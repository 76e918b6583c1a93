// Dynamic shared memory, carved into arrays of different types whose sizes the launch decides.

// Puts each block's elements with an even value first, in order, then the others; and says where each came from.
// Dynamic shared memory: blockDim.x * (8 + 4 + 2) bytes.
extern "C" __global__ void partition_even(int n, const long long* in, long long* out, short* origin) {
  extern __shared__ long long storage[];
  long long* const values = storage;
  int* const before = reinterpret_cast<int*>(values + blockDim.x);
  short* const places = reinterpret_cast<short*>(before + blockDim.x);
  const int start = blockIdx.x * blockDim.x;
  const int i = threadIdx.x;
  const int length = min(static_cast<int>(blockDim.x), n - start);
  const bool even = i < length && in[start + i] % 2 == 0;
  before[i] = even;
  __syncthreads();
  for (int offset = 1; offset < blockDim.x; offset *= 2) {
    const int other = i >= offset ? before[i - offset] : 0;
    __syncthreads();
    before[i] += other;
    __syncthreads();
  }
  if (i < length) {
    const int evens = before[length - 1];
    const int place = even ? before[i] - 1 : evens + i - before[i];
    values[place] = in[start + i];
    places[place] = i;
  }
  __syncthreads();
  if (i < length) {
    out[start + i] = values[i];
    origin[start + i] = places[i];
  }
}
