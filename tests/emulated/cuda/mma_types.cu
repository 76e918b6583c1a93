// mma.sync in other types: tf32, s8 and f64, with fragments taken from global memory as the PTX specification lays them
// out. One warp; a[m, k] row-major, b[k, n] stored as [n, k], k a multiple of what one instruction takes.

extern "C" __global__ void mma_tf32(int k, const float* a, const float* b, float* c) {
  const int group = threadIdx.x / 4;
  const int member = threadIdx.x % 4;
  float sums[4] = {};
  for (int start = 0; start < k; start += 8) {
    unsigned fragments[6];
    for (int i = 0; i < 4; ++i) {
      const float value = a[(group + i % 2 * 8) * k + start + member + i / 2 * 4];
      asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(fragments[i]) : "f"(value));
    }
    for (int i = 0; i < 2; ++i) {
      const float value = b[group * k + start + member + i * 4];
      asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(fragments[4 + i]) : "f"(value));
    }
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(fragments[0]), "r"(fragments[1]), "r"(fragments[2]), "r"(fragments[3]), "r"(fragments[4]),
          "r"(fragments[5]));
  }
  for (int i = 0; i < 4; ++i) c[(group + i / 2 * 8) * 8 + member * 2 + i % 2] = sums[i];
}

extern "C" __global__ void mma_s8(int k, const signed char* a, const signed char* b, int* c) {
  const int group = threadIdx.x / 4;
  const int member = threadIdx.x % 4;
  int sums[4] = {};
  for (int start = 0; start < k; start += 32) {
    int fragments[6];
    for (int i = 0; i < 4; ++i) {
      const int offset = (group + i % 2 * 8) * k + start + member * 4 + i / 2 * 16;
      fragments[i] = *reinterpret_cast<const int*>(a + offset);
    }
    for (int i = 0; i < 2; ++i) {
      fragments[4 + i] = *reinterpret_cast<const int*>(b + group * k + start + member * 4 + i * 16);
    }
    asm volatile(
        "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3])
        : "r"(fragments[0]), "r"(fragments[1]), "r"(fragments[2]), "r"(fragments[3]), "r"(fragments[4]),
          "r"(fragments[5]));
  }
  for (int i = 0; i < 4; ++i) c[(group + i / 2 * 8) * 8 + member * 2 + i % 2] = sums[i];
}

extern "C" __global__ void mma_f64(int k, const double* a, const double* b, double* c) {
  const int group = threadIdx.x / 4;
  const int member = threadIdx.x % 4;
  double sums[2] = {};
  for (int start = 0; start < k; start += 4) {
    const double a_value = a[group * k + start + member];
    const double b_value = b[group * k + start + member];
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+d"(sums[0]), "+d"(sums[1])
                 : "d"(a_value), "d"(b_value));
  }
  for (int i = 0; i < 2; ++i) c[group * 8 + member * 2 + i] = sums[i];
}
