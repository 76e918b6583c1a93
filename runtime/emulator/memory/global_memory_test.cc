#include "runtime/emulator/memory/global_memory.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"

namespace stax::emulator {
namespace {

std::vector<uintptr_t> Addresses(GlobalMemory& memory, const std::vector<size_t>& sizes) {
  std::vector<uintptr_t> addresses;
  for (const size_t bytes : sizes) {
    absl::StatusOr<void*> allocated = memory.Allocate(bytes);
    EXPECT_TRUE(allocated.ok()) << allocated.status();
    if (allocated.ok()) addresses.push_back(reinterpret_cast<uintptr_t>(*allocated));
  }
  return addresses;
}

const std::vector<size_t>& Sizes() {
  static const auto& sizes = *new std::vector<size_t>{1, 100, 65536, 1 << 20, 0, 255};
  return sizes;
}

TEST(GlobalMemory, TheSameAllocationsHaveTheSameAddresses) {
  std::vector<uintptr_t> first;
  {
    GlobalMemory memory;
    first = Addresses(memory, Sizes());
  }
  GlobalMemory memory;
  EXPECT_EQ(Addresses(memory, Sizes()), first);
}

TEST(GlobalMemory, AllocationsAreAlignedAndApart) {
  GlobalMemory memory;
  GlobalMemory other;
  std::vector<uintptr_t> addresses = Addresses(memory, Sizes());
  const std::vector<uintptr_t> others = Addresses(other, Sizes());
  addresses.insert(addresses.end(), others.begin(), others.end());
  for (size_t i = 0; i < addresses.size(); ++i) {
    EXPECT_EQ(addresses[i] % 256, 0U);
    const uintptr_t end = addresses[i] + Sizes()[i % Sizes().size()];
    for (size_t j = 0; j < addresses.size(); ++j) {
      if (addresses[j] > addresses[i]) EXPECT_GE(addresses[j] - end, 256U) << i << " " << j;
      EXPECT_EQ(addresses[j] == addresses[i], i == j);
    }
  }
}

TEST(GlobalMemory, BeginsAsZeros) {
  GlobalMemory memory;
  constexpr size_t kBytes = 300'000;
  for (int round = 0; round < 2; ++round) {
    auto* bytes = static_cast<uint8_t*>(memory.Allocate(kBytes).value());
    for (size_t i = 0; i < kBytes; ++i) {
      ASSERT_EQ(bytes[i], 0) << i;
      bytes[i] = 1;
    }
    memory.Free(bytes);
  }
}

TEST(GlobalMemory, TooMuchIsAnError) {
  GlobalMemory memory;
  for (const size_t bytes : {size_t{1} << 62, ~size_t{0}})
    EXPECT_EQ(memory.Allocate(bytes).status().code(), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace stax::emulator
