// For clang, without CUDA's headers: a jump table, structs by value, indirect and variadic calls,
// global arrays with addresses.
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))

extern "C" __device__ int vprintf(const char*, const char*);

struct Pair {
  long a;
  float b[5];
};

__device__ int table[] = {3, 1, 4, 1, 5};
__device__ const int* pointers[] = {&table[1], nullptr, &table[4]};
__constant__ float scale[2][2] = {{1.5f, 2.5f}, {-0.0f, 3.5f}};
__shared__ int common;

extern "C" __device__ __attribute__((noinline)) Pair Swap(Pair p, int i) {
  p.b[i & 3] = static_cast<float>(p.a);
  p.a = i;
  return p;
}

__device__ __attribute__((noinline)) int Jump(int x, int selector) {
  switch (selector) {
    case 0:
      return x * 3 + 1;
    case 1:
      return __builtin_popcount(x);
    case 2:
      return x / 7;
    case 3:
      return x ^ 0x55;
    case 4:
      return x % 13;
    case 5:
      return table[x & 3];
    case 6:
      common = x;
      return 8;
    default:
      return -1;
  }
}

using Function = int (*)(int, int);
__device__ int Other(int x, int y) { return x - y; }
__device__ Function functions[] = {Jump, Other};

extern "C" __device__ __attribute__((noreturn)) void Stop() { __builtin_trap(); }

__global__ __attribute__((launch_bounds(128, 2))) void Kernel(int* out, Pair p, char c, long n) {
  int i = __nvvm_read_ptx_sreg_tid_x() + __nvvm_read_ptx_sreg_ctaid_x() * 128;
  if (i >= n) return;
  p = Swap(p, c);
  int x = Jump(out[i], static_cast<int>(p.a)) + *pointers[i & 2] + functions[i & 1](i, c);
  x += static_cast<int>(scale[i & 1][c & 1] * p.b[2]);
  char text[] = "x=%d";
  int argument = x;
  if (x == 42) vprintf(text, reinterpret_cast<const char*>(&argument));
  if (x == 43) Stop();
  __nvvm_bar_sync(0);
  out[i] = x + common + x;
}
