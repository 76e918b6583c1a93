// Single and double precision: what the mathematics library compiles to, and the fast versions. results: [rows, n].

extern "C" __global__ void double_math(int n, const double* a, const double* b, double* results) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double x = a[i];
  const double y = b[i];
  results[0 * n + i] = x / y;
  results[1 * n + i] = sqrt(x);
  results[2 * n + i] = fma(x, y, -1.0);
  results[3 * n + i] = exp(-x);
  results[4 * n + i] = log(x);
  results[5 * n + i] = cbrt(y);
  results[6 * n + i] = floor(x) + ceil(y) + rint(x * y);
  results[7 * n + i] = copysign(fmin(x, y), 1.5 - x);
  results[8 * n + i] = fmod(x, y);
  results[9 * n + i] = rsqrt(x);
}

// Correctly rounded, whatever the optimiser does.
extern "C" __global__ void float_rounded(int n, const float* a, const float* b, float* results) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float x = a[i];
  const float y = b[i];
  results[0 * n + i] = __fadd_rn(x, y);
  results[1 * n + i] = __fadd_rz(x, y);
  results[2 * n + i] = __fadd_ru(x, y);
  results[3 * n + i] = __fadd_rd(x, y);
  results[4 * n + i] = __fmul_rn(x, y);
  results[5 * n + i] = __fmul_rz(x, y);
  results[6 * n + i] = __fmul_ru(x, y);
  results[7 * n + i] = __fmul_rd(x, y);
  results[8 * n + i] = __fdiv_rn(x, y);
  results[9 * n + i] = __fsqrt_rn(x);
  results[10 * n + i] = __fsqrt_rd(x);
  results[11 * n + i] = __frcp_ru(y);
  results[12 * n + i] = __fmaf_rn(x, y, 1.0f);
  results[13 * n + i] = __saturatef(x - y);
}

extern "C" __global__ void float_functions(int n, const float* a, const float* b, float* results) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float x = a[i];
  const float y = b[i];
  results[0 * n + i] = expf(x);
  results[1 * n + i] = logf(y);
  results[2 * n + i] = tanhf(x);
  results[3 * n + i] = erff(x);
  results[4 * n + i] = powf(y, x);
  results[5 * n + i] = log1pf(y);
  results[6 * n + i] = exp2f(x);
  results[7 * n + i] = hypotf(x, y);
}

// x in [-3, 3], y in [0.5, 2].
extern "C" __global__ void fast_math(int n, const float* a, const float* b, float* results) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float x = a[i];
  const float y = b[i];
  results[0 * n + i] = __expf(x);
  results[1 * n + i] = __logf(y);
  results[2 * n + i] = __sinf(x);
  results[3 * n + i] = __cosf(x);
  results[4 * n + i] = rsqrtf(y);
  results[5 * n + i] = __fdividef(x, y);
  results[6 * n + i] = __powf(y, x);
  results[7 * n + i] = __exp10f(x);
  results[8 * n + i] = __log2f(y);
  float approximate;
  asm("tanh.approx.f32 %0, %1;" : "=f"(approximate) : "f"(x));
  results[9 * n + i] = approximate;
}
