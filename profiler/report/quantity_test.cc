#include "profiler/report/quantity.h"

#include <gtest/gtest.h>

namespace stax {
namespace {

TEST(QuantityTest, ThreeDigitsAtLeast) {
  EXPECT_EQ(ThreeDigits(0), "0");
  EXPECT_EQ(ThreeDigits(0.26206), "0.262");
  EXPECT_EQ(ThreeDigits(0.5), "0.500");
  EXPECT_EQ(ThreeDigits(1), "1.00");
  EXPECT_EQ(ThreeDigits(23.27), "23.3");
  EXPECT_EQ(ThreeDigits(4249.4), "4249");
  EXPECT_EQ(ThreeDigits(123456), "123456");
  EXPECT_EQ(ThreeDigits(2.5e7), "2.50e+07");
}

TEST(QuantityTest, RoundingDoesNotAddADigit) {
  EXPECT_EQ(ThreeDigits(0.9996), "1.00");
  EXPECT_EQ(ThreeDigits(9.996), "10.0");
  EXPECT_EQ(ThreeDigits(99.96), "100");
}

TEST(QuantityTest, BandwidthsInGigabytes) {
  EXPECT_EQ(GigabytesPerS(4.2494e12), "4249 GB/s");
  EXPECT_EQ(GigabytesPerS(3.9905e9), "3.99 GB/s");
}

TEST(QuantityTest, Prefixes) {
  EXPECT_EQ(WithPrefix(12, "flop/s"), "12.0 flop/s");
  EXPECT_EQ(WithPrefix(6.1e9, "flop/s"), "6.10 Gflop/s");
  EXPECT_EQ(WithPrefix(999.6e9, "flop/s"), "1.00 Tflop/s");
  EXPECT_EQ(WithPrefix(4e18, "flop/s"), "4000 Pflop/s");
}

}  // namespace
}  // namespace stax
