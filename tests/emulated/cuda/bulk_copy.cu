// target: sm_90a
// Bulk asynchronous copies: one thread asks for a whole tile, an mbarrier counts its bytes, and two tiles are on their
// way at a time. Results go back by bulk copies of shared memory to global memory.

constexpr int kTile = 512;  // floats
constexpr int kBytes = kTile * 4;

__device__ unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

__device__ void fetch(float* tile, const float* from, unsigned barrier) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(kBytes) : "memory");
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
          shared_address(tile)),
      "l"(__cvta_generic_to_global(from)), "r"(kBytes), "r"(barrier)
      : "memory");
}

__device__ void wait(unsigned barrier, unsigned parity) {
  asm volatile(
      "{\n\t.reg .pred complete;\n$L__again_%=:\n\t"
      "mbarrier.try_wait.parity.shared::cta.b64 complete, [%0], %1;\n\t@!complete bra $L__again_%=;\n\t}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

// y = x * factor over `tiles` tiles a block; n = gridDim.x * tiles * kTile.
extern "C" __global__ void bulk_scale(int tiles, float factor, const float* x, float* y) {
  __shared__ alignas(128) float in[2][kTile];
  __shared__ alignas(128) float out[kTile];
  __shared__ alignas(8) unsigned long long barriers[2];
  asm volatile("griddepcontrol.wait;" ::: "memory");
  x += static_cast<long long>(blockIdx.x) * tiles * kTile;
  y += static_cast<long long>(blockIdx.x) * tiles * kTile;
  if (threadIdx.x == 0) {
    for (int i = 0; i < 2; ++i) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(barriers + i)) : "memory");
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (threadIdx.x == 0) fetch(in[0], x, shared_address(barriers));
  for (int tile = 0; tile < tiles; ++tile) {
    const int buffer = tile % 2;
    if (threadIdx.x == 0 && tile + 1 < tiles) {
      // The other buffer was read by ordinary loads before the last barrier of the block.
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
      fetch(in[1 - buffer], x + (tile + 1) * kTile, shared_address(barriers + 1 - buffer));
    }
    wait(shared_address(barriers + buffer), tile / 2 % 2);
    for (int i = threadIdx.x; i < kTile; i += blockDim.x) out[i] = in[buffer][i] * factor;
    // What was written becomes visible to the copy.
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(
                       __cvta_generic_to_global(y + tile * kTile)),
                   "r"(shared_address(out)), "r"(kBytes)
                   : "memory");
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
      asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
