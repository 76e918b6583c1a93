// Arithmetic on pairs of 16-bit floats. results: [rows, n] pairs, a row an operation.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void half2_math(int n, const __half2* a, const __half2* b, const __half2* c, __half2* results) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const __half2 x = a[i];
  const __half2 y = b[i];
  results[0 * n + i] = __hadd2_rn(x, y);
  results[1 * n + i] = __hsub2_rn(x, y);
  results[2 * n + i] = __hmul2_rn(x, y);
  results[3 * n + i] = __hfma2(x, y, c[i]);
  results[4 * n + i] = __hfma2_relu(x, y, c[i]);
  results[5 * n + i] = __hmax2(x, y);
  results[6 * n + i] = __hmin2(x, y);
  results[7 * n + i] = __hneg2(x);
  results[8 * n + i] = __habs2(x);
  results[9 * n + i] = __hgt2(x, y);
  results[10 * n + i] = __lowhigh2highlow(x);
  results[11 * n + i] = __hadd2_sat(x, y);
}

// Approximate functions of positive numbers.
extern "C" __global__ void half2_functions(int n, const __half2* a, __half2* results) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const __half2 x = a[i];
  results[0 * n + i] = h2exp(x);
  results[1 * n + i] = h2exp2(x);
  results[2 * n + i] = h2log(x);
  results[3 * n + i] = h2sqrt(x);
  results[4 * n + i] = h2rsqrt(x);
  results[5 * n + i] = h2rcp(x);
  results[6 * n + i] = h2tanh_approx(x);
}

extern "C" __global__ void bfloat2_math(int n, const __nv_bfloat162* a, const __nv_bfloat162* b,
                                        const __nv_bfloat162* c, __nv_bfloat162* results) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const __nv_bfloat162 x = a[i];
  const __nv_bfloat162 y = b[i];
  results[0 * n + i] = __hadd2_rn(x, y);
  results[1 * n + i] = __hmul2_rn(x, y);
  results[2 * n + i] = __hfma2(x, y, c[i]);
  results[3 * n + i] = __hmax2(x, y);
  results[4 * n + i] = __hneg2(x);
  results[5 * n + i] = __floats2bfloat162_rn(__low2float(x) + __high2float(y), __low2float(x) - __high2float(y));
}
