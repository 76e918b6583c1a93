// One pass of a radix sort by four bits: counts by digit and block, then, with their exclusive prefix sums, a stable
// scatter. Blocks of 128 threads, a key each.

constexpr unsigned kAll = 0xffffffff;
constexpr int kDigits = 16;
constexpr int kWarps = 4;

// counts: [16, gridDim.x]. Lanes with the same digit find each other by ballots, a bit at a time.
extern "C" __global__ void radix_count(int n, int shift, const unsigned* keys, unsigned* counts) {
  __shared__ unsigned shared_counts[kDigits];
  if (threadIdx.x < kDigits) shared_counts[threadIdx.x] = 0;
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned digit = i < n ? keys[i] >> shift & (kDigits - 1) : 0;
  unsigned peers = __ballot_sync(kAll, i < n);
  for (int bit = 0; bit < 4; ++bit) {
    const bool set = digit >> bit & 1;
    const unsigned with_bit = __ballot_sync(kAll, set);
    peers &= set ? with_bit : ~with_bit;
  }
  const int leader = __ffs(peers) - 1;
  if (i < n && threadIdx.x % 32 == leader) atomicAdd(&shared_counts[digit], __popc(peers));
  __syncthreads();
  if (threadIdx.x < kDigits) counts[threadIdx.x * gridDim.x + blockIdx.x] = shared_counts[threadIdx.x];
}

// offsets: [16, gridDim.x], where in `sorted` the first key of that digit and block goes.
extern "C" __global__ void radix_scatter(int n, int shift, const unsigned* keys, const unsigned* offsets,
                                         unsigned* sorted) {
  __shared__ unsigned warp_counts[kWarps][kDigits];
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  for (int j = threadIdx.x; j < kWarps * kDigits; j += blockDim.x) warp_counts[j / kDigits][j % kDigits] = 0;
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const bool there = i < n;
  const unsigned key = there ? keys[i] : 0;
  // Lanes beyond the end have a digit of their own.
  const unsigned digit = there ? key >> shift & (kDigits - 1) : kDigits;
  const unsigned peers = __match_any_sync(kAll, digit);
  const unsigned rank = __popc(peers & ((1u << lane) - 1));
  if (there && rank == 0) warp_counts[warp][digit] = __popc(peers);
  __syncthreads();
  if (!there) return;
  unsigned position = offsets[digit * gridDim.x + blockIdx.x] + rank;
  for (int other = 0; other < warp; ++other) position += warp_counts[other][digit];
  sorted[position] = key;
}
