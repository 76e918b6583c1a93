#include "runtime/emulator/isa/testing/operation_runner.h"

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "runtime/emulator/isa/find_operation.h"
#include "runtime/emulator/isa/warp_operation.h"

namespace stax::isa {
namespace {

constexpr uint8_t kFill = 0xa5;

struct Register {
  alignas(8) uint8_t bytes[8 * kWarpLanes];

  Register() { std::memset(bytes, kFill, sizeof(bytes)); }
  void Set(int lane, int size, uint64_t value) { std::memcpy(bytes + lane * size, &value, size); }
};

}  // namespace

OperationRunner::OperationRunner(absl::string_view name) : name_(name.data(), name.size()) {
  const std::optional<WarpOperation> found = FindWarpOperation(name);
  EXPECT_TRUE(found.has_value()) << name_;
  operation_ = found.value_or(WarpOperation());
}

uint64_t OperationRunner::operator()(uint64_t a, uint64_t b, uint64_t c, uint64_t e) const {
  lane_ = (lane_ + 1) % kWarpLanes;
  const uint64_t values[4] = {a, b, c, e};
  Register sources[4], result;
  for (int i = 0; i < operation_.sources; ++i) {
    sources[i].Set(lane_, operation_.source_bytes[i], values[i]);
  }
  const uint32_t lanes = uint32_t{1} << lane_;
  if (operation_.function4 != nullptr) {
    operation_.function4(lanes, sources[0].bytes, sources[1].bytes, sources[2].bytes,
                         sources[3].bytes, result.bytes);
  } else if (operation_.function != nullptr) {
    operation_.function(lanes, sources[0].bytes, sources[1].bytes, sources[2].bytes, result.bytes);
  }
  const int size = operation_.result_bytes;
  uint64_t value = 0;
  std::memcpy(&value, result.bytes + lane_ * size, size);
  std::memset(result.bytes + lane_ * size, kFill, size);
  EXPECT_EQ(std::memcmp(result.bytes, Register().bytes, sizeof(result.bytes)), 0)
      << name_ << " writes beyond lane " << lane_;
  return value;
}

uint64_t RandomBits::Next() {
  state_ += 0x9e3779b97f4a7c15;
  uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

}  // namespace stax::isa
