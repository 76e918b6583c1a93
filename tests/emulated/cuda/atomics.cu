// Atomics of every type and operation on a few addresses. Values are small whole numbers, so that sums of floats are
// exact in any order.
#include <cuda_fp16.h>

// Value i goes to slot i % slots. Every array has `slots` elements.
extern "C" __global__ void atomic_sums(int n, int slots, const int* x, int* i32, unsigned long long* u64, float* f32,
                                       double* f64, __half2* f16x2) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int slot = i % slots;
  atomicAdd(i32 + slot, x[i]);
  atomicAdd(u64 + slot, static_cast<unsigned long long>(x[i]) << 20);
  atomicAdd(f32 + slot, static_cast<float>(x[i]));
  atomicAdd(f64 + slot, x[i] * 0.25);
  atomicAdd(f16x2 + slot, __halves2half2(__int2half_rn(x[i]), __int2half_rn(1)));
}

// results: [6, slots]: minimum, maximum, unsigned minimum, and, or, xor.
extern "C" __global__ void atomic_bits(int n, int slots, const int* x, int* results, long long* highest) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int slot = i % slots;
  atomicMin(results + slot, x[i]);
  atomicMax(results + slots + slot, x[i]);
  atomicMin(reinterpret_cast<unsigned*>(results + 2 * slots + slot), static_cast<unsigned>(x[i]));
  atomicAnd(results + 3 * slots + slot, x[i]);
  atomicOr(results + 4 * slots + slot, x[i]);
  atomicXor(results + 5 * slots + slot, x[i]);
  atomicMax(highest + slot, static_cast<long long>(x[i]) << 33);
}

// Returned values: every thread takes one ticket of each kind.
extern "C" __global__ void atomic_tickets(int n, unsigned modulus, unsigned* counters, unsigned* up, unsigned* down,
                                          int* exchanged) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  up[i] = atomicInc(counters, modulus - 1);
  down[i] = atomicDec(counters + 1, modulus - 1);
  exchanged[i] = atomicExch(counters + 2, i + 1);
}

// A loop of compare-and-swap: the product of all numbers modulo a prime.
extern "C" __global__ void atomic_product(int n, const unsigned* x, unsigned long long* product) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned long long seen = atomicAdd(product, 0);
  for (;;) {
    const unsigned long long wanted = seen * x[i] % 1000003;
    const unsigned long long found = atomicCAS(product, seen, wanted);
    if (found == seen) break;
    seen = found;
  }
}

// The same kinds in shared memory, then one result a block: [4, gridDim.x].
extern "C" __global__ void atomic_shared(int n, const int* x, int* results) {
  __shared__ int sum;
  __shared__ int high;
  __shared__ float total;
  __shared__ unsigned bits;
  if (threadIdx.x == 0) {
    sum = 0;
    high = -1;
    total = 0;
    bits = 0;
  }
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    atomicAdd(&sum, x[i]);
    atomicMax(&high, x[i]);
    atomicAdd(&total, 2.0f * x[i]);
    atomicOr(&bits, 1u << (x[i] & 31));
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    results[blockIdx.x] = sum;
    results[gridDim.x + blockIdx.x] = high;
    results[2 * gridDim.x + blockIdx.x] = static_cast<int>(total);
    results[3 * gridDim.x + blockIdx.x] = bits;
  }
}
