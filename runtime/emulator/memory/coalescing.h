// How many pieces the hardware makes of one access of a warp: sectors and lines of global memory,
// wavefronts of shared memory. Pure functions of the addresses; inactive lanes' are not read.
//
//   32 lanes, 4 bytes, consecutive, from a multiple of 32   4 sectors   1 line   1 wavefront
//   32 lanes, 4 bytes, every 128 bytes                     32 sectors  32 lines  32 wavefronts
#ifndef STAX_RUNTIME_EMULATOR_MEMORY_COALESCING_H_
#define STAX_RUNTIME_EMULATOR_MEMORY_COALESCING_H_

#include <cstdint>

namespace stax::emulator {

inline constexpr int kSectorBytes = 32;
inline constexpr int kLineBytes = 128;

struct Coalescing {
  int sectors = 0;  // distinct 32-byte sectors
  int lines = 0;    // distinct 128-byte lines: transactions
};

// Of `bytes` (at most 32) at each address of the lanes in the mask.
Coalescing CoalescingOf(uint32_t lanes, const uint64_t* addresses, int bytes);

// The same for one stretch of memory.
inline Coalescing CoalescingOf(uint64_t begin, uint64_t bytes) {
  if (bytes == 0) return {};
  uint64_t last = begin + bytes - 1;
  return {static_cast<int>(last / kSectorBytes - begin / kSectorBytes + 1),
          static_cast<int>(last / kLineBytes - begin / kLineBytes + 1)};
}

struct Wavefronts {
  int wavefronts = 0;
  int least = 0;  // that an access of this width needs; what is more are bank conflicts
};

// Shared memory has 32 banks of 4 bytes. Up to 4 bytes a lane, the whole warp goes at once; 8 bytes
// go in two half-warps, 16 in four quarter-warps, none where no lane is active. Each of these needs
// as many wavefronts as some bank has distinct words asked of it. Loads of 8 and 16 bytes go in
// half as many groups, of twice the lanes, when all active lanes whose numbers differ in bit 0
// alone have the same address, or all that differ in bit 1 alone. Found on an H200, whose counts
// for 405 patterns are testdata/h200_wavefronts.txt.
Wavefronts WavefrontsOf(uint32_t lanes, const uint64_t* addresses, int bytes, bool is_load);

// Of these lanes when they have consecutive addresses, which no two share.
Wavefronts LeastWavefrontsOf(uint32_t lanes, int bytes);

}  // namespace stax::emulator

#endif  // STAX_RUNTIME_EMULATOR_MEMORY_COALESCING_H_
