// target: sm_90a
// Conversions between f32, f16 and the two 8-bit float types, in pairs as the hardware has them.
#include <cuda_fp16.h>
#include <cuda_fp8.h>

// e4m3, e5m2: n pairs each, saturating at the largest finite value.
extern "C" __global__ void float_to_fp8(int n, const float2* in, __nv_fp8x2_storage_t* e4m3,
                                        __nv_fp8x2_storage_t* e5m2) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  e4m3[i] = __nv_cvt_float2_to_fp8x2(in[i], __NV_SATFINITE, __NV_E4M3);
  e5m2[i] = __nv_cvt_float2_to_fp8x2(in[i], __NV_SATFINITE, __NV_E5M2);
}

// halves: [2, n] pairs, of the same bytes read as e4m3 and as e5m2.
extern "C" __global__ void fp8_to_half(int n, const __nv_fp8x2_storage_t* in, __half2_raw* halves) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  halves[i] = __nv_cvt_fp8x2_to_halfraw2(in[i], __NV_E4M3);
  halves[n + i] = __nv_cvt_fp8x2_to_halfraw2(in[i], __NV_E5M2);
}
