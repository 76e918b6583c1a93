// target: sm_90a
// Clusters of four blocks that read and change each other's shared memory.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

constexpr int kBlocks = 4;
constexpr int kBins = 64;

__device__ void cluster_barrier() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// Each block publishes its values; thread i reads value i of the next block of the cluster.
extern "C" __global__ void __cluster_dims__(kBlocks, 1, 1) cluster_rotate(const float* in, float* out) {
  __shared__ float values[128];
  values[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
  cluster_barrier();
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  const unsigned mine = static_cast<unsigned>(__cvta_generic_to_shared(values + threadIdx.x));
  unsigned theirs;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(theirs) : "r"(mine), "r"((rank + 1) % kBlocks));
  float value;
  asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(value) : "r"(theirs) : "memory");
  out[blockIdx.x * blockDim.x + threadIdx.x] = value;
  // A block's memory must outlast what others read of it.
  cluster_barrier();
}

// A histogram of 256 bins, a quarter in each block of the cluster. counts: [clusters, 256].
extern "C" __global__ void __cluster_dims__(kBlocks, 1, 1) cluster_histogram(int n, const unsigned char* bytes,
                                                                             unsigned* counts) {
  __shared__ unsigned bins[kBins];
  const cg::cluster_group cluster = cg::this_cluster();
  for (int i = threadIdx.x; i < kBins; i += blockDim.x) bins[i] = 0;
  cluster.sync();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    unsigned* const owner = cluster.map_shared_rank(bins, bytes[i] / kBins);
    atomicAdd(owner + bytes[i] % kBins, 1u);
  }
  cluster.sync();
  for (int i = threadIdx.x; i < kBins; i += blockDim.x) counts[blockIdx.x * kBins + i] = bins[i];
}
