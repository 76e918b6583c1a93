// Arrays of a thread that are indexed at run time, so that they live in local memory.

constexpr int kLength = 16;

// Sorts each thread's 16 values; writes them and the permutation.
extern "C" __global__ void sort_local(int n, const short* in, short* out, unsigned char* order) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  if (thread >= n) return;
  short values[kLength];
  unsigned char index[kLength];
  for (int i = 0; i < kLength; ++i) {
    const short value = in[thread * kLength + i];
    int j = i;
    for (; j > 0 && values[j - 1] > value; --j) {
      values[j] = values[j - 1];
      index[j] = index[j - 1];
    }
    values[j] = value;
    index[j] = i;
  }
  for (int i = 0; i < kLength; ++i) {
    out[thread * kLength + i] = values[i];
    order[thread * kLength + i] = index[i];
  }
}

// Evaluates reverse Polish text of digits, + - and *, on a stack: a byte a symbol, `length` a thread.
extern "C" __global__ void polish(int n, int length, const char* text, int* values) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  if (thread >= n) return;
  int stack[32];
  int top = 0;
  for (int i = 0; i < length; ++i) {
    const char symbol = text[thread * length + i];
    if (symbol == ' ') continue;
    if (symbol >= '0' && symbol <= '9') {
      stack[top++] = symbol - '0';
      continue;
    }
    const int right = stack[--top];
    const int left = stack[top - 1];
    stack[top - 1] = symbol == '+' ? left + right : symbol == '-' ? left - right : left * right;
  }
  values[thread] = stack[0];
}
