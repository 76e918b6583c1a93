// Copies between the memory that several emulated threads share and registers.
//
// Kernels may race, on purpose or not, while C++ has no meaning for a race of plain accesses: so
// emulated accesses are atomic ones, in words of up to 8 bytes that no element crosses. Relaxed
// costs what a plain move costs. Strong accesses are release and acquire, so that what the emulator
// itself keeps of releases is visible with the value that was stored after them.
#ifndef STAX_RUNTIME_EMULATOR_MEMORY_DEVICE_BYTES_H_
#define STAX_RUNTIME_EMULATOR_MEMORY_DEVICE_BYTES_H_

#include <cstdint>
#include <cstring>

namespace stax::emulator {

struct Word16 {
  uint64_t low;
  uint64_t high;
};

template <typename T>
T LoadDevice(const uint8_t* from, bool strong = false) {
  const T* word = reinterpret_cast<const T*>(from);
  return strong ? __atomic_load_n(word, __ATOMIC_ACQUIRE) : __atomic_load_n(word, __ATOMIC_RELAXED);
}

template <>
inline Word16 LoadDevice<Word16>(const uint8_t* from, bool strong) {
  return {LoadDevice<uint64_t>(from, strong), LoadDevice<uint64_t>(from + 8, strong)};
}

template <typename T>
void StoreDevice(uint8_t* to, T value, bool strong = false) {
  T* word = reinterpret_cast<T*>(to);
  if (strong) {
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
  } else {
    __atomic_store_n(word, value, __ATOMIC_RELAXED);
  }
}

template <>
inline void StoreDevice<Word16>(uint8_t* to, Word16 value, bool strong) {
  StoreDevice(to, value.low, strong);
  StoreDevice(to + 8, value.high, strong);
}

// Calls piece(offset, T()) for words of type T that cover the bytes, each aligned in the device.
template <typename Piece>
void ForDeviceWords(const void* device, uint64_t bytes, Piece piece) {
  uint64_t address = reinterpret_cast<uint64_t>(device);
  uint64_t i = 0;
  if (address % 8 == 0) {
    for (; i + 8 <= bytes; i += 8) piece(i, uint64_t{});
  }
  while (i < bytes) {
    uint64_t left = bytes - i;
    uint64_t at = address + i;
    if (left >= 8 && at % 8 == 0) {
      for (; i + 8 <= bytes; i += 8) piece(i, uint64_t{});
    } else if (left >= 4 && at % 4 == 0) {
      piece(i, uint32_t{});
      i += 4;
    } else if (left >= 2 && at % 2 == 0) {
      piece(i, uint16_t{});
      i += 2;
    } else {
      piece(i, uint8_t{});
      i += 1;
    }
  }
}

inline void CopyFromDevice(void* to, const uint8_t* from, uint64_t bytes) {
  auto* host = static_cast<uint8_t*>(to);
  ForDeviceWords(from, bytes, [&](uint64_t i, auto word) {
    word = LoadDevice<decltype(word)>(from + i);
    memcpy(host + i, &word, sizeof(word));
  });
}

inline void CopyToDevice(uint8_t* to, const void* from, uint64_t bytes) {
  const auto* host = static_cast<const uint8_t*>(from);
  ForDeviceWords(to, bytes, [&](uint64_t i, auto word) {
    memcpy(&word, host + i, sizeof(word));
    StoreDevice(to + i, word);
  });
}

}  // namespace stax::emulator

#endif  // STAX_RUNTIME_EMULATOR_MEMORY_DEVICE_BYTES_H_
