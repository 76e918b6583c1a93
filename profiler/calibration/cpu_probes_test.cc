#include <chrono>

#include "gtest/gtest.h"
#include "profiler/calibration/probes.h"
#include "runtime/cpu/cpu_device.h"

namespace stax {
namespace {

// No core is faster: two 512-bit FMAs a cycle (2 x 16 x 2 operations) at 6 GHz.
constexpr double kMaxFlopsPerSecond = 64 * 6e9;

TEST(CpuProbes, FmaRateOfOneCoreIsPossible) {
  auto device = OpenCpuDevice(/*threads=*/1);
  ASSERT_TRUE(device.ok()) << device.status();
  auto probes = MakeCpuProbes(**device);
  ASSERT_TRUE(probes.ok());
  auto start = std::chrono::steady_clock::now();
  ASSERT_TRUE((*probes)->Fma().ok());
  std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  EXPECT_LT((*probes)->fma_flops() / seconds.count(), kMaxFlopsPerSecond);
}

}  // namespace
}  // namespace stax
