// Loads that promise something: const __restrict__ (ld.global.nc), vectors, and cache operators.

// A stencil with wrap-around: y[i] = x[i-1] - 2 x[i] + x[i+1].
extern "C" __global__ void stencil(int n, const float* __restrict__ x, float* __restrict__ y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float left = x[i > 0 ? i - 1 : n - 1];
  const float right = x[i < n - 1 ? i + 1 : 0];
  y[i] = __fadd_rn(__fsub_rn(left, __fmul_rn(2, x[i])), right);
}

// Complex products by vectors of two doubles.
extern "C" __global__ void complex_products(int n, const double2* __restrict__ a, const double2* __restrict__ b,
                                            double2* __restrict__ c) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double2 x = a[i];
  const double2 y = __ldg(b + i);
  c[i] = make_double2(__dsub_rn(__dmul_rn(x.x, y.x), __dmul_rn(x.y, y.y)),
                      __dadd_rn(__dmul_rn(x.x, y.y), __dmul_rn(x.y, y.x)));
}

extern "C" __global__ void cache_operators(int n, const int4* x, const short2* y, int4* sums) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int4 a = __ldcs(x + i);
  const int4 b = __ldcg(x + n - 1 - i);
  const short2 c = __ldca(y + i);
  const short2 d = __ldlu(y + n - 1 - i);
  __stcs(sums + i, make_int4(a.x + b.w, a.y + b.z, a.z + c.x + d.x, a.w + c.y + d.y));
}

// A 7-point sum over a box of nx x ny x nz cells, on a grid and blocks of three dimensions.
extern "C" __global__ void box_stencil(int nx, int ny, int nz, const int* __restrict__ in, int* __restrict__ out) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  const int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x >= nx || y >= ny || z >= nz) return;
  const int i = (z * ny + y) * nx + x;
  int sum = in[i];
  if (x > 0) sum += in[i - 1];
  if (x < nx - 1) sum += in[i + 1];
  if (y > 0) sum += in[i - nx];
  if (y < ny - 1) sum += in[i + nx];
  if (z > 0) sum += in[i - nx * ny];
  if (z < nz - 1) sum += in[i + nx * ny];
  out[i] = sum;
}
