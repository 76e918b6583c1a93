#include "runtime/emulator/isa/float_arithmetic.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "mpfr.h"
#include "runtime/emulator/isa/find_operation.h"
#include "runtime/emulator/isa/testing/mpfr_oracle.h"
#include "runtime/emulator/isa/testing/operation_runner.h"

namespace stax::isa {
namespace {

constexpr int kSamples = 20000;

struct Modifiers {
  bool ftz = false, sat = false, relu = false;
};

struct RoundingMode {
  const char* name;
  mpfr_rnd_t mode;
};
constexpr RoundingMode kRoundings[] = {
    {"rn", MPFR_RNDN}, {"rz", MPFR_RNDZ}, {"rm", MPFR_RNDD}, {"rp", MPFR_RNDU}};

uint64_t Oracle(const std::string& op, const OracleFormat& format, mpfr_rnd_t mode,
                const Modifiers& modifiers, const std::vector<uint64_t>& sources) {
  std::vector<uint64_t> in = sources;
  if (modifiers.ftz) {
    for (uint64_t& bits : in) bits = OracleFlush(format, bits);
  }
  BigFloat a(format, in[0]), b(format, in[1]), c(format, in[2]), d;
  if (op == "add") {
    mpfr_add(d.get(), a.get(), b.get(), mode);
  } else if (op == "sub") {
    mpfr_sub(d.get(), a.get(), b.get(), mode);
  } else if (op == "mul") {
    mpfr_mul(d.get(), a.get(), b.get(), mode);
  } else if (op == "fma" || op == "mad") {
    mpfr_fma(d.get(), a.get(), b.get(), c.get(), mode);
  } else if (op == "div") {
    mpfr_div(d.get(), a.get(), b.get(), mode);
  } else if (op == "rcp") {
    mpfr_ui_div(d.get(), 1, a.get(), mode);
  } else {
    mpfr_sqrt(d.get(), a.get(), mode);
  }
  uint64_t result = d.Round(format, mode);
  if (modifiers.ftz) result = OracleFlush(format, result);
  const double value = OracleValue(format, result);
  if (modifiers.relu && std::signbit(value)) return 0;
  if (modifiers.sat && (std::isnan(value) || std::signbit(value))) return 0;
  if (modifiers.sat && value > 1) return OracleBits(format, 1);
  return result;
}

// A value near in magnitude to others, so that sums cancel and overflow, or any bits at all.
uint64_t Draw(const OracleFormat& format, RandomBits& random) {
  const uint64_t bits = random.Next() >> (64 - format.bits);
  const uint64_t one = OracleBits(format, 1), unit = uint64_t{1} << (format.precision - 1);
  switch (random.Next() % 4) {
    case 0:
      return bits;
    case 1:  // 1 to 16
      return (bits & (4 * unit - 1)) + one;
    case 2:  // small ones
      return bits & (4 * unit - 1);
    default:  // few bits set, so that ties happen
      return (bits & ~(unit / 8 - 1)) | (random.Next() & 1);
  }
}

void Check(const std::string& name, const std::string& op, const OracleFormat& format,
           mpfr_rnd_t mode, const Modifiers& modifiers, bool x2 = false) {
  SCOPED_TRACE(name);
  const OperationRunner run(name);
  std::vector<std::vector<uint64_t>> cases;
  const std::vector<uint64_t> special = SpecialBits(format);
  RandomBits random(format.bits + format.precision);
  for (const uint64_t a : special) {
    for (const uint64_t b : special) {
      cases.push_back({a, b, special[random.Next() % special.size()]});
    }
  }
  for (int i = 0; i < kSamples / (format.bits == 64 ? 10 : 1); ++i) {
    cases.push_back({Draw(format, random), Draw(format, random), Draw(format, random)});
  }
  for (size_t i = 0; i < cases.size(); ++i) {
    const std::vector<uint64_t>& low = cases[i];
    const std::vector<uint64_t>& high = cases[(i + 7) % cases.size()];
    uint64_t expected = Oracle(op, format, mode, modifiers, low);
    uint64_t actual = 0;
    if (x2) {
      expected |= Oracle(op, format, mode, modifiers, high) << 16;
      actual = run(low[0] | high[0] << 16, low[1] | high[1] << 16, low[2] | high[2] << 16);
    } else {
      actual = run(low[0], low[1], low[2]);
    }
    if (format.bits == 64 && OracleIsNan(format, expected)) {
      ASSERT_TRUE(OracleIsNan(format, actual)) << low[0] << " " << low[1] << " " << low[2];
      continue;
    }
    ASSERT_EQ(actual, expected) << std::hex << low[0] << " " << low[1] << " " << low[2];
  }
}

TEST(FloatArithmeticTest, F32InAllRoundings) {
  for (const RoundingMode& rounding : kRoundings) {
    for (const char* op : {"add", "sub", "mul", "fma", "mad", "div", "rcp", "sqrt"}) {
      Check(absl::StrCat(op, ".", rounding.name, ".f32"), op, kOracleF32, rounding.mode, {});
    }
  }
}

TEST(FloatArithmeticTest, F32Flushes) {
  for (const char* op : {"add", "mul", "fma", "div", "rcp", "sqrt"}) {
    Check(absl::StrCat(op, ".rn.ftz.f32"), op, kOracleF32, MPFR_RNDN, {true});
    Check(absl::StrCat(op, ".rp.ftz.f32"), op, kOracleF32, MPFR_RNDU, {true});
  }
}

TEST(FloatArithmeticTest, F32Saturates) {
  for (const char* op : {"add", "sub", "mul", "fma"}) {
    Check(absl::StrCat(op, ".rn.sat.f32"), op, kOracleF32, MPFR_RNDN, {false, true});
    Check(absl::StrCat(op, ".rz.ftz.sat.f32"), op, kOracleF32, MPFR_RNDZ, {true, true});
  }
}

TEST(FloatArithmeticTest, F64InAllRoundings) {
  for (const RoundingMode& rounding : kRoundings) {
    for (const char* op : {"add", "sub", "mul", "fma", "div", "rcp", "sqrt"}) {
      Check(absl::StrCat(op, ".", rounding.name, ".f64"), op, kOracleF64, rounding.mode, {});
    }
  }
}

TEST(FloatArithmeticTest, Halves) {
  for (const char* op : {"add", "sub", "mul"}) {
    Check(absl::StrCat(op, ".f16"), op, kOracleF16, MPFR_RNDN, {});
    Check(absl::StrCat(op, ".rn.f16x2"), op, kOracleF16, MPFR_RNDN, {}, true);
    Check(absl::StrCat(op, ".rn.ftz.sat.f16"), op, kOracleF16, MPFR_RNDN, {true, true});
    Check(absl::StrCat(op, ".ftz.f16x2"), op, kOracleF16, MPFR_RNDN, {true}, true);
    Check(absl::StrCat(op, ".sat.f16x2"), op, kOracleF16, MPFR_RNDN, {false, true}, true);
    Check(absl::StrCat(op, ".bf16"), op, kOracleBF16, MPFR_RNDN, {});
    Check(absl::StrCat(op, ".rn.bf16x2"), op, kOracleBF16, MPFR_RNDN, {}, true);
  }
}

TEST(FloatArithmeticTest, FmaOfHalvesRoundsOnce) {
  Check("fma.rn.f16", "fma", kOracleF16, MPFR_RNDN, {});
  Check("fma.rn.f16x2", "fma", kOracleF16, MPFR_RNDN, {}, true);
  Check("fma.rn.ftz.f16", "fma", kOracleF16, MPFR_RNDN, {true});
  Check("fma.rn.ftz.sat.f16x2", "fma", kOracleF16, MPFR_RNDN, {true, true}, true);
  Check("fma.rn.relu.f16x2", "fma", kOracleF16, MPFR_RNDN, {false, false, true}, true);
  Check("fma.rn.ftz.relu.f16", "fma", kOracleF16, MPFR_RNDN, {true, false, true});
  Check("fma.rn.bf16", "fma", kOracleBF16, MPFR_RNDN, {});
  Check("fma.rn.bf16x2", "fma", kOracleBF16, MPFR_RNDN, {}, true);
  Check("fma.rn.relu.bf16x2", "fma", kOracleBF16, MPFR_RNDN, {false, false, true}, true);
}

TEST(FloatArithmeticTest, OnlyWhatTheIsaHas) {
  for (const absl::string_view name : {"add.sat.f64",
                                       "add.ftz.f64",
                                       "fma.f32",
                                       "fma.rn.relu.f32",
                                       "fma.rz.f16",
                                       "add.relu.f16",
                                       "add.ftz.bf16",
                                       "div.rn.sat.f32",
                                       "div.rn.f16",
                                       "add.f32.rn",
                                       "add.ftz.rn.f32",
                                       "add.rn.f32x2",
                                       "sqrt.f32",
                                       "mad.rn.f16",
                                       "fma.rn.sat.relu.f16",
                                       "add.rna.f32",
                                       "add.rn",
                                       "add",
                                       "",
                                       ".",
                                       "add.rn.f32.",
                                       "add..f32"}) {
    EXPECT_FALSE(FindWarpOperation(name).has_value()) << name;
  }
}

}  // namespace
}  // namespace stax::isa
