#include "runtime/emulator/isa/convert_packed.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/base/casts.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "mpfr.h"
#include "runtime/emulator/isa/find_operation.h"
#include "runtime/emulator/isa/testing/mpfr_oracle.h"
#include "runtime/emulator/isa/testing/operation_runner.h"

namespace stax::isa {
namespace {

std::vector<uint64_t> F32Samples() {
  std::vector<uint64_t> result = SpecialBits(kOracleF32);
  RandomBits random(3);
  for (int i = 0; i < 20000; ++i) {
    result.push_back(random.Next() >> 32);
    const int exponent = static_cast<int>(random.Next() % 40) - 30;
    const double value = std::ldexp(static_cast<double>(random.Next() % 1024), exponent);
    result.push_back(absl::bit_cast<uint32_t>(static_cast<float>(value)));
    result.push_back(result.back() ^ 0x80000000);
    result.push_back(result.back() + random.Next() % 3 - 1);
  }
  return result;
}

// The value of an 8-bit float, from the tables of "FP8 Formats for Deep Learning" (2022).
double F8Value(bool e4m3, uint32_t bits) {
  const double sign = (bits & 0x80) != 0 ? -1 : 1;
  const uint32_t magnitude = bits & 0x7f;
  if (e4m3) {
    if (magnitude == 0x7f) return std::numeric_limits<double>::quiet_NaN();
    const int field = static_cast<int>(magnitude >> 3);
    const double fraction = (magnitude & 7) / 8.0;
    return sign * (field == 0 ? std::ldexp(fraction, -6) : std::ldexp(1 + fraction, field - 7));
  }
  if (magnitude == 0x7c) return sign * HUGE_VAL;
  if (magnitude > 0x7c) return std::numeric_limits<double>::quiet_NaN();
  const int field = static_cast<int>(magnitude >> 2);
  const double fraction = (magnitude & 3) / 4.0;
  return sign * (field == 0 ? std::ldexp(fraction, -14) : std::ldexp(1 + fraction, field - 15));
}

// The nearest 8-bit float by trying all, ties to the even one, saturating.
uint32_t NearestF8(bool e4m3, double value) {
  if (std::isnan(value)) return 0x7f;
  const uint32_t sign = std::signbit(value) ? 0x80 : 0;
  value = std::min(std::fabs(value), 1e6);  // beyond both formats, distances stay exact
  uint32_t best = 0;
  for (uint32_t i = 0; i <= (e4m3 ? 0x7eu : 0x7bu); ++i) {
    const double distance = std::fabs(F8Value(e4m3, i) - value);
    const double best_distance = std::fabs(F8Value(e4m3, best) - value);
    if (distance < best_distance || (distance == best_distance && i % 2 == 0)) best = i;
  }
  return sign | best;
}

TEST(ConvertPackedTest, F8FromF32Pairs) {
  const std::vector<uint64_t> samples = F32Samples();
  for (const bool e4m3 : {true, false}) {
    const std::string type = e4m3 ? "e4m3x2" : "e5m2x2";
    const OperationRunner run(absl::StrCat("cvt.rn.satfinite.", type, ".f32"));
    const OperationRunner relu(absl::StrCat("cvt.rn.satfinite.relu.", type, ".f32"));
    for (size_t i = 0; i + 1 < samples.size(); i += 2) {
      const double a = OracleValue(kOracleF32, samples[i]);
      const double b = OracleValue(kOracleF32, samples[i + 1]);
      ASSERT_EQ(run(samples[i], samples[i + 1]), NearestF8(e4m3, a) << 8 | NearestF8(e4m3, b))
          << type << " " << a << " " << b;
      ASSERT_EQ(relu(samples[i], samples[i + 1]),
                (std::signbit(a) && !std::isnan(a) ? 0 : NearestF8(e4m3, a)) << 8 |
                    (std::signbit(b) && !std::isnan(b) ? 0 : NearestF8(e4m3, b)));
    }
  }
}

TEST(ConvertPackedTest, F8AndHalves) {
  for (const bool e4m3 : {true, false}) {
    const std::string type = e4m3 ? "e4m3x2" : "e5m2x2";
    const OperationRunner widen(absl::StrCat("cvt.rn.f16x2.", type));
    const OperationRunner narrow(absl::StrCat("cvt.rn.satfinite.", type, ".f16x2"));
    for (uint32_t i = 0; i < 65536; ++i) {
      const uint32_t j = i * 40503 % 65536;
      ASSERT_EQ(narrow(i | j << 16), NearestF8(e4m3, OracleValue(kOracleF16, i)) |
                                         NearestF8(e4m3, OracleValue(kOracleF16, j)) << 8);
      ASSERT_EQ(widen(i), OracleBits(kOracleF16, F8Value(e4m3, i & 0xff)) |
                              OracleBits(kOracleF16, F8Value(e4m3, i >> 8)) << 16);
    }
  }
}

TEST(ConvertPackedTest, HalvesFromF32) {
  const std::vector<uint64_t> samples = F32Samples();
  for (const bool bf16 : {false, true}) {
    const OracleFormat& format = bf16 ? kOracleBF16 : kOracleF16;
    for (const mpfr_rnd_t mode : {MPFR_RNDN, MPFR_RNDZ}) {
      const std::string rounding = mode == MPFR_RNDN ? "rn" : "rz";
      const std::string type = bf16 ? "bf16" : "f16";
      const OperationRunner pair(absl::StrCat("cvt.", rounding, ".", type, "x2.f32"));
      const OperationRunner relu(absl::StrCat("cvt.", rounding, ".relu.", type, "x2.f32"));
      const OperationRunner finite(absl::StrCat("cvt.", rounding, ".satfinite.", type, ".f32"));
      const OperationRunner both(absl::StrCat("cvt.", rounding, ".relu.satfinite.", type, ".f32"));
      for (size_t i = 0; i + 1 < samples.size(); i += 2) {
        const uint64_t a = BigFloat(kOracleF32, samples[i]).Round(format, mode);
        const uint64_t b = BigFloat(kOracleF32, samples[i + 1]).Round(format, mode);
        ASSERT_EQ(pair(samples[i], samples[i + 1]), a << 16 | b);
        const auto clamp = [](uint64_t x) { return (x & 0x8000) != 0 ? 0 : x; };
        ASSERT_EQ(relu(samples[i], samples[i + 1]), clamp(a) << 16 | clamp(b));
        const uint64_t infinity = bf16 ? 0x7f80 : 0x7c00;
        const uint64_t finite_a = (a & 0x7fff) == infinity ? a - 1 : a;
        ASSERT_EQ(finite(samples[i]), finite_a);
        ASSERT_EQ(both(samples[i]), clamp(finite_a));
      }
    }
  }
}

TEST(ConvertPackedTest, Tf32) {
  const OperationRunner away("cvt.rna.tf32.f32"), nearest("cvt.rn.tf32.f32");
  const OperationRunner zero("cvt.rz.tf32.f32"), finite("cvt.rna.satfinite.tf32.f32");
  for (const uint64_t bits : F32Samples()) {
    const uint64_t magnitude = bits & 0x7fffffff, sign = bits & 0x80000000;
    if (magnitude > 0x7f800000) {
      ASSERT_EQ(away(bits), 0x7fffffffu);
      ASSERT_EQ(nearest(bits), 0x7fffffffu);
      continue;
    }
    // Half of the last place that stays, added to the bits as an integer, carries where it should.
    ASSERT_EQ(away(bits), sign | ((magnitude + 0x1000) & ~uint64_t{0x1fff})) << std::hex << bits;
    ASSERT_EQ(nearest(bits),
              sign | ((magnitude + 0xfff + (magnitude >> 13 & 1)) & ~uint64_t{0x1fff}));
    ASSERT_EQ(zero(bits), bits & ~uint64_t{0x1fff});
    ASSERT_EQ(finite(bits),
              sign | std::min<uint64_t>((magnitude + 0x1000) & ~uint64_t{0x1fff}, 0x7f7fe000));
  }
}

TEST(ConvertPackedTest, OnlyWhatTheIsaHas) {
  for (const absl::string_view name :
       {"cvt.tf32.f32", "cvt.rna.relu.tf32.f32", "cvt.rn.e4m3x2.f32", "cvt.rz.satfinite.e4m3x2.f32",
        "cvt.rn.satfinite.f16x2.e4m3x2", "cvt.rn.bf16x2.e4m3x2", "cvt.rp.f16x2.f32",
        "cvt.rn.relu.f16.f64", "cvt.rn.f16x2", "cvt.rn.satfinite.relu"}) {
    EXPECT_FALSE(FindWarpOperation(name).has_value()) << name;
  }
}

}  // namespace
}  // namespace stax::isa
