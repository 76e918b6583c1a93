// Conversions in every rounding mode, a row each of results [rows, n].
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void float_to_int(int n, const float* in, int* results) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float x = in[i];
  results[0 * n + i] = __float2int_rn(x);
  results[1 * n + i] = __float2int_rz(x);
  results[2 * n + i] = __float2int_ru(x);
  results[3 * n + i] = __float2int_rd(x);
  results[4 * n + i] = __float2uint_rn(x);
  results[5 * n + i] = __float2uint_rz(x);
  results[6 * n + i] = static_cast<int>(rintf(x * 0.001953125f) * 2);
  results[7 * n + i] = __float_as_int(truncf(x));
}

extern "C" __global__ void double_to_long(int n, const double* in, long long* results) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double x = in[i];
  results[0 * n + i] = __double2ll_rn(x);
  results[1 * n + i] = __double2ll_rz(x);
  results[2 * n + i] = __double2ll_ru(x);
  results[3 * n + i] = __double2ll_rd(x);
  results[4 * n + i] = __double2ull_rz(x);
  results[5 * n + i] = __double2int_rz(x);
  results[6 * n + i] = __double2hiint(x);
}

extern "C" __global__ void long_to_float(int n, const long long* in, float* results) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const long long x = in[i];
  results[0 * n + i] = __ll2float_rn(x);
  results[1 * n + i] = __ll2float_rz(x);
  results[2 * n + i] = __ll2float_ru(x);
  results[3 * n + i] = __ll2float_rd(x);
  results[4 * n + i] = __ull2float_rn(x);
  results[5 * n + i] = __int2float_rn(static_cast<int>(x));
  results[6 * n + i] = __uint2float_rz(static_cast<unsigned>(x));
  results[7 * n + i] = static_cast<signed char>(x);
  results[8 * n + i] = static_cast<unsigned short>(x);
}

extern "C" __global__ void double_to_float(int n, const double* in, float* results) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  results[0 * n + i] = __double2float_rn(in[i]);
  results[1 * n + i] = __double2float_rz(in[i]);
  results[2 * n + i] = __double2float_ru(in[i]);
  results[3 * n + i] = __double2float_rd(in[i]);
}

extern "C" __global__ void float_to_half(int n, const float* in, __half* results) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  results[0 * n + i] = __float2half_rn(in[i]);
  results[1 * n + i] = __float2half_rz(in[i]);
  results[2 * n + i] = __float2half_ru(in[i]);
  results[3 * n + i] = __float2half_rd(in[i]);
}

extern "C" __global__ void float_to_bfloat(int n, const float* in, __nv_bfloat16* results) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  results[0 * n + i] = __float2bfloat16_rn(in[i]);
  results[1 * n + i] = __float2bfloat16_rz(in[i]);
  results[2 * n + i] = __float2bfloat16_ru(in[i]);
  results[3 * n + i] = __float2bfloat16_rd(in[i]);
}

extern "C" __global__ void half_to_int(int n, const __half* in, int* results) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  results[0 * n + i] = __half2int_rn(in[i]);
  results[1 * n + i] = __half2int_rz(in[i]);
  results[2 * n + i] = __half2int_ru(in[i]);
  results[3 * n + i] = __half2int_rd(in[i]);
  results[4 * n + i] = __float_as_int(__half2float(in[i]));
  results[5 * n + i] = __half_as_ushort(__int2half_rn(__half2int_rn(in[i]) * 3));
}
