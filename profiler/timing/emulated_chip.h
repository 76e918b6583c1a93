// The chip that the emulator's cost model describes, an NVIDIA H200.
//
// Measured: by hand-written probes on one H200 on 2026-11-29, driver 580.159, CUDA 13.0. Guide:
// CUDA C++ Programming Guide 13.0, "Compute Capabilities", compute capability 9.0.
#ifndef STAX_PROFILER_TIMING_EMULATED_CHIP_H_
#define STAX_PROFILER_TIMING_EMULATED_CHIP_H_

#include <cstdint>

namespace stax::emulated_chip {

// For reports, in place of a date.
inline constexpr char kOrigin[] =
    "constants of an NVIDIA H200 measured on 2026-11-29, not of this machine";

inline constexpr double kDramReadBytesPerS = 4382e9;   // measured
inline constexpr double kDramWriteBytesPerS = 4669e9;  // measured
inline constexpr double kDramCopyBytesPerS = 4249e9;   // measured
// Measured, as SMs see it: 9 to 11.7 TB/s of reads by how far the data is, 4.65 TB/s of writes.
inline constexpr double kL2ReadBytesPerS = 9e12;
inline constexpr double kL2WriteBytesPerS = 4.65e12;
// Measured: idle by a chase of pointers, loaded by the bandwidth that bytes in flight reach.
inline constexpr double kIdleLatencyNs = 350;
inline constexpr double kLoadedLatencyNs = 408;
inline constexpr double kF32FlopsPerS = 62.5e12;    // measured, FMA is 2
inline constexpr double kTensorFlopsPerS = 640e12;  // measured, mma.sync in bf16
inline constexpr double kLaunchNs = 540;            // measured, an empty kernel's CUPTI record
inline constexpr double kClockHz = 1.98e9;          // measured, the SMs' highest
inline constexpr double kSchedulers = 4;            // guide; a warp instruction a cycle each
inline constexpr int64_t kWarpThreads = 32;         // guide
inline constexpr int64_t kSectorBytes = 32;         // guide
inline constexpr int64_t kL1BytesPerCycle = 128;    // guide: 32 banks of 4 bytes, an SM
inline constexpr int64_t kMaxWarps = 64;            // guide, an SM
inline constexpr int64_t kMaxBlocks = 32;           // guide, an SM
inline constexpr int64_t kRegisters = 65536;        // guide, an SM
inline constexpr int64_t kRegisterUnit = 256;       // guide: what a warp gets is a multiple
inline constexpr int64_t kSharedBytes = 228 << 10;  // guide, an SM
inline constexpr int64_t kReservedSharedBytes = 1 << 10;  // guide, of each block

}  // namespace stax::emulated_chip

#endif  // STAX_PROFILER_TIMING_EMULATED_CHIP_H_
