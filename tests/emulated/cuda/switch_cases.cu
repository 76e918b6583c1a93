// A little machine: a dense switch in a loop whose lanes take different cases.

// Runs the same `length` instructions on (a[i], b[i]); instruction j of thread i is program[(i + j) % length].
extern "C" __global__ void switch_cases(int n, int length, const unsigned char* program, const int* a, const int* b,
                                        int* result) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned x = a[i];
  unsigned y = b[i];
  for (int j = 0; j < length; ++j) {
    switch (program[(i + j) % length]) {
      case 0: x += y; break;
      case 1: x -= y; break;
      case 2: x *= y | 1; break;
      case 3: x ^= y >> 3; break;
      case 4: x = (x << 5) | (x >> 27); break;
      case 5: y += 0x9e3779b9; break;
      case 6: y ^= x; [[fallthrough]];
      case 7: y = ~y; break;
      case 8: x = __popc(x) + y; break;
      case 9: {
        const unsigned swap = x;
        x = y;
        y = swap;
        break;
      }
      case 10: x = max(x, y); break;
      case 11: x = x / (y % 1000 + 1); break;
      default: x = 0x2a; break;
    }
  }
  result[i] = x ^ y;
}

// nvcc makes trees of comparisons of a switch; here is an indexed branch as other compilers write it.
__device__ int choose(unsigned which, int value) {
  int result;
  asm volatile(
      "{\n\t"
      "$L__targets_%=: .branchtargets $L__add_%=, $L__negate_%=, $L__square_%=, $L__add_%=;\n\t"
      "brx.idx %1, $L__targets_%=;\n"
      "$L__add_%=:\n\tadd.s32 %0, %2, 1000;\n\tbra.uni $L__done_%=;\n"
      "$L__negate_%=:\n\tneg.s32 %0, %2;\n\tbra.uni $L__done_%=;\n"
      "$L__square_%=:\n\tmul.lo.s32 %0, %2, %2;\n"
      "$L__done_%=:\n\t}"
      : "=r"(result)
      : "r"(which), "r"(value));
  return result;
}

extern "C" __global__ void indexed_branch(int n, const int* which, const int* x, int* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = choose(which[i] & 3, x[i]);
}
