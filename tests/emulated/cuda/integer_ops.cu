// Integer instructions, one a row of results [rows, n].

__device__ unsigned lop3_majority(unsigned a, unsigned b, unsigned c) {
  unsigned d;
  asm("lop3.b32 %0, %1, %2, %3, 0xe8;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
  return d;
}

__device__ unsigned field_of(unsigned a, unsigned position, unsigned length) {
  unsigned d;
  asm("bfe.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(position), "r"(length));
  return d;
}

__device__ int signed_field_of(int a, unsigned position, unsigned length) {
  int d;
  asm("bfe.s32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(position), "r"(length));
  return d;
}

__device__ unsigned insert_field(unsigned field, unsigned into, unsigned position, unsigned length) {
  unsigned d;
  asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(d) : "r"(field), "r"(into), "r"(position), "r"(length));
  return d;
}

__device__ int highest_difference(int a) {
  int d;
  asm("bfind.s32 %0, %1;" : "=r"(d) : "r"(a));
  return d;
}

extern "C" __global__ void integer_ops(int n, const unsigned* a, const unsigned* b, const unsigned* c,
                                       unsigned* results) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned x = a[i];
  const unsigned y = b[i];
  const unsigned z = c[i];
  const int sx = x;
  const int sy = y;
  results[0 * n + i] = __popc(x);
  results[1 * n + i] = __clz(x);
  results[2 * n + i] = __brev(x);
  results[3 * n + i] = __ffs(x);
  results[4 * n + i] = __byte_perm(x, y, z);
  results[5 * n + i] = __funnelshift_l(x, y, z);
  results[6 * n + i] = __funnelshift_r(x, y, z);
  results[7 * n + i] = __funnelshift_lc(x, y, z & 63);
  results[8 * n + i] = __funnelshift_rc(x, y, z & 63);
  results[9 * n + i] = __dp4a(sx, sy, static_cast<int>(z));
  results[10 * n + i] = __dp4a(x, y, z);
  results[11 * n + i] = __dp2a_lo(sx, sy, static_cast<int>(z));
  results[12 * n + i] = __mulhi(sx, sy);
  results[13 * n + i] = __umulhi(x, y);
  results[14 * n + i] = __mul24(sx, sy);
  results[15 * n + i] = __umul24(x, y);
  results[16 * n + i] = field_of(x, y & 63, z & 63);
  results[17 * n + i] = signed_field_of(sx, y & 63, z & 63);
  results[18 * n + i] = insert_field(x, y, z & 63, z >> 6 & 63);
  results[19 * n + i] = __sad(sx, sy, z);
  results[20 * n + i] = __hadd(sx, sy);
  results[21 * n + i] = __rhadd(sx, sy);
  results[22 * n + i] = lop3_majority(x, y, z);
  results[23 * n + i] = highest_difference(sx);
  results[24 * n + i] = abs(sx >> 1);
  results[25 * n + i] = sx < sy ? min(sy, static_cast<int>(z)) : max(sx, static_cast<int>(z));
}

extern "C" __global__ void integer_ops64(int n, const unsigned long long* a, const unsigned long long* b,
                                         unsigned long long* results) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned long long x = a[i];
  const unsigned long long y = b[i];
  const long long sx = x;
  const long long sy = y;
  results[0 * n + i] = __popcll(x);
  results[1 * n + i] = __clzll(x);
  results[2 * n + i] = __brevll(x);
  results[3 * n + i] = __ffsll(x);
  results[4 * n + i] = __umul64hi(x, y);
  results[5 * n + i] = __mul64hi(sx, sy);
  results[6 * n + i] = x * y + 12345;
  results[7 * n + i] = sx >> (y & 63);
  results[8 * n + i] = x << (y & 63) | x >> (63 - (y & 63));
  results[9 * n + i] = min(sx, sy);
}
