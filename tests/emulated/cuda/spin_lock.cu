// Locks. That a lane may wait for another lane of its own warp is what independent thread scheduling promises.

__device__ void acquire(int* lock) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence();
}

__device__ void release(int* lock) {
  __threadfence();
  atomicExch(lock, 0);
}

// What the lock guards: plain loads and stores, a sum and a hash that depends on the number of visits.
__device__ void visit(unsigned* guarded, unsigned value) {
  guarded[0] += value;
  guarded[1] += 1;
  guarded[2] ^= value * 2654435761u;
}

// One lane a warp takes the lock.
extern "C" __global__ void lock_by_warps(int* lock, const unsigned* x, unsigned* guarded) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned sum = __reduce_add_sync(0xffffffff, x[i]);
  if (threadIdx.x % 32 == 0) {
    acquire(lock);
    visit(guarded, sum);
    release(lock);
  }
  __syncwarp();
}

// Every lane takes the lock of its value, so lanes of a warp wait for each other.
extern "C" __global__ void lock_by_lanes(int n, int locks, int* lock, const unsigned* x, unsigned* guarded) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int which = x[i] % locks;
  acquire(lock + which);
  visit(guarded + 3 * which, x[i]);
  release(lock + which);
}
