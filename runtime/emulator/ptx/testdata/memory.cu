// Initialised variables of each space, textures left out; managed memory; atomics; addresses as
// values.
struct Row {
  char tag;
  short s;
  float f;
  double d;
  const int* p;
};
__device__ int counters[4] = {1, -2, 3};
__device__ float matrix[2][3] = {{1.5f, -0.0f, 1e-40f}, {3.0f}};
__constant__ double weights[3] = {0.1, 1e300, -2.5};
__device__ Row row = {'x', -7, 0.25f, 1.0 / 3, &counters[2]};
__device__ const char* text = "a string";
__managed__ int managed_value = 42;
__device__ bool flags[5] = {true, false, true};
__device__ unsigned long long big_value = 0xfedcba9876543210ull;
extern __device__ int elsewhere[];
__device__ int elsewhere[8];
__shared__ int shared_counter;

__global__ void Memory(float* out, const __grid_constant__ Row by_value, short2 pair, char3 bytes) {
  __shared__ alignas(16) float4 tile[8][4];
  float local[16];
  for (int i = 0; i < 16; ++i) local[i] = out[i] * weights[i % 3];
  tile[threadIdx.x % 8][threadIdx.y % 4] =
      make_float4(local[out[0] > 0 ? 3 : 7], by_value.f, pair.y, bytes.z);
  if (threadIdx.x == 0) shared_counter = managed_value;
  __syncthreads();
  atomicAdd(&shared_counter, counters[threadIdx.x & 3]);
  atomicCAS(&big_value, 1ull, 2ull);
  out[threadIdx.x] = tile[threadIdx.y % 8][0].w + matrix[threadIdx.x & 1][1] + row.d + *row.p +
                     flags[2] + text[threadIdx.x & 7] + elsewhere[by_value.tag & 7] +
                     shared_counter + local[by_value.s & 15];
  *(volatile int*)&counters[1] = __ldg(&by_value.p[1]);
}
