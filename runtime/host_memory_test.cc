#include "runtime/host_memory.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace stax {
namespace {

TEST(HostMemory, RefusesMoreThanThereIs) {
  EXPECT_TRUE(CheckFitsHostMemory("x", 1).ok());
  EXPECT_TRUE(CheckFitsHostMemory("x", HostMemoryBytes()).ok());
  const absl::Status status = CheckFitsHostMemory("output 'y'", int64_t{1} << 60);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(
      std::string(status.message()),
      absl::StrCat("cannot allocate 1152921504606846976 bytes for output 'y': this machine has ",
                   HostMemoryBytes()));
}

}  // namespace
}  // namespace stax
