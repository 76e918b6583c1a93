// What a memory instruction is to the memory system: spaces, addresses and the static facts of an
// access, made once per instruction by the translator.
//
//   ld.global.v4.f32  ->  {.instruction = 12, .space = Space::kGlobal, .kind = AccessKind::kLoad,
//                          .element_bytes = 4, .elements = 4}
#ifndef STAX_RUNTIME_EMULATOR_MEMORY_ACCESS_H_
#define STAX_RUNTIME_EMULATOR_MEMORY_ACCESS_H_

#include <cstdint>

namespace stax::emulator {

inline constexpr int kWarpSize = 32;

// In the order of ptx::Space.
enum class Space : uint8_t { kGeneric, kGlobal, kShared, kLocal, kConst, kParam };

// Generic addresses. Global memory is at its host address; all else has a prefix in bits 56 and up
// that no host pointer has. Without the prefix it is an address in .shared, .local, .const, .param.
inline constexpr int kWindowShift = 56;
inline constexpr uint64_t kSharedWindow = uint64_t{1} << kWindowShift;
inline constexpr uint64_t kLocalWindow = uint64_t{2} << kWindowShift;
inline constexpr uint64_t kConstWindow = uint64_t{3} << kWindowShift;
inline constexpr uint64_t kParamWindow = uint64_t{4} << kWindowShift;
inline constexpr uint64_t kWindowOffsetMask = kSharedWindow - 1;

// .shared::cluster addresses have 32 bits: an offset below 2^24 and above it 0 for the own block or
// 1 + the rank of a block of the cluster.
inline constexpr int kSharedRankShift = 24;
inline constexpr uint64_t kSharedOffsetMask = (uint64_t{1} << kSharedRankShift) - 1;
inline constexpr uint64_t SharedAddressOf(int rank, uint64_t offset) {
  return static_cast<uint64_t>(rank + 1) << kSharedRankShift | offset;
}

// The space a generic address lies in.
inline constexpr Space SpaceOf(uint64_t generic) {
  switch (generic >> kWindowShift) {
    case 1:
      return Space::kShared;
    case 2:
      return Space::kLocal;
    case 3:
      return Space::kConst;
    case 4:
      return Space::kParam;
    default:
      return Space::kGlobal;
  }
}

enum class AccessKind : uint8_t { kLoad, kStore, kAtomic };

inline constexpr const char* KindName(AccessKind kind) {
  switch (kind) {
    case AccessKind::kLoad:
      return "load";
    case AccessKind::kStore:
      return "store";
    case AccessKind::kAtomic:
      return "atomic";
  }
  return "access";
}

// Who sees what a fence or a strong access orders; a larger one includes the smaller.
enum class Scope : uint8_t { kBlock, kCluster, kDevice, kSystem };

struct AccessSite {
  int instruction = 0;  // index in the kernel
  Space space = Space::kGeneric;
  AccessKind kind = AccessKind::kLoad;
  int element_bytes = 4;  // 1, 2, 4, 8, 16
  int elements = 1;       // 1, 2, 4, 8
  // Volatile, relaxed, acquire, release: no race with other strong accesses. Atomics always are.
  bool strong = false;
  // The store of cp.async: the bytes are in flight until they are waited for.
  bool asynchronous = false;
  // The loaded value decides nothing: only some of its bits are used, as when a field of a struct
  // is set, or it is stored again, as when a struct with padding is copied. Local memory that
  // nobody has written may be read so.
  bool unused = false;
  // As if a fence of `scope` stood after (acquire) or before (release) the access.
  bool acquire = false;
  bool release = false;
  Scope scope = Scope::kDevice;  // of a strong access

  int bytes() const { return element_bytes * elements; }
};

struct Dim3 {
  uint32_t x = 1;
  uint32_t y = 1;
  uint32_t z = 1;

  uint64_t count() const { return uint64_t{x} * y * z; }
  // The point with this linear number, x running fastest.
  Dim3 At(uint64_t linear) const {
    return {static_cast<uint32_t>(linear % x), static_cast<uint32_t>(linear / x % y),
            static_cast<uint32_t>(linear / x / y)};
  }
};

}  // namespace stax::emulator

#endif  // STAX_RUNTIME_EMULATOR_MEMORY_ACCESS_H_
