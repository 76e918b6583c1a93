// wmma and mma.sync, cp.async, cooperative groups; on Hopper mbarrier, bulk copies, clusters,
// wgmma.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_bf16.h>
#include <mma.h>

namespace cg = cooperative_groups;
using namespace nvcuda;

__global__ void Wmma(const __half* a, const __half* b, float* c) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
  wmma::fill_fragment(fc, 0.0f);
  wmma::load_matrix_sync(fa, a, 16);
  wmma::load_matrix_sync(fb, b, 16);
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}

__global__ void Mma(const __nv_bfloat16* a, float* c) {
  __shared__ __align__(128) __nv_bfloat16 tile[64 * 64];
  unsigned base = static_cast<unsigned>(__cvta_generic_to_shared(tile));
  asm volatile(
      "cp.async.cg.shared.global [%0], [%1], 16;\ncp.async.commit_group;\ncp.async.wait_group 0;" ::
          "r"(base + threadIdx.x * 16),
      "l"(a + threadIdx.x * 8)
      : "memory");
  __syncthreads();
  unsigned r[4];
  float d[4] = {0, 0, 0, 0};
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(base));
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "r"(r[0]), "r"(r[1]));
  for (int i = 0; i < 4; ++i) c[threadIdx.x * 4 + i] = d[i];
}

__global__ void Groups(int* data) {
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<16> tile = cg::tiled_partition<16>(block);
  int sum = cg::reduce(tile, data[block.thread_rank()], cg::plus<int>());
  if (sum > 3) {
    cg::coalesced_group active = cg::coalesced_threads();
    sum = active.shfl(sum, 0);
  }
  block.sync();
  data[block.thread_rank()] = sum;
  cg::this_grid().sync();
}

#if __CUDA_ARCH__ >= 900 || !defined(__CUDA_ARCH__)
struct alignas(64) Map {
  char bytes[128];
};
__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(128)
    Hopper(const __grid_constant__ Map map, float* out) {
#if __CUDA_ARCH__ >= 900
  __shared__ alignas(1024) char tile[8192];
  __shared__ alignas(8) unsigned long long barrier;
  unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(tile));
  unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(&barrier));
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(1));
    asm volatile("fence.mbarrier_init.release.cluster;");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(8192));
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, "
        "{%2, %3}], [%4];" ::"r"(address),
        "l"(&map), "r"(0), "r"(64), "r"(bar)
        : "memory");
  }
  cg::this_cluster().sync();
  asm volatile(
      "{\n.reg .pred P1;\nLAB_WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\n@P1 "
      "bra DONE;\nbra LAB_WAIT;\nDONE:\n}" ::"r"(bar),
      "r"(0));
  float d[4];
  unsigned long long descriptor = address >> 4;
  asm volatile("wgmma.fence.sync.aligned;");
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %6, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %5, p, 1, 1, 0, "
      "1;\n}"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "l"(descriptor), "l"(descriptor), "r"(0));
  asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
  float* remote = cg::this_cluster().map_shared_rank(reinterpret_cast<float*>(tile), 1);
  out[threadIdx.x] = d[0] + d[1] + d[2] + d[3] + remote[threadIdx.x];
  asm volatile(
      "{ .reg .pred q; elect.sync _|q, 0xffffffff; @q st.global.f32 [%0], 0f3F800000; }" ::"l"(
          out));
#endif
}
#endif
