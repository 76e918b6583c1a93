// Templates, a function that is not inlined, shared memory of both kinds, shuffles, a loop over
// half2.
#include <cuda_fp16.h>

template <typename T>
__device__ __noinline__ T WarpSum(T value) {
  for (int delta = 16; delta > 0; delta /= 2) value += __shfl_xor_sync(0xffffffff, value, delta);
  return value;
}

template <typename T, int kThreads>
__global__ void __launch_bounds__(kThreads, 2) Sum(const T* __restrict__ in, T* out, int n) {
  extern __shared__ double dynamic[];
  __shared__ T partial[kThreads / 32];
  T sum = 0;
  for (int i = threadIdx.x; i < n; i += kThreads) sum += in[i];
  sum = WarpSum(sum);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
  dynamic[threadIdx.x] = static_cast<double>(sum);
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 1; i < kThreads / 32; ++i) sum += partial[i];
    out[blockIdx.x] = sum + static_cast<T>(dynamic[kThreads - 1]);
  }
}

template __global__ void Sum<float, 128>(const float*, float*, int);
template __global__ void Sum<double, 256>(const double*, double*, int);

__global__ void HalfAdd(const __half2* a, const __half2* b, __half2* c, __half* d, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  c[i] = __hfma2(a[i], b[i], __float2half2_rn(1.5f));
  d[i] = __hmax(__low2half(a[i]), __high2half(b[i])) * hexp(__low2half(b[i]));
}
