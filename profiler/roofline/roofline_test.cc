#include "profiler/roofline/roofline.h"

#include "gtest/gtest.h"

namespace stax {
namespace {

// Round numbers: read 4 GB/s, write 2 GB/s, copy 3 GB/s, 100 Gflop/s, launch 1 us. 1 GB/s moves
// one byte a nanosecond.
DeviceSpec SampleDevice() {
  DeviceSpec spec;
  spec.set_dram_read_bytes_per_s(4e9);
  spec.set_dram_write_bytes_per_s(2e9);
  spec.set_dram_copy_bytes_per_s(3e9);
  spec.set_f32_flops_per_s(100e9);
  spec.set_launch_ns(1000);
  return spec;
}

Kernel SampleKernel(double read, double write, double flops) {
  Kernel kernel;
  kernel.set_name("k");
  kernel.mutable_read_bytes()->set_number_value(read);
  kernel.mutable_write_bytes()->set_number_value(write);
  kernel.mutable_flops()->set_number_value(flops);
  return kernel;
}

TEST(Roofline, MemoryBoundAtTheBandwidthOfItsMix) {
  auto reads = PredictRoofline(SampleKernel(8e6, 0, 1e3), {}, SampleDevice());
  ASSERT_TRUE(reads.ok());
  EXPECT_DOUBLE_EQ(reads->predicted_ns, 2e6);  // 8e6 bytes at 4 bytes/ns
  EXPECT_EQ(reads->bound, "memory");
  auto copies = PredictRoofline(SampleKernel(6e6, 6e6, 1e3), {}, SampleDevice());
  EXPECT_DOUBLE_EQ(copies->predicted_ns, 4e6);  // 12e6 at 3
  auto writes = PredictRoofline(SampleKernel(0, 6e6, 1e3), {}, SampleDevice());
  EXPECT_DOUBLE_EQ(writes->predicted_ns, 3e6);  // 6e6 at 2
}

TEST(Roofline, ComputeBoundAndLatencyBound) {
  auto compute = PredictRoofline(SampleKernel(4e3, 0, 1e9), {}, SampleDevice());
  EXPECT_DOUBLE_EQ(compute->predicted_ns, 1e7);  // 1e9 flops at 100 a ns
  EXPECT_EQ(compute->bound, "compute");
  auto latency = PredictRoofline(SampleKernel(4, 4, 1), {}, SampleDevice());
  EXPECT_DOUBLE_EQ(latency->predicted_ns, 1000);
  EXPECT_EQ(latency->bound, "latency");
}

TEST(Roofline, FormulasAreEvaluatedAtTheSizes) {
  Kernel kernel = SampleKernel(0, 0, 0);
  kernel.mutable_read_bytes()->set_string_value("4*n");
  auto p = PredictRoofline(kernel, {{"n", 1000000}}, SampleDevice());
  ASSERT_TRUE(p.ok()) << p.status();
  EXPECT_DOUBLE_EQ(p->predicted_ns, 1e6);
  EXPECT_EQ(PredictRoofline(kernel, {}, SampleDevice()).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(Roofline, ASpecWithoutBandwidthsIsAnError) {
  EXPECT_EQ(PredictRoofline(SampleKernel(1, 1, 1), {}, DeviceSpec()).status().message(),
            "the device description lacks bandwidths or the peak rate; make one with "
            "stax-profile --calibrate");
}

}  // namespace
}  // namespace stax
