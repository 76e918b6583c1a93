// Switches, recursion, indirect and virtual calls, printf, asm with scopes, arrays on the
// stack.
#include <cstdio>

struct Shape {
  __device__ virtual float Area() const = 0;
};
struct Square : Shape {
  float side;
  __device__ explicit Square(float s) : side(s) {}
  __device__ float Area() const override { return side * side; }
};
struct Circle : Shape {
  float radius;
  __device__ explicit Circle(float r) : radius(r) {}
  __device__ float Area() const override { return 3.14159f * radius * radius; }
};

struct Big {
  int values[9];
  double last;
};

__device__ __noinline__ Big MakeBig(Big in, char tag) {
  in.values[tag & 7] += tag;
  in.last *= 2;
  return in;
}

__device__ __noinline__ unsigned Fibonacci(unsigned n) {
  return n < 2 ? n : Fibonacci(n - 1) + Fibonacci(n - 2);
}

__device__ float Twice(float x) { return 2 * x; }
__device__ float Square1(float x) { return x * x; }
using Function = float (*)(float);
__device__ Function functions[] = {Twice, Square1};
__constant__ Function constant_function = Twice;

__global__ void Switch(int* data, const int* selector) {
  int x = data[threadIdx.x];
  switch (selector[threadIdx.x]) {
    case 0:
      x = x * 3 + 1;
      break;
    case 1:
      x = __popc(x);
      break;
    case 2:
      x = x / 7;
      break;
    case 3:
      x = __clz(x) ^ 5;
      break;
    case 4:
      x = x % 13;
      break;
    case 5:
      asm volatile(
          "{ .reg .u32 %r_in; .reg .pred %p; mov.u32 %r_in, %%laneid; setp.ne.u32 %p, %r_in, 0;\n"
          "  @%p bra DONE; add.u32 %0, %0, %r_in; DONE: }"
          : "+r"(x));
      break;
    case 6:
      atomicAdd(data, x);
      break;
    case 7:
      printf("%d %f\n", x, 1.5);
      break;
    case 9:
      x = static_cast<int>(Fibonacci(x));
      break;
    default:
      x = -1;
  }
  asm volatile("{ .reg .u32 %r_in; mov.u32 %r_in, %%lanemask_lt; xor.b32 %0, %0, %r_in; }"
               : "+r"(x));
  asm volatile(
      "{ .reg .u32 %r_in; .reg .pred %p; setp.lt.s32 %p, %0, 0; @!%p bra DONE; neg.s32 %0, %0; "
      "DONE: }"
      : "+r"(x));
  data[threadIdx.x] = x;
}

__global__ void Calls(float* out, int which, Big big) {
  Square square(out[0]);
  Circle circle(out[1]);
  const Shape* shape = which & 1 ? static_cast<Shape*>(&square) : &circle;
  out[2] = shape->Area();
  out[3] = functions[which & 1](out[3]) + constant_function(out[4]);
  big = MakeBig(big, static_cast<char>(which));
  out[4] = static_cast<float>(big.last) + big.values[which & 7];
}
