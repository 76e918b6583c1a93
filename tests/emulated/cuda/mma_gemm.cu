// c[m, n] = a[m, k] b on tensor cores: ldmatrix and mma.sync m16n8k16, 16-bit inputs, f32 sums. A warp makes 16 x 16 of c.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

constexpr int kTile = 16;
constexpr int kPitch = 24;  // 48 bytes a row: aligned for ldmatrix, and eight rows in different banks

__device__ unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

__device__ void load_matrices(unsigned (&r)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(shared_address(row))
               : "memory");
}

__device__ void load_matrices_transposed(unsigned (&r)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(shared_address(row))
               : "memory");
}

__device__ void multiply(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1, __half) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ void multiply(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1, __nv_bfloat16) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// A 16 x 16 tile of x[rows, columns] from (row, column), zeros beyond the edge. By one warp.
template <typename T>
__device__ void load_tile(T (&tile)[kTile][kPitch], const T* x, int rows, int columns, int row, int column) {
  for (int i = threadIdx.x; i < kTile * kTile; i += 32) {
    const int r = row + i / kTile;
    const int c = column + i % kTile;
    tile[i / kTile][i % kTile] = r < rows && c < columns ? x[r * columns + c] : T(0.0f);
  }
}

// b is [k, n], or [n, k] if kTransposed.
template <typename T, bool kTransposed>
__device__ void gemm(int m, int n, int k, const T* a, const T* b, float* c) {
  __shared__ alignas(16) T a_tile[kTile][kPitch];
  __shared__ alignas(16) T b_tile[kTile][kPitch];
  const int row = blockIdx.y * kTile;
  const int column = blockIdx.x * kTile;
  const int lane = threadIdx.x;
  float left[4] = {};
  float right[4] = {};
  for (int start = 0; start < k; start += kTile) {
    load_tile(a_tile, a, m, k, row, start);
    if (kTransposed) {
      load_tile(b_tile, b, n, k, column, start);
    } else {
      load_tile(b_tile, b, k, n, start, column);
    }
    __syncwarp();
    unsigned a_fragment[4];
    unsigned b_fragment[4];
    load_matrices(a_fragment, &a_tile[lane % 16][lane / 16 * 8]);
    // In order: k 0-7 and 8-15 of columns 0-7, then of columns 8-15.
    if (kTransposed) {
      load_matrices(b_fragment, &b_tile[lane % 8 + lane / 16 * 8][lane / 8 % 2 * 8]);
    } else {
      load_matrices_transposed(b_fragment, &b_tile[lane % 16][lane / 16 * 8]);
    }
    multiply(left, a_fragment, b_fragment[0], b_fragment[1], T());
    multiply(right, a_fragment, b_fragment[2], b_fragment[3], T());
    __syncwarp();
  }
  for (int i = 0; i < 4; ++i) {
    const int r = row + lane / 4 + i / 2 * 8;
    const int col = column + lane % 4 * 2 + i % 2;
    if (r < m && col < n) c[r * n + col] = left[i];
    if (r < m && col + 8 < n) c[r * n + col + 8] = right[i];
  }
}

extern "C" __global__ void mma_gemm_f16(int m, int n, int k, const __half* a, const __half* b, float* c) {
  gemm<__half, false>(m, n, k, a, b, c);
}

extern "C" __global__ void mma_gemm_bf16(int m, int n, int k, const __nv_bfloat16* a, const __nv_bfloat16* b,
                                         float* c) {
  gemm<__nv_bfloat16, true>(m, n, k, a, b, c);
}
