// Copies: 16 bytes a thread with a tail of single floats, rows with pitches, and transposition.

extern "C" __global__ void copy_vector(int n, const float* in, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int vectors = n / 4;
  if (i < vectors) reinterpret_cast<float4*>(out)[i] = reinterpret_cast<const float4*>(in)[i];
  // The tail has at most three elements; the first threads of the grid take them.
  if (i < n - 4 * vectors) out[4 * vectors + i] = in[4 * vectors + i];
}

// rows x columns out of a matrix with `in_pitch` elements a row, into one with `out_pitch`.
extern "C" __global__ void copy_pitched(int rows, int columns, const short* in, int in_pitch, short* out,
                                        int out_pitch) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < rows && column < columns) out[row * out_pitch + column] = in[row * in_pitch + column];
}

// out[j][i] = in[i][j]; stores of a warp lie `rows` elements apart.
extern "C" __global__ void transpose_naive(int rows, int columns, const float* in, float* out) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < rows && column < columns) out[column * rows + row] = in[row * columns + column];
}

constexpr int kTile = 32;
constexpr int kTileRows = 8;

// The same through shared memory; block (32, 8). A padded row keeps the columns of the tile in different banks.
extern "C" __global__ void transpose_tiled(int rows, int columns, const float* in, float* out) {
  __shared__ float tile[kTile][kTile + 1];
  const int column = blockIdx.x * kTile + threadIdx.x;
  const int row = blockIdx.y * kTile + threadIdx.y;
  for (int j = 0; j < kTile; j += kTileRows) {
    if (row + j < rows && column < columns) tile[threadIdx.y + j][threadIdx.x] = in[(row + j) * columns + column];
  }
  __syncthreads();
  const int out_column = blockIdx.y * kTile + threadIdx.x;
  const int out_row = blockIdx.x * kTile + threadIdx.y;
  for (int j = 0; j < kTile; j += kTileRows) {
    if (out_row + j < columns && out_column < rows) {
      out[(out_row + j) * rows + out_column] = tile[threadIdx.x][threadIdx.y + j];
    }
  }
}
