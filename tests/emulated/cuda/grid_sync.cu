// Cooperative groups' barrier of the whole grid: in each round every element moves to another block. Launched
// cooperatively.
#include <cooperative_groups.h>

// As many elements as threads.
extern "C" __global__ void grid_rotate(int rounds, int* a, int* b) {
  const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  const unsigned n = gridDim.x * blockDim.x;
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  int* from = a;
  int* to = b;
  for (int round = 0; round < rounds; ++round) {
    to[i] = from[(i + blockDim.x + 1) % n] + round;
    grid.sync();
    int* const swap = from;
    from = to;
    to = swap;
  }
}
