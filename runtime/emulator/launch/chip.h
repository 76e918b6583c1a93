// The chip that is emulated, whatever the target of the PTX: an H200 (CUDA C++ Programming Guide,
// "Compute Capabilities"; the last-level cache as its driver reports it).
#ifndef STAX_RUNTIME_EMULATOR_LAUNCH_CHIP_H_
#define STAX_RUNTIME_EMULATOR_LAUNCH_CHIP_H_

#include <cstdint>

namespace stax::emulator {

inline constexpr int kMultiprocessors = 132;
inline constexpr int64_t kL2Bytes = int64_t{60} << 20;
inline constexpr uint32_t kBlockBarriers = 16;  // of a block, for bar
// Of a multiprocessor.
inline constexpr uint64_t kMaxResidentBlocks = 32;
inline constexpr uint64_t kMaxResidentWarps = 64;

}  // namespace stax::emulator

#endif  // STAX_RUNTIME_EMULATOR_LAUNCH_CHIP_H_
