// Calls that stay calls: structs by value in both directions, pointers to locals, several returns, calls of calls.

struct Fraction {
  long long numerator;
  long long denominator;
};

__device__ __noinline__ long long greatest_divisor(long long a, long long b) {
  while (b != 0) {
    const long long rest = a % b;
    a = b;
    b = rest;
  }
  return a < 0 ? -a : a;
}

__device__ __noinline__ Fraction reduced(Fraction f) {
  const long long divisor = greatest_divisor(f.numerator, f.denominator);
  return {f.numerator / divisor, f.denominator / divisor};
}

__device__ __noinline__ Fraction add(Fraction a, Fraction b) {
  return reduced({a.numerator * b.denominator + b.numerator * a.denominator, a.denominator * b.denominator});
}

// sums[i] = a[i] + b[i], fractions as pairs.
extern "C" __global__ void add_fractions(int n, const Fraction* a, const Fraction* b, Fraction* sums) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) sums[i] = add(a[i], b[i]);
}

__device__ __noinline__ void split(int value, int* quotient, int* rest) {
  *quotient = value / 10;
  *rest = value % 10;
}

__device__ __noinline__ int digit_class(int digit, float weight, char offset) {
  if (digit == 0) return -1;
  if (digit < 4) return digit + offset;
  if (digit % 2 == 0) return static_cast<int>(digit * weight);
  return 0;
}

// The sum of the classes of the decimal digits of x[i] >= 0; lanes call as often as they have digits.
extern "C" __global__ void digit_classes(int n, const int* x, int* sums) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int rest = x[i];
  int sum = 0;
  while (rest > 0) {
    int quotient;
    int digit;
    split(rest, &quotient, &digit);
    sum += digit_class(digit, 1.5f, 7);
    rest = quotient;
  }
  sums[i] = sum;
}
